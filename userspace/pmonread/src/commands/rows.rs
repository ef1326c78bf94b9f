// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Counts, summed as the user asked for.

use pmon::{Counter, Mode, Session, Totals, Unit};
use serde::Serialize;

/// What is shown apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Events only.
    Nothing,
    /// Each box, and each CPU.
    Box,
    /// Each socket.
    Socket,
    /// Each CPU of core events.
    Cpu,
}

/// One line of `stat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    /// End of the interval since the start, ns.
    pub(crate) time_ns: u64,
    /// Length of the interval, ns.
    pub(crate) interval_ns: u64,
    pub(crate) event: String,
    pub(crate) unit: &'static str,
    /// Socket, where the row has one.
    pub(crate) socket: Option<u32>,
    /// Box, where the row has one; of core: the CPU.
    pub(crate) r#box: Option<u32>,
    /// Counters that were summed.
    pub(crate) boxes: u32,
    /// `pmi`, `poll`, or `mixed`.
    pub(crate) mode: &'static str,
    pub(crate) count: u64,
    /// Time the counters ran in the interval, ns.
    pub(crate) enabled_ns: u64,
    /// Longest time that one of them stood frozen by the driver, ns.
    pub(crate) frozen_ns: u64,
}

/// The part of a row that tells it from others.
#[derive(PartialEq, Eq)]
struct Key {
    event: usize,
    socket: Option<u32>,
    index: Option<u32>,
}

fn key(counter: &Counter, apart: Apart) -> Key {
    let index = Some(counter.place.index);
    let event = counter.event;
    match apart {
        Apart::Box => Key {
            event,
            socket: counter.socket,
            index,
        },
        Apart::Socket => Key {
            event,
            socket: counter.socket,
            index: None,
        },
        Apart::Cpu if counter.place.unit == Unit::Core => Key {
            event,
            socket: counter.socket,
            index,
        },
        Apart::Nothing | Apart::Cpu => Key {
            event,
            socket: None,
            index: None,
        },
    }
}

/// The counts from `before` to `now`.
pub(crate) fn rows(
    session: &Session,
    apart: Apart,
    start: u64,
    before: &Totals,
    now: &Totals,
) -> Vec<Row> {
    let mut rows: Vec<(Key, Row)> = Vec::new();
    let counts = now.counts.iter().zip(&before.counts);
    for (counter, (now_count, before_count)) in session.counters().iter().zip(counts) {
        let key = key(counter, apart);
        let index = match rows.iter().position(|(other, _)| *other == key) {
            Some(index) => index,
            None => {
                let event = session.events().get(counter.event);
                let row = Row {
                    time_ns: now.time.saturating_sub(start),
                    interval_ns: now.time.saturating_sub(before.time),
                    event: event.map(pmon::event::Event::label).unwrap_or_default(),
                    unit: counter.place.unit.name(),
                    socket: key.socket,
                    r#box: key.index,
                    boxes: 0,
                    mode: counter.mode.name(),
                    count: 0,
                    enabled_ns: 0,
                    frozen_ns: 0,
                };
                rows.push((key, row));
                rows.len() - 1
            }
        };
        let row = &mut rows[index].1;
        let since = |get: fn(&pmon::Total) -> u64| get(now_count).saturating_sub(get(before_count));
        row.boxes += 1;
        row.mode = both(row.mode, counter.mode);
        row.count += since(|t| t.total);
        row.enabled_ns = row.enabled_ns.max(since(|t| t.enabled_ns));
        row.frozen_ns = row.frozen_ns.max(since(|t| t.frozen_ns));
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn both(mode: &'static str, other: Mode) -> &'static str {
    if mode == other.name() {
        mode
    } else {
        "mixed"
    }
}

impl Row {
    /// The place that the row is about, when it is about one.
    pub(crate) fn place(&self) -> String {
        match (self.socket, self.r#box) {
            (_, Some(index)) if self.unit == "core" => format!("core{index}"),
            (Some(socket), Some(index)) => format!("{}{index}@{socket}", self.unit),
            (Some(socket), None) => format!("socket {socket}"),
            (None, _) => String::new(),
        }
    }
}
