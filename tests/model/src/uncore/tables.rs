// SPDX-License-Identifier: GPL-2.0-only
//! The units of a socket, one row a kind of box. Sources: 329468-002 (tables named at the rows) and
//! the MSR lists of SDM volume 3, tables 35-22 and 35-26.

use super::layout::{self, ControlLayout};

/// Index of the UBox in [`UNITS`].
pub(crate) const UBOX: usize = 0;
/// Index of the CBos in [`UNITS`].
pub(crate) const CBOX: usize = 1;
/// Index of the PCU in [`UNITS`].
pub(crate) const PCU: usize = 2;

/// Most CBos that a part can have.
pub(crate) const MAX_CBOS: usize = 15;

/// What a register does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Freeze, interrupt routing (table 2-2).
    GlobalCtl,
    /// Which boxes have overflowed (table 2-3).
    GlobalStatus,
    /// Description of the part (table 2-4).
    GlobalConfig,
    /// Freeze and reset of one box.
    BoxCtl,
    /// Which counters of the box have overflowed.
    BoxStatus,
    /// Control of a counter, by row.
    Ctl(usize),
    /// A counter, by row.
    Ctr(usize),
    /// A filter of the box.
    Filter(usize),
}

/// One register of a kind of box.
#[derive(Debug)]
pub(crate) struct Register {
    /// Distance from the base of its box.
    pub(crate) offset: u32,
    /// The manual's name, `n` standing for the number of the box.
    pub(crate) name: &'static str,
    pub(crate) role: Role,
}

/// One counter of a kind of box.
#[derive(Debug)]
pub(crate) struct CounterRow {
    /// The control channel's word.
    pub(crate) word: &'static str,
    /// Width in bits; `None` for the clock, whose width is a setting.
    pub(crate) width: Option<u32>,
    pub(crate) layout: &'static ControlLayout,
    /// Its bit in the box's status register.
    pub(crate) status: Option<u32>,
    /// Its bit in GLOBAL_STATUS, where it is not that of the box.
    pub(crate) global_status: Option<u32>,
}

/// What makes a counter's overflow known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// `ov_en` in its own control register.
    PerCounter,
    /// Bit 17 of the box's control register alone.
    PerBox,
}

/// An event that only some counters can count.
#[derive(Debug)]
pub(crate) struct Constraint {
    /// First and last event of the row.
    pub(crate) events: (u16, u16),
    /// Bit n is counter n.
    pub(crate) counters: u32,
}

/// One kind of box.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The control channel's word.
    pub(crate) word: &'static str,
    /// MSR address of box 0.
    pub(crate) base: u32,
    /// Distance from box to box.
    pub(crate) stride: u32,
    /// Most boxes of the kind.
    pub(crate) boxes: usize,
    /// Whether there is a BOX_CTL. Without one only the global freeze stops the counters.
    pub(crate) has_box_ctl: bool,
    pub(crate) overflow: Overflow,
    /// Bit of box 0 in GLOBAL_STATUS; box n has the n-th next.
    pub(crate) global_status: u32,
    /// The event that is the uncore clock; `None` for a fixed counter's.
    pub(crate) clock: Option<u16>,
    pub(crate) counters: &'static [CounterRow],
    pub(crate) registers: &'static [Register],
    pub(crate) constraints: &'static [Constraint],
}

const fn reg(offset: u32, name: &'static str, role: Role) -> Register {
    Register { offset, name, role }
}

const fn counter(
    word: &'static str,
    width: u32,
    layout: &'static ControlLayout,
    status: Option<u32>,
) -> CounterRow {
    CounterRow {
        word,
        width: Some(width),
        layout,
        status,
        global_status: None,
    }
}

const fn only(first: u16, last: u16, counters: u32) -> Constraint {
    Constraint {
        events: (first, last),
        counters,
    }
}

