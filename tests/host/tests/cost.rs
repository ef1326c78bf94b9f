// SPDX-License-Identifier: GPL-2.0-only

//! What a sample costs, in register accesses.

mod common;

use common::*;
use pmon_host_tests::{
    bus::Access::{self, Read, Write},
    driver::{Driver, Event, Session, SELECT, SOCKET, THAW_NS},
    logic::core_pmu::Slot,
};

/// 329468 table 2-1; table 2-12 for CBo 2.
const GLOBAL_CTL: u32 = 0xc00;
const GLOBAL_STATUS: u32 = 0xc01;
const U_STATUS: u32 = 0xc15;
const PCU_STATUS: u32 = 0xc35;
/// IA32_PERF_GLOBAL_OVF_CTRL: the bit that an uncore PMI sets on this CPU, before perf sees it.
const SEEN: Access = Write(0x390, 1 << 61);
/// Table 2-2: `unfrz_all`, `wk_on_pmi` and the core.
const UNFREEZE: u64 = (1 << 29) | (1 << 30) | SELECT;

/// The accesses of the service of one sample of the counter.
fn accesses(event: Event, hz: &str) -> Vec<Access> {
    let mut driver = Driver::new("");
    driver.tell(hz);
    let session = session(&driver, &[event]);
    driver.start(session).expect("the start");
    // The start unfroze the socket: for a while the overflow's freeze is not relied on.
    driver.run(2 * THAW_NS);
    let before = driver.sessions[0].samples(None).count();
    driver.bus.take_log();
    assert!(driver.machine().advance_to_pmi(1_000_000));
    driver.take_pmis();
    let log = driver.bus.take_log();
    assert_eq!(driver.sessions[0].samples(None).count(), before + 1);
    let session = driver.stop(0);
    exact(&driver, &session);
    log
}

#[test]
fn a_sample_of_a_cbo_counter_takes_six() {
    // Box 2 has status bit 3 + 2; its counter 1 is at D16H + 2 * 20H + 1.
    let (ctr, bit) = (0xd57, 1 << 5);
    let log = accesses(Event::new(slot(CBOX, 2, 1), 0, 10_000), "");
    // 2^44 - 10000; not one event was counted past the overflow, since the box froze itself.
    let reload = (1 << 44) - 10_000;
    let wanted = [
        Read(GLOBAL_STATUS),
        Read(ctr),
        Write(ctr, reload),
        SEEN,
        Write(GLOBAL_STATUS, bit),
        Write(GLOBAL_CTL, UNFREEZE),
    ];
    assert_eq!(log, wanted);
}

#[test]
fn a_sample_of_the_clock_takes_six() {
    let log = accesses(Event::new(CLOCK, 0, 10_000), "");
    let wanted = [
        Read(GLOBAL_STATUS),
        Read(0xc09),
        Write(0xc09, (1 << 48) - 10_000),
        SEEN,
        Write(GLOBAL_STATUS, 1),
        Write(GLOBAL_CTL, UNFREEZE),
    ];
    assert_eq!(log, wanted);
}

#[test]
fn a_sample_of_a_box_with_a_status_takes_eight() {
    let rows = [
        (slot(UBOX, 0, 1), 0xc17, U_STATUS, 0b10, 1 << 1, 44, "rate ubox 0x42 * 2000000000", 0x42),
        (slot(PCU, 0, 3), 0xc39, PCU_STATUS, 0b1000, 1 << 2, 48, "", 0),
    ];
    for (slot, ctr, status, own, global, width, hz, event) in rows {
        let log = accesses(Event::new(slot, event, 10_000), hz);
        let wanted = [
            Read(GLOBAL_STATUS),
            Read(status),
            Read(ctr),
            Write(ctr, (1 << width) - 10_000),
            SEEN,
            Write(status, own),
            Write(GLOBAL_STATUS, global),
            Write(GLOBAL_CTL, UNFREEZE),
        ];
        assert_eq!(log, wanted);
    }
}

#[test]
fn the_model_counts_the_same_over_many_samples() {
    let mut driver = Driver::new("");
    let session = session(&driver, &[Event::new(slot(CBOX, 0, 0), 0, 10_007)]);
    driver.start(session).expect("the start");
    driver.run(2 * THAW_NS);
    let before = driver.sessions[0].samples(None).count() as u64;
    driver.tell("accesses clear");
    driver.run(10_000_000);
    let samples = driver.sessions[0].samples(None).count() as u64 - before;
    assert!(samples > 1000);
    let all = driver.machine().json("accesses");
    let kinds = all["sockets"][SOCKET]["by_kind"].as_object().expect("kinds").clone();
    for (kind, read, write) in [
        ("U_MSR_PMON_GLOBAL_STATUS", 1, 1),
        ("U_MSR_PMON_GLOBAL_CTL", 0, 1),
        ("Cn_MSR_PMON_CTR0", 1, 1),
    ] {
        assert_eq!(kinds[kind]["read"], read * samples, "{kind}");
        assert_eq!(kinds[kind]["write"], write * samples, "{kind}");
    }
    assert_eq!(all["core"]["by_kind"]["IA32_PERF_GLOBAL_OVF_CTRL"]["write"], samples);
    assert_eq!((kinds.len(), &all["total"]), (3, &(6 * samples).into()));
}

/// A freeze written by software comes second and before anything else.
fn is_frozen_first(mut driver: Driver, wait: u64, more: fn(Session) -> Session) {
    let session = session(&driver, &[Event::new(slot(CBOX, 2, 1), 0, 20_000)]);
    driver.start(more(session)).expect("the start");
    driver.run(wait);
    driver.bus.take_log();
    assert!(driver.machine().advance_to_pmi(1_000_000));
    driver.take_pmis();
    let log = driver.bus.take_log();
    assert_eq!(log[..2], [Read(GLOBAL_STATUS), Write(GLOBAL_CTL, 1 << 31 | 1 << 30 | SELECT)]);
    let uncore = log.iter().filter(|a| !matches!(a, Read(0x38e))).count();
    assert_eq!(uncore, 7);
}

#[test]
fn without_the_hardwares_freeze_it_is_one_more() {
    is_frozen_first(Driver::new("global_freeze=never"), 2 * THAW_NS, |session| session);
}

#[test]
fn soon_after_a_look_it_is_one_more() {
    is_frozen_first(Driver::new(""), 0, |session| session);
}

#[test]
fn where_the_interrupt_may_be_the_cores_own_it_is_one_more() {
    is_frozen_first(Driver::new(""), 2 * THAW_NS, |s| s.with_core(Slot::Fixed(0), 0, 0));
}

#[test]
fn a_late_interrupt_takes_one() {
    let mut driver = Driver::new("");
    let session = session(&driver, &[Event::new(slot(CBOX, 2, 1), 0, 100_000)]);
    driver.start(session).expect("the start");
    driver.bus.take_log();
    assert_eq!(driver.nmi(), Ok(0));
    assert_eq!(driver.bus.take_log(), [Read(GLOBAL_STATUS)]);
}
