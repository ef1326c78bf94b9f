// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What to count, in the words of perf's users.
//!
//! ```text
//! list   = event {"," event}
//! event  = unit [boxes] "/" term {"," term} ["/" [modes]]
//! unit   = "ubox" | "cbox" | "pcu" | "core"        also uncore_cbox_3, cbo, cpu
//! boxes  = number ["-" number]                     all when left out; of core: CPUs
//! term   = name | field | field "=" number | option
//! option = "period=" number | "leader" | "counter=" number | "fixed" ["=" number]
//!        | "socket=" number ["-" number] | "u" | "k"
//! number = decimal | "0x" hexadecimal, with "_" between digits; periods also with k, M or G
//! modes  = "u" | "k" | "uk"                        of core: only user, only kernel mode
//! ```
//!
//! The last `/` may be left out at the end of the list. [`fields`] has the fields of each unit,
//! [`NAMES`] the names.

mod error;
mod field;
mod name;
mod parse;
mod write;

pub use error::{ParseError, Problem};
pub use field::{fields, Field, Target};
pub use name::{named, Name, NAMES};
pub use parse::parse;

use crate::{list::List, session::CounterNr, unit::Unit};

/// One event: what to count, on which boxes, and how often to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of box.
    pub unit: Unit,
    /// First and last box (of core: CPU); all when `None`.
    pub boxes: Option<(u32, u32)>,
    /// Sockets; all when `None`.
    pub sockets: Option<List>,
    /// The event's name, when it was named.
    pub name: Option<&'static str>,
    /// `pmon_counter.config`.
    pub config: u64,
    /// `pmon_counter.filter`.
    pub filter: [u32; 4],
    /// Counter; any when `None`.
    pub counter: Option<CounterNr>,
    /// Events between two samples; counts only when `None`.
    pub period: Option<u64>,
    /// Its overflow samples all counters that the interrupted CPU can reach.
    pub leader: bool,
    /// Of core: count only in user mode (with `kernel`: in both).
    pub user: bool,
    /// Of core: count only in kernel mode (with `user`: in both).
    pub kernel: bool,
}

impl Event {
    /// The event without period and leader: what is counted and where. This names it in output.
    pub fn label(&self) -> String {
        Self {
            period: None,
            leader: false,
            ..self.clone()
        }
        .to_string()
    }
}
