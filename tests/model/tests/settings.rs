// SPDX-License-Identifier: GPL-2.0-only
//! Each setting: what software sees under the one reading and under the other.

mod common;

use common::*;
use pmon_model::{Access, Machine};

/// CPUs that took an interrupt within 10 µs.
fn interrupted(m: &mut Machine) -> Vec<usize> {
    m.advance(10_000);
    std::iter::from_fn(|| m.take_pmi())
        .map(|pmi| pmi.cpu)
        .collect()
}

#[test]
fn uclk_hz() {
    let mut m = machine("uclk_hz=1000000000");
    wr(&mut m, 0, FIXED_CTL, EN);
    m.advance(100);
    ok(&mut m, "set uclk_hz 3000000000");
    m.advance(100);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 400);
    // The new rate counts from its own start: floor(0.3 * 6) and floor(0.4 * 2) cycles.
    let mut m = machine("uclk_hz=300000000");
    wr(&mut m, 0, FIXED_CTL, EN);
    m.advance(6);
    ok(&mut m, "set uclk_hz 400000000");
    m.advance(2);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 1);
}

#[test]
fn cbo_overflow() {
    // CBo chapter: prose on p33 and 34 against tables 2-13 and 2-14.
    for (word, status, cpus) in [("signals", 1 << 4, vec![0, 1]), ("silent", 0, vec![])] {
        let mut m = machine("");
        ok(&mut m, &format!("set cbo_overflow {word}"));
        start_cbo(&mut m, 1, 2, EN, (1 << 44) - 100);
        wr(&mut m, 0, GLOBAL_CTL, 1);
        assert_eq!(interrupted(&mut m), cpus, "{word}");
        assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), status, "{word}");
        clean(&m);
    }
}

#[test]
fn fixed_width() {
    // Prose of p21 against table 2-9. Probing it breaks no rule.
    for width in [48, 44] {
        let mut m = machine(&format!("fixed_width={width}"));
        wr(&mut m, 0, FIXED_CTR, (1 << 48) - 1);
        assert_eq!(rd(&mut m, 0, FIXED_CTR), (1 << width) - 1);
        wr(&mut m, 0, FIXED_CTR, (1 << width) - 100);
        wr(&mut m, 0, FIXED_CTL, EN | OV_EN);
        m.advance(50);
        assert_eq!(
            (rd(&mut m, 0, FIXED_CTR), rd(&mut m, 0, GLOBAL_STATUS)),
            (0, 1)
        );
        clean(&m);
    }
}

#[test]
fn delays() {
    for (freeze, pmi) in [(0, 0), (200, 500), (5000, 1000)] {
        let mut m = machine(&format!("freeze_delay_ns={freeze},pmi_delay_ns={pmi}"));
        ok(&mut m, "set uclk_hz 1000000000");
        start_pcu(&mut m, 0, EN, 0);
        arm_clock(&mut m, 100, 1);
        assert!(m.advance_to_pmi(10_000));
        assert_eq!(m.take_pmi().map(|taken| taken.ns), Some(100 + pmi));
        m.advance(10_000);
        assert_eq!(rd(&mut m, 0, PCU_CTR0), 100 + freeze);
    }
}

#[test]
fn debugctl13() {
    // SDM table 35-18 against a manual that does not know the bit.
    for (word, cpus) in [("ignored", vec![0, 1]), ("needed", vec![1])] {
        let mut m = machine(&format!("debugctl13={word}"));
        wr(&mut m, 1, DEBUGCTL, 1 << 13);
        arm_clock(&mut m, 10, 1);
        assert_eq!(interrupted(&mut m), cpus, "{word}");
        let dropped = m.json("overflows")["cpus"][0]["pmis"]["dropped_debugctl13"].clone();
        assert_eq!(dropped, 2 - cpus.len());
    }
}

#[test]
fn ovf_uncore() {
    for (word, bit) in [("set", 1), ("clear", 0)] {
        let mut m = machine(&format!("ovf_uncore={word}"));
        arm_clock(&mut m, 10, 1);
        assert_eq!(interrupted(&mut m).len(), 2);
        assert_eq!(rd(&mut m, 0, PERF_STATUS) >> 61, bit);
    }
}

#[test]
fn smt_pmi() {
    for (word, cpus) in [("both", vec![2, 3]), ("first", vec![2])] {
        let mut m = machine(&format!("smt_pmi={word}"));
        arm_clock(&mut m, 10, 2);
        assert_eq!(interrupted(&mut m), cpus);
    }
}

#[test]
fn wk_on_pmi() {
    // Table 2-2: its text speaks of all cores, its note of those in the mask.
    for (word, cpus) in [("mask", vec![2, 3]), ("all", vec![0, 1, 2, 3, 4, 5, 6, 7])] {
        let mut m = machine(&format!("wk_on_pmi={word}"));
        arm_clock(&mut m, 10, WK_ON_PMI | 2);
        assert_eq!(interrupted(&mut m), cpus, "{word}");
        let mut m = machine(&format!("wk_on_pmi={word}"));
        arm_clock(&mut m, 10, 2);
        assert_eq!(interrupted(&mut m), [2, 3], "{word}");
    }
}

#[test]
fn uncore_pmi_never() {
    let mut m = machine("uncore_pmi=never");
    arm_clock(&mut m, 10, 1);
    assert!(interrupted(&mut m).is_empty());
    assert_eq!(
        (rd(&mut m, 0, FIXED_CTR), rd(&mut m, 0, GLOBAL_STATUS)),
        (0, 1)
    );
}

