// SPDX-License-Identifier: GPL-2.0-only
//! Exact event arithmetic: how often something has happened at a point of its axis.

/// Nanoseconds in a second: the denominator of every rate in Hz.
pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// Events that happen `num` times per `den` steps of an axis, counted from `epoch`.
///
/// The axis is virtual time in ns, or the instructions of one logical CPU. At `x` the event has
/// happened `floor(num * (x - epoch) / den)` times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    num: u64,
    den: u64,
    epoch: u64,
}

impl Stream {
    /// The event that never happens.
    pub(crate) const NEVER: Self = Self {
        num: 0,
        den: 1,
        epoch: 0,
    };

    /// `num` events per `den` steps, from `epoch` on; never when `den` is 0.
    pub(crate) const fn new(num: u64, den: u64, epoch: u64) -> Self {
        if den == 0 {
            Self::NEVER
        } else {
            Self { num, den, epoch }
        }
    }

    /// `hz` events per second of virtual time, from `epoch` on.
    pub(crate) const fn hz(hz: u64, epoch: u64) -> Self {
        Self::new(hz, NS_PER_S, epoch)
    }

    /// The steps without an event, when `self` happens at most once per event of `clock`.
    ///
    /// It starts where the younger of the two started. `None` when the difference cannot be
    /// written with 64 bits.
    pub(crate) fn complement(self, clock: Self) -> Option<Self> {
        let (a, b) = (u128::from(clock.num), u128::from(clock.den));
        let (c, d) = (u128::from(self.num), u128::from(self.den));
        let num = (a.checked_mul(d)?).saturating_sub(c.checked_mul(b)?);
        let den = b.checked_mul(d)?;
        let shared = gcd(num, den);
        Some(Self {
            num: u64::try_from(num / shared).ok()?,
            den: u64::try_from(den / shared).ok()?,
            epoch: self.epoch.max(clock.epoch),
        })
    }

    /// Events up to and including `x`.
    pub(crate) fn count(self, x: u64) -> u128 {
        u128::from(self.num) * u128::from(x.saturating_sub(self.epoch)) / u128::from(self.den)
    }

    /// Events in the half-open stretch after `from`, up to and including `to`.
    pub(crate) fn between(self, from: u64, to: u64) -> u128 {
        self.count(to).saturating_sub(self.count(from))
    }

    /// The first `x` at which `need` more events have happened than at `from`.
    pub(crate) fn reached(self, from: u64, need: u128) -> Option<u64> {
        if self.num == 0 {
            return None;
        }
        let target = self.count(from).checked_add(need)?;
        let steps = target
            .checked_mul(u128::from(self.den))?
            .div_ceil(u128::from(self.num));
        u64::try_from(steps).ok()?.checked_add(self.epoch)
    }
}

/// Greatest common divisor; at least 1.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_floored_from_the_epoch() {
        let s = Stream::hz(3, 100);
        assert_eq!(s.count(99), 0);
        assert_eq!(s.count(100 + 333_333_333), 0);
        assert_eq!(s.count(100 + 333_333_334), 1);
        assert_eq!(s.count(100 + NS_PER_S), 3);
    }

    #[test]
    fn complement_fills_the_clock() {
        let clock = Stream::hz(2_000_000_000, 0);
        let event = Stream::hz(500_000_000, 7);
        let rest = event.complement(clock).unwrap();
        assert_eq!(rest.count(7 + 1000), 1500);
        let younger = Stream::hz(2_000_000_000, 107);
        assert_eq!(event.complement(younger).unwrap().count(107 + 1000), 1500);
        assert_eq!(
            Stream::hz(3, 0).complement(Stream::hz(1, 0)),
            Some(Stream::new(0, 1, 0))
        );
    }

    proptest! {
        #[test]
        fn reached_is_the_first_step_with_enough_events(
            num in 1u64..1_000_000_000_000, den in 1u64..2_000_000_000, epoch in 0u64..1_000_000,
            from in 0u64..2_000_000_000, need in 1u128..1_000_000_000,
        ) {
            let s = Stream::new(num, den, epoch);
            if let Some(x) = s.reached(from, need) {
                prop_assert!(s.between(from, x) >= need);
                prop_assert!(x > from.max(epoch));
                prop_assert!(s.between(from, x - 1) < need);
            }
        }

        #[test]
        fn pieces_add_up(
            num in 0u64..1_000_000_000_000, den in 1u64..2_000_000_000,
            cuts in proptest::collection::vec(0u64..4_000_000_000, 2..20),
        ) {
            let s = Stream::new(num, den, 0);
            let mut cuts = cuts;
            cuts.sort_unstable();
            let sum: u128 = cuts.windows(2).map(|w| s.between(w[0], w[1])).sum();
            prop_assert_eq!(sum, s.between(cuts[0], cuts[cuts.len() - 1]));
        }
    }
}
