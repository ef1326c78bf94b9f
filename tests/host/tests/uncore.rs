// SPDX-License-Identifier: GPL-2.0-only

//! Sampling of the uncore against the model: totals are what the hardware counted, whatever reading
//! of the manuals it follows.

mod common;

use common::*;
use pmon_host_tests::{
    driver::{truth, Driver, Event, Session, SOCKET, THAW_NS},
    sample::Taken,
};

/// One counter of each kind and more, with periods that have no common measure.
fn mixture() -> Vec<Event> {
    vec![
        Event::new(CLOCK, 0, 20_011),
        Event::new(slot(UBOX, 0, 0), 0x42, 1_009),
        Event::new(slot(UBOX, 0, 1), 0x43, 0),
        Event::new(slot(CBOX, 0, 0), 0x00, 30_011),
        Event::new(slot(CBOX, 0, 1), 0x35, 101),
        Event::new(slot(CBOX, 3, 2), 0x00, 100_003),
        Event::new(slot(CBOX, 3, 3), 0x0421, 0).filtered([0, 0x10_0001, 0, 0]),
        Event::new(slot(PCU, 0, 0), 0x00, 40_009),
        Event::new(slot(PCU, 0, 3), 0x20_0000, 997),
    ]
}

fn with_rates(config: &str) -> Driver {
    let driver = Driver::new(config);
    driver.tell("rate ubox 0x42 * 12345678");
    driver.tell("rate ubox 0x43 * 7");
    driver.tell("rate cbox 0x35 * 876543");
    driver.tell("rate cbox 0x21 * 1000");
    driver.tell("rate pcu 0x100 * 3333333");
    driver
}

/// Settings under which each overflow has its interrupt.
const SIGNALLED: [&str; 10] = [
    "",
    "freeze_delay_ns=0,pmi_delay_ns=0",
    "pmi_delay_ns=20000",
    "global_freeze=never",
    "global_freeze=never,pmi_delay_ns=9000",
    "fixed_width=44",
    "global_status=level",
    "box_unfreeze=any",
    "frz_reads=zero,ovf_uncore=clear",
    "smt_pmi=first,wk_on_pmi=all",
];

#[test]
fn totals_are_the_hardwares_under_each_setting() {
    check_totals(&SIGNALLED);
}

#[test]
fn totals_are_the_hardwares_where_the_freeze_comes_after_the_interrupt() {
    let late =
        ["freeze_delay_ns=700", "freeze_delay_ns=8000", "freeze_delay_ns=8000,pmi_delay_ns=100"];
    check_totals(&late);
}

fn check_totals(configs: &[&str]) {
    for config in configs {
        for access_ns in [0, 130] {
            let mut driver = with_rates(config);
            driver.bus.inner.access_ns = access_ns;
            let session = session(&driver, &mixture());
            driver.start(session).expect("the start");
            driver.run(3_000_000);
            let session = driver.stop(0);
            exact(&driver, &session);
            assert!(session.samples(Some(0)).count() > 10, "{config}");
        }
    }
}

#[test]
fn totals_are_the_hardwares_without_the_cbos_signal() {
    for config in
        ["cbo_overflow=silent", "cbo_overflow=silent,global_freeze=never", "uncore_pmi=never"]
    {
        for interval in [100_000, 1_000_000] {
            let mut driver = with_rates(config);
            driver.bus.inner.access_ns = 70;
            let session = session(&driver, &mixture());
            driver.start(session).expect("the start");
            driver.run_polling(5_000_000, interval);
            let session = driver.stop(0);
            exact(&driver, &session);
        }
    }
}

#[test]
fn looks_between_the_overflows_change_nothing() {
    let mut driver = with_rates("pmi_delay_ns=3000");
    driver.bus.inner.access_ns = 50;
    let session = session(&driver, &mixture());
    driver.start(session).expect("the start");
    for n in 0..400 {
        driver.run(1 + n * 37 % 9000);
        driver.look().expect("a look");
    }
    let session = driver.stop(0);
    exact(&driver, &session);
}

