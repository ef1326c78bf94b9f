// SPDX-License-Identifier: GPL-2.0-only

//! Records taken out of a ring, to look at later.

use crate::logic::{
    record::{Context, Overflow, Record},
    ring::{Consumer, RingError, MAX_RECORD_WORDS},
};

/// A record with its own memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A sample.
    Sample(Sample),
    /// So many records were lost.
    Lost(u64),
    /// Counter id, and its new effective period, events.
    Throttle(u32, u64),
}

/// A sample with its own memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Time and place.
    pub context: Context,
    /// Which counter.
    pub overflow: Overflow,
    /// Number of the record in its ring.
    pub seq: u64,
    /// Totals by counter id, events.
    pub values: Vec<(u32, u64)>,
}

/// Reads all that is there and gives it back to the producer.
///
/// # Panics
/// When the ring holds what the module does not write.
pub fn drain(consumer: &mut Consumer<'_>) -> Vec<Taken> {
    let mut buffer = vec![0; MAX_RECORD_WORDS];
    let mut all = Vec::new();
    loop {
        let words = match consumer.next(&mut buffer) {
            Ok(Some(words)) => words,
            Ok(None) => break,
            // PANIC: documented.
            Err(e @ (RingError::BadSize | RingError::Damaged { .. })) => panic!("{e:?}"),
            Err(e @ RingError::ShortBuffer { .. }) => panic!("{e:?}"),
        };
        all.push(match Record::decode(&buffer[..words]) {
            Ok(Record::Sample(s)) => Taken::Sample(Sample {
                context: s.context,
                overflow: s.overflow,
                seq: s.seq,
                values: s.values().collect(),
            }),
            Ok(Record::Lost { lost, .. }) => Taken::Lost(lost),
            Ok(Record::Throttle { id, period, .. }) => Taken::Throttle(id, period),
            // PANIC: documented.
            other => panic!("{other:?}"),
        });
    }
    consumer.release();
    all
}
