// SPDX-License-Identifier: GPL-2.0-only
//! The core's counters, against SDM volume 3 §18.2 and its register tables.

mod common;

use common::*;
use pmon_model::{Access, Machine, Pmi, Topology};

/// A machine without shared cores.
fn single(config: &str) -> Machine {
    Machine::new(
        Topology {
            sockets: 1,
            cores: 2,
            threads: 1,
        },
        config,
    )
    .unwrap()
}

#[test]
fn cpuid_and_registers_follow_the_threads() {
    // SDM §18.9.2: 4 counters a thread, 8 when threads do not share the core.
    assert_eq!(machine("").cpuid_0a(), [0x0730_0403, 0, 0, 0x603]);
    assert_eq!(single("").cpuid_0a(), [0x0730_0803, 0, 0, 0x603]);
    assert_eq!(machine("").rdmsr(0, EVTSEL0 + 4), Access::Fault);
    assert_eq!(single("").rdmsr(0, EVTSEL0 + 7), Access::Done(0));
    assert_eq!(machine("").rdmsr(0, PERF_CTRL), Access::Done(0xf));
    assert_eq!(
        machine("").rdmsr(0, CAPABILITIES),
        Access::Done((1 << 13) | 3)
    );
}

#[test]
fn each_cpu_counts_its_own_instructions() {
    let mut m = machine("");
    wr(&mut m, 2, EVTSEL0, INSTRUCTIONS);
    wr(&mut m, 3, EVTSEL0 + 1, INSTRUCTIONS);
    m.execute(2, 1000);
    m.execute(3, 10);
    m.execute(0, 5);
    m.advance(77);
    assert_eq!(rd(&mut m, 2, PMC0), 1000);
    assert_eq!(rd(&mut m, 3, PMC0 + 1), 10);
    assert_eq!(rd(&mut m, 3, PMC0), 0);
    assert_eq!(m.rdpmc(2, 0).done(), Some(1000));
    assert_eq!(m.rdpmc(2, 4), Access::Fault);
    assert_eq!(m.rdpmc(2, 0x4000_0003), Access::Fault);
}

#[test]
fn a_counter_needs_all_its_enables() {
    // §18.2.1.1: EN, and USR or OS; §18.2.2: the bit of GLOBAL_CTRL.
    for (select, global, counts) in [
        (0x43_00c0, 1, true),
        (0x41_00c0, 1, true),
        (0x42_00c0, 1, true),
        (0x40_00c0, 1, false),
        (0x03_00c0, 1, false),
        (0x43_00c0, 0b1110, false),
    ] {
        let mut m = machine("");
        wr(&mut m, 0, PERF_CTRL, global);
        wr(&mut m, 0, EVTSEL0, select);
        m.execute(0, 9);
        assert_eq!(
            rd(&mut m, 0, PMC0),
            if counts { 9 } else { 0 },
            "{select:#x} {global:#x}"
        );
    }
}

#[test]
fn fixed_counters_have_four_control_bits_each() {
    // §18.2.2: 0 OS, 1 USR, 2 ANY, 3 PMI.
    let mut m = machine("");
    ok(&mut m, "ratio 0x3c 0x00 3 2");
    ok(&mut m, "ratio 0x3c 0x01 1 2");
    wr(&mut m, 0, PERF_CTRL, 7 << 32);
    wr(&mut m, 0, FIXED_CTRL, 0x132);
    m.execute(0, 10);
    let read: Vec<u64> = (0..3).map(|i| rd(&mut m, 0, FIXED0 + i)).collect();
    assert_eq!(read, [10, 15, 5]);
    assert_eq!(m.rdpmc(0, 0x4000_0001).done(), Some(15));
    wr(&mut m, 0, FIXED_CTRL, 0x0c4);
    m.execute(0, 10);
    assert_eq!(rd(&mut m, 0, FIXED0), 10, "ANY alone enables nothing");
    clean(&m);
}