#[test]
fn sessions_come_and_go() {
    let mut driver = with_rates("");
    driver.bus.inner.access_ns = 20;
    let first =
        session(&driver, &[Event::new(CLOCK, 0, 10_007), Event::new(slot(CBOX, 1, 0), 0, 5_003)]);
    driver.start(first).expect("the start");
    driver.run(200_000);
    // A second one in the same box.
    let second = session(
        &driver,
        &[Event::new(slot(CBOX, 1, 1), 0, 7_001), Event::new(slot(PCU, 0, 0), 0, 0)],
    );
    driver.start(second).expect("the start");
    driver.run(300_000);
    let first = driver.stop(0);
    exact(&driver, &first);
    driver.run(100_000);
    let second = driver.stop(0);
    exact(&driver, &second);
    assert!(second.samples(Some(0)).count() >= 50);
}

/// At 10^15 Hz a counter of 44 bits wraps in 17.6 ms, one of 48 bits in 281 ms.
#[test]
fn one_two_and_three_wraps_at_both_widths() {
    for (kind, width, event) in [(UBOX, 44, 0x42), (CBOX, 44, 0x37), (PCU, 48, 0x13)] {
        for wraps in 1..=3u64 {
            let mut driver = Driver::new("");
            let unit = ["ubox", "cbox", "pcu"][kind];
            driver.tell(&format!("rate {unit} {event:#x} * 1000000000000000"));
            let events = [Event::new(slot(kind, 0, 0), event, 0)];
            let session = session(&driver, &events);
            driver.start(session).expect("the start");
            // 10^6 events each ns; a frozen counter misses some.
            let wrap_ns = (1u64 << width) / 1_000_000;
            driver.run(wraps * wrap_ns + 10_000);
            let session = driver.stop(0);
            exact(&driver, &session);
            assert!((wraps..=2 * wraps + 1).contains(&session.account(0).overflows()), "{unit}");
            assert_eq!(session.account(0).total() >> width, wraps, "{unit}");
        }
    }
}

#[test]
fn the_clock_wraps_at_the_width_it_has() {
    for (config, width) in [("fixed_width=44", 44), ("fixed_width=48", 48)] {
        let mut driver = Driver::new(&format!("{config},uclk_hz=1000000000000000"));
        let session = session(&driver, &[Event::new(CLOCK, 0, 0)]);
        driver.start(session).expect("the start");
        driver.run(3 * ((1u64 << width) / 1_000_000) + 20_000);
        let session = driver.stop(0);
        exact(&driver, &session);
        assert_eq!(session.account(0).total() >> width, 3);
    }
}

#[test]
fn periods_from_the_floor_to_the_width() {
    for (kind, width, event) in [(UBOX, 44u32, 0x42), (CBOX, 44, 0x37), (PCU, 48, 0x13)] {
        let longest = (1u64 << width) - 1;
        for period in [100, 101, 4_096, 1 << 31, (1 << 32) + 1, 1 << 43, longest - 1, longest] {
            let mut driver = Driver::new("");
            driver.bus.inner.access_ns = 10;
            let unit = ["ubox", "cbox", "pcu"][kind];
            // Five overflows in 1 s, or as many as 10^15 Hz makes.
            let hz = (5 * period).min(1_000_000_000_000_000);
            driver.tell(&format!("rate {unit} {event:#x} * {hz}"));
            let session = session(&driver, &[Event::new(slot(kind, 0, 1), event, period)]);
            driver.start(session).expect("the start");
            driver.run(1_100_000_000);
            let session = driver.stop(0);
            exact(&driver, &session);
            assert!(session.samples(Some(0)).count() >= 3, "{unit} {period}");
        }
    }
}

#[test]
fn an_overflow_at_the_moment_of_the_stop_counts_once() {
    for config in ["", "pmi_delay_ns=0", "freeze_delay_ns=0", "global_freeze=never"] {
        // From well before the overflow to well after its interrupt.
        for early in [0, 1, 2, 100, 499, 500, 501, 700] {
            let mut driver = Driver::new(config);
            let events = [
                Event::new(slot(CBOX, 2, 0), 0, 10_000),
                Event::new(slot(PCU, 0, 1), 0, 0),
                Event::new(CLOCK, 0, 10_000),
            ];
            let session = session(&driver, &events);
            driver.start(session).expect("the start");
            // 10 000 cycles at 2 GHz take 5000 ns.
            driver.run(5_000 + early);
            let session = driver.stop(0);
            exact(&driver, &session);
            for id in [0, 2] {
                assert_eq!(session.account(id).overflows(), 1, "{config} {early} ns");
                assert_eq!(session.samples(Some(id as u32)).count(), 1);
            }
            driver.run(10_000);
            assert_eq!(session.samples(None).count(), 2);
        }
    }
}