/// The units. A new one is a further row here.
pub(crate) static UNITS: [Unit; 3] = [
    // Tables 2-1 and 2-5 to 2-9.
    Unit {
        word: "ubox",
        base: 0xc00,
        stride: 0,
        boxes: 1,
        has_box_ctl: false,
        overflow: Overflow::PerCounter,
        global_status: 1,
        clock: None,
        counters: &[
            counter("0", 44, &layout::UBOX, Some(0)),
            counter("1", 44, &layout::UBOX, Some(1)),
            CounterRow {
                word: "fixed0",
                width: None,
                layout: &layout::UBOX_FIXED,
                // BOX_STATUS has bits for two counters only; ov_u_fixed is GLOBAL_STATUS bit 0.
                status: None,
                global_status: Some(0),
            },
        ],
        registers: &[
            reg(0x00, "U_MSR_PMON_GLOBAL_CTL", Role::GlobalCtl),
            reg(0x01, "U_MSR_PMON_GLOBAL_STATUS", Role::GlobalStatus),
            reg(0x06, "U_MSR_PMON_GLOBAL_CONFIG", Role::GlobalConfig),
            reg(0x08, "U_MSR_PMON_FIXED_CTL", Role::Ctl(2)),
            reg(0x09, "U_MSR_PMON_FIXED_CTR", Role::Ctr(2)),
            reg(0x10, "U_MSR_PMON_CTL0", Role::Ctl(0)),
            reg(0x11, "U_MSR_PMON_CTL1", Role::Ctl(1)),
            reg(0x15, "U_MSR_PMON_BOX_STATUS", Role::BoxStatus),
            reg(0x16, "U_MSR_PMON_CTR0", Role::Ctr(0)),
            reg(0x17, "U_MSR_PMON_CTR1", Role::Ctr(1)),
        ],
        constraints: &[],
    },
    // Tables 2-12 to 2-17.
    Unit {
        word: "cbox",
        base: 0xd00,
        stride: 0x20,
        boxes: MAX_CBOS,
        has_box_ctl: true,
        overflow: Overflow::PerBox,
        global_status: 3,
        clock: Some(0x00),
        counters: &[
            counter("0", 44, &layout::CBOX, None),
            counter("1", 44, &layout::CBOX, None),
            counter("2", 44, &layout::CBOX, None),
            counter("3", 44, &layout::CBOX, None),
        ],
        registers: &[
            reg(0x04, "Cn_MSR_PMON_BOX_CTL", Role::BoxCtl),
            reg(0x10, "Cn_MSR_PMON_CTL0", Role::Ctl(0)),
            reg(0x11, "Cn_MSR_PMON_CTL1", Role::Ctl(1)),
            reg(0x12, "Cn_MSR_PMON_CTL2", Role::Ctl(2)),
            reg(0x13, "Cn_MSR_PMON_CTL3", Role::Ctl(3)),
            reg(0x14, "Cn_MSR_PMON_BOX_FILTER", Role::Filter(0)),
            reg(0x16, "Cn_MSR_PMON_CTR0", Role::Ctr(0)),
            reg(0x17, "Cn_MSR_PMON_CTR1", Role::Ctr(1)),
            reg(0x18, "Cn_MSR_PMON_CTR2", Role::Ctr(2)),
            reg(0x19, "Cn_MSR_PMON_CTR3", Role::Ctr(3)),
            reg(0x1a, "Cn_MSR_PMON_BOX_FILTER1", Role::Filter(1)),
        ],
        // Column "Counter" of the part's public event list.
        constraints: &[
            only(0x02, 0x07, 0b0011),
            only(0x11, 0x11, 0b0001),
            only(0x12, 0x14, 0b0011),
            only(0x1b, 0x1e, 0b1100),
            only(0x1f, 0x1f, 0b1110),
            only(0x31, 0x35, 0b0011),
            only(0x36, 0x36, 0b0001),
            only(0x37, 0x37, 0b0011),
            only(0x39, 0x39, 0b0011),
            only(0x3c, 0x3c, 0b0011),
        ],
    },
    // Tables 2-119 to 2-123.
    Unit {
        word: "pcu",
        base: 0xc20,
        stride: 0,
        boxes: 1,
        has_box_ctl: true,
        overflow: Overflow::PerCounter,
        global_status: 2,
        clock: Some(0x00),
        counters: &[
            counter("0", 48, &layout::PCU, Some(0)),
            counter("1", 48, &layout::PCU, Some(1)),
            counter("2", 48, &layout::PCU, Some(2)),
            counter("3", 48, &layout::PCU, Some(3)),
        ],
        registers: &[
            reg(0x04, "PCU_MSR_PMON_BOX_CTL", Role::BoxCtl),
            reg(0x10, "PCU_MSR_PMON_CTL0", Role::Ctl(0)),
            reg(0x11, "PCU_MSR_PMON_CTL1", Role::Ctl(1)),
            reg(0x12, "PCU_MSR_PMON_CTL2", Role::Ctl(2)),
            reg(0x13, "PCU_MSR_PMON_CTL3", Role::Ctl(3)),
            reg(0x14, "PCU_MSR_PMON_BOX_FILTER", Role::Filter(0)),
            reg(0x15, "PCU_MSR_PMON_BOX_STATUS", Role::BoxStatus),
            reg(0x16, "PCU_MSR_PMON_CTR0", Role::Ctr(0)),
            reg(0x17, "PCU_MSR_PMON_CTR1", Role::Ctr(1)),
            reg(0x18, "PCU_MSR_PMON_CTR2", Role::Ctr(2)),
            reg(0x19, "PCU_MSR_PMON_CTR3", Role::Ctr(3)),
        ],
        constraints: &[],
    },
];

