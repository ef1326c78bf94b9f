// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Records: how the kernel writes them into a ring and how a program reads them back.

use super::ring::{Memory, Producer, HEADER_WORDS};

/// `PMON_RECORD_SAMPLE`.
pub const TYPE_SAMPLE: u32 = 1;
/// `PMON_RECORD_LOST`.
pub const TYPE_LOST: u32 = 2;
/// `PMON_RECORD_THROTTLE`.
pub const TYPE_THROTTLE: u32 = 3;

/// `PMON_SAMPLE_USER`.
pub const MISC_USER: u16 = 1 << 0;
/// `PMON_SAMPLE_POLL`.
pub const MISC_POLL: u16 = 1 << 1;
/// `PMON_SAMPLE_LEADER`.
pub const MISC_LEADER: u16 = 1 << 2;

/// Words of `struct pmon_sample` before its values.
pub const SAMPLE_WORDS: usize = HEADER_WORDS + 6;
/// Words of `struct pmon_value`.
pub const VALUE_WORDS: usize = 2;
/// Words of `struct pmon_throttle`.
pub const THROTTLE_WORDS: usize = HEADER_WORDS + 2;

/// Where and when a PMI (or the poll timer) struck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// `MISC_USER` and `MISC_POLL`.
    pub misc: u16,
    /// Interrupted instruction.
    pub ip: u64,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Logical CPU.
    pub cpu: u32,
    /// Its socket.
    pub socket: u32,
}

/// The counter that overflowed, and how far it is past the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// Counter id.
    pub id: u32,
    /// Whether it is the leader.
    pub leader: bool,
    /// Multiples of the period reached since the last sample.
    pub periods: u64,
    /// Events past the last multiple.
    pub overshoot: u64,
}

/// Writes a sample with the totals of `values` (id, total). Returns whether to wake the reader:
/// also when there is no room, whatever else the reader waits for.
pub fn write_sample(
    producer: &mut Producer,
    mem: Memory<'_>,
    cx: &Context,
    overflow: &Overflow,
    values: impl Iterator<Item = (u32, u64)> + Clone,
) -> bool {
    let nr = values.clone().count();
    let misc = cx.misc | if overflow.leader { MISC_LEADER } else { 0 };
    let words = SAMPLE_WORDS + nr * VALUE_WORDS;
    let Some(mut grant) = producer.begin(mem, TYPE_SAMPLE, misc, cx.time, words) else {
        return true;
    };
    grant.put(cx.ip);
    grant.put(pair(cx.pid, cx.tid));
    grant.put(pair(cx.cpu, cx.socket));
    // CAST: a session has at most 512 counters.
    grant.put(pair(overflow.id, nr as u32));
    grant.put(overflow.periods);
    grant.put(overflow.overshoot);
    for (id, total) in values {
        grant.put(u64::from(id));
        grant.put(total);
    }
    grant.commit()
}

/// Writes that counter `id` interrupts every `period` events from now on. Returns whether to wake
/// the reader.
pub fn write_throttle(
    producer: &mut Producer,
    mem: Memory<'_>,
    time: u64,
    id: u32,
    period: u64,
) -> bool {
    let Some(mut grant) = producer.begin(mem, TYPE_THROTTLE, 0, time, THROTTLE_WORDS) else {
        return false;
    };
    grant.put(u64::from(id));
    grant.put(period);
    grant.commit()
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

// CAST: each takes one half on purpose.
fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

/// One overflow, with the totals at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Time, CPU and interrupted program.
    pub context: Context,
    /// The counter that overflowed.
    pub overflow: Overflow,
    /// Number of the record in its ring.
    pub seq: u64,
    values: &'a [u64],
}

impl<'a> Sample<'a> {
    /// Totals at the moment of the sample: (counter id, events).
    pub fn values(&self) -> impl Iterator<Item = (u32, u64)> + Clone + 'a {
        self.values
            .chunks_exact(VALUE_WORDS)
            .filter_map(|v| match v {
                [id, total] => Some((low(*id), *total)),
                _ => None,
            })
    }
}

/// A record as a program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A counter overflowed.
    Sample(Sample<'a>),
    /// Records were lost here.
    Lost {
        /// CLOCK_MONOTONIC, ns, of the next record.
        time: u64,
        /// Sequence number of the next record.
        seq: u64,
        /// How many.
        lost: u64,
    },
    /// A counter's effective period changed.
    Throttle {
        /// CLOCK_MONOTONIC, ns.
        time: u64,
        /// Number of the record in its ring.
        seq: u64,
        /// Counter id.
        id: u32,
        /// Events between two interrupts from now on.
        period: u64,
    },
    /// A record that this version does not know.
    Other {
        /// CLOCK_MONOTONIC, ns.
        time: u64,
        /// Number of the record in its ring.
        seq: u64,
        /// `pmon_record.type`.
        kind: u32,
    },
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// Shorter than its type, its own size field, or its number of values demand.
    Short,
}

impl<'a> Record<'a> {
    /// Decodes one whole record.
    pub fn decode(words: &'a [u64]) -> Result<Self, RecordError> {
        let (&[first, time, seq], body) = words
            .split_first_chunk::<HEADER_WORDS>()
            .ok_or(RecordError::Short)?;
        if first >> 48 != words.len() as u64 * 8 {
            return Err(RecordError::Short);
        }
        // CAST: bits 47:32.
        let misc = (first >> 32) as u16;
        match (low(first), body) {
            (TYPE_SAMPLE, [ip, task, place, which, periods, overshoot, values @ ..]) => {
                let len = (high(*which) as usize).checked_mul(VALUE_WORDS);
                let values = len
                    .and_then(|n| values.get(..n))
                    .ok_or(RecordError::Short)?;
                Ok(Record::Sample(Sample {
                    context: Context {
                        time,
                        misc: misc & !MISC_LEADER,
                        ip: *ip,
                        pid: low(*task),
                        tid: high(*task),
                        cpu: low(*place),
                        socket: high(*place),
                    },
                    overflow: Overflow {
                        id: low(*which),
                        leader: misc & MISC_LEADER != 0,
                        periods: *periods,
                        overshoot: *overshoot,
                    },
                    seq,
                    values,
                }))
            }
            (TYPE_LOST, [lost, ..]) => Ok(Record::Lost {
                time,
                seq,
                lost: *lost,
            }),
            (TYPE_THROTTLE, [id, period, ..]) => Ok(Record::Throttle {
                time,
                seq,
                id: low(*id),
                period: *period,
            }),
            (TYPE_SAMPLE | TYPE_LOST | TYPE_THROTTLE, _) => Err(RecordError::Short),
            (kind, _) => Ok(Record::Other { time, seq, kind }),
        }
    }

    /// CLOCK_MONOTONIC, ns.
    pub fn time(&self) -> u64 {
        match *self {
            Record::Sample(ref s) => s.context.time,
            Record::Lost { time, .. }
            | Record::Throttle { time, .. }
            | Record::Other { time, .. } => time,
        }
    }
}
