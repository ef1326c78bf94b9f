// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Reads all rings of a session and gives out their records in the order of time.

use crate::{
    device::RingMemory,
    merge::{Merge, Merged},
    wire::{
        record::TYPE_LOST,
        ring::{Consumer, RingError, MAX_RECORD_WORDS},
    },
};
use std::{collections::VecDeque, time::Duration};

/// Longest time from a record's time stamp to its publication that the order of time survives; far
/// more than a handler takes.
const GRACE: Duration = Duration::from_millis(100);

/// Something in a ring is no record. The reader has gone on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A ring does not hold what its positions say.
    #[error(
        "the ring of CPU {cpu} is damaged at position {position}: its unread records are \
        gone; another program may have written to it"
    )]
    Damaged {
        /// CPU that writes the ring.
        cpu: u32,
        /// Position, in bytes since the start.
        position: u64,
    },
}

/// What became of a ring's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCount {
    /// CPU that writes the ring.
    pub cpu: u32,
    /// Records produced, lost ones included.
    pub produced: u64,
    /// Records read.
    pub read: u64,
    /// Records lost.
    pub lost: u64,
    /// Times that the ring was found damaged.
    pub damaged: u64,
}

impl RingCount {
    /// Whether every record is accounted for. It holds once the session stands still and all is
    /// read.
    pub fn adds_up(&self) -> bool {
        self.read.checked_add(self.lost) == Some(self.produced)
    }
}

/// One ring.
struct Ring<'a> {
    consumer: Consumer<'a>,
    /// Words of data: more than one visit can find.
    words: usize,
    read: u64,
    damaged: u64,
}

/// Reads all rings of a session.
pub struct Reader<'a> {
    rings: Vec<Ring<'a>>,
    merge: Merge,
    errors: VecDeque<ReadError>,
    buffer: Vec<u64>,
}

impl<'a> Reader<'a> {
    /// Makes a reader that begins at the tail of each ring.
    pub fn new(memory: &'a dyn RingMemory) -> Self {
        let ring = |index| {
            let m = memory.ring(index)?;
            let consumer = Consumer::new(m.page, m.data).ok()?;
            Some(Ring {
                consumer,
                words: m.data.len(),
                read: 0,
                damaged: 0,
            })
        };
        Self {
            rings: (0..memory.len()).filter_map(ring).collect(),
            merge: Merge::default(),
            errors: VecDeque::new(),
            buffer: vec![0; MAX_RECORD_WORDS],
        }
    }

    /// Takes what stands in the rings, and gives their room back. `now` is the time before the
    /// call, CLOCK_MONOTONIC in ns. Records from shortly before wait for the next call.
    pub fn fill(&mut self, now: u64) {
        // CAST: the constant is small.
        self.fill_to(now.saturating_sub(GRACE.as_nanos() as u64));
    }

    /// As [`Self::fill`], once the session is stopped: no record waits any longer.
    pub fn fill_last(&mut self) {
        self.fill_to(u64::MAX);
    }

    fn fill_to(&mut self, limit: u64) {
        for (index, ring) in self.rings.iter_mut().enumerate() {
            ring.visit(index, &mut self.buffer, &mut self.merge, &mut self.errors);
        }
        self.merge.set_limit(limit);
    }

    /// The next record in the order of time, or an error that was met since the last call.
    pub fn pop(&mut self) -> Option<Result<Merged, ReadError>> {
        match self.errors.pop_front() {
            Some(error) => Some(Err(error)),
            None => self.merge.pop().map(Ok),
        }
    }

    /// Records that came too late to be given out in the order of time.
    pub fn late(&self) -> u64 {
        self.merge.late()
    }

    /// What became of each ring's records.
    pub fn counts(&self) -> Vec<RingCount> {
        let count = |ring: &Ring<'_>| RingCount {
            cpu: ring.consumer.cpu(),
            produced: ring.consumer.produced(),
            read: ring.read,
            lost: ring.consumer.lost(),
            damaged: ring.damaged,
        };
        self.rings.iter().map(count).collect()
    }
}

impl Ring<'_> {
    /// Reads what is there. A producer that is faster than we are does not keep us for ever.
    fn visit(
        &mut self,
        index: usize,
        buffer: &mut [u64],
        merge: &mut Merge,
        errors: &mut VecDeque<ReadError>,
    ) {
        let cpu = self.consumer.cpu();
        let mut left = self.words;
        while left > 0 {
            match self.consumer.next(buffer) {
                Ok(None) => break,
                Ok(Some(words)) => {
                    // CAST: the type is the low half.
                    self.read += u64::from(buffer[0] as u32 != TYPE_LOST);
                    merge.push(Merged {
                        ring: index,
                        cpu,
                        words: buffer[..words].into(),
                    });
                    left = left.saturating_sub(words);
                }
                Err(RingError::Damaged { position }) => {
                    self.damaged += 1;
                    errors.push_back(ReadError::Damaged { cpu, position });
                    break;
                }
                // Both would need a ring or record larger than any that `Mapping` lets pass.
                Err(RingError::BadSize | RingError::ShortBuffer { .. }) => break,
            }
        }
        self.consumer.release();
    }
}
