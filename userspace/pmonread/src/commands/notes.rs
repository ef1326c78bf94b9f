// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What users should know about the events that they named.

use pmon::{event::Event, Unit};
use std::io::{self, Write};

/// LLC_LOOKUP of the CBo (329468-002 table 2-16: it counts in the states of FILTER0 bits 22:17).
const LLC_LOOKUP: u64 = 0x34;
const STATES: u32 = 0x7e_0000;

/// Says so when an event cannot count.
pub(crate) fn event_notes(events: &[Event], err: &mut dyn Write) -> io::Result<()> {
    let idle = |e: &&Event| {
        e.unit == Unit::Cbox && e.config & 0xff == LLC_LOOKUP && e.filter[0] & STATES == 0
    };
    for event in events.iter().filter(idle) {
        let label = event.label();
        writeln!(
            err,
            "note: `{label}` counts nothing without states; add state=0x3f for all"
        )?;
    }
    Ok(())
}