#[test]
fn global_freeze_never() {
    let mut m = machine("global_freeze=never");
    arm_clock(&mut m, 10, 1);
    assert_eq!(interrupted(&mut m), [0, 1]);
    assert_eq!(
        (rd(&mut m, 0, FIXED_CTR), rd(&mut m, 0, GLOBAL_STATUS)),
        (20_000 - 10, 1)
    );
    // The command still works.
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    m.advance(100);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 20_000 - 10);
}

#[test]
fn cbos() {
    for (config, present) in [("", 4), ("cbos=15", 15), ("cbos=1", 1)] {
        let mut m = machine(config);
        for n in 0..16 {
            let read = m.rdmsr(0, C0_BOX_CTL + n * C_STRIDE).done();
            assert_eq!(read.is_some(), n < present, "{config} {n}");
        }
        assert_eq!(rd(&mut m, 0, GLOBAL_CONFIG), u64::from(present));
    }
}

#[test]
fn uncore_absent() {
    let mut m = machine("uncore=absent");
    for msr in [GLOBAL_CTL, FIXED_CTR, C0_CTL0, PCU_STATUS] {
        assert_eq!(m.rdmsr(0, msr), Access::Fault);
        assert_eq!(m.wrmsr(0, msr, 0), Access::Fault);
    }
    assert_eq!(rd(&mut m, 0, PERF_CTRL), 0xf);
}

#[test]
fn box_unfreeze() {
    // Step f of §2.1.2 has two ways to let counters go and does not say whether they mix.
    for (word, counted) in [("own", 0), ("any", 200)] {
        let mut m = machine(&format!("box_unfreeze={word}"));
        wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
        start_pcu(&mut m, 0, EN, 0);
        m.advance(100);
        assert_eq!(rd(&mut m, 0, PCU_CTR0), counted, "{word}");
        // The other way round: unfrz_all after a freeze of the box itself.
        wr(&mut m, 0, PCU_BOX_CTL, BOX_RUN | BOX_FRZ);
        wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
        m.advance(100);
        assert_eq!(rd(&mut m, 0, PCU_CTR0), 2 * counted, "{word}");
    }
}

#[test]
fn frz_reads() {
    // Table 2-13 calls frz write-only; software of others relies on reading it.
    for (word, read) in [("stored", BOX_RUN | BOX_FRZ), ("zero", BOX_RUN)] {
        let mut m = machine(&format!("frz_reads={word}"));
        wr(&mut m, 0, C0_BOX_CTL, BOX_RUN | BOX_FRZ);
        assert_eq!(rd(&mut m, 0, C0_BOX_CTL), read);
        wr(&mut m, 0, C0_CTL0, EN);
        m.advance(100);
        assert_eq!(rd(&mut m, 0, C0_CTR0), 0, "{word}: frozen in any case");
    }
}

#[test]
fn global_status() {
    // §2.1.4 step b says to clear both, not in which order.
    for (word, left) in [("latched", 0), ("level", 1 << 2)] {
        let mut m = machine(&format!("global_status={word}"));
        start_pcu(&mut m, 0, EN | OV_EN, 0);
        ok(&mut m, "overflow 10 pcu counter=0");
        m.advance(1000);
        wr(&mut m, 0, GLOBAL_STATUS, 1 << 2);
        assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), left, "{word}");
        wr(&mut m, 0, PCU_STATUS, 1);
        wr(&mut m, 0, GLOBAL_STATUS, 1 << 2);
        assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), 0);
    }
}

#[test]
fn cbo_filter() {
    // Tables 2-16 and 2-17 against the event files and Linux.
    for (word, rules) in [("manual", 3), ("wide", 0)] {
        let mut m = machine(&format!("cbo_filter={word}"));
        wr(&mut m, 0, C0_FILTER, 0xf << 5);
        wr(&mut m, 0, C0_FILTER, 1 << 23);
        wr(&mut m, 0, C0_FILTER1, 1 << 29);
        assert_eq!(kinds(&m).len(), rules, "{word}");
        assert_eq!(
            rd(&mut m, 0, C0_FILTER1),
            if rules == 0 { 1 << 29 } else { 0 }
        );
    }
}

#[test]
fn residency() {
    // SDM table 35-18: per core. Tables 2-124 and 2-125: some core of the socket.
    for (word, expected) in [("core", [250, 500, 1000]), ("socket", [1000, 1000, 1000])] {
        let mut m = machine(&format!(
            "residency={word},c3_hz=500000000,c6_hz=1000000000"
        ));
        m.advance(1000);
        let read: Vec<u64> = [0, 2, 7]
            .iter()
            .map(|cpu| rd(&mut m, *cpu, 0x3fd))
            .collect();
        assert_eq!(read, expected, "{word}");
        assert_eq!(rd(&mut m, 7, 0x3fc), 500);
        wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
        m.advance(1000);
        assert_eq!(rd(&mut m, 7, 0x3fd), 2000, "it cannot be frozen");
    }
}

#[test]
fn halt_poll_ns() {
    for poll in [100, 10_000] {
        let mut m = machine(&format!("halt_poll_ns={poll}"));
        wr(&mut m, 0, PMC0, (-10i64) as u64);
        m.set_halted(0, true);
        wr(&mut m, 0, EVTSEL0, INSTRUCTIONS_INT);
        // It wakes without the model knowing, and is looked at when the poll comes.
        m.set_halted(0, false);
        assert!(m.execute_to_pmi(0, 100_000));
        assert_eq!(m.now_ns(), poll);
    }
}
