// SPDX-License-Identifier: GPL-2.0-only
//! Each rule of the manual that the model watches, broken once and kept once.

mod common;

use common::*;
use pmon_model::{Access, Machine};

/// Counting PCU counter 0, CBo 0 counter 0 and the UBox clock.
fn running() -> Machine {
    let mut m = machine("");
    start_pcu(&mut m, 0, EN, 0);
    start_cbo(&mut m, 0, 0, EN, 0);
    wr(&mut m, 0, FIXED_CTL, EN);
    clean(&m);
    m
}

/// Checks that writing `value` breaks just the rules in `expected`.
#[track_caller]
fn breaks(mut m: Machine, msr: u32, value: u64, expected: &[&str]) {
    wr(&mut m, 0, msr, value);
    assert_eq!(kinds(&m), expected, "{msr:#x} = {value:#x}");
}

#[test]
fn reserved_bits() {
    for (msr, value) in [
        (GLOBAL_CTL, 1 << 15), // table 2-2: 28:15
        (GLOBAL_CTL, 1 << 28),
        (GLOBAL_CTL, 1 << 32),
        (GLOBAL_STATUS, 1 << 27), // table 2-3
        (U_STATUS, 1 << 2),       // table 2-5: 31:2
        (U_CTL0, 1 << 29),        // table 2-6: 31:29, 23, 21, 19
        (U_CTL0, 1 << 23),
        (U_CTL0, 1 << 21),
        (U_CTL0, 1 << 19),
        (FIXED_CTL, 1 << 21), // table 2-8: all but 22 and 20
        (FIXED_CTL, 1),
        (U_CTR0, 1 << 44), // table 2-7: 63:44
        (FIXED_CTR, 1 << 48),
        (C0_BOX_CTL, BOX_RUN | (1 << 18)), // table 2-13: 31:18, 15:9, 7:2
        (C0_BOX_CTL, BOX_RUN | (1 << 9)),
        (C0_BOX_CTL, BOX_RUN | (1 << 2)),
        (C0_CTL0, 1 << 23), // table 2-14: 23, 21:20
        (C0_CTL0, 1 << 21),
        (C0_CTL0, 1 << 20),
        (C0_CTR0, 1 << 44),  // table 2-15
        (C0_FILTER, 1 << 5), // table 2-16: 16:5, 31:23
        (C0_FILTER, 1 << 16),
        (C0_FILTER, 1 << 23),
        (C0_FILTER1, 1 << 16), // table 2-17: 19:16, 29
        (C0_FILTER1, 1 << 29),
        (PCU_CTL0, 1 << 29), // table 2-121: 29, 23, 13:8
        (PCU_CTL0, 1 << 23),
        (PCU_CTL0, 1 << 8),
        (PCU_CTR0, 1 << 48), // table 2-122
        (PCU_STATUS, 1 << 4),
    ] {
        breaks(machine(""), msr, value, &["reserved-bit"]);
    }
    // A bit that is reserved in the core's control since Sandy Bridge.
    breaks(machine(""), EVTSEL0, 1 << 19, &["reserved-bit"]);
}

#[test]
fn bits_that_must_be_one() {
    for value in [0, 1 << 16, 1 << 17, 3] {
        breaks(machine(""), C0_BOX_CTL, value, &["must-be-one"]);
        breaks(machine(""), PCU_BOX_CTL, value, &["must-be-one"]);
    }
}

#[test]
fn absent_registers() {
    let mut m = machine("");
    // Between the UBox's registers; CBo 4 of 4; after the CBos; a box status that CBos lack.
    for msr in [0xc02, 0xc07, 0xd84, 0xee4, 0xd15, 0x392] {
        assert_eq!(m.rdmsr(0, msr), Access::Fault, "{msr:#x}");
        assert_eq!(m.wrmsr(0, msr, 0), Access::Fault, "{msr:#x}");
    }
    assert_eq!(kinds(&m), ["absent-register"; 12]);
    assert_eq!(m.violations()[0].register, "MSR_0xc02");
    assert_eq!(m.rdmsr(0, 0x10), Access::NotMine);
}

#[test]
fn read_only_registers() {
    breaks(machine(""), GLOBAL_CONFIG, 1, &["read-only"]);
    let mut m = machine("");
    assert_eq!(m.wrmsr(0, PERF_STATUS, 0), Access::Fault);
    assert_eq!(kinds(&m), ["read-only"]);
}

#[test]
fn wrong_socket() {
    let mut m = machine("");
    ok(&mut m, "only-socket 1");
    rd(&mut m, 8, GLOBAL_CTL);
    rd(&mut m, 0, PERF_CTRL);
    clean(&m);
    rd(&mut m, 0, GLOBAL_CTL);
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN);
    assert_eq!(kinds(&m), ["wrong-socket"; 2]);
    assert_eq!((m.violations()[1].cpu, m.violations()[1].socket), (0, 0));
    ok(&mut m, "only-socket all");
    rd(&mut m, 0, GLOBAL_CTL);
    assert_eq!(kinds(&m).len(), 2);
}

#[test]
fn counters_written_while_they_run() {
    breaks(running(), PCU_CTR0, 0, &["running-counter"]);
    breaks(running(), C0_CTR0, 0, &["running-counter"]);
    breaks(running(), FIXED_CTR, 0, &["running-counter"]);
    breaks(running(), PCU_CTL0, EN | RST, &["running-counter"]);
    breaks(
        running(),
        PCU_BOX_CTL,
        BOX_RUN | BOX_RST_CTRS,
        &["running-counter"],
    );
    // Its neighbour does not run; a freeze in the same write stops it first.
    breaks(running(), PCU_CTR0 + 1, 0, &[]);
    breaks(
        running(),
        PCU_BOX_CTL,
        BOX_RUN | BOX_FRZ | BOX_RST_CTRS,
        &[],
    );

    let mut m = machine("");
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS);
    breaks(m, PMC0, 0, &["running-counter"]);
    let mut m = machine("");
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS);
    wr(&mut m, 0, PERF_CTRL, 0);
    breaks(m, A_PMC0, 0, &[]);
}

