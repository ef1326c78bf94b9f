// SPDX-License-Identifier: GPL-2.0-only

//! Nothing is left changed in the hardware: after a session, and after a start or a stop in which
//! any one access faulted.

mod common;

use common::*;
use pmon_host_tests::{
    bus::Access,
    driver::{Driver, Event, Session, CPU, SELECT},
    logic::{
        core_pmu::Slot::{Fixed, General},
        registers::{HwError, Reg, Registers},
    },
};

/// Leaves something of its own in each register that can hold it while nothing counts.
fn used_before(driver: &mut Driver) {
    let bus = &mut driver.bus;
    let mut write = |msr, value| bus.write(Reg::Msr(msr), value).expect("a register");
    write(0xc00, 0b1010 | (1 << 30));
    write(0xc09, 0x1234_5678);
    for (i, ctr) in [0xc16, 0xc17].into_iter().enumerate() {
        write(ctr, 77 + i as u64);
        write(ctr - 6, 0x42 + i as u64);
    }
    for n in 0..4 {
        let base = 0xd00 + 0x20 * n;
        write(base + 0x04, 0x3_0100);
        write(base + 0x14, 0x0004_0003);
        write(base + 0x1a, 0x1230_0009);
        for i in 0..4 {
            write(base + 0x10 + i, 0x0b00 + u64::from(i));
            write(base + 0x16 + i, 1000 + u64::from(16 * n + i));
        }
    }
    write(0xc24, 0x3_0000);
    write(0xc34, 0x0102_0304);
    for i in 0..4 {
        write(0xc30 + i, 0x0b + u64::from(i));
        write(0xc36 + i, 0xffff_ffff_ff00 + u64::from(i));
    }
    for i in 0..4 {
        write(0x186 + i, 0x0001_003c + u64::from(i));
        write(0x4c1 + i, 0x8000_0000_0001 + u64::from(i));
    }
    for i in 0..3 {
        write(0x309 + i, 0x7000_0000_0001 + u64::from(i));
    }
    // Fixed counter 2 is somebody else's; bit 2 is off.
    write(0x38d, 0x300);
    write(0x38f, 0x7_0000_000b);
}

fn driver() -> Driver {
    let mut driver = Driver::new("");
    used_before(&mut driver);
    driver.tell("truth clear");
    clean(&driver);
    driver.bus.log.clear();
    driver
}

/// Two counters a box, so that boxes are shared, and core counters of both kinds.
fn uncore(driver: &Driver) -> Session {
    let events = [
        Event::new(CLOCK, 0, 20_011),
        Event::new(slot(UBOX, 0, 0), 0x42, 0),
        Event::new(slot(CBOX, 0, 0), 0, 10_007).filtered([0x2_0000, 7, 0, 0]),
        Event::new(slot(CBOX, 0, 3), 0, 0),
        Event::new(slot(CBOX, 3, 1), 0, 30_011),
        Event::new(slot(PCU, 0, 2), 0, 40_009).filtered([1, 0, 0, 0]),
        Event::new(slot(PCU, 0, 3), 0, 0),
    ];
    session(driver, &events)
}

fn core() -> Session {
    Session::default()
        .with_core(General(0), 0xc0, 10_007)
        .with_core(General(3), 0x3c, 0)
        .with_core(Fixed(0), 0, 20_011)
        .with_core(Fixed(1), 0, 0)
}

fn both(driver: &Driver) -> Session {
    uncore(driver).with_core(General(1), 0xc0, 10_007).with_core(Fixed(1), 0, 20_011)
}

#[test]
fn all_registers_are_as_before_after_a_session() {
    for make in [uncore, |_: &Driver| core(), both] {
        let mut driver = driver();
        let before = registers(&mut driver.machine());
        let session = make(&driver);
        driver.start(session).expect("the start");
        assert!(!changed(&mut driver.machine(), &before).is_empty());
        driver.execute(500_000);
        driver.look().expect("a look");
        driver.execute(100_000);
        let session = driver.stop(0);
        assert!(session.samples(None).count() > 20);
        assert_eq!(changed(&mut driver.machine(), &before), [""; 0]);
        assert!(!frozen(&mut driver.machine()));
        exact(&driver, &session);
    }
}

