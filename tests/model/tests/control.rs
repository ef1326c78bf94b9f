// SPDX-License-Identifier: GPL-2.0-only
//! The control protocol, command by command (docs/model-control.md).

mod common;

use common::*;
use pmon_model::{Machine, Topology};
use serde_json::json;

#[test]
fn rate_by_socket_and_box() {
    let mut m = machine("");
    ok(&mut m, "rate cbox 0x35 * 1000000000");
    ok(&mut m, "rate cbox 0x35 * 2000000000 socket=0 box=1");
    for (cpu, n) in [(0, 0), (0, 1), (8, 1)] {
        wr(&mut m, cpu, C0_BOX_CTL + n * C_STRIDE, BOX_RUN);
        wr(&mut m, cpu, C0_CTL0 + n * C_STRIDE, EN | 0x0335);
    }
    m.advance(10);
    assert_eq!(rd(&mut m, 0, C0_CTR0), 10);
    assert_eq!(rd(&mut m, 0, C0_CTR0 + C_STRIDE), 20);
    assert_eq!(rd(&mut m, 8, C0_CTR0 + C_STRIDE), 10);
    ok(&mut m, "rate ubox fixed * 500000000 socket=1");
    wr(&mut m, 0, FIXED_CTL, EN);
    wr(&mut m, 8, FIXED_CTL, EN);
    m.advance(10);
    assert_eq!(
        (rd(&mut m, 0, FIXED_CTR), rd(&mut m, 8, FIXED_CTR)),
        (20, 5)
    );
    assert!(m.control("rate cbox 0 * 5 box=4").starts_with("error: "));
    assert!(m.control("rate cbox 0 * 5 socket=2").starts_with("error: "));
}

#[test]
fn burst_gives_events_at_one_moment_if_the_counter_runs() {
    let mut m = machine("");
    ok(&mut m, "burst 100 ubox 12345 counter=1");
    ok(&mut m, "burst 300 ubox 5 counter=1 socket=0");
    ok(&mut m, "burst 100 core 77 counter=fixed0 cpu=3");
    m.advance(200);
    assert_eq!(rd(&mut m, 0, U_CTR1), 0);
    wr(&mut m, 0, U_CTL1, EN | 0x42);
    m.advance(99);
    assert_eq!(rd(&mut m, 0, U_CTR1), 0);
    m.advance(1);
    assert_eq!(rd(&mut m, 0, U_CTR1), 5);

    wr(&mut m, 3, PERF_CTRL, 1 << 32);
    wr(&mut m, 3, FIXED_CTRL, 3);
    ok(&mut m, "burst 100 core 77 counter=fixed0 cpu=3");
    m.advance(100);
    assert_eq!(rd(&mut m, 3, FIXED0), 77);
    for wrong in [
        "burst 1 ubox 1",
        "burst 1 ubox 1 counter=2",
        "burst 1 core 1 counter=4",
        "burst 1 core 1 counter=0 cpu=16",
        "burst 1 cbox 1 counter=0 box=4",
    ] {
        assert!(m.control(wrong).starts_with("error: "), "{wrong}");
    }
}

#[test]
fn a_burst_brings_the_next_overflow_nearer() {
    let topology = Topology {
        sockets: 1,
        cores: 1,
        threads: 1,
    };
    for mut m in [
        Machine::new(topology, "").unwrap(),
        Machine::timed(topology, "").unwrap(),
    ] {
        wr(&mut m, 0, PMC0, (-1000i64) as u64);
        wr(&mut m, 0, EVTSEL0, INSTRUCTIONS_INT);
        ok(&mut m, "burst 100 core 300 counter=0");
        assert!(m.execute_to_pmi(0, 10_000));
        assert_eq!(m.now_ns(), 700);
    }
}

#[test]
fn overflow_gives_exactly_what_is_missing() {
    let mut m = machine("");
    start_cbo(&mut m, 2, 1, EN | 0x0335, 1000);
    wr(&mut m, 0, PMC0, 5);
    wr(&mut m, 0, EVTSEL0, 0x53_0000);
    ok(&mut m, "overflow 50 cbox box=2 counter=1");
    ok(&mut m, "overflow 60 core counter=0");
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, C0_CTR0 + 2 * C_STRIDE + 1), 0);
    let truth = m.json("truth");
    assert_eq!(
        truth["sockets"][0]["cbox"][2]["1"],
        ((1u64 << 44) - 1000).to_string()
    );
    assert_eq!(truth["cpus"][0]["0"], ((1u64 << 48) - 5).to_string());
    assert_eq!(m.take_pmi().map(|pmi| (pmi.cpu, pmi.ns)), Some((0, 60)));
    assert_eq!(rd(&mut m, 0, PERF_STATUS), 1);
}

#[test]
fn storm_makes_every_event_happen() {
    let mut m = machine("");
    ok(&mut m, "storm pcu 3000000000");
    ok(&mut m, "storm core 2000000000");
    start_pcu(&mut m, 0, EN | 0x77, 0);
    wr(&mut m, 0, EVTSEL0, 0x43_1234);
    m.execute(0, 10);
    assert_eq!((rd(&mut m, 0, PCU_CTR0), rd(&mut m, 0, PMC0)), (30, 20));
    ok(&mut m, "storm pcu off");
    ok(&mut m, "storm core off");
    m.execute(0, 10);
    assert_eq!((rd(&mut m, 0, PCU_CTR0), rd(&mut m, 0, PMC0)), (30, 20));
}