#[test]
fn one_event_before_the_overflow_a_stop_has_no_sample() {
    let mut driver = Driver::new("");
    let session = session(&driver, &[Event::new(slot(CBOX, 2, 0), 0, 10_000)]);
    driver.start(session).expect("the start");
    driver.run(4_999);
    let session = driver.stop(0);
    exact(&driver, &session);
    assert_eq!((session.account(0).overflows(), session.samples(None).count()), (0, 0));
}

#[test]
fn overflows_of_one_moment_have_a_record_each() {
    for config in SIGNALLED {
        let mut driver = Driver::new(config);
        let mut events = Vec::new();
        for n in 0..4 {
            events.extend((0..4).map(|i| Event::new(slot(CBOX, n, i), 0x21, 1_000_000)));
        }
        events.extend((0..4).map(|i| Event::new(slot(PCU, 0, i), 0x21, 1_000_000)));
        events.extend((0..2).map(|i| Event::new(slot(UBOX, 0, i), 0x21, 1_000_000)));
        let session = session(&driver, &events);
        driver.start(session).expect("the start");
        for round in 1..=3 {
            for n in 0..4 {
                for i in 0..4 {
                    driver.tell(&format!("overflow 1000 cbox counter={i} box={n} socket={SOCKET}"));
                }
            }
            (0..4).for_each(|i| {
                driver.tell(&format!("overflow 1000 pcu counter={i} socket={SOCKET}"))
            });
            (0..2).for_each(|i| {
                driver.tell(&format!("overflow 1000 ubox counter={i} socket={SOCKET}"))
            });
            driver.run(100_000);
            for id in 0..events.len() {
                let s = &driver.sessions[0];
                assert_eq!(s.samples(Some(id as u32)).count(), round, "{config}: {id}");
            }
        }
        let session = driver.stop(0);
        exact(&driver, &session);
    }
}

#[test]
fn a_second_overflow_in_the_freeze_delay_is_not_lost() {
    for (first, second, delay) in [("cbox", "pcu", 150), ("pcu", "ubox", 199), ("cbox", "cbox", 1)]
    {
        let mut driver = Driver::new("freeze_delay_ns=200,pmi_delay_ns=500");
        let at = |unit: &str, nr| match unit {
            "cbox" => slot(CBOX, nr, 0),
            "pcu" => slot(PCU, 0, 0),
            _ => slot(UBOX, 0, 0),
        };
        let events =
            [Event::new(at(first, 0), 0x21, 5_000), Event::new(at(second, 1), 0x21, 5_000)];
        let session = session(&driver, &events);
        driver.start(session).expect("the start");
        driver.tell(&format!("overflow 1000 {first} counter=0 socket={SOCKET}"));
        let nr = if second == "cbox" { " box=1" } else { "" };
        driver.tell(&format!("overflow {} {second} counter=0 socket={SOCKET}{nr}", 1000 + delay));
        driver.run(50_000);
        let session = driver.stop(0);
        exact(&driver, &session);
        assert_eq!(session.samples(None).count(), 2, "{first} {second}");
    }
}

#[test]
fn an_interrupt_of_another_source_in_the_freeze_delay_takes_no_event_away() {
    use pmon_host_tests::logic::core_pmu::Slot::Fixed;
    for config in ["", "cbo_overflow=silent", "uncore_pmi=never"] {
        for early in (0..1_000).step_by(10) {
            let mut driver = Driver::new(&format!("{config},freeze_delay_ns=400"));
            driver.bus.inner.access_ns = 90;
            // Due 5000 ns after the start, beside a PCU overflow at 5100 ns: its freeze comes at
            // 5500 ns, the CPU's own interrupt from 5000 ns on.
            let events = [
                Event::new(slot(CBOX, 0, 0), 0, 10_000),
                Event::new(slot(PCU, 0, 0), 0, 10_200),
                Event::new(slot(CBOX, 3, 0), 0, 10_400),
            ];
            let session = session(&driver, &events).with_core(Fixed(0), 0, 5_000 + early);
            driver.start(session).expect("the start");
            driver.run(2 * THAW_NS);
            driver.poll();
            driver.execute(50_000);
            let session = driver.stop(0);
            exact(&driver, &session);
        }
    }
}