#[test]
fn a_frozen_counter_may_be_written() {
    let mut m = running();
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    for msr in [PCU_CTR0, C0_CTR0, FIXED_CTR] {
        wr(&mut m, 0, msr, 5);
    }
    wr(&mut m, 0, PCU_CTL0, EN | 4);
    wr(&mut m, 0, C0_FILTER, 1);
    clean(&m);
}

#[test]
fn controls_changed_while_the_counter_runs() {
    breaks(running(), PCU_CTL0, EN | 5, &["running-control"]);
    breaks(running(), C0_CTL0, EN | (1 << 24), &["running-control"]);
    breaks(running(), FIXED_CTL, EN | OV_EN, &["running-control"]);
    // Stopping it, writing the same again, and starting another one are fine.
    breaks(running(), PCU_CTL0, 0, &[]);
    breaks(running(), PCU_CTL0, 5, &[]);
    breaks(running(), PCU_CTL0, EN, &[]);
    breaks(running(), PCU_CTL0 + 1, EN | 5, &[]);

    let mut m = machine("");
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS);
    breaks(m, EVTSEL0, INSTRUCTIONS_INT, &["running-control"]);
    let mut m = machine("");
    wr(&mut m, 0, EVTSEL0, INSTRUCTIONS);
    breaks(m, EVTSEL0, 0, &[]);
    let mut m = machine("");
    wr(&mut m, 0, PERF_CTRL, 1 << 32);
    wr(&mut m, 0, FIXED_CTRL, 3);
    wr(&mut m, 0, FIXED_CTRL, 0x33);
    breaks(m, FIXED_CTRL, 0x3b, &["running-control"]);
}

#[test]
fn filters_changed_while_the_box_counts() {
    breaks(running(), C0_FILTER, 1, &["running-filter"]);
    breaks(running(), C0_FILTER1, 1, &["running-filter"]);
    breaks(running(), PCU_FILTER, 1, &["running-filter"]);
    breaks(running(), C0_FILTER, 0, &[]);
    breaks(running(), C0_FILTER + C_STRIDE, 1, &[]);
}

#[test]
fn both_commands_at_a_time() {
    breaks(
        machine(""),
        GLOBAL_CTL,
        FRZ_ALL | UNFRZ_ALL,
        &["both-commands"],
    );
}

#[test]
fn edge_detection_needs_a_threshold() {
    // Table 2-6 and p10.
    breaks(machine(""), U_CTL0, EDGE, &["edge-without-threshold"]);
    breaks(machine(""), C0_CTL0, EDGE, &["edge-without-threshold"]);
    breaks(machine(""), PCU_CTL0, EDGE, &["edge-without-threshold"]);
    breaks(
        machine(""),
        PCU_CTL0,
        (1 << 31) | 0x80,
        &["edge-without-threshold"],
    );
    breaks(
        machine(""),
        PCU_CTL0,
        (1 << 30) | 0x80,
        &["invert-without-threshold"],
    );
    breaks(machine(""), U_CTL0, EDGE | (1 << 24), &[]);
    breaks(
        machine(""),
        PCU_CTL0,
        (1 << 31) | (1 << 30) | (1 << 24) | 0x80,
        &[],
    );
}

#[test]
fn events_on_counters_that_cannot_count_them() {
    breaks(machine(""), C0_CTL0 + 1, EN | 0x11, &["event-not-allowed"]);
    breaks(machine(""), C0_CTL0 + 2, EN | 0x35, &["event-not-allowed"]);
    breaks(machine(""), C0_CTL0, EN | 0x1f, &["event-not-allowed"]);
    breaks(machine(""), C0_CTL0 + 1, 0x11, &[]);
}

#[test]
fn one_criterion_of_filter_0_at_a_time() {
    // Table 2-16.
    let by_thread = EN | (1 << 19) | 0x0334;
    let mut m = machine("");
    wr(&mut m, 0, C0_FILTER, 1 << 17);
    breaks(m, C0_CTL0, by_thread, &["two-filters"]);
    let mut m = machine("");
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN | BOX_FRZ);
    wr(&mut m, 0, C0_CTL0, by_thread);
    breaks(m, C0_FILTER, (1 << 17) | 2, &["two-filters"]);
}

#[test]
fn a_violation_tells_all_about_itself() {
    let mut m = machine("");
    m.advance(42);
    wr(&mut m, 11, C0_CTL0 + 3 * C_STRIDE + 1, 1 << 20);
    let answer = m.json("violations");
    assert_eq!(answer["total"], 1);
    let expected = serde_json::json!({
        "ns": 42, "cpu": 11, "socket": 1, "register": "C3_MSR_PMON_CTL1", "address": "0xd71",
        "kind": "reserved-bit", "value": "0x100000",
    });
    assert_eq!(answer["violations"][0], expected);
    ok(&mut m, "violations clear");
    clean(&m);
}

#[test]
fn at_most_1000_violations_are_kept() {
    let mut m = machine("");
    for _ in 0..1100 {
        wr(&mut m, 0, GLOBAL_CTL, 1 << 15);
    }
    assert_eq!(m.violations().len(), 1000);
    assert_eq!(m.json("violations")["total"], 1100);
}
