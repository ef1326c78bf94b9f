// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! From an event to the boxes and CPUs that count it on this machine.

use crate::{
    event::Event,
    list::List,
    machine::Machine,
    unit::{Mode, Unit},
};
use std::fmt;

/// A box of a socket, or a CPU's own counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Kind of box.
    pub unit: Unit,
    /// Socket; 0 for [`Unit::Core`].
    pub socket: u32,
    /// Box of the socket, or CPU.
    pub index: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Core => write!(f, "core{}", self.index),
            unit => write!(f, "{unit}{} on socket {}", self.index, self.socket),
        }
    }
}

/// Sockets and CPUs to count on, for all events.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Sockets; all when `None`. Of core: the CPUs of these sockets.
    pub sockets: Option<List>,
    /// CPUs of core events; all when `None`.
    pub cpus: Option<List>,
}

/// A place that counts an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where.
    pub place: Place,
    /// How its overflows are noticed.
    pub mode: Mode,
}

/// Why an event cannot be counted on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The machine has none of the unit.
    #[error(
        "event `{event}`: this machine has no usable {unit}; `pmonread info` shows what it has"
    )]
    NoUnit {
        /// The event.
        event: String,
        /// Its unit.
        unit: Unit,
    },
    /// The named boxes are not there.
    #[error("event `{event}`: there is no {unit}{index}; the last one is {unit}{last}")]
    NoBox {
        /// The event.
        event: String,
        /// Its unit.
        unit: Unit,
        /// The box (of core: CPU) that is not there.
        index: u32,
        /// The last one that is.
        last: u32,
    },
    /// The list of sockets leads past the machine.
    #[error("there is no socket {socket}; the machine has {has} with an uncore, numbered from 0")]
    NoSocket {
        /// The socket.
        socket: u32,
        /// Sockets of the machine.
        has: u32,
    },
    /// The list of CPUs leads past the machine.
    #[error("there is no CPU {cpu}; CPUs are below {has}")]
    NoCpu {
        /// The CPU.
        cpu: u32,
        /// Possible CPUs.
        has: u32,
    },
    /// Everything was deselected.
    #[error(
        "event `{0}`: no box is left to count it; choose other sockets or CPUs that are online"
    )]
    Nowhere(String),
}

/// The places that count `event`.
pub(crate) fn place(
    event: &Event,
    selection: &Selection,
    machine: &Machine,
) -> Result<Vec<Placement>, PlaceError> {
    check_lists(event, selection, machine)?;
    let usable: Vec<_> = machine
        .of_unit(event.unit)
        .filter(|b| b.mode != Mode::Absent)
        .collect();
    let Some(last) = usable.iter().map(|b| b.index).max() else {
        return Err(PlaceError::NoUnit {
            event: event.label(),
            unit: event.unit,
        });
    };
    if let Some((_, index)) = event.boxes.filter(|&(_, end)| end > last) {
        return Err(PlaceError::NoBox {
            event: event.label(),
            unit: event.unit,
            index,
            last,
        });
    }
    let named = |list: &Option<List>, number| list.as_ref().is_none_or(|l| l.contains(number));
    let placements: Vec<_> = usable
        .into_iter()
        .filter(|b| {
            let socket = machine.socket_of(b.unit, b.socket, b.index);
            event
                .boxes
                .is_none_or(|(first, end)| (first..=end).contains(&b.index))
                && socket.is_none_or(|s| named(&selection.sockets, s) && named(&event.sockets, s))
                && (b.unit != Unit::Core || named(&selection.cpus, b.index))
        })
        .map(|b| Placement {
            place: Place {
                unit: b.unit,
                socket: b.socket,
                index: b.index,
            },
            mode: b.mode,
        })
        .collect();
    if placements.is_empty() {
        return Err(PlaceError::Nowhere(event.label()));
    }
    Ok(placements)
}

fn check_lists(event: &Event, selection: &Selection, machine: &Machine) -> Result<(), PlaceError> {
    let info = &machine.info;
    let past = |list: &Option<List>, has: u32| {
        list.as_ref()
            .and_then(List::last)
            .filter(|last| *last >= has)
    };
    for sockets in [&selection.sockets, &event.sockets] {
        if let Some(socket) = past(sockets, info.nr_sockets) {
            return Err(PlaceError::NoSocket {
                socket,
                has: info.nr_sockets,
            });
        }
    }
    match past(&selection.cpus, info.nr_cpus) {
        Some(cpu) => Err(PlaceError::NoCpu {
            cpu,
            has: info.nr_cpus,
        }),
        None => Ok(()),
    }
}
