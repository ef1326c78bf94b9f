// SPDX-License-Identifier: GPL-2.0-only

//! One counter's arithmetic: from raw values of 44 or 48 bits to an exact 64-bit total, and when
//! the next overflow is due.
//!
//! A total only ever grows by differences of raw values modulo 2^width. That is exact as long as
//! fewer than 2^width events lie between two looks. So no counter is ever loaded for more than half
//! of them: the overflow comes half a range before the difference would be ambiguous, for counters
//! that only count too. Samples stand at multiples of the period: what a counter ran past one is
//! taken off the way to the next, so that the number of periods sampled is always total / period.

use super::record::Overflow;

/// Shortest way to an overflow that is ever loaded, in events: a counter that overshot almost to
/// the next multiple goes to the one after it.
pub const MIN_LEFT: u64 = 32;

/// A counter's account.
#[derive(Clone, Debug)]
pub struct Counter {
    id: u32,
    leader: bool,
    mask: u64,
    /// Longest way that is ever loaded, events.
    reach: u64,
    polled: bool,
    period: u64,
    stretch: u64,
    total: u64,
    last: u64,
    due: u64,
    sampled: u64,
    overflows: u64,
}

impl Counter {
    /// Makes the account of counter `id` with `width` bits (1 to 63). It samples every `period`
    /// events, at most 2^width - 1, or only counts where `period` is 0.
    pub fn new(id: u32, width: u32, period: u64, leader: bool) -> Self {
        Self {
            id,
            leader,
            mask: (1 << width) - 1,
            reach: 1 << (width - 1),
            polled: false,
            period,
            stretch: 1,
            total: 0,
            last: 0,
            due: 0,
            sampled: 0,
            overflows: 0,
        }
    }

    /// The same, never loaded for more than `reach` events.
    pub fn within(self, reach: u64) -> Self {
        Self {
            reach: self.reach.min(reach),
            ..self
        }
    }

    /// The same, sampled by looks alone: never loaded near its end, so that no overflow freezes the
    /// others until somebody looks.
    pub fn polled(self, polled: bool) -> Self {
        Self { polled, ..self }
    }

    /// Number in the session.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Events counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Overflows handled.
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// Whether it samples.
    pub fn samples(&self) -> bool {
        self.period != 0
    }

    /// Whether its overflow samples everything in reach.
    pub fn is_leader(&self) -> bool {
        self.leader
    }

    /// Forgets what was counted.
    pub fn reset(&mut self) {
        self.total = 0;
        self.sampled = 0;
        self.overflows = 0;
    }

    /// The raw value to start with or, after an overflow, to go on with.
    pub fn load(&mut self) -> u64 {
        let span = self.mask + 1;
        let left = if self.period == 0 || self.polled {
            self.reach
        } else {
            let target = self
                .sampled
                .saturating_add(self.stretch)
                .saturating_mul(self.period);
            let left = target.saturating_sub(self.total);
            let left = if left < MIN_LEFT {
                left + self.period
            } else {
                left
            };
            left.min(self.reach)
        };
        self.due = self.total.saturating_add(left);
        self.last = (span - left) & self.mask;
        self.last
    }

    /// Takes in the raw value that was just read.
    pub fn advance(&mut self, raw: u64) {
        self.total += raw.wrapping_sub(self.last) & self.mask;
        self.last = raw & self.mask;
    }

    /// Whether an overflow has happened that was not handled.
    pub fn is_due(&self) -> bool {
        self.total >= self.due
    }

    /// Whether it has passed a multiple of its period that no sample stands for. Between two
    /// overflows that is so where the effective period is longer than the requested one.
    pub fn owes(&self) -> bool {
        self.period != 0 && self.total / self.period > self.sampled
    }

    /// Accounts for the overflow of a counter that is due, or for what it owes. Returns the sample
    /// to take, if any.
    pub fn settle(&mut self) -> Option<Overflow> {
        self.overflows += u64::from(self.is_due());
        if self.period == 0 {
            return None;
        }
        let reached = self.total / self.period;
        let periods = reached - self.sampled;
        self.sampled = reached;
        (periods != 0).then_some(Overflow {
            id: self.id,
            leader: self.leader,
            periods,
            overshoot: self.total % self.period,
        })
    }

    /// Events between two interrupts at present.
    pub fn effective_period(&self) -> u64 {
        self.period.saturating_mul(self.stretch)
    }

    /// Doubles the effective period. Returns whether it changed.
    pub fn stretch(&mut self) -> bool {
        let doubled = self.stretch * 2;
        let fits = self
            .period
            .checked_mul(doubled)
            .is_some_and(|p| p <= self.mask);
        if fits {
            self.stretch = doubled;
        }
        fits
    }

