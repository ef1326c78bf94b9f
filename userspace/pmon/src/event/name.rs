// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Events that have a name here: the clocks, and the architectural events of the core.

use crate::unit::Unit;

/// A named event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Unit.
    pub unit: Unit,
    /// Name in events.
    pub name: &'static str,
    /// Event select and unit mask for a general counter; `None`: only the fixed counter counts it.
    pub code: Option<(u8, u8)>,
    /// The fixed counter that counts it.
    pub fixed: Option<u32>,
    /// What it counts, with its source.
    pub about: &'static str,
}

const fn row(
    unit: Unit,
    name: &'static str,
    code: Option<(u8, u8)>,
    fixed: Option<u32>,
    about: &'static str,
) -> Name {
    Name {
        unit,
        name,
        code,
        fixed,
        about,
    }
}

/// All named events.
pub static NAMES: &[Name] = &[
    row(
        Unit::Ubox,
        "clockticks",
        None,
        Some(0),
        "uncore clocks (329468-002 table 2-8)",
    ),
    row(
        Unit::Cbox,
        "clockticks",
        Some((0x00, 0)),
        None,
        "uncore clocks (329468-002 section 2.3)",
    ),
    row(
        Unit::Pcu,
        "clockticks",
        Some((0x00, 0)),
        None,
        "PCU clocks, 800 MHz (table 2-121)",
    ),
    row(
        Unit::Core,
        "instructions",
        Some((0xc0, 0)),
        Some(0),
        "instructions retired (SDM table 19-1)",
    ),
    row(
        Unit::Core,
        "cycles",
        Some((0x3c, 0)),
        Some(1),
        "core clocks, not halted (table 19-1)",
    ),
    row(
        Unit::Core,
        "ref-cycles",
        Some((0x3c, 1)),
        Some(2),
        "reference clocks, not halted (table 19-1)",
    ),
    row(
        Unit::Core,
        "cache-references",
        Some((0x2e, 0x4f)),
        None,
        "LLC references (table 19-1)",
    ),
    row(
        Unit::Core,
        "cache-misses",
        Some((0x2e, 0x41)),
        None,
        "LLC misses (table 19-1)",
    ),
    row(
        Unit::Core,
        "branches",
        Some((0xc4, 0)),
        None,
        "branches retired (table 19-1)",
    ),
    row(
        Unit::Core,
        "branch-misses",
        Some((0xc5, 0)),
        None,
        "mispredicted branches retired (table 19-1)",
    ),
];

/// The event of this name, also under perf's other names.
pub fn named(unit: Unit, name: &str) -> Option<&'static Name> {
    let plain = match name {
        "cpu-cycles" => "cycles",
        "branch-instructions" => "branches",
        "llc-references" => "cache-references",
        "llc-misses" => "cache-misses",
        other => other,
    };
    NAMES.iter().find(|n| n.unit == unit && n.name == plain)
}
