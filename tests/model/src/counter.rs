// SPDX-License-Identifier: GPL-2.0-only
//! One counter register: a value of some width, and what really happened.

/// A counter that wraps at `2^width`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter {
    value: u64,
    /// Events counted since the start or the last `truth clear`, whatever was written meanwhile.
    pub(crate) truth: u128,
    /// Carries out of the top bit since the start or the last `overflows clear`.
    pub(crate) carries: u128,
}

impl Counter {
    /// What a read returns.
    pub(crate) const fn value(&self) -> u64 {
        self.value
    }

    /// Loads the register; bits above the width do not exist.
    pub(crate) fn set(&mut self, value: u64, width: u32) {
        self.value = value & mask(width);
    }

    /// Events that are missing to the next carry out of the top bit.
    pub(crate) fn missing(&self, width: u32) -> u128 {
        (1u128 << width) - u128::from(self.value & mask(width))
    }

    /// Counts `n` events. Returns whether there was a carry out of the top bit.
    pub(crate) fn add(&mut self, n: u128, width: u32) -> bool {
        self.truth += n;
        let sum = u128::from(self.value) + n;
        let carries = sum >> width;
        self.carries += carries;
        // CAST: the mask leaves at most 64 bits.
        self.value = (sum & u128::from(mask(width))) as u64;
        carries != 0
    }
}

/// The low `width` bits.
pub(crate) const fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_44_bit_counter_carries_out_of_bit_43() {
        // 329468-002 table 2-7: event_count is 43:0.
        let mut c = Counter::default();
        c.set(u64::MAX, 44);
        assert_eq!(c.value(), (1 << 44) - 1);
        assert_eq!(c.missing(44), 1);
        assert!(c.add(1, 44));
        assert_eq!((c.value(), c.carries, c.truth), (0, 1, 1));
    }

    #[test]
    fn many_wraps_in_one_step_are_all_counted() {
        let mut c = Counter::default();
        assert!(c.add((5u128 << 48) + 3, 48));
        assert_eq!((c.value(), c.carries, c.truth), (3, 5, (5u128 << 48) + 3));
        assert!(!c.add(1, 48));
    }
}