    /// Halves the effective period, down to the requested one. Returns whether it changed.
    pub fn relax(&mut self) -> bool {
        let stretched = self.stretch > 1;
        if stretched {
            self.stretch /= 2;
        }
        stretched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_load_is_two_to_the_width_minus_the_period() {
        // 329468 section 2.1.2 step e: preload with the maximum less the interval.
        assert_eq!(Counter::new(0, 48, 1000, false).load(), (1 << 48) - 1000);
        assert_eq!(Counter::new(0, 44, 1000, false).load(), (1 << 44) - 1000);
        assert_eq!(Counter::new(0, 44, 1 << 43, false).load(), 1 << 43);
    }

    #[test]
    fn never_loaded_for_more_than_half_of_the_range() {
        assert_eq!(Counter::new(0, 44, (1 << 44) - 1, false).load(), 1 << 43);
        assert_eq!(Counter::new(0, 44, 0, false).load(), 1 << 43);
        assert_eq!(Counter::new(0, 48, 0, false).load(), 1 << 47);
    }

    #[test]
    fn overshoot_is_taken_off_the_next_period() {
        let mut c = Counter::new(3, 44, 1000, false);
        c.load();
        c.advance(7);
        assert!(c.is_due());
        let o = c.settle().expect("one period");
        assert_eq!((o.id, o.periods, o.overshoot), (3, 1, 7));
        assert_eq!(c.load(), (1 << 44) - 993);
        assert_eq!(c.total(), 1007);
    }

    #[test]
    fn far_overshoot_counts_every_period() {
        let mut c = Counter::new(0, 48, 100, false);
        c.load();
        c.advance(250);
        let o = c.settle().expect("three periods");
        assert_eq!((o.periods, o.overshoot), (3, 50));
        // 50 to the multiple at 400.
        assert_eq!(c.load(), (1 << 48) - 50);
    }

    #[test]
    fn a_way_that_is_too_short_goes_to_the_multiple_after() {
        let mut c = Counter::new(0, 48, 100, false);
        c.load();
        c.advance(90);
        assert_eq!(c.settle().expect("one").periods, 1);
        // 190 counted: 10 to 200, so 110 to 300.
        assert_eq!(c.load(), (1 << 48) - 110);
        c.advance(0);
        let o = c.settle().expect("two");
        assert_eq!((c.total(), o.periods, o.overshoot), (300, 2, 0));
    }

    #[test]
    fn totals_of_a_counting_counter_over_wraps() {
        for width in [44, 48] {
            let half = 1u64 << (width - 1);
            let mut c = Counter::new(0, width, 0, false);
            c.load();
            let mut expected = 0;
            for overflow in 1..=6 {
                // The counter carries out, and goes on to 5 before anybody looks.
                c.advance(5);
                assert!(c.is_due());
                assert_eq!(c.settle(), None);
                expected += half + 5;
                assert_eq!((c.total(), c.overflows()), (expected, overflow));
                assert_eq!(c.load(), half);
                assert!(!c.is_due());
            }
        }
    }

    #[test]
    fn longest_period_at_both_widths() {
        for width in [44, 48] {
            let period = (1u64 << width) - 1;
            let half = 1u64 << (width - 1);
            let mut c = Counter::new(0, width, period, false);
            for n in 1..=3 {
                assert_eq!(c.load(), half);
                c.advance(0);
                assert!(c.is_due());
                assert_eq!(c.settle(), None, "half way");
                assert_eq!(c.load(), half + 1);
                c.advance(0);
                assert_eq!(c.settle().map(|o| (o.periods, o.overshoot)), Some((1, 0)));
                assert_eq!(c.total(), n * period);
            }
        }
    }

    #[test]
    fn a_polled_counter_stays_away_from_its_end() {
        let mut c = Counter::new(0, 44, 1000, false).polled(true);
        let raw = c.load();
        assert_eq!(raw, 1 << 43);
        c.advance(raw + 2500);
        assert!(!c.is_due() && c.owes());
        assert_eq!(c.settle().map(|o| (o.periods, o.overshoot)), Some((2, 500)));
    }

    #[test]
    fn what_a_stretched_counter_owes() {
        let mut c = Counter::new(0, 48, 1000, false);
        c.stretch();
        let raw = c.load();
        c.advance(raw + 999);
        assert!(!c.owes());
        c.advance(raw + 1500);
        assert!(c.owes() && !c.is_due());
        assert_eq!(c.settle().map(|o| (o.periods, o.overshoot)), Some((1, 500)));
        assert_eq!(c.overflows(), 0);
    }

    #[test]
    fn stretched_counter_keeps_the_sum_of_periods() {
        let mut c = Counter::new(0, 48, 1000, false);
        assert!(c.stretch());
        assert_eq!(c.effective_period(), 2000);
        assert_eq!(c.load(), (1 << 48) - 2000);
        c.advance(3);
        assert_eq!(c.settle().map(|o| (o.periods, o.overshoot)), Some((2, 3)));
        assert!(c.relax());
        assert!(!c.relax());
        assert_eq!(c.load(), (1 << 48) - 997);
    }

    #[test]
    fn never_stretched_past_the_width() {
        let mut c = Counter::new(0, 44, 1 << 43, false);
        assert!(!c.stretch());
        assert_eq!(c.effective_period(), 1 << 43);
    }

    #[test]
    fn a_million_reloads_keep_the_total_monotone_and_exact() {
        let mut c = Counter::new(0, 44, 997, false);
        let (mut raw, mut truth, mut periods) = (c.load(), 0u64, 0u64);
        for i in 0..1_000_000u64 {
            // Up to 1.5 periods between two looks.
            let events = (i * 7919) % 1500;
            raw = (raw + events) & ((1 << 44) - 1);
            truth += events;
            let before = c.total();
            c.advance(raw);
            assert!(c.total() >= before);
            if c.is_due() {
                periods += c.settle().map_or(0, |o| o.periods);
                raw = c.load();
            }
        }
        assert_eq!(c.total(), truth);
        assert!(
            truth / 997 - periods <= 2,
            "at most the way that is under way"
        );
    }
}
