// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The fields of each unit's control and filter registers that an event may set.

use crate::unit::Unit;

/// Where a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// In `pmon_counter.config`.
    Config,
    /// In `pmon_counter.filter` of this index.
    Filter(usize),
}

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in events.
    pub name: &'static str,
    /// perf's name for it, where that differs.
    pub alias: Option<&'static str>,
    /// Register.
    pub target: Target,
    /// Lowest bit.
    pub shift: u32,
    /// Bits; a field of one bit is a flag and needs no value.
    pub bits: u32,
    /// Bits of the config that the field needs besides.
    pub also: u64,
    /// What it does, with its source.
    pub about: &'static str,
}

impl Field {
    /// Largest value.
    pub fn max(&self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Its bits in the register.
    pub fn mask(&self) -> u64 {
        self.max() << self.shift
    }
}

/// The fields of `unit`.
pub fn fields(unit: Unit) -> &'static [Field] {
    match unit {
        Unit::Ubox => UBOX,
        Unit::Cbox => CBOX,
        Unit::Pcu => PCU,
        Unit::Core => CORE,
    }
}

/// CTL: count only what the thread in FILTER0 caused (329468-002 table 2-14).
const TID_EN: u64 = 1 << 19;

const fn config(name: &'static str, shift: u32, bits: u32, about: &'static str) -> Field {
    Field {
        name,
        alias: None,
        target: Target::Config,
        shift,
        bits,
        also: 0,
        about,
    }
}

const fn filter(
    (name, alias): (&'static str, &'static str),
    register: usize,
    shift: u32,
    bits: u32,
    about: &'static str,
) -> Field {
    let target = Target::Filter(register);
    Field {
        name,
        alias: Some(alias),
        target,
        shift,
        bits,
        also: 0,
        about,
    }
}

const UBOX: &[Field] = &[
    config("event", 0, 8, "event select (329468-002 table 2-6)"),
    config("umask", 8, 8, "unit mask (table 2-6)"),
    config("edge", 18, 1, "count when the condition begins (table 2-6)"),
    config(
        "thresh",
        24,
        5,
        "count cycles with at least so many events (table 2-6)",
    ),
];

const CBOX: &[Field] = &[
    config("event", 0, 8, "event select (329468-002 table 2-14)"),
    config("umask", 8, 8, "unit mask (table 2-14)"),
    config(
        "edge",
        18,
        1,
        "count when the condition begins (table 2-14)",
    ),
    config(
        "thresh",
        24,
        8,
        "count cycles with at least so many events (table 2-14)",
    ),
    Field {
        also: TID_EN,
        ..filter(
            ("tid", "filter_tid"),
            0,
            0,
            5,
            "thread: core in 3:1, thread in 0 (table 2-16)",
        )
    },
    filter(
        ("state", "filter_state"),
        0,
        17,
        6,
        "line states of event 0x34 (table 2-16)",
    ),
    filter(
        ("nid", "filter_nid"),
        1,
        0,
        16,
        "target nodes, a bit each (table 2-17)",
    ),
    filter(
        ("opc", "filter_opc"),
        1,
        20,
        9,
        "opcode of events 0x35 and 0x36 (table 2-17)",
    ),
    filter(
        ("nc", "filter_nc"),
        1,
        30,
        1,
        "only non-coherent requests (table 2-17)",
    ),
    filter(
        ("isoc", "filter_isoc"),
        1,
        31,
        1,
        "only isochronous requests (table 2-17)",
    ),
];

const PCU: &[Field] = &[
    config(
        "event",
        0,
        8,
        "event select; bit 7: an occupancy (329468-002 table 2-121)",
    ),
    config(
        "occ_sel",
        14,
        2,
        "occupancy: 1 cores in C0, 2 in C3, 3 in C6 (table 2-121)",
    ),
    config(
        "edge",
        18,
        1,
        "count when the condition begins (table 2-121)",
    ),
    config(
        "ev_sel_ext",
        21,
        1,
        "event of the second page (table 2-121)",
    ),
    config(
        "thresh",
        24,
        5,
        "count cycles with at least so many events (table 2-121)",
    ),
    config(
        "occ_invert",
        30,
        1,
        "occupancy below the threshold (table 2-121)",
    ),
    config(
        "occ_edge",
        31,
        1,
        "count when the occupancy passes it (table 2-121)",
    ),
    band(
        "filter",
        0,
        32,
        "all four bands of events 0xb to 0xe (table 2-123)",
    ),
    band(
        "filter_band0",
        0,
        8,
        "lowest frequency of event 0xb, 100 MHz (table 2-123)",
    ),
    band(
        "filter_band1",
        8,
        8,
        "lowest frequency of event 0xc, 100 MHz (table 2-123)",
    ),
    band(
        "filter_band2",
        16,
        8,
        "lowest frequency of event 0xd, 100 MHz (table 2-123)",
    ),
    band(
        "filter_band3",
        24,
        8,
        "lowest frequency of event 0xe, 100 MHz (table 2-123)",
    ),
];

const fn band(name: &'static str, shift: u32, bits: u32, about: &'static str) -> Field {
    Field {
        name,
        alias: None,
        target: Target::Filter(0),
        shift,
        bits,
        also: 0,
        about,
    }
}

const CORE: &[Field] = &[
    config(
        "event",
        0,
        8,
        "event select (SDM volume 3, IA32_PERFEVTSELx)",
    ),
    config("umask", 8, 8, "unit mask (IA32_PERFEVTSELx)"),
    config(
        "edge",
        18,
        1,
        "count when the condition begins (IA32_PERFEVTSELx)",
    ),
    config(
        "any",
        21,
        1,
        "count for all threads of the core (IA32_PERFEVTSELx)",
    ),
    config(
        "inv",
        23,
        1,
        "invert the comparison with cmask (IA32_PERFEVTSELx)",
    ),
    config(
        "cmask",
        24,
        8,
        "count cycles with at least so many events (IA32_PERFEVTSELx)",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// What the units may set at all, from the manual's tables.
    const MASKS: [(Unit, u64, [u64; 2]); 4] = [
        (Unit::Ubox, 0x1f04_ffff, [0, 0]),
        (Unit::Cbox, 0xff0c_ffff, [0x007e_001f, 0xdff0_ffff]),
        (Unit::Pcu, 0xdf24_c0ff, [0xffff_ffff, 0]),
        (Unit::Core, 0xffa4_ffff, [0, 0]),
    ];

    #[test]
    fn fields_cover_the_allowed_bits_exactly() {
        for (unit, config, filter) in MASKS {
            let bits = |target| {
                let of_target = fields(unit).iter().filter(|f| f.target == target);
                of_target.fold(0, |all, f| all | f.mask())
            };
            let also = fields(unit).iter().fold(0, |all, f| all | f.also);
            assert_eq!(bits(Target::Config) | also, config, "{unit}");
            assert_eq!(
                [bits(Target::Filter(0)), bits(Target::Filter(1))],
                filter,
                "{unit}"
            );
        }
    }

    #[test]
    fn names_are_unique() {
        for unit in Unit::ALL {
            let names = fields(unit)
                .iter()
                .flat_map(|f| [Some(f.name), f.alias])
                .flatten();
            let mut seen = HashSet::new();
            assert!(names.into_iter().all(|n| seen.insert(n)), "{unit}");
        }
    }
}
