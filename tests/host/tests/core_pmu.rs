// SPDX-License-Identifier: GPL-2.0-only

//! Sampling of a CPU's own counters against the model.

mod common;

use common::*;
use pmon_host_tests::{
    bus::Access::{Read, Write},
    driver::{leaf, Driver, Event, Place, Session, CPU},
    logic::{
        core_pmu::{
            CorePmu, Counter, Features,
            Slot::{Fixed, General},
        },
        counter,
        registers::{Reg, Registers},
    },
};

/// SDM volume 3, tables 35-2 and 19-1.
const STATUS: u32 = 0x38e;
const CTRL: u32 = 0x38f;
const OVF_CTRL: u32 = 0x390;
const INSTRUCTIONS: u64 = 0xc0;
const CYCLES: u64 = 0x3c;

#[test]
fn the_leaf_is_decoded_as_the_model_made_it() {
    let driver = Driver::new("");
    let leaf = leaf(&driver.machine());
    assert_eq!((leaf.version, leaf.counters, leaf.width), (3, 4, 48));
    assert_eq!((leaf.fixed, leaf.fixed_width, leaf.absent_events), (3, 48, 0));
    let reach = |full_width| Features { leaf, full_width }.reach();
    assert_eq!((reach(true), reach(false)), (1 << 47, 1 << 31));
}

#[test]
fn totals_are_the_hardwares() {
    for access_ns in [0, 40] {
        let mut driver = Driver::new("");
        driver.bus.inner.access_ns = access_ns;
        driver.tell(&format!("ratio 0x2e 0x41 3 7 cpu={CPU}"));
        driver.tell(&format!("ratio 0x3c 0x00 17 10 cpu={CPU}"));
        let session = Session::default()
            .with_core(General(0), INSTRUCTIONS, 10_007)
            .with_core(General(1), CYCLES, 1_013)
            .with_core(General(2), 0x412e, 0)
            .with_core(General(3), 0x412e, 997)
            .with_core(Fixed(0), 0, 30_011)
            .with_core(Fixed(1), 0, 0)
            .with_core(Fixed(2), 0, 100_003);
        driver.start(session).expect("the start");
        for n in 0..200 {
            driver.execute(1 + n * 131 % 9000);
            driver.run(50);
            if n % 7 == 0 {
                driver.look().expect("a look");
            }
        }
        let session = driver.stop(0);
        exact(&driver, &session);
        assert!(session.samples(Some(0)).count() > 20);
    }
}

#[test]
fn totals_are_the_hardwares_when_polled() {
    let mut driver = Driver::new("");
    let session =
        Session::default().with_core(General(0), INSTRUCTIONS, 10_007).with_core(Fixed(1), 0, 101);
    driver.start(session).expect("the start");
    for n in 0..100 {
        // Nobody takes the interrupts: they stay lost.
        driver.machine().execute(CPU, 1 + n * 131 % 9000);
        driver.poll();
    }
    let session = driver.stop(0);
    exact(&driver, &session);
}

#[test]
fn wraps_and_longest_periods() {
    let longest = (1u64 << 48) - 1;
    for (period, least) in
        [(0, 0), (100, 1_000), ((1 << 31) + 1, 100), (1 << 47, 4), (longest - 1, 2), (longest, 2)]
    {
        for slot in [General(1), Fixed(1)] {
            let mut driver = Driver::new("");
            // 2^48 events every 2.8 ms; or 20 000 overflows at the shortest period.
            let rate = if period == 100 { 1 } else { 100_000_000_000u64 };
            driver.tell(&format!("ratio 0x3c 0x00 {rate} 1 cpu={CPU}"));
            let session = Session::default().with_core(
                slot,
                if slot == General(1) { CYCLES } else { 0 },
                period,
            );
            driver.start(session).expect("the start");
            driver.execute(if period == 100 { 200_000 } else { 10_000 });
            let session = driver.stop(0);
            exact(&driver, &session);
            assert!(
                session.samples(None).count() >= least,
                "{period} {}",
                session.samples(None).count()
            );
            assert!(period != 0 || session.account(0).total() >> 48 >= 3);
        }
    }
}

#[test]
fn overflows_of_one_moment_have_a_record_each() {
    let mut driver = Driver::new("");
    let mut session = Session::default();
    for i in 0..4 {
        session = session.with_core(General(i), 0x412e, 1_000_000);
    }
    session = session.with_core(Fixed(0), 0, 1_000_000).with_core(Fixed(2), 0, 0);
    driver.start(session).expect("the start");
    for round in 1..=3 {
        for i in 0..4 {
            driver.tell(&format!("overflow 1000 core counter={i} cpu={CPU}"));
        }
        driver.tell(&format!("overflow 1000 core counter=fixed0 cpu={CPU}"));
        driver.execute(10_000);
        for id in 0..5 {
            assert_eq!(driver.sessions[0].samples(Some(id)).count(), round);
        }
    }
    let session = driver.stop(0);
    exact(&driver, &session);
}