#[test]
fn with_overflows_at_the_stop_too() {
    let mut driver = driver();
    let before = registers(&mut driver.machine());
    for ns in [1_000, 5_003, 5_004, 5_504, 10_005, 10_010, 20_005] {
        let session = both(&driver);
        driver.tell("truth clear");
        driver.start(session).expect("the start");
        driver.execute(ns);
        let session = driver.stop(0);
        exact(&driver, &session);
        // A PMI that was on its way sets the status bit that says so.
        driver.run(1_000);
        driver.bus.write(Reg::Msr(0x390), 1 << 61).expect("the status");
        assert_eq!(changed(&mut driver.machine(), &before), [""; 0], "{ns} ns");
    }
}

#[test]
fn two_sessions_in_one_box_leave_it_when_both_have() {
    let mut driver = driver();
    let before = registers(&mut driver.machine());
    let first = session(&driver, &[Event::new(slot(CBOX, 0, 0), 0, 10_007)]).with_core(
        General(0),
        0xc0,
        10_007,
    );
    let second = session(&driver, &[Event::new(slot(CBOX, 0, 1), 0, 10_009)]).with_core(
        General(1),
        0xc0,
        10_009,
    );
    driver.start(first).expect("the start");
    driver.execute(50_000);
    driver.start(second).expect("the start");
    driver.execute(50_000);
    let first = driver.stop(0);
    assert!(!changed(&mut driver.machine(), &before).is_empty());
    driver.execute(50_000);
    let second = driver.stop(0);
    assert_eq!(changed(&mut driver.machine(), &before), [""; 0]);
    exact(&driver, &first);
    exact(&driver, &second);
}

#[test]
fn after_reset_only_the_ones_of_box_ctl_stay() {
    let mut driver = Driver::new("");
    let reset = registers(&mut driver.machine());
    let session = uncore(&driver);
    driver.start(session).expect("the start");
    driver.run(100_000);
    driver.stop(0);
    for difference in changed(&mut driver.machine(), &reset) {
        assert!(difference.contains("BOX_CTL"), "{difference}");
        assert!(difference.ends_with("\"0x0\" → \"0x30000\""), "{difference}");
    }
    clean(&driver);
}

#[test]
fn a_box_in_use_is_left_alone() {
    let mut driver = driver();
    driver.bus.write(Reg::Msr(0xd71), 0x0040_0000).expect("CBo 3 counter 1");
    let before = registers(&mut driver.machine());
    let session = uncore(&driver);
    assert_eq!(driver.start(session), Err(HwError::InUse(Reg::Msr(0xd71))));
    let mut after = changed(&mut driver.machine(), &before);
    after.retain(|d| !d.contains("C3_MSR_PMON_CTR1"));
    assert_eq!(after, [""; 0]);
    assert_eq!(driver.socket.users(), 0);
    clean(&driver);
}

#[test]
fn a_core_counter_in_use_is_left_alone() {
    let mut driver = driver();
    driver.bus.write(Reg::Msr(0x189), 0x0041_00c0).expect("counter 3");
    let before = registers(&mut driver.machine());
    // GLOBAL_CTRL has bit 3: it counts.
    assert!(matches!(driver.start(core()), Err(HwError::InUse(_))));
    assert_eq!(changed(&mut driver.machine(), &before), [""; 0]);
    assert_eq!(driver.core.users(), 0);
    clean(&driver);
}

/// Accesses of a start and a stop of the session.
fn lengths(make: fn(&Driver) -> Session) -> (usize, usize) {
    let mut driver = driver();
    let session = make(&driver);
    driver.start(session).expect("the start");
    let start = driver.bus.take_log().len();
    driver.execute(10_000);
    driver.bus.take_log();
    driver.stop(0);
    (start, driver.bus.take_log().len())
}

/// Lets access `k` of a start fault; `k` is every one in turn.
fn fault_in_start(make: fn(&Driver) -> Session) {
    for k in 0..lengths(make).0 {
        let mut driver = driver();
        let before = registers(&mut driver.machine());
        driver.bus.fault_at = Some(k);
        let session = make(&driver);
        let result = driver.start(session);
        let at = driver.bus.log[k];
        assert!(matches!(result, Err(HwError::Fault(_))), "{k} {at:x?}: {result:?}");
        driver.bus.fault_at = None;
        assert_eq!(changed(&mut driver.machine(), &before), [""; 0], "access {k} {at:x?}");
        assert!(!frozen(&mut driver.machine()), "access {k} {at:x?}");
        assert_eq!((driver.socket.users(), driver.core.users()), (0, 0), "access {k} {at:x?}");
        // The next session finds all in order.
        driver.tell("truth clear");
        let session = make(&driver);
        driver.start(session).expect("the next start");
        driver.execute(100_000);
        let session = driver.stop(0);
        assert_eq!(changed(&mut driver.machine(), &before), [""; 0], "after access {k} {at:x?}");
        exact(&driver, &session);
    }
}

