// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! One session: its counters, its rings and its totals.

use crate::{
    abi,
    device::{Device, RingMemory},
    errno::CallError,
    event::Event,
    kernel::DevPmon,
    machine::Machine,
    place::{place, Place, Placement, Selection},
    reader::Reader,
    unit::{Mode, Unit},
    Error,
};
use std::{fmt, os::fd::BorrowedFd, time::Duration};

/// A counter of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterNr {
    /// General counter.
    General(u32),
    /// Fixed counter.
    Fixed(u32),
}

impl CounterNr {
    fn from_abi(counter: u32) -> Self {
        match counter.checked_sub(abi::PMON_COUNTER_FIXED) {
            Some(nr) => CounterNr::Fixed(nr),
            None => CounterNr::General(counter),
        }
    }

    fn to_abi(self) -> u32 {
        match self {
            CounterNr::General(nr) => nr,
            CounterNr::Fixed(nr) => abi::PMON_COUNTER_FIXED + nr,
        }
    }
}

impl fmt::Display for CounterNr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CounterNr::General(nr) => write!(f, "{nr}"),
            CounterNr::Fixed(nr) => write!(f, "fixed{nr}"),
        }
    }
}

/// A counter of the session. Its id is its index.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Index of its event in [`Session::events`].
    pub event: usize,
    /// Where it counts.
    pub place: Place,
    /// Socket, where it is known.
    pub socket: Option<u32>,
    /// The counter that the kernel chose.
    pub counter: CounterNr,
    /// Bits of the counter.
    pub width: u32,
    /// How its overflows are noticed.
    pub mode: Mode,
}

/// Size and kind of the rings.
#[derive(Clone, Copy, Debug)]
pub struct RingOptions {
    /// Data bytes of each ring, a power of two.
    pub bytes: u64,
    /// Wake the reader after so many records in a ring; 0: at half of the ring.
    pub wakeup_records: u32,
    /// A full ring overwrites its oldest records.
    pub overwrite: bool,
}

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            wakeup_records: 0,
            overwrite: false,
        }
    }
}

/// A counter's total, as in `struct pmon_count`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Events.
    pub total: u64,
    /// Overflows handled.
    pub overflows: u64,
    /// Time the session ran, ns.
    pub enabled_ns: u64,
    /// Of that, time the counter stood frozen by the driver, ns.
    pub frozen_ns: u64,
}

/// All totals at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// By counter id.
    pub counts: Vec<Total>,
}

/// One open session.
pub struct Session {
    machine: Machine,
    events: Vec<Event>,
    counters: Vec<Counter>,
    rings: Option<Box<dyn RingMemory>>,
    // Dropped after the rings, which it fills.
    device: Box<dyn Device>,
}

impl Session {
    /// Opens the kernel's device.
    pub fn open() -> Result<Self, Error> {
        Self::on(Box::new(DevPmon::open()?))
    }

    /// A session on any device.
    pub fn on(device: Box<dyn Device>) -> Result<Self, Error> {
        let machine = Machine::gather(device.as_ref())?;
        let (events, counters) = (Vec::new(), Vec::new());
        Ok(Self {
            machine,
            events,
            counters,
            rings: None,
            device,
        })
    }

    /// The machine, as it was when the session was opened.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The events, in the order of adding.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The counters, by id.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The event of counter `id`.
    pub fn event_of(&self, id: u32) -> Option<&Event> {
        // CAST: to a larger type.
        self.events.get(self.counters.get(id as usize)?.event)
    }

    /// Adds a counter for each event and each box that it selects.
    pub fn add(&mut self, events: Vec<Event>, selection: &Selection) -> Result<(), Error> {
        for event in events {
            let placements = place(&event, selection, &self.machine)?;
            for placement in placements {
                self.add_counter(&event, placement)?;
            }
            self.events.push(event);
        }
        Ok(())
    }

