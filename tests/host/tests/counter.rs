// SPDX-License-Identifier: GPL-2.0-only

//! The account of a counter, against a register that wraps.

use pmon_host_tests::{
    hw::core_pmu::Leaf0a,
    logic::{
        counter::{Counter, MIN_LEFT},
        record::Overflow,
    },
};
use proptest::prelude::*;

/// A counter's register, and what was really counted.
struct Register {
    width: u32,
    value: u64,
    truth: u64,
}

impl Register {
    fn new(width: u32, value: u64) -> Self {
        Self { width, value, truth: 0 }
    }

    /// Counts; true: it went past its end.
    fn count(&mut self, events: u64) -> bool {
        self.truth += events;
        let sum = self.value + events;
        self.value = sum & ((1 << self.width) - 1);
        sum >> self.width != 0
    }
}

/// Looks at a counter as an overflow's service does. Returns the sample.
fn serve(counter: &mut Counter, register: &mut Register) -> Option<Overflow> {
    counter.advance(register.value);
    if !counter.is_due() {
        return None;
    }
    let overflow = counter.settle();
    register.value = counter.load();
    overflow
}

#[derive(Clone, Debug)]
enum Step {
    /// So many events, in thousandths of the way to the overflow (more: past it).
    Count(u64),
    Stretch,
    Relax,
    Look,
    Stop,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u64..1500).prop_map(Step::Count),
        4 => (990u64..1010).prop_map(Step::Count),
        1 => Just(Step::Stretch),
        1 => Just(Step::Relax),
        2 => Just(Step::Look),
        1 => Just(Step::Stop),
    ]
}

fn period(width: u32) -> impl Strategy<Value = u64> {
    let longest = (1u64 << width) - 1;
    prop_oneof![Just(0), 1u64..200, 100u64..1_000_000, 1u64..=longest, longest - 10..=longest]
}

fn account() -> impl Strategy<Value = (u32, u64)> {
    prop_oneof![Just(44u32), Just(48), 32u32..=48].prop_flat_map(|w| (Just(w), period(w)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn total_is_truth_and_samples_stand_for_all_periods(
        (width, period) in account(), steps in proptest::collection::vec(step(), 1..150),
    ) {
        let mut counter = Counter::new(7, width, period, false);
        let mut register = Register::new(width, counter.load());
        let mut periods = 0;
        for step in steps.into_iter().chain([Step::Stop]) {
            let before = counter.total();
            let mut sample = None;
            match step {
                Step::Count(thousandths) => {
                    // The freeze, or a timer, comes before half of the range is counted twice over.
                    let left = (1u64 << width) - register.value;
                    prop_assert!(left <= 1 << (width - 1), "a way of {left}");
                    let events = (u128::from(left) * u128::from(thousandths)).div_ceil(1000) as u64;
                    let overflows = register.count(events);
                    if overflows {
                        sample = serve(&mut counter, &mut register);
                        prop_assert!(!counter.is_due());
                    } else {
                        counter.advance(register.value);
                        prop_assert!(!counter.is_due(), "due without an overflow");
                    }
                }
                Step::Look => counter.advance(register.value),
                Step::Stretch => { counter.stretch(); }
                Step::Relax => { counter.relax(); }
                Step::Stop => {
                    // A look settles what is owed too.
                    counter.advance(register.value);
                    if counter.is_due() || counter.owes() {
                        let due = counter.is_due();
                        sample = counter.settle();
                        if due {
                            register.value = counter.load();
                        }
                    }
                    prop_assert!(!counter.owes());
                }
            }
            prop_assert!(counter.total() >= before);
            prop_assert_eq!(counter.total(), register.truth);
            if let Some(o) = sample {
                prop_assert!(o.periods > 0 && o.overshoot < period && o.id == 7);
                periods += o.periods;
                prop_assert_eq!(periods * period + o.overshoot, register.truth);
            }
            prop_assert!(counter.effective_period() < 1 << width);
        }
        prop_assert_eq!(Some(periods), register.truth.checked_div(period).or(Some(0)));
    }

    #[test]
    fn a_way_is_long_enough_for_the_reload_to_be_over(
        (width, period) in account(), events in proptest::collection::vec(0u64..5000, 1..50),
    ) {
        let mut counter = Counter::new(0, width, period, false);
        let mut register = Register::new(width, counter.load());
        for over in events {
            let way = (1u64 << width) - register.value;
            prop_assert!(way >= MIN_LEFT.min(period.max(1)), "{way}");
            register.count(way + over);
            serve(&mut counter, &mut register);
        }
    }

    #[test]
    fn leaf_0a_is_taken_apart_as_cpuid_has_it(eax: u32, ebx: u32, edx: u32) {
        let leaf = Leaf0a::decode(eax, ebx, edx);
        let [version, counters, width, events] = eax.to_le_bytes().map(u32::from);
        prop_assert_eq!((leaf.version, leaf.counters, leaf.width), (version, counters, width));
        let fixed = if version > 1 { (edx % 32, edx / 32 % 256) } else { (0, 0) };
        prop_assert_eq!((leaf.fixed, leaf.fixed_width), fixed);
        let said = if events < 32 { ebx & !(u32::MAX << events) } else { ebx & (u32::MAX >> 1) };
        prop_assert_eq!(leaf.absent_events & 0x7fff_ffff, said & 0x7fff_ffff);
    }
}

#[test]
fn once_twice_three_times_around_at_both_widths() {
    for width in [44, 48] {
        for rounds in 1..=3u64 {
            for short in [0, 1, 5] {
                let mut counter = Counter::new(0, width, 0, false);
                let mut register = Register::new(width, counter.load());
                // In quarters of the range, then the rest.
                for _ in 0..4 * rounds {
                    register.count((1 << width) / 4 - short);
                    serve(&mut counter, &mut register);
                }
                assert_eq!(counter.total(), register.truth);
                assert_eq!(counter.total(), (rounds << width) - 4 * rounds * short);
            }
        }
    }
}

#[test]
fn a_million_rearms_at_the_longest_and_at_short_periods() {
    for (width, period) in [(44, 100), (48, 1), (44, (1 << 44) - 1), (48, 997)] {
        let mut counter = Counter::new(0, width, period, false);
        let mut register = Register::new(width, counter.load());
        let (mut periods, mut last) = (0, 0);
        // 2^20 ways of half a range would be more than 64 bits hold.
        let rearms = if period > 1 << 40 { 1 << 19 } else { 1_000_000 };
        for n in 0..rearms {
            let way = (1u64 << width) - register.value;
            register.count(way + n % 13);
            periods += serve(&mut counter, &mut register).map_or(0, |o| o.periods);
            assert!(counter.total() > last);
            last = counter.total();
        }
        assert_eq!(counter.total(), register.truth);
        assert_eq!(counter.overflows(), rearms);
        assert_eq!(periods, counter.total() / period);
    }
}