#[test]
fn a_fault_in_the_start_of_uncore_counters_changes_nothing() {
    fault_in_start(uncore);
}

#[test]
fn a_fault_in_the_start_of_core_counters_changes_nothing() {
    fault_in_start(|_| core());
}

/// Lets each access of a stop fault in turn: all other registers are restored all the same.
fn fault_in_stop(make: fn(&Driver) -> Session) {
    for k in 0..lengths(make).1 {
        let mut driver = driver();
        let before = registers(&mut driver.machine());
        let session = make(&driver);
        driver.start(session).expect("the start");
        driver.execute(10_000);
        driver.bus.log.clear();
        driver.bus.fault_at = Some(k);
        let (_, result) = driver.try_stop(0);
        let at = driver.bus.log[k];
        assert!(matches!(result, Err(HwError::Fault(_))), "{k} {at:x?}: {result:?}");
        // What could not be written is not what it was. IA32_A_PMCi is IA32_PMCi once more.
        let mut left = changed(&mut driver.machine(), &before);
        left.retain(|d| !d.contains("IA32_A_PMC"));
        // Four of its bits can only be put back with what the others are; its counter may run.
        let shared = matches!(at, Access::Read(0x38d) | Access::Write(0x38d, _));
        left.retain(|d| !(shared && d.ends_with("null")));
        let excused = usize::from(shared || matches!(at, Access::Write(..)));
        assert!(left.len() <= excused, "access {k} {at:x?}: {left:#?}");
        let unfreeze = matches!(at, Access::Write(0xc00, value) if (value >> 29) & 1 != 0);
        assert!(unfreeze || !frozen(&mut driver.machine()), "access {k} {at:x?}");
        assert_eq!((driver.socket.users(), driver.core.users()), (0, 0));
    }
}

#[test]
fn a_fault_in_the_stop_of_uncore_counters_keeps_no_other_register() {
    fault_in_stop(uncore);
}

#[test]
fn a_fault_in_the_stop_of_core_counters_keeps_no_other_register() {
    fault_in_stop(|_| core());
}

/// Lets each access of a service, or of a look, fault in turn: the stop puts all back.
fn fault_in_between(work: fn(&mut Driver) -> Result<u32, HwError>) {
    for k in 0.. {
        let mut driver = driver();
        let before = registers(&mut driver.machine());
        let session = both(&driver);
        driver.start(session).expect("the start");
        driver.run(150_000);
        assert!(driver.machine().execute_to_pmi(CPU, 1_000_000));
        driver.bus.log.clear();
        driver.bus.fault_at = Some(k);
        let result = work(&mut driver);
        if k == driver.bus.log.len() {
            assert!(k > 10 && result.is_ok());
            return;
        }
        assert!(matches!(result, Err(HwError::Fault(_))), "{k}: {result:?}");
        driver.bus.fault_at = None;
        driver.execute(100_000);
        driver.stop(0);
        driver.bus.write(Reg::Msr(0x390), 1 << 61).expect("the status");
        let at = driver.bus.log[k];
        assert_eq!(changed(&mut driver.machine(), &before), [""; 0], "access {k} {at:x?}");
        assert!(!frozen(&mut driver.machine()), "access {k} {at:x?}");
    }
}

#[test]
fn a_fault_in_a_service_or_a_look_is_made_good_by_the_stop() {
    fault_in_between(Driver::nmi);
    fault_in_between(|driver| driver.look().map(|()| 0));
}

#[test]
fn the_selection_of_cores_is_given_back() {
    let mut driver = driver();
    let session = uncore(&driver);
    driver.start(session).expect("the start");
    assert_eq!(driver.bus.read(Reg::Msr(0xc00)), Ok((1 << 30) | SELECT));
    driver.stop(0);
    assert_eq!(driver.bus.read(Reg::Msr(0xc00)), Ok((1 << 30) | 0b1010));
}