#[test]
fn a_leaders_sample_has_all_counters_of_the_socket_and_the_cpu() {
    use pmon_host_tests::logic::core_pmu::Slot::{Fixed, General};
    let mut driver = Driver::new("");
    let events = [Event::new(CLOCK, 0, 50_000).leading(), Event::new(slot(CBOX, 0, 0), 0, 70_001)];
    let session =
        session(&driver, &events).with_core(Fixed(0), 0, 0).with_core(General(1), 0x3c, 30_011);
    driver.start(session).expect("the start");
    driver.execute(1_000_000);
    let session = driver.stop(0);
    exact(&driver, &session);
    for (id, wanted) in [(0, vec![0, 1, 2, 3]), (1, vec![0, 1]), (3, vec![2, 3])] {
        assert!(session.samples(Some(id)).count() > 10);
        for s in session.samples(Some(id)) {
            let ids: Vec<_> = s.values.iter().map(|v| v.0).collect();
            assert_eq!(ids, wanted, "counter {id}");
            assert_eq!(s.overflow.leader, id == 0);
        }
    }
}

#[test]
fn a_throttled_counter_has_all_its_periods_too() {
    let mut driver = Driver::new("");
    // 1000 samples a second; 200 000 are asked for.
    let events = [Event::new(slot(CBOX, 0, 0), 0, 10_007), Event::new(CLOCK, 0, 1_009)];
    let add = |s: Session, e: &Event| s.with(*e, driver.fixed_width);
    let session = events.iter().fold(Session::new(1_000), add);
    driver.start(session).expect("the start");
    driver.run(200_000_000);
    driver.look().expect("a look");
    driver.run(33_333);
    let session = driver.stop(0);
    exact(&driver, &session);
    let throttles = session.records.iter().filter(|r| matches!(r, Taken::Throttle(..))).count();
    assert!(throttles >= 8, "{throttles}");
    // 10 in a window of 10 ms, and half again on the way there.
    assert!(session.samples(None).count() < 2 * 200 + 100);
}

/// Loaded with 0, its value after exactly one wrap would be what it was before.
#[test]
fn a_wrap_to_the_very_start_value_is_not_missed() {
    for (kind, unit) in [(UBOX, "ubox"), (CBOX, "cbox"), (PCU, "pcu")] {
        let mut driver = Driver::new("");
        let session = session(&driver, &[Event::new(slot(kind, 0, 0), 0x21, 0)]);
        driver.start(session).expect("the start");
        for _ in 0..3 {
            driver.tell(&format!("overflow 1000 {unit} counter=0 socket={SOCKET}"));
            driver.run(10_000);
        }
        let session = driver.stop(0);
        exact(&driver, &session);
        assert!(session.account(0).total() > 0);
    }
}

#[test]
fn many_rearms_are_monotone_and_exact() {
    let mut driver = Driver::new("freeze_delay_ns=0,pmi_delay_ns=0,smt_pmi=first");
    let session = session(&driver, &[Event::new(slot(CBOX, 0, 0), 0, 100)]);
    driver.start(session).expect("the start");
    let (mut last, mut rearms) = (0, 0u64);
    while rearms < 20_000 {
        // 1000 overflows of 50 ns each.
        driver.run(50_000);
        let s = &mut driver.sessions[0];
        for sample in s.samples(None) {
            assert!(sample.values[0].1 > last);
            last = sample.values[0].1;
            rearms += sample.overflow.periods;
        }
        s.records.clear();
    }
    let session = driver.stop(0);
    clean(&driver);
    let total = truth(&mut driver.machine(), session.counters[0].0);
    assert_eq!(session.account(0).total(), total);
    assert_eq!(total / 100, rearms);
}
