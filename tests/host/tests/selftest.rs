// SPDX-License-Identifier: GPL-2.0-only

//! What the self-test finds under each reading that the model can follow.

mod common;

use common::*;
use pmon_host_tests::{
    bus::{machine, Access::Write, ModelBus, TestBus},
    driver::{try_box, CPU, SOCKET},
    logic::{
        registers::{HwError, Reg, Registers},
        selftest::Outcome,
    },
};

/// Widths by row of the box types, where the clock has 48 bits (329468 tables 2-9, 2-15, 2-122).
const WIDTHS: [u32; 3] = [48, 44, 48];

fn bus(config: &str) -> TestBus {
    let bus = TestBus::new(ModelBus::new(machine(config), CPU));
    let answer = bus.inner.machine().control(&format!("only-socket {SOCKET}"));
    assert_eq!(answer, "ok");
    bus
}

/// The outcome for a box, after which all is as before and no rule was broken.
fn outcome(config: &str, kind: usize, box_nr: u32) -> Outcome {
    let mut bus = bus(config);
    // The firmware's bits of BOX_CTL, which are written back, and a routing of its own.
    for msr in [0xc24, 0xd04, 0xd24, 0xd44, 0xd64] {
        bus.write(Reg::Msr(msr), 0x3_0000).expect("a register");
    }
    bus.write(Reg::Msr(0xc00), (1 << 30) | 0b1000).expect("a register");
    bus.write(Reg::Msr(0xc09), 0x1234).expect("a register");
    bus.write(Reg::Msr(0xd16), 0x5678).expect("a register");
    let before = registers(&mut bus.inner.machine());
    let outcome = try_box(&mut bus, kind, box_nr).expect("an outcome");
    // The bit that tells a CPU of an uncore PMI is cleared by the caller.
    for cpu in 0..16 {
        bus.inner.machine().wrmsr(cpu, 0x390, 1 << 61);
    }
    let mut machine = bus.inner.machine();
    assert_eq!(changed(&mut machine, &before), [""; 0], "{config} {kind}");
    assert!(!frozen(&mut machine));
    assert!(machine.violations().is_empty(), "{config} {kind}: {:#?}", machine.violations());
    outcome
}

fn each(config: &str, wanted: impl Fn(usize) -> Outcome) {
    for kind in [UBOX, CBOX, PCU] {
        assert_eq!(outcome(config, kind, 0), wanted(kind), "{config} {kind}");
    }
}

/// All is well.
fn good(kind: usize) -> Outcome {
    Outcome { overflowed: true, status: true, froze: true, interrupt: true, width: WIDTHS[kind] }
}

#[test]
fn where_all_works() {
    for config in [
        "",
        "freeze_delay_ns=0,pmi_delay_ns=0",
        "pmi_delay_ns=20000",
        "ovf_uncore=clear",
        "smt_pmi=first",
        "wk_on_pmi=all",
        "global_status=level",
        "box_unfreeze=any",
        "frz_reads=zero",
        "cbo_filter=wide",
        "uclk_hz=1200000000",
        "uclk_hz=3300000000",
    ] {
        each(config, good);
    }
}

#[test]
fn each_cbo() {
    (0..4).for_each(|nr| assert_eq!(outcome("", CBOX, nr), good(CBOX)));
}

#[test]
fn a_silent_cbo_runs_past_its_end_and_nothing_happens() {
    let silent = Outcome { status: false, froze: false, interrupt: false, ..good(CBOX) };
    each("cbo_overflow=silent", |kind| if kind == CBOX { silent } else { good(kind) });
}

#[test]
fn a_clock_of_44_bits() {
    let width = |kind| if kind == UBOX { 44 } else { WIDTHS[kind] };
    each("fixed_width=44", |kind| Outcome { width: width(kind), ..good(kind) });
}

#[test]
fn no_freeze() {
    each("global_freeze=never", |kind| Outcome { froze: false, ..good(kind) });
}

#[test]
fn a_freeze_that_comes_after_the_interrupt_is_none() {
    for config in ["freeze_delay_ns=3000", "freeze_delay_ns=8000,pmi_delay_ns=100"] {
        // The UBox's own counter, the witness, freezes at once when it is tried itself.
        for kind in [CBOX, PCU] {
            assert_eq!(
                outcome(config, kind, 0),
                Outcome { froze: false, ..good(kind) },
                "{config}"
            );
        }
    }
}

#[test]
fn no_interrupt() {
    each("uncore_pmi=never", |kind| Outcome { interrupt: false, ..good(kind) });
}

#[test]
fn an_interrupt_that_debugctl_lets_through() {
    each("debugctl13=needed", |kind| Outcome { interrupt: false, ..good(kind) });
    for kind in [UBOX, CBOX, PCU] {
        let mut bus = bus("debugctl13=needed");
        bus.write(Reg::Msr(0x1d9), 1 << 13).expect("IA32_DEBUGCTL");
        assert_eq!(try_box(&mut bus, kind, 0), Ok(good(kind)));
    }
}

#[test]
fn a_clock_that_stands_still_ends_in_time() {
    let still = |kind| Outcome {
        width: if kind == UBOX { 44 } else { WIDTHS[kind] },
        ..Outcome::default()
    };
    each("uclk_hz=0", still);
}

#[test]
fn no_uncore() {
    let mut bus = bus("uncore=absent");
    for kind in [UBOX, CBOX, PCU] {
        assert_eq!(try_box(&mut bus, kind, 0), Err(HwError::Fault(Reg::Msr(0xc00))));
    }
}

#[test]
fn a_box_that_is_not_there_changes_nothing() {
    let mut bus = bus("");
    let before = registers(&mut bus.inner.machine());
    assert!(matches!(try_box(&mut bus, CBOX, 4), Err(HwError::Fault(_))));
    let mut machine = bus.inner.machine();
    assert_eq!(changed(&mut machine, &before), [""; 0]);
    assert!(!frozen(&mut machine));
}

#[test]
fn a_fault_in_the_selftest_changes_nothing() {
    for kind in [UBOX, CBOX, PCU] {
        let length = {
            let mut bus = bus("");
            try_box(&mut bus, kind, 0).expect("an outcome");
            bus.log.len()
        };
        // Between them it only reads the counter, again and again.
        for k in (0..25).chain(length - 25..length) {
            let mut bus = bus("");
            for msr in [0xc24, 0xd04] {
                bus.write(Reg::Msr(msr), 0x3_0000).expect("a register");
            }
            bus.write(Reg::Msr(0xc00), (1 << 30) | 0b1000).expect("a register");
            let before = registers(&mut bus.inner.machine());
            bus.log.clear();
            bus.fault_at = Some(k);
            assert!(matches!(try_box(&mut bus, kind, 0), Err(HwError::Fault(_))), "{k}");
            let at = bus.log[k];
            for cpu in 0..16 {
                bus.inner.machine().wrmsr(cpu, 0x390, 1 << 61);
            }
            let mut left = changed(&mut bus.inner.machine(), &before);
            // What could not be written is not what it was; a counter may run for that.
            left.retain(|d| !d.ends_with("null"));
            let excused = usize::from(matches!(at, Write(..)));
            assert!(left.len() <= excused, "{kind} {k} {at:x?}: {left:#?}");
            let unfreeze = matches!(at, Write(0xc00, value) if (value >> 29) & 1 != 0);
            assert!(unfreeze || !frozen(&mut bus.inner.machine()), "{kind} {k} {at:x?}");
        }
    }
}
