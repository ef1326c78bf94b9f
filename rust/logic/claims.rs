// SPDX-License-Identifier: GPL-2.0-only

//! Who has which counter: the general and fixed counters of one box or one CPU, and the box's
//! filters, which its counters share.

use super::event::Refusal;

/// Claims on one box's counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims {
    general: u32,
    fixed: u32,
    filters: [u32; 4],
    filter_users: [u32; 4],
}

impl Claims {
    /// Takes a general counter out of `allowed`: `wanted`, or the last free one, since the first
    /// ones are those that restricted events need. A filter that is not 0 must be free, or have the
    /// same value.
    pub fn take(
        &mut self,
        counters: u32,
        allowed: u32,
        wanted: Option<u32>,
        filter: &[u32; 4],
    ) -> Result<u32, Refusal> {
        let index = match wanted {
            Some(i) if i >= counters => return Err(Refusal::NoCounter),
            Some(i) if (allowed >> i) & 1 == 0 => return Err(Refusal::WrongCounter),
            Some(i) if (self.general >> i) & 1 != 0 => return Err(Refusal::Busy),
            Some(i) => i,
            None if allowed == 0 => return Err(Refusal::WrongCounter),
            None => (allowed & !self.general)
                .checked_ilog2()
                .ok_or(Refusal::Full)?,
        };
        let clash =
            |n: usize| filter[n] != 0 && self.filter_users[n] != 0 && self.filters[n] != filter[n];
        if (0..filter.len()).any(clash) {
            return Err(Refusal::Busy);
        }
        for (n, &value) in filter.iter().enumerate() {
            if value != 0 {
                self.filters[n] = value;
                self.filter_users[n] += 1;
            }
        }
        self.general |= 1 << index;
        Ok(index)
    }

    /// Takes fixed counter `index` of `fixed`.
    pub fn take_fixed(&mut self, fixed: u32, index: u32) -> Result<(), Refusal> {
        if index >= fixed {
            return Err(Refusal::NoCounter);
        }
        if (self.fixed >> index) & 1 != 0 {
            return Err(Refusal::Busy);
        }
        self.fixed |= 1 << index;
        Ok(())
    }

    /// Gives back what [`Claims::take`] gave.
    pub fn give(&mut self, index: u32, filter: &[u32; 4]) {
        self.general &= !(1 << index);
        for (users, &value) in self.filter_users.iter_mut().zip(filter) {
            if value != 0 {
                *users -= 1;
            }
        }
    }

    /// Gives back what [`Claims::take_fixed`] gave.
    pub fn give_fixed(&mut self, index: u32) {
        self.fixed &= !(1 << index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u32; 4] = [0; 4];

    #[test]
    fn each_counter_once() {
        let mut c = Claims::default();
        assert_eq!(c.take(4, 0b1111, Some(0), &NONE), Ok(0));
        assert_eq!(c.take(4, 0b1111, Some(0), &NONE), Err(Refusal::Busy));
        assert_eq!(c.take(4, 0b1111, Some(4), &NONE), Err(Refusal::NoCounter));
        assert_eq!(
            c.take(4, 0b0011, Some(2), &NONE),
            Err(Refusal::WrongCounter)
        );
        assert_eq!(c.take(4, 0b1111, None, &NONE), Ok(3));
        assert_eq!(c.take(4, 0b0001, None, &NONE), Err(Refusal::Full));
        c.give(0, &NONE);
        assert_eq!(c.take(4, 0b0001, None, &NONE), Ok(0));
    }

    #[test]
    fn a_filter_is_shared_with_the_same_value_only() {
        let mut c = Claims::default();
        let (a, b) = ([1 << 18, 0, 0, 0], [1 << 19, 0, 0, 0]);
        assert_eq!(c.take(4, 0b1111, None, &a), Ok(3));
        assert_eq!(c.take(4, 0b1111, None, &b), Err(Refusal::Busy));
        assert_eq!(c.take(4, 0b1111, None, &a), Ok(2));
        assert_eq!(c.take(4, 0b1111, None, &NONE), Ok(1));
        c.give(3, &a);
        assert_eq!(c.take(4, 0b1111, None, &b), Err(Refusal::Busy));
        c.give(2, &a);
        assert_eq!(c.take(4, 0b1111, None, &b), Ok(3));
    }

    #[test]
    fn fixed_counters() {
        let mut c = Claims::default();
        assert_eq!(c.take_fixed(1, 0), Ok(()));
        assert_eq!(c.take_fixed(1, 0), Err(Refusal::Busy));
        assert_eq!(c.take_fixed(1, 1), Err(Refusal::NoCounter));
        c.give_fixed(0);
        assert_eq!(c.take_fixed(1, 0), Ok(()));
    }
}