#[test]
fn plain_writes_are_32_bits_with_sign_and_full_width_ones_48() {
    // §18.2.5.
    let mut m = machine("");
    wr(&mut m, 0, PMC0, 0x7fff_ffff);
    assert_eq!(rd(&mut m, 0, PMC0), 0x7fff_ffff);
    wr(&mut m, 0, PMC0, 0x8000_0000);
    assert_eq!(rd(&mut m, 0, PMC0), 0xffff_8000_0000);
    wr(&mut m, 0, A_PMC0, 0x1234_8000_0000);
    assert_eq!(rd(&mut m, 0, PMC0), 0x1234_8000_0000);
    assert_eq!(rd(&mut m, 0, A_PMC0), 0x1234_8000_0000);
    assert_eq!(m.wrmsr(0, A_PMC0, 1 << 48), Access::Fault);
    wr(&mut m, 0, FIXED0, (1 << 48) - 1);
    assert_eq!(rd(&mut m, 0, FIXED0), (1 << 48) - 1);
}

#[test]
fn an_overflow_is_noticed_at_the_very_instruction() {
    let mut m = machine("");
    wr(&mut m, 5, EVTSEL0, 0);
    wr(&mut m, 5, PMC0, (-1000i64) as u64);
    wr(&mut m, 5, EVTSEL0, INSTRUCTIONS_INT);
    // Another CPU runs and time passes: the deadline comes early and is planned again.
    m.execute(4, 700);
    m.advance(600);
    assert!(!m.execute_to_pmi(5, 999));
    assert!(m.execute_to_pmi(5, 100));
    assert_eq!(m.take_pmi(), Some(Pmi { ns: 2300, cpu: 5 }));
    assert_eq!((rd(&mut m, 5, PMC0), rd(&mut m, 5, PERF_STATUS)), (0, 1));
    assert!(m.masked(5));
    wr(&mut m, 5, PERF_OVF_CTRL, 1);
    assert_eq!(rd(&mut m, 5, PERF_STATUS), 0);
    clean(&m);
}

#[test]
fn without_int_only_the_status_tells() {
    let mut m = machine("");
    wr(&mut m, 0, PMC0 + 2, (-10i64) as u64);
    wr(&mut m, 0, EVTSEL0 + 2, INSTRUCTIONS);
    assert!(!m.execute_to_pmi(0, 1000));
    assert_eq!(rd(&mut m, 0, PERF_STATUS), 1 << 2);
    assert_eq!(rd(&mut m, 0, PMC0 + 2), 990);
}

#[test]
fn fixed_overflow_has_bit_32_and_its_own_interrupt_bit() {
    let mut m = machine("");
    wr(&mut m, 0, PERF_CTRL, 2 << 32);
    wr(&mut m, 0, FIXED0 + 1, (1 << 48) - 50);
    wr(&mut m, 0, FIXED_CTRL, 0xb0);
    assert!(m.execute_to_pmi(0, 1000));
    assert_eq!((rd(&mut m, 0, PERF_STATUS), m.now_ns()), (1 << 33, 50));
}

#[test]
fn freeze_on_pmi_clears_the_enables() {
    // §17.4.7, versions 2 and 3.
    let mut m = machine("");
    wr(&mut m, 0, DEBUGCTL, 1 << 12);
    wr(&mut m, 0, PERF_CTRL, (7 << 32) | 0xf);
    wr(&mut m, 0, PMC0, (-10i64) as u64);
    wr(&mut m, 0, EVTSEL0 + 1, INSTRUCTIONS);
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS_INT);
    m.execute(0, 100);
    assert_eq!(rd(&mut m, 0, PERF_CTRL), 0);
    assert_eq!((rd(&mut m, 0, PMC0), rd(&mut m, 0, PMC0 + 1)), (0, 10));
}