#[test]
fn an_overflow_at_the_moment_of_the_stop_counts_once() {
    for early in [0, 1, 2, 5] {
        let mut driver = Driver::new("");
        let session = Session::default().with_core(General(0), INSTRUCTIONS, 10_000).with_core(
            Fixed(0),
            0,
            10_000,
        );
        driver.start(session).expect("the start");
        driver.machine().execute(CPU, 10_000 + early);
        let session = driver.stop(0);
        exact(&driver, &session);
        assert_eq!(session.samples(None).count(), 2);
        driver.take_pmis();
        assert_eq!(driver.late, 1);
    }
}

#[test]
fn a_sample_takes_six() {
    let mut driver = Driver::new("");
    let session = Session::default().with_core(General(2), INSTRUCTIONS, 10_000);
    driver.start(session).expect("the start");
    driver.bus.take_log();
    assert!(driver.machine().execute_to_pmi(CPU, 20_000));
    driver.take_pmis();
    // Reset value 0FH (SDM): the counters of others stay on.
    let log = driver.bus.take_log();
    assert_eq!(log[0], Read(STATUS));
    assert_eq!(log[1], Write(CTRL, 0b1011));
    assert_eq!(log[2], Read(0xc3));
    assert!(matches!(log[3], Write(0x4c3, value) if value >= (1 << 48) - 10_000));
    assert_eq!(log[4..], [Write(OVF_CTRL, 0b100), Write(CTRL, 0b1111)]);
}

#[test]
fn the_counters_of_others_go_on() {
    let mut driver = Driver::new("");
    // Somebody's counter 3, enabled.
    driver.bus.write(Reg::Msr(0x189), 0x0043_00c0).expect("a register");
    driver.bus.write(Reg::Msr(0x38d), 0x300).expect("a register");
    driver.bus.write(Reg::Msr(CTRL), 0x4_0000_000f).expect("a register");
    let session =
        Session::default().with_core(General(0), INSTRUCTIONS, 1_009).with_core(Fixed(0), 0, 0);
    driver.start(session).expect("the start");
    driver.execute(100_000);
    driver.look().expect("a look");
    driver.execute(100_000);
    let session = driver.stop(0);
    exact(&driver, &session);
    // Each instruction of the CPU, the driver's own being none here.
    assert_eq!(driver.bus.read(Reg::Msr(0xc4)), Ok(200_000));
    assert_eq!(driver.bus.read(Reg::Msr(0x30b)), Ok(200_000));
}

#[test]
fn modes_and_rings_of_the_event() {
    // SDM figures 18-6 and 18-2: USR 16, OS 17, INT 20, EN 22; OS 0, USR 1, PMI 3.
    for (user, kernel, interrupts, general, fixed) in [
        (true, true, true, 0x0053_0000, 0xb),
        (true, false, true, 0x0051_0000, 0xa),
        (false, true, true, 0x0052_0000, 0x9),
        (true, true, false, 0x0043_0000, 0x3),
    ] {
        let mut driver = Driver::new("");
        let counter = |slot, config, id| {
            let account = counter::Counter::new(id, 48, 0, false);
            Counter::new(slot, config, user, kernel, interrupts, account)
        };
        let mut session = Session::default();
        session.core.push(counter(General(1), 0x1000_003c, 0));
        session.core.push(counter(Fixed(2), 0, 1));
        driver.start(session).expect("the start");
        assert_eq!(driver.bus.read(Reg::Msr(0x187)), Ok(general | 0x1000_003c));
        assert_eq!(driver.bus.read(Reg::Msr(0x38d)), Ok(fixed << 8));
    }
}

#[test]
fn uncore_and_core_overflow_together() {
    let mut driver = Driver::new("pmi_delay_ns=0");
    let session =
        session(&driver, &[Event::new(slot(CBOX, 0, 0), 0, 20_000)]).with_core(Fixed(0), 0, 10_000);
    driver.start(session).expect("the start");
    driver.execute(1_000_000);
    let session = driver.stop(0);
    exact(&driver, &session);
    assert!(session.samples(Some(0)).count() >= 99 && session.samples(Some(1)).count() >= 99);
}

/// IA32_PMCi takes 32 bits and extends their sign (SDM section 18.2.5).
#[test]
fn without_full_width_writes_a_counter_goes_by_shorter_ways() {
    for period in [0, 1_009, 1 << 31, (1 << 31) + 1, (1 << 40) + 3] {
        let mut driver = Driver::new("");
        driver.core = CorePmu::new(false);
        driver.tell(&format!("ratio 0x3c 0x00 1000000000 1 cpu={CPU}"));
        let mut session = Session::default();
        let account = counter::Counter::new(0, 48, period, false).within(1 << 31);
        session.core.push(Counter::new(General(0), CYCLES, true, true, true, account));
        session.counters.push((Place::Core(General(0)), period));
        driver.start(session).expect("the start");
        driver.execute(if period == 1_009 { 200 } else { 5_000 });
        let session = driver.stop(0);
        exact(&driver, &session);
        assert!(period == 0 || session.samples(None).count() >= 4, "{period}");
        assert!(driver.bus.log.iter().all(|a| !matches!(a, Write(0x4c1..=0x4c8, _))));
    }
}
