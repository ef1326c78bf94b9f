// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Comma-separated values, with a line of titles.

use super::export::{counter_place, mode_letters, own_total, Exporter, Labels};
use pmon::{
    recording::{Header, Trailer},
    wire::record::Record,
    Merged,
};
use serde::Serialize;
use std::io::{self, Write};

/// Writes rows of a struct; titles, when wanted, are the names of its fields.
pub(crate) fn write_rows<T: Serialize>(
    out: &mut dyn Write,
    separator: u8,
    titles: bool,
    rows: &[T],
) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new()
        .delimiter(separator)
        .has_headers(titles)
        .from_writer(out);
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush()
}

/// Writes records as values, one record a line.
pub(crate) struct Csv<'a> {
    writer: csv::Writer<&'a mut dyn Write>,
}

#[derive(Serialize, Default)]
struct Row<'a> {
    r#type: &'a str,
    time_ns: u64,
    cpu: u32,
    seq: u64,
    socket: Option<u32>,
    pid: Option<u32>,
    tid: Option<u32>,
    mode: String,
    ip: String,
    r#box: &'a str,
    event: &'a str,
    periods: Option<u64>,
    overshoot: Option<u64>,
    total: Option<u64>,
    lost: Option<u64>,
    period: Option<u64>,
    /// All totals, as `id:total` with blanks between.
    values: String,
}

impl<'a> Csv<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, separator: u8) -> Self {
        Self {
            writer: csv::WriterBuilder::new()
                .delimiter(separator)
                .from_writer(out),
        }
    }
}

impl Exporter for Csv<'_> {
    fn header(&mut self, _: &Header) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, merged: &Merged, record: &Record<'_>, labels: &Labels) -> io::Result<()> {
        let base = Row {
            time_ns: record.time(),
            cpu: merged.cpu,
            ..Row::default()
        };
        let row = match record {
            Record::Sample(sample) => {
                let cx = &sample.context;
                let values: Vec<_> = sample
                    .values()
                    .map(|(id, total)| format!("{id}:{total}"))
                    .collect();
                Row {
                    r#type: "sample",
                    seq: sample.seq,
                    socket: Some(cx.socket),
                    pid: Some(cx.pid),
                    tid: Some(cx.tid),
                    mode: mode_letters(sample),
                    ip: format!("{:#x}", cx.ip),
                    r#box: counter_place(labels, sample.overflow.id),
                    event: labels.event(sample.overflow.id),
                    periods: Some(sample.overflow.periods),
                    overshoot: Some(sample.overflow.overshoot),
                    total: own_total(sample),
                    values: values.join(" "),
                    ..base
                }
            }
            Record::Lost { seq, lost, .. } => Row {
                r#type: "lost",
                seq: *seq,
                lost: Some(*lost),
                ..base
            },
            Record::Throttle {
                seq, id, period, ..
            } => Row {
                r#type: "throttle",
                seq: *seq,
                r#box: counter_place(labels, *id),
                event: labels.event(*id),
                period: Some(*period),
                ..base
            },
            Record::Other { seq, .. } => Row {
                r#type: "other",
                seq: *seq,
                ..base
            },
        };
        Ok(self.writer.serialize(row)?)
    }

    fn trailer(&mut self, _: &Trailer, _: &Labels) -> io::Result<()> {
        self.writer.flush()
    }
}
