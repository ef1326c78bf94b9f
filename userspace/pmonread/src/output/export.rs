// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What all ways to write records have in common.

use pmon::{
    recording::{CounterLine, Header, Trailer},
    wire::record::{Record, Sample, MISC_POLL, MISC_USER},
    Merged,
};
use std::{collections::HashMap, io};

/// A way to write header, records and trailer.
pub(crate) trait Exporter {
    fn header(&mut self, header: &Header) -> io::Result<()>;
    fn record(&mut self, merged: &Merged, record: &Record<'_>, labels: &Labels) -> io::Result<()>;
    fn trailer(&mut self, trailer: &Trailer, labels: &Labels) -> io::Result<()>;
}

/// Gives a record to an exporter.
pub(crate) fn export(
    exporter: &mut dyn Exporter,
    merged: &Merged,
    labels: &Labels,
) -> io::Result<()> {
    match merged.record() {
        Ok(record) => exporter.record(merged, &record, labels),
        // `record` and the reader of recordings let no such record pass.
        Err(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a record is too short",
        )),
    }
}

/// What the ids in records mean.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    counters: HashMap<u32, (CounterLine, String)>,
}

impl Labels {
    pub(crate) fn new(header: &Header) -> Self {
        let row = |c: &CounterLine| (c.id, (c.clone(), c.place()));
        Self {
            counters: header.counters.iter().map(row).collect(),
        }
    }

    /// The event of a counter.
    pub(crate) fn event(&self, id: u32) -> &str {
        self.counters.get(&id).map_or("?", |(line, _)| &line.label)
    }
}

/// The box of a counter, as in `cbox3@1`.
pub(crate) fn counter_place(labels: &Labels, id: u32) -> &str {
    labels.counters.get(&id).map_or("?", |(_, place)| place)
}

/// Total of the counter that overflowed.
pub(crate) fn own_total(sample: &Sample<'_>) -> Option<u64> {
    sample
        .values()
        .find(|(id, _)| *id == sample.overflow.id)
        .map(|(_, total)| total)
}

/// `u` or `k`, then `p` for a sample of the poll timer and `L` for one of the leader.
pub(crate) fn mode_letters(sample: &Sample<'_>) -> String {
    let mut letters = String::new();
    letters.push(if sample.context.misc & MISC_USER != 0 {
        'u'
    } else {
        'k'
    });
    if sample.context.misc & MISC_POLL != 0 {
        letters.push('p');
    }
    if sample.overflow.leader {
        letters.push('L');
    }
    letters
}