/// A register of one box of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Index into [`UNITS`].
    pub(crate) unit: usize,
    /// Number of the box within its kind.
    pub(crate) number: usize,
    pub(crate) register: &'static Register,
}

impl Place {
    /// The register's name with the number of its box.
    pub(crate) fn name(&self) -> String {
        box_register_name(self.register, self.number)
    }
}

/// A register's name with the number of its box.
pub(crate) fn box_register_name(register: &Register, number: usize) -> String {
    register.name.replacen("Cn_", &format!("C{number}_"), 1)
}

/// Whether `msr` lies in the ranges that this part gives to its uncore monitoring.
pub(crate) const fn claims(msr: u32) -> bool {
    matches!(msr, 0xc00..=0xc3f | 0xd00..=0xeff)
}

/// The register at `msr`, of a socket with `cbos` CBos.
pub(crate) fn decode(msr: u32, cbos: usize) -> Option<Place> {
    UNITS.iter().enumerate().find_map(|(unit, row)| {
        let distance = msr.checked_sub(row.base)?;
        let number = distance.checked_div(row.stride).unwrap_or(0) as usize;
        let offset = distance.checked_rem(row.stride).unwrap_or(distance);
        let present = if unit == CBOX { cbos } else { row.boxes };
        if number >= present {
            return None;
        }
        let register = row
            .registers
            .iter()
            .find(|register| register.offset == offset)?;
        Some(Place {
            unit,
            number,
            register,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(msr: u32) -> Option<String> {
        decode(msr, MAX_CBOS).map(|place| place.name())
    }

    #[test]
    fn ubox_addresses_are_those_of_table_2_1() {
        assert_eq!(name(0xc00).unwrap(), "U_MSR_PMON_GLOBAL_CTL");
        assert_eq!(name(0xc01).unwrap(), "U_MSR_PMON_GLOBAL_STATUS");
        assert_eq!(name(0xc06).unwrap(), "U_MSR_PMON_GLOBAL_CONFIG");
        assert_eq!(name(0xc08).unwrap(), "U_MSR_PMON_FIXED_CTL");
        assert_eq!(name(0xc17).unwrap(), "U_MSR_PMON_CTR1");
        assert_eq!(name(0xc02), None);
    }

    #[test]
    fn cbo_addresses_are_those_of_sdm_tables_35_22_and_35_26() {
        assert_eq!(name(0xe04).unwrap(), "C8_MSR_PMON_BOX_CTL");
        assert_eq!(name(0xec4).unwrap(), "C14_MSR_PMON_BOX_CTL");
        assert_eq!(name(0xed0).unwrap(), "C14_MSR_PMON_CTL0");
        assert_eq!(name(0xeda).unwrap(), "C14_MSR_PMON_BOX_FILTER1");
        assert_eq!(name(0xee4), None);
        assert!(decode(0xd84, 4).is_none());
    }

    #[test]
    fn pcu_addresses_are_those_of_sdm_tables_35_22_and_35_26() {
        assert_eq!(name(0xc24).unwrap(), "PCU_MSR_PMON_BOX_CTL");
        assert_eq!(name(0xc33).unwrap(), "PCU_MSR_PMON_CTL3");
        assert_eq!(name(0xc34).unwrap(), "PCU_MSR_PMON_BOX_FILTER");
        assert_eq!(name(0xc35).unwrap(), "PCU_MSR_PMON_BOX_STATUS");
        assert_eq!(name(0xc39).unwrap(), "PCU_MSR_PMON_CTR3");
    }

    #[test]
    fn every_register_lies_in_a_claimed_range() {
        for unit in &UNITS {
            for register in unit.registers {
                let last = unit.base + unit.stride * (unit.boxes as u32 - 1) + register.offset;
                assert!(claims(unit.base + register.offset) && claims(last));
            }
        }
    }
}