#[test]
fn truth_has_each_counter_and_can_be_cleared() {
    let mut m = machine("cbos=1");
    wr(&mut m, 0, FIXED_CTL, EN);
    m.advance(10);
    let zero4 = json!({ "0": "0", "1": "0", "2": "0", "3": "0" });
    let truth = m.json("truth");
    assert_eq!(truth["now_ns"], 10);
    let socket = json!({
        "socket": 0, "ubox": { "fixed0": "20", "0": "0", "1": "0" }, "cbox": [zero4], "pcu": zero4,
    });
    assert_eq!(truth["sockets"][0], socket);
    let cpu = json!({
        "cpu": 15, "0": "0", "1": "0", "2": "0", "3": "0",
        "fixed0": "0", "fixed1": "0", "fixed2": "0",
    });
    assert_eq!(truth["cpus"][15], cpu);
    ok(&mut m, "truth clear");
    m.advance(1);
    assert_eq!(m.json("truth")["sockets"][0]["ubox"]["fixed0"], "2");
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 22);
}

#[test]
fn accesses_are_counted_by_kind_and_socket() {
    let mut m = machine("");
    rd(&mut m, 0, C0_CTL0);
    rd(&mut m, 1, C0_CTL0 + C_STRIDE);
    wr(&mut m, 9, C0_CTL0, 0);
    rd(&mut m, 9, PMC0 + 2);
    m.rdpmc(9, 0);
    let accesses = m.json("accesses");
    let expected = json!({
        "total": 5,
        "sockets": [
            { "socket": 0, "total": 2,
              "by_kind": { "Cn_MSR_PMON_CTL0": { "read": 2, "write": 0 } } },
            { "socket": 1, "total": 1,
              "by_kind": { "Cn_MSR_PMON_CTL0": { "read": 0, "write": 1 } } },
        ],
        "core": { "total": 2, "by_kind": {
            "IA32_PMC": { "read": 1, "write": 0 }, "RDPMC": { "read": 1, "write": 0 } } },
    });
    assert_eq!(accesses, expected);
    ok(&mut m, "accesses clear");
    assert_eq!(m.json("accesses")["total"], 0);
}

#[test]
fn overflows_tell_freezes_and_interrupts() {
    let mut m = machine("uclk_hz=1000000000");
    arm_clock(&mut m, 100, 1);
    m.advance(600);
    let socket = &m.json("overflows")["sockets"][0];
    assert_eq!(socket["carries"]["ubox"]["fixed0"], "1");
    assert_eq!(
        (&socket["freezes"], &socket["freezes_commanded"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&socket["frozen"], &socket["frozen_ns"]),
        (&true.into(), &500.into())
    );
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
    m.advance(100);
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    m.advance(50);
    let socket = &m.json("overflows")["sockets"][0];
    assert_eq!(
        (&socket["frozen_ns"], &socket["longest_frozen_ns"]),
        (&550.into(), &500.into())
    );
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
    assert_eq!(m.json("overflows")["sockets"][0]["longest_frozen_ns"], 500);
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    ok(&mut m, "overflows clear");
    m.advance(7);
    let overflows = m.json("overflows");
    assert_eq!(overflows["sockets"][0]["frozen_ns"], 7);
    assert_eq!(overflows["sockets"][0]["carries"]["ubox"]["fixed0"], "0");
    assert_eq!(overflows["cpus"][0]["pmis"]["delivered"], 0);
}

#[test]
fn regs_shows_every_register_and_null_for_running_counters() {
    let mut m = machine("");
    wr(&mut m, 0, FIXED_CTL, EN);
    wr(&mut m, 15, C0_FILTER1 + 3 * C_STRIDE, 0xabc);
    wr(&mut m, 4, EVTSEL0 + 1, INSTRUCTIONS);
    let regs = m.json("regs");
    assert_eq!(regs["socket0.U_MSR_PMON_FIXED_CTR"], json!(null));
    assert_eq!(regs["socket0.U_MSR_PMON_FIXED_CTL"], "0x400000");
    assert_eq!(regs["socket1.C3_MSR_PMON_BOX_FILTER1"], "0xabc");
    assert_eq!(regs["socket1.PCU_MSR_PMON_BOX_STATUS"], "0x0");
    assert_eq!(regs["cpu4.IA32_PMC1"], json!(null));
    assert_eq!(regs["cpu4.IA32_PMC0"], "0x0");
    assert_eq!(regs["cpu4.IA32_PERF_GLOBAL_CTRL"], "0xf");
    let all = regs.as_object().unwrap();
    // UBox 10, four CBos of 11, PCU 11; the state of the machine stays as it was.
    assert_eq!(
        all.keys().filter(|key| key.starts_with("socket0.")).count(),
        10 + 44 + 11
    );
    assert_eq!(m.json("accesses")["total"], 3);
}

#[test]
fn report_has_it_all() {
    let mut m = machine("");
    m.advance(5);
    ok(&mut m, "mark before  the load");
    let report = m.json("report");
    assert_eq!(
        report["marks"],
        json!([{ "ns": 5, "text": "before the load" }])
    );
    for key in ["settings", "truth", "accesses", "violations", "overflows"] {
        assert_eq!(report[key], m.json(key), "{key}");
    }
}

#[test]
fn mistakes_are_answered_in_one_line() {
    let mut m = machine("");
    for line in [
        "nonsense",
        "set nothing 1",
        "set cbos many",
        "only-socket 7",
        "ratio 1 2 3",
    ] {
        let answer = m.control(line);
        assert!(
            answer.starts_with("error: ") && !answer.contains('\n'),
            "{line}: {answer}"
        );
    }
    assert_eq!(m.control(""), "ok");
    assert_eq!(m.control("# words"), "ok");
}
