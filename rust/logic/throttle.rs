// SPDX-License-Identifier: GPL-2.0-only

//! Keeps a CPU usable whatever period was asked for: too many samples, or too long in the handler,
//! within a window and the counter that overflows next is stretched.

/// Length of a window, ns.
pub const WINDOW_NS: u64 = 10_000_000;
/// Part of a window that the handler may take: one in so many.
const TIME_SHARE: u64 = 4;
/// Below one in so many of the limit a window is calm.
const CALM_SHARE: u64 = 4;

/// What to do with the period of the counter that has just overflowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Keep,
    /// Double it.
    Stretch,
    /// Halve it.
    Relax,
}

/// One CPU's meter.
#[derive(Clone, Debug)]
pub struct Meter {
    limit: u64,
    window: u64,
    samples: u64,
    busy_ns: u64,
    calm: bool,
}

impl Meter {
    /// A meter that allows `max_rate` samples per second.
    pub fn new(max_rate: u64) -> Self {
        let limit = (max_rate / (1_000_000_000 / WINDOW_NS)).max(1);
        Self {
            limit,
            window: 0,
            samples: 0,
            busy_ns: 0,
            calm: false,
        }
    }

    /// Notes time spent in the handler.
    pub fn spent(&mut self, ns: u64) {
        self.busy_ns = self.busy_ns.saturating_add(ns);
    }

    /// Notes a sample at `time` ns.
    pub fn sample(&mut self, time: u64) -> Verdict {
        let age = time.saturating_sub(self.window);
        if age >= WINDOW_NS {
            self.calm = age >= 2 * WINDOW_NS
                || (self.samples < self.limit / CALM_SHARE
                    && self.busy_ns < WINDOW_NS / TIME_SHARE / CALM_SHARE);
            self.begin(time);
        }
        self.samples += 1;
        if self.samples > self.limit || self.busy_ns > WINDOW_NS / TIME_SHARE {
            self.calm = false;
            self.begin(time);
            return Verdict::Stretch;
        }
        // One step back a window.
        if core::mem::take(&mut self.calm) {
            return Verdict::Relax;
        }
        Verdict::Keep
    }

    fn begin(&mut self, time: u64) {
        self.window = time;
        self.samples = 0;
        self.busy_ns = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_limit_nothing_happens() {
        let mut m = Meter::new(1000); // 10 a window.
        let start = 5 * WINDOW_NS;
        m.sample(start);
        for i in 1..10 {
            assert_eq!(m.sample(start + i), Verdict::Keep);
        }
        assert_eq!(m.sample(start + 10), Verdict::Stretch);
    }

    #[test]
    fn long_handlers_count_too() {
        let mut m = Meter::new(1_000_000);
        m.sample(10 * WINDOW_NS);
        m.spent(WINDOW_NS / 4 + 1);
        assert_eq!(m.sample(10 * WINDOW_NS + 1), Verdict::Stretch);
    }

    #[test]
    fn relaxes_one_step_after_a_calm_window() {
        let mut m = Meter::new(10_000); // 100 a window, calm below 25.
        for i in 0..200 {
            m.sample(10 * WINDOW_NS + i);
        }
        for i in 0..24 {
            m.sample(11 * WINDOW_NS + 200 + i);
        }
        let next = 13 * WINDOW_NS;
        assert_eq!(m.sample(next), Verdict::Relax);
        assert_eq!(m.sample(next + 1), Verdict::Keep);
    }
}