    fn add_counter(&mut self, event: &Event, placement: Placement) -> Result<(), Error> {
        let place = placement.place;
        let mut arg = abi::pmon_counter {
            unit: place.unit.number(),
            socket: place.socket,
            box_: place.index,
            counter: event
                .counter
                .map_or(abi::PMON_COUNTER_ANY, CounterNr::to_abi),
            flags: flags(event),
            config: event.config,
            filter: event.filter,
            period: event.period.unwrap_or(0),
            ..Default::default()
        };
        self.device.add(&mut arg).map_err(|error| CallError {
            subject: format!("`{event}` to {place}"),
            ..error
        })?;
        self.counters.push(Counter {
            event: self.events.len(),
            place,
            socket: self
                .machine
                .socket_of(place.unit, place.socket, place.index),
            counter: CounterNr::from_abi(arg.counter),
            width: arg.width,
            mode: placement.mode,
        });
        Ok(())
    }

    /// Makes the rings; needed for sampling. No events can be added afterwards.
    pub fn make_rings(&mut self, options: RingOptions) -> Result<(), Error> {
        let mut arg = abi::pmon_rings {
            flags: if options.overwrite {
                abi::PMON_RINGS_OVERWRITE
            } else {
                0
            },
            bytes: options.bytes,
            wakeup_records: options.wakeup_records,
            ..Default::default()
        };
        self.rings = Some(self.device.make_rings(&mut arg)?);
        Ok(())
    }

    /// A reader of the rings; without rings it finds nothing.
    pub fn reader(&self) -> Reader<'_> {
        /// No rings.
        struct Nothing;
        impl RingMemory for Nothing {
            fn len(&self) -> usize {
                0
            }
            fn ring(&self, _: usize) -> Option<crate::wire::ring::Memory<'_>> {
                None
            }
        }
        Reader::new(self.rings.as_deref().unwrap_or(&Nothing))
    }

    /// Starts counting.
    pub fn start(&self) -> Result<(), Error> {
        Ok(self.device.start()?)
    }

    /// Stops counting. Totals and records stay.
    pub fn stop(&self) -> Result<(), Error> {
        Ok(self.device.stop()?)
    }

    /// Sets the totals of a stopped session to 0.
    pub fn reset(&self) -> Result<(), Error> {
        Ok(self.device.reset()?)
    }

    /// All totals.
    pub fn totals(&self) -> Result<Totals, Error> {
        let mut counts = vec![abi::pmon_count::default(); self.counters.len()];
        let time = self.device.read(&mut counts)?;
        let total = |c: &abi::pmon_count| Total {
            total: c.total,
            overflows: c.overflows,
            enabled_ns: c.enabled_ns,
            frozen_ns: c.frozen_ns,
        };
        Ok(Totals {
            time,
            counts: counts.iter().map(total).collect(),
        })
    }

    /// What the session costs and did.
    pub fn stats(&self) -> Result<abi::pmon_stats, Error> {
        Ok(self.device.stats()?)
    }

    /// Waits until a ring has enough to read, `wake` is readable, `timeout` is over or a signal
    /// comes.
    pub fn wait(&self, wake: Option<BorrowedFd<'_>>, timeout: Duration) -> Result<(), Error> {
        Ok(self.device.wait(wake, timeout)?)
    }

    /// CLOCK_MONOTONIC, ns.
    pub fn now(&self) -> u64 {
        self.device.now()
    }
}

/// `PMON_COUNTER_*` flags.
fn flags(event: &Event) -> u32 {
    let mut flags = 0;
    if event.leader {
        flags |= abi::PMON_COUNTER_LEADER;
    }
    if event.unit == Unit::Core && event.user && !event.kernel {
        flags |= abi::PMON_COUNTER_EXCLUDE_KERNEL;
    }
    if event.unit == Unit::Core && event.kernel && !event.user {
        flags |= abi::PMON_COUNTER_EXCLUDE_USER;
    }
    flags
}
