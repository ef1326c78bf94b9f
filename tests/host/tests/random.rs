// SPDX-License-Identifier: GPL-2.0-only

//! Any sessions, on any reading of the manuals, through any course of events: totals are what the
//! hardware counted.

mod common;

use common::*;
use pmon_host_tests::{
    driver::{Driver, Event, Session, CPU, SOCKET},
    logic::core_pmu::Slot::{Fixed, General},
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Run(u64),
    Execute(u64),
    Look,
    Poll,
    Start(usize),
    Stop(usize),
    /// After so many ns so many events in one moment.
    Burst(u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1u64..200_000).prop_map(Step::Run),
        6 => (1u64..200_000).prop_map(Step::Execute),
        2 => Just(Step::Look),
        2 => Just(Step::Poll),
        2 => (0usize..3).prop_map(Step::Start),
        2 => (0usize..3).prop_map(Step::Stop),
        2 => (0u64..2_000, 1u64..1 << 32).prop_map(|(dt, n)| Step::Burst(dt, n)),
    ]
}

fn config() -> impl Strategy<Value = String> {
    let choice = |texts: &'static [&'static str]| proptest::sample::select(texts);
    (
        choice(&["", ",cbo_overflow=silent", ",uncore_pmi=never"]),
        choice(&["", ",fixed_width=44"]),
        choice(&["", ",global_freeze=never"]),
        choice(&["", ",box_unfreeze=any"]),
        choice(&["", ",frz_reads=zero"]),
        choice(&["", ",global_status=level"]),
        choice(&["", ",smt_pmi=first", ",wk_on_pmi=all"]),
        (0u64..2000, 0u64..2000),
    )
        .prop_map(|(a, b, c, d, e, f, g, (freeze, pmi))| {
            format!("freeze_delay_ns={freeze},pmi_delay_ns={pmi}{a}{b}{c}{d}{e}{f}{g}")
        })
}

fn period() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1_000u64..100_000, 100u64..1_000_000_000]
}

/// Three sessions, which share boxes: each has counters of its own number.
fn sessions(driver: &Driver, periods: &[u64], leads: bool) -> Vec<Option<Session>> {
    let p = |n: usize| periods[n];
    // A session without a leader has its own counters in its samples.
    let first = Event::new(CLOCK, 0, p(0));
    let first = if leads && p(0) != 0 { first.leading() } else { first };
    let a = [first, Event::new(slot(CBOX, 0, 0), 0, p(1)), Event::new(slot(PCU, 0, 0), 0x21, p(2))];
    let b = [Event::new(slot(CBOX, 0, 1), 0, p(3)), Event::new(slot(UBOX, 0, 0), 0x21, p(4))];
    let c = [Event::new(slot(PCU, 0, 1), 0, p(5)), Event::new(slot(CBOX, 3, 2), 0x21, p(6))];
    [
        session(driver, &a).with_core(General(0), 0xc0, p(7)),
        session(driver, &b).with_core(Fixed(1), 0, p(8)),
        session(driver, &c).with_core(General(1), 0x3c, 0),
    ]
    .map(Some)
    .into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn totals_are_the_hardwares(
        config in config(),
        steps in proptest::collection::vec(step(), 1..40),
        periods in proptest::collection::vec(period(), 9),
        access_ns in 0u64..200,
        leads: bool,
    ) {
        let mut driver = Driver::new(&config);
        driver.bus.inner.access_ns = access_ns;
        driver.tell("rate ubox 0x21 * 12345678");
        driver.tell("rate cbox 0x21 * 987654321");
        driver.tell("rate pcu 0x21 * 55555");
        driver.tell(&format!("ratio 0x3c 0x00 17 10 cpu={CPU}"));
        let before = registers(&mut driver.machine());
        let mut waiting = sessions(&driver, &periods, leads);
        // Which of them counts, in the driver's order.
        let mut running: Vec<usize> = Vec::new();
        let mut done = Vec::new();
        let end = (0..3).map(|_| Step::Stop(0));
        for step in steps.into_iter().chain(end) {
            match step {
                Step::Run(ns) => driver.run(ns),
                Step::Execute(ns) => driver.execute(ns),
                Step::Look => driver.look().expect("a look"),
                Step::Poll => driver.poll(),
                Step::Start(n) => if let Some(session) = waiting[n].take() {
                    driver.start(session).expect("the start");
                    running.push(n);
                },
                Step::Stop(n) => if n < running.len() {
                    running.remove(n);
                    done.push(driver.stop(n));
                },
                Step::Burst(dt, n) => {
                    driver.tell(&format!("burst {dt} cbox {n} counter=0 socket={SOCKET}"));
                    driver.tell(&format!("burst {dt} pcu {n} counter=1 socket={SOCKET}"));
                    driver.tell(&format!("burst {dt} core {n} counter=0 cpu={CPU}"));
                }
            }
        }
        for session in &done {
            exact(&driver, session);
        }
        clean(&driver);
        driver.run(10_000);
        // BOX_CTL keeps its ones, and a PMI that came too late its bit.
        let mut left = changed(&mut driver.machine(), &before);
        left.retain(|d| !d.contains("BOX_CTL") && !d.contains("IA32_PERF_GLOBAL_STATUS"));
        prop_assert_eq!(left, [""; 0]);
        prop_assert!(!frozen(&mut driver.machine()));
    }
}
