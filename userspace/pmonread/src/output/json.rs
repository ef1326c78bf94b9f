// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! JSON, one object a line. Each has a `type`.

use super::export::{counter_place, own_total, Exporter, Labels};
use pmon::{
    recording::{Header, Trailer},
    wire::record::{Record, Sample, MISC_POLL, MISC_USER},
    Merged,
};
use serde::Serialize;
use std::io::{self, Write};

/// Writes an object on a line of its own.
pub(crate) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    writeln!(out, "{text}")
}

/// Writes records as JSON.
pub(crate) struct Json<'a> {
    pub(crate) out: &'a mut dyn Write,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Header(&'a Header),
    Sample(SampleLine<'a>),
    Lost {
        time_ns: u64,
        cpu: u32,
        seq: u64,
        lost: u64,
    },
    Throttle {
        time_ns: u64,
        cpu: u32,
        seq: u64,
        id: u32,
        event: &'a str,
        period: u64,
    },
    Other {
        time_ns: u64,
        cpu: u32,
        seq: u64,
        kind: u32,
    },
    Trailer(&'a Trailer),
}

#[derive(Serialize)]
struct SampleLine<'a> {
    time_ns: u64,
    cpu: u32,
    socket: u32,
    pid: u32,
    tid: u32,
    /// In hexadecimal: JSON's numbers do not hold 64 bits everywhere.
    ip: String,
    user: bool,
    poll: bool,
    leader: bool,
    id: u32,
    event: &'a str,
    r#box: &'a str,
    periods: u64,
    overshoot: u64,
    total: Option<u64>,
    seq: u64,
    values: Vec<ValueLine<'a>>,
}

#[derive(Serialize)]
struct ValueLine<'a> {
    id: u32,
    event: &'a str,
    r#box: &'a str,
    total: u64,
}

fn sample_line<'a>(sample: &Sample<'_>, labels: &'a Labels) -> SampleLine<'a> {
    let (cx, overflow) = (sample.context, sample.overflow);
    let value = |(id, total)| ValueLine {
        id,
        event: labels.event(id),
        r#box: counter_place(labels, id),
        total,
    };
    SampleLine {
        time_ns: cx.time,
        cpu: cx.cpu,
        socket: cx.socket,
        pid: cx.pid,
        tid: cx.tid,
        ip: format!("{:#x}", cx.ip),
        user: cx.misc & MISC_USER != 0,
        poll: cx.misc & MISC_POLL != 0,
        leader: overflow.leader,
        id: overflow.id,
        event: labels.event(overflow.id),
        r#box: counter_place(labels, overflow.id),
        periods: overflow.periods,
        overshoot: overflow.overshoot,
        total: own_total(sample),
        seq: sample.seq,
        values: sample.values().map(value).collect(),
    }
}

impl Exporter for Json<'_> {
    fn header(&mut self, header: &Header) -> io::Result<()> {
        json_line(self.out, &Line::Header(header))
    }

    fn record(&mut self, merged: &Merged, record: &Record<'_>, labels: &Labels) -> io::Result<()> {
        let cpu = merged.cpu;
        let line = match *record {
            Record::Sample(ref sample) => Line::Sample(sample_line(sample, labels)),
            Record::Lost { time, seq, lost } => Line::Lost {
                time_ns: time,
                cpu,
                seq,
                lost,
            },
            Record::Throttle {
                time,
                seq,
                id,
                period,
            } => Line::Throttle {
                time_ns: time,
                cpu,
                seq,
                id,
                event: labels.event(id),
                period,
            },
            Record::Other { time, seq, kind } => Line::Other {
                time_ns: time,
                cpu,
                seq,
                kind,
            },
        };
        json_line(self.out, &line)
    }

    fn trailer(&mut self, trailer: &Trailer, _: &Labels) -> io::Result<()> {
        json_line(self.out, &Line::Trailer(trailer))
    }
}