#[test]
fn an_uncore_interrupt_does_not_freeze_the_core() {
    let mut m = machine("");
    wr(&mut m, 0, DEBUGCTL, (1 << 12) | (1 << 13));
    arm_clock(&mut m, 10, 1);
    m.advance(1000);
    assert_eq!(
        (rd(&mut m, 0, PERF_CTRL), rd(&mut m, 0, PERF_STATUS)),
        (0xf, 1 << 61)
    );
    wr(&mut m, 0, PERF_OVF_CTRL, 1 << 61);
    assert_eq!(rd(&mut m, 0, PERF_STATUS), 0);
}

#[test]
fn a_masked_lvtpc_drops_the_interrupt() {
    let mut m = machine("");
    m.set_masked(0, true);
    wr(&mut m, 0, PMC0, (-10i64) as u64);
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS_INT);
    m.execute(0, 100);
    assert!(m.take_pmi().is_none());
    let pmis = &m.json("overflows")["cpus"][0]["pmis"];
    assert_eq!(
        (&pmis["core"], &pmis["dropped_masked"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn cmask_and_inv_count_cycles() {
    // §18.2.1.1: with CMASK 1 cycles with the event, with INV those without, with 2 none here.
    let mut m = machine("");
    ok(&mut m, "ratio 0x0e 0x01 1 4");
    for (i, select) in [0x0143_010e, 0x01c3_010e, 0x0243_010e, 0x02c3_010e]
        .iter()
        .enumerate()
    {
        wr(&mut m, 0, EVTSEL0 + i as u32, *select);
    }
    m.execute(0, 100);
    let read: Vec<u64> = (0..4).map(|i| rd(&mut m, 0, PMC0 + i)).collect();
    assert_eq!(read, [25, 75, 0, 100]);
}

#[test]
fn without_counted_instructions_time_drives_the_core() {
    let mut m = Machine::timed(
        Topology {
            sockets: 1,
            cores: 1,
            threads: 1,
        },
        "",
    )
    .unwrap();
    ok(&mut m, "ratio 0xc0 0x00 3 1");
    wr(&mut m, 0, A_PMC0, (1 << 48) - 100);
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS_INT);
    assert!(m.advance_to_pmi(1000));
    assert_eq!((m.now_ns(), rd(&mut m, 0, PMC0)), (34, 2));
    m.advance(66);
    assert_eq!(rd(&mut m, 0, PMC0), 200);
    assert_eq!(m.json("truth")["cpus"][0]["0"], "300");
}

#[test]
fn a_sleeping_cpu_is_looked_at_seldom() {
    let mut m = machine("halt_poll_ns=10000");
    wr(&mut m, 0, PMC0, (-2i64) as u64);
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS_INT);
    m.execute(0, 1);
    m.set_halted(0, true);
    m.advance(25_000);
    m.set_halted(0, false);
    assert!(m.execute_to_pmi(0, 10_000));
}

#[test]
fn illegal_writes_raise_gp_and_change_nothing() {
    let mut m = machine("");
    for (msr, value) in [
        (PERF_CTRL, 1 << 4),
        (PERF_CTRL, 1 << 35),
        (FIXED_CTRL, 1 << 12),
        (EVTSEL0, 1 << 32),
        (PERF_STATUS, 0),
        (CAPABILITIES, 0),
        (DEBUGCTL, 1 << 2),
        (PERF_OVF_CTRL, 1 << 40),
        (0x391, 0),
        (0x3fc, 0),
    ] {
        assert_eq!(m.wrmsr(0, msr, value), Access::Fault, "{msr:#x}");
    }
    assert_eq!(rd(&mut m, 0, PERF_CTRL), 0xf);
    assert_eq!(kinds(&m).len(), 10);
}

#[test]
fn perf_helpers_are_plain_storage() {
    // OFFCORE_RSP, LBR and PEBS registers, which the stock kernel may touch.
    let mut m = machine("");
    for msr in [0x1a6, 0x1a7, 0x1c8, 0x1c9, 0x3f1, 0x3f6, 0x680, 0x6cf] {
        wr(&mut m, 1, msr, 5);
        assert_eq!((rd(&mut m, 1, msr), rd(&mut m, 0, msr)), (5, 0), "{msr:#x}");
    }
    clean(&m);
}
