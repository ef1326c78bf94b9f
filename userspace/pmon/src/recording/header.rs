// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The JSON texts at both ends of a recording.

use crate::{
    abi,
    event::Event,
    reader::{Reader, RingCount},
    session::{RingOptions, Session, Totals},
};
use rustix::system::uname;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// What was recorded, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Program that wrote it.
    pub program: String,
    /// The machine.
    pub machine: MachineLine,
    /// Command that ran meanwhile; empty when there was none.
    pub command: Vec<String>,
    /// Begin, CLOCK_MONOTONIC in ns: the clock of all records.
    pub start_ns: u64,
    /// Begin, ns since 1970.
    pub start_unix_ns: u64,
    /// Data bytes of each ring.
    pub ring_bytes: u64,
    /// The rings kept their newest records and dropped the oldest.
    pub overwrite: bool,
    /// CPUs that write the rings, by number of the ring.
    pub rings: Vec<u32>,
    /// Events, as they can be given to pmonread again.
    pub events: Vec<String>,
    /// Counters, by id.
    pub counters: Vec<CounterLine>,
}

/// The machine of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineLine {
    /// Name of the host.
    pub host: String,
    /// Version of its kernel.
    pub kernel: String,
    /// `PMON_ABI_VERSION` of its module.
    pub abi_version: u32,
    /// CPUID family.
    pub family: u32,
    /// CPUID model.
    pub model: u32,
    /// CPUID stepping.
    pub stepping: u32,
    /// Sockets with an uncore.
    pub sockets: u32,
    /// Possible logical CPUs.
    pub cpus: u32,
}

/// A counter of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterLine {
    /// Id in the records.
    pub id: u32,
    /// Index in [`Header::events`].
    pub event: usize,
    /// The event without its options: what is counted.
    pub label: String,
    /// Kind of box.
    pub unit: String,
    /// Socket, where it is known.
    pub socket: Option<u32>,
    /// Box of the socket, or CPU.
    pub r#box: u32,
    /// Counter of the box.
    pub counter: String,
    /// Bits of the counter.
    pub width: u32,
    /// How its overflows were noticed: `pmi` or `poll`.
    pub mode: String,
    /// Events between two samples; none when it only counted.
    pub period: Option<u64>,
    /// Its overflow sampled all counters that the interrupted CPU could reach.
    pub leader: bool,
}

/// What became of the records, and the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trailer {
    /// End, CLOCK_MONOTONIC in ns.
    pub stop_ns: u64,
    /// Records that are not in the order of time.
    pub late: u64,
    /// Rings.
    pub rings: Vec<RingLine>,
    /// Totals, by counter id.
    pub totals: Vec<TotalLine>,
    /// What the session cost.
    pub stats: StatsLine,
}

/// A ring's records: `produced = read + lost`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingLine {
    /// CPU that wrote it.
    pub cpu: u32,
    /// Records produced.
    pub produced: u64,
    /// Of these, records in the file.
    pub read: u64,
    /// Of these, records lost.
    pub lost: u64,
    /// Times that the ring was found damaged.
    pub damaged: u64,
}

/// A counter's total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalLine {
    /// Events.
    pub total: u64,
    /// Overflows.
    pub overflows: u64,
    /// Time the session ran, ns.
    pub enabled_ns: u64,
    /// Of that, time the counter stood frozen by the driver, ns.
    pub frozen_ns: u64,
}

/// `struct pmon_stats`, which documents the fields.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsLine {
    pub samples: u64,
    pub lost: u64,
    pub interrupts: u64,
    pub late: u64,
    pub deferred: u64,
    pub polls: u64,
    pub throttled: u64,
    pub handler_ns: u64,
    pub frozen_ns: u64,
}

impl Header {
    /// Describes a session that has its rings and is about to start.
    pub fn new(session: &Session, rings: RingOptions, program: &str, command: &[String]) -> Self {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            program: program.to_owned(),
            machine: MachineLine::new(&session.machine().info),
            command: command.to_vec(),
            start_ns: session.now(),
            start_unix_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX),
            ring_bytes: rings.bytes,
            overwrite: rings.overwrite,
            rings: session.reader().counts().iter().map(|r| r.cpu).collect(),
            events: session.events().iter().map(Event::to_string).collect(),
            counters: (0..)
                .zip(session.counters())
                .map(|(id, _)| line(session, id))
                .collect(),
        }
    }
}

fn line(session: &Session, id: u32) -> CounterLine {
    // CAST: to a larger type.
    let (Some(c), Some(event)) = (session.counters().get(id as usize), session.event_of(id)) else {
        return CounterLine::default();
    };
    CounterLine {
        id,
        event: c.event,
        label: event.label(),
        unit: c.place.unit.to_string(),
        socket: c.socket,
        r#box: c.place.index,
        counter: c.counter.to_string(),
        width: c.width,
        mode: c.mode.to_string(),
        period: event.period,
        leader: event.leader,
    }
}

impl CounterLine {
    /// The box, as in `cbox3@1` (box 3 of socket 1) or `core5` (CPU 5).
    pub fn place(&self) -> String {
        match self.socket.filter(|_| self.unit != "core") {
            Some(socket) => format!("{}{}@{socket}", self.unit, self.r#box),
            None => format!("{}{}", self.unit, self.r#box),
        }
    }
}

impl MachineLine {
    fn new(info: &abi::pmon_info) -> Self {
        let name = uname();
        Self {
            host: name.nodename().to_string_lossy().into_owned(),
            kernel: name.release().to_string_lossy().into_owned(),
            abi_version: info.abi_version,
            family: info.cpu_family,
            model: info.cpu_model,
            stepping: info.cpu_stepping,
            sockets: info.nr_sockets,
            cpus: info.nr_cpus,
        }
    }
}

impl Trailer {
    /// Describes a session that is stopped and read to its end.
    pub fn new(reader: &Reader<'_>, totals: &Totals, stats: &abi::pmon_stats) -> Self {
        let ring = |r: RingCount| RingLine {
            cpu: r.cpu,
            produced: r.produced,
            read: r.read,
            lost: r.lost,
            damaged: r.damaged,
        };
        let total = |t: &crate::session::Total| TotalLine {
            total: t.total,
            overflows: t.overflows,
            enabled_ns: t.enabled_ns,
            frozen_ns: t.frozen_ns,
        };
        Self {
            stop_ns: totals.time,
            late: reader.late(),
            rings: reader.counts().into_iter().map(ring).collect(),
            totals: totals.counts.iter().map(total).collect(),
            stats: StatsLine::new(stats),
        }
    }

    /// Records of all rings: produced, read, lost.
    pub fn sums(&self) -> (u64, u64, u64) {
        self.rings.iter().fold((0, 0, 0), |(p, r, l), ring| {
            (p + ring.produced, r + ring.read, l + ring.lost)
        })
    }

    /// Whether every record of every ring is accounted for, and no ring was damaged.
    pub fn adds_up(&self) -> bool {
        self.rings
            .iter()
            .all(|r| r.damaged == 0 && r.read.checked_add(r.lost) == Some(r.produced))
    }
}

impl StatsLine {
    fn new(stats: &abi::pmon_stats) -> Self {
        Self {
            samples: stats.samples,
            lost: stats.lost,
            interrupts: stats.interrupts,
            late: stats.late,
            deferred: stats.deferred,
            polls: stats.polls,
            throttled: stats.throttled,
            handler_ns: stats.handler_ns,
            frozen_ns: stats.frozen_ns,
        }
    }
}
