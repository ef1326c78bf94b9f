// SPDX-License-Identifier: GPL-2.0-only

//! The meter, alone and in a loop with a counter.

use pmon_host_tests::logic::{
    counter::Counter,
    throttle::{Meter, Verdict, WINDOW_NS},
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_window_has_more_than_twice_the_limit(
        gaps in proptest::collection::vec(0u64..WINDOW_NS / 4, 1..1000), max_rate in 100u64..20_000,
    ) {
        let limit = (max_rate / 100).max(1) as usize;
        let mut meter = Meter::new(max_rate);
        let (mut time, mut kept) = (WINDOW_NS, Vec::new());
        for gap in gaps {
            time += gap;
            if meter.sample(time) == Verdict::Stretch {
                kept.clear();
                continue;
            }
            kept.push(time);
            let recent = kept.iter().filter(|&&t| t + WINDOW_NS > time).count();
            prop_assert!(recent <= 2 * limit, "{} in a window of {}", recent, limit);
        }
    }

    #[test]
    fn never_stretches_below_the_limit(
        start in 0u64..1 << 50, max_rate in 100u64..1_000_000, spent in 0u64..1000,
    ) {
        let mut meter = Meter::new(max_rate);
        let limit = max_rate / 100;
        for window in 0..3 {
            for n in 0..limit.min(200) {
                meter.spent(spent);
                let verdict = meter.sample(start + window * WINDOW_NS + n * (WINDOW_NS / limit));
                prop_assert_ne!(verdict, Verdict::Stretch);
            }
        }
    }

    #[test]
    fn a_clock_that_jumps_is_survived(
        times in proptest::collection::vec(any::<u64>(), 1..200), rate: u64, spent: u64,
    ) {
        let mut meter = Meter::new(rate);
        for time in times {
            meter.sample(time);
            meter.spent(spent);
        }
    }
}

/// Samples a counter of `hz` for `ns`, each sample taking `handler_ns`. Returns when.
fn sample(
    counter: &mut Counter,
    meter: &mut Meter,
    (start, ns): (u64, u64),
    hz: u64,
    handler_ns: u64,
) -> Vec<u64> {
    let mut time = start;
    let mut all = Vec::new();
    while time < start + ns {
        // Frozen in the handler.
        time += (u128::from(counter.effective_period()) * 1_000_000_000 / u128::from(hz)) as u64
            + handler_ns;
        match meter.sample(time) {
            Verdict::Keep => {}
            Verdict::Stretch => drop(counter.stretch()),
            Verdict::Relax => drop(counter.relax()),
        }
        meter.spent(handler_ns);
        all.push(time);
    }
    all
}

#[test]
fn the_rate_comes_down_and_the_period_comes_back() {
    const SECOND: u64 = 1_000_000_000;
    for max_rate in [1_000, 10_000, 100_000] {
        let mut counter = Counter::new(0, 48, 100, false);
        let mut meter = Meter::new(max_rate);
        // 20 million samples a second are asked for.
        let fast = sample(&mut counter, &mut meter, (SECOND, SECOND), 2_000_000_000, 100);
        let settled = fast.iter().filter(|&&t| t >= 3 * SECOND / 2).count() as u64;
        assert!(settled <= max_rate, "{settled} in half a second of {max_rate}");
        assert!(counter.effective_period() > 100);
        // Then a tenth of the limit, as long as the last long way and its halves take.
        let slow_hz = 100 * max_rate / 10;
        let ns = 3 * counter.effective_period() * SECOND / slow_hz + SECOND;
        let slow = sample(&mut counter, &mut meter, (2 * SECOND, ns), slow_hz, 100);
        assert!(!slow.is_empty());
        assert_eq!(counter.effective_period(), 100, "{max_rate}");
    }
}

#[test]
fn a_handler_that_takes_all_the_time_is_throttled() {
    const SECOND: u64 = 1_000_000_000;
    let mut counter = Counter::new(0, 48, 100, false);
    let mut meter = Meter::new(u64::MAX);
    let all = sample(&mut counter, &mut meter, (SECOND, SECOND), 2_000_000_000, 20_000);
    let busy = all.iter().filter(|&&t| t >= 3 * SECOND / 2).count() as u64 * 20_000;
    // A quarter is allowed, and a step back is tried now and then.
    assert!(busy <= SECOND / 4, "{busy} ns of half a second");
}
