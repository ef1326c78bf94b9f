// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The kinds of counting hardware, and how their overflows are noticed.

use crate::abi;
use std::fmt;

/// A kind of counting hardware (`enum pmon_unit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// System configuration agent, with the uncore clock.
    Ubox,
    /// Last-level cache coherence engine, one per core.
    Cbox,
    /// Power control unit.
    Pcu,
    /// A logical CPU's own PMU.
    Core,
}

impl Unit {
    /// All units, in the order of their numbers.
    pub const ALL: [Unit; 4] = [Unit::Ubox, Unit::Cbox, Unit::Pcu, Unit::Core];

    /// `enum pmon_unit`.
    pub fn number(self) -> u32 {
        match self {
            Unit::Ubox => abi::PMON_UNIT_UBOX,
            Unit::Cbox => abi::PMON_UNIT_CBOX,
            Unit::Pcu => abi::PMON_UNIT_PCU,
            Unit::Core => abi::PMON_UNIT_CORE,
        }
    }

    /// Name in events.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ubox => "ubox",
            Unit::Cbox => "cbox",
            Unit::Pcu => "pcu",
            Unit::Core => "core",
        }
    }

    /// The unit of this name, also under the names that perf gives it.
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = name.strip_prefix("uncore_").unwrap_or(name);
        match plain {
            "cbo" => return Some(Unit::Cbox),
            "cpu" => return Some(Unit::Core),
            _ => {}
        }
        Self::ALL.into_iter().find(|u| u.name() == plain)
    }

    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Unit::Ubox => "system configuration agent, with the uncore clock",
            Unit::Cbox => "last-level cache coherence engine (CBo), one per core",
            Unit::Pcu => "power control unit",
            Unit::Core => "a logical CPU's own counters",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the overflow of a unit's counters is noticed (`enum pmon_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The unit is not there, or cannot be used.
    Absent,
    /// By the overflow's own interrupt.
    Pmi,
    /// By a timer that looks at the counters.
    Poll,
}

impl Mode {
    /// The mode of this number; one that is not known counts as absent.
    pub fn from_number(mode: u32) -> Self {
        match mode {
            abi::PMON_MODE_PMI => Mode::Pmi,
            abi::PMON_MODE_POLL => Mode::Poll,
            _ => Mode::Absent,
        }
    }

    /// Name in output.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Absent => "absent",
            Mode::Pmi => "pmi",
            Mode::Poll => "poll",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
