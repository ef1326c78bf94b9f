// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Records of many rings in one order of time.
//!
//! A ring that is empty now can still get an older record than those of other rings: its CPU took
//! the time stamp but has not published the record yet. So a record is given out only when it is
//! older than a limit that the reader sets, some time before it last looked at all rings.

use crate::wire::record::{Record, RecordError};
use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// A whole record and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Index of the ring.
    pub ring: usize,
    /// CPU that wrote it.
    pub cpu: u32,
    /// The record's words.
    pub words: Box<[u64]>,
}

impl Merged {
    /// Decodes it.
    pub fn record(&self) -> Result<Record<'_>, RecordError> {
        Record::decode(&self.words)
    }

    /// CLOCK_MONOTONIC, ns.
    pub fn time(&self) -> u64 {
        self.words.get(1).copied().unwrap_or(0)
    }
}

/// A record that waits for its turn. Equal times keep the order of arrival.
struct Waiting {
    arrival: u64,
    merged: Merged,
}

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.merged.time(), self.arrival)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Sorts records by time.
#[derive(Default)]
pub(crate) struct Merge {
    waiting: BinaryHeap<Reverse<Waiting>>,
    arrivals: u64,
    limit: u64,
    newest_out: u64,
    late: u64,
}

impl Merge {
    pub(crate) fn push(&mut self, merged: Merged) {
        self.waiting.push(Reverse(Waiting {
            arrival: self.arrivals,
            merged,
        }));
        self.arrivals += 1;
    }

    /// From now on records up to this time may go out.
    pub(crate) fn set_limit(&mut self, time: u64) {
        self.limit = self.limit.max(time);
    }

    /// The oldest record, when it is old enough.
    pub(crate) fn pop(&mut self) -> Option<Merged> {
        if self.waiting.peek()?.0.merged.time() > self.limit {
            return None;
        }
        let merged = self.waiting.pop()?.0.merged;
        if merged.time() < self.newest_out {
            self.late += 1;
        }
        self.newest_out = self.newest_out.max(merged.time());
        Some(merged)
    }

    /// Records that came too late to be in order.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(ring: usize, time: u64, seq: u64) -> Merged {
        Merged {
            ring,
            cpu: 0,
            words: [(24 << 48) | 9, time, seq].into(),
        }
    }

    fn drain(merge: &mut Merge) -> Vec<Merged> {
        std::iter::from_fn(|| merge.pop()).collect()
    }

    proptest! {
        /// Whatever comes in goes out, once, sorted, and in the order of its ring.
        #[test]
        fn sorts_and_loses_nothing(gaps in prop::collection::vec((0..4usize, 0..50u64), 0..200)) {
            let mut merge = Merge::default();
            let mut clock = [0; 4];
            let mut sent = Vec::new();
            for (seq, &(ring, gap)) in (0..).zip(&gaps) {
                clock[ring] += gap;
                let m = merged(ring, clock[ring], seq);
                sent.push(m.clone());
                merge.push(m);
            }
            merge.set_limit(u64::MAX);
            let out = drain(&mut merge);
            prop_assert!(out.windows(2).all(|w| w[0].time() <= w[1].time()));
            sent.sort_by_key(Merged::time); // Stable: the order of arrival.
            prop_assert_eq!(out, sent);
            prop_assert_eq!(merge.late(), 0);
        }

        /// Nothing newer than the limit goes out before its time.
        #[test]
        fn keeps_what_is_newer_than_the_limit(
            times in prop::collection::vec(0..100u64, 0..50),
            limit in 0..100u64,
        ) {
            let mut merge = Merge::default();
            times.iter().for_each(|&t| merge.push(merged(0, t, 0)));
            merge.set_limit(limit);
            let early = drain(&mut merge);
            prop_assert!(early.iter().all(|m| m.time() <= limit));
            merge.set_limit(u64::MAX);
            prop_assert_eq!(early.len() + drain(&mut merge).len(), times.len());
        }
    }

    #[test]
    fn late_records_are_given_out_and_counted() {
        let mut merge = Merge::default();
        merge.set_limit(10);
        merge.push(merged(0, 9, 0));
        assert_eq!(drain(&mut merge).len(), 1);
        merge.push(merged(1, 5, 0));
        assert_eq!((drain(&mut merge).len(), merge.late()), (1, 1));
    }
}
