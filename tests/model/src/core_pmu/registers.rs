// SPDX-License-Identifier: GPL-2.0-only
//! The core's monitoring MSRs (SDM volume 3, §18.2 and tables 35-2 and 35-18), and their bits.

/// IA32_PERFEVTSEL: USR and OS, INT, EN, INV, and the bit that is reserved since Sandy Bridge.
pub(crate) const USR_OS: u64 = 3 << 16;
pub(crate) const PIN_CONTROL: u64 = 1 << 19;
pub(crate) const INT: u64 = 1 << 20;
pub(crate) const EN: u64 = 1 << 22;
pub(crate) const INV: u64 = 1 << 23;
/// Shift of CMASK.
pub(crate) const CMASK: u32 = 24;
/// IA32_PERFEVTSEL as a whole.
pub(crate) const EVTSEL: u64 = 0xffff_ffff;

/// IA32_FIXED_CTR_CTRL: four bits a counter; OS and USR, PMI.
pub(crate) const FIXED_ENABLE: u64 = 0b0011;
pub(crate) const FIXED_PMI: u64 = 0b1000;
pub(crate) const FIXED_CTRL: u64 = 0xfff;

/// IA32_PERF_GLOBAL_STATUS and IA32_PERF_GLOBAL_OVF_CTRL: Ovf_Uncore, and the top three bits.
pub(crate) const OVF_UNCORE: u64 = 1 << 61;
pub(crate) const OVF_TOP: u64 = 7 << 61;

/// IA32_DEBUGCTL: FREEZE_PERFMON_ON_PMI, ENABLE_UNCORE_PMI, and all that the part has.
pub(crate) const FREEZE_ON_PMI: u64 = 1 << 12;
pub(crate) const UNCORE_PMI: u64 = 1 << 13;
pub(crate) const DEBUGCTL: u64 = 0x7fc3;

/// IA32_PERF_CAPABILITIES: full-width writes (bit 13), LBR format 3 as on this part, no PEBS.
pub(crate) const CAPABILITIES: u64 = (1 << 13) | 3;

/// What a register does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// IA32_PMC, which sign-extends 32 written bits.
    Counter(usize),
    /// IA32_A_PMC: the same counter, written at full width.
    FullCounter(usize),
    /// IA32_PERFEVTSEL.
    Select(usize),
    /// IA32_FIXED_CTR.
    Fixed(usize),
    FixedCtrl,
    GlobalStatus,
    GlobalCtrl,
    OvfCtrl,
    Capabilities,
    DebugCtl,
    /// Residency counter: of C3 (0) or C6 (1).
    Residency(usize),
    /// Storage without effect in the model, and the bits that it keeps.
    Storage(u64),
}

/// A row of consecutive registers.
#[derive(Debug)]
pub(crate) struct Row {
    first: u32,
    count: u32,
    /// Name of the row's registers, without their number.
    pub(crate) name: &'static str,
    /// Text after the number, or `None` when there is no number.
    pub(crate) suffix: Option<&'static str>,
    role: fn(usize) -> Role,
}

const fn one(first: u32, name: &'static str, role: fn(usize) -> Role) -> Row {
    Row {
        first,
        count: 1,
        name,
        suffix: None,
        role,
    }
}

const fn many(first: u32, count: u32, name: &'static str, role: fn(usize) -> Role) -> Row {
    Row {
        first,
        count,
        name,
        suffix: Some(""),
        role,
    }
}

/// Most general counters a logical CPU can have.
pub(crate) const MAX_GENERAL: u32 = 8;

/// All rows. Addresses 391H and 392H are here to raise #GP: they came with version 4.
pub(crate) static ROWS: [Row; 19] = [
    many(0x0c1, MAX_GENERAL, "IA32_PMC", Role::Counter),
    many(0x186, MAX_GENERAL, "IA32_PERFEVTSEL", Role::Select),
    many(0x1a6, 2, "MSR_OFFCORE_RSP_", |_| {
        Role::Storage(0x3f_ffff_ffff)
    }),
    one(0x1c8, "MSR_LBR_SELECT", |_| Role::Storage(0x1ff)),
    one(0x1c9, "MSR_LASTBRANCH_TOS", |_| Role::Storage(0xf)),
    one(0x1d9, "IA32_DEBUGCTL", |_| Role::DebugCtl),
    many(0x309, 3, "IA32_FIXED_CTR", Role::Fixed),
    one(0x345, "IA32_PERF_CAPABILITIES", |_| Role::Capabilities),
    one(0x38d, "IA32_FIXED_CTR_CTRL", |_| Role::FixedCtrl),
    one(0x38e, "IA32_PERF_GLOBAL_STATUS", |_| Role::GlobalStatus),
    one(0x38f, "IA32_PERF_GLOBAL_CTRL", |_| Role::GlobalCtrl),
    one(0x390, "IA32_PERF_GLOBAL_OVF_CTRL", |_| Role::OvfCtrl),
    one(0x3f1, "IA32_PEBS_ENABLE", |_| {
        Role::Storage(0x8000_000f_0000_000f)
    }),
    one(0x3f6, "MSR_PEBS_LD_LAT", |_| Role::Storage(0xffff)),
    one(0x3fc, "MSR_CORE_C3_RESIDENCY", |_| Role::Residency(0)),
    one(0x3fd, "MSR_CORE_C6_RESIDENCY", |_| Role::Residency(1)),
    many(0x4c1, MAX_GENERAL, "IA32_A_PMC", Role::FullCounter),
    Row {
        first: 0x680,
        count: 16,
        name: "MSR_LASTBRANCH_",
        suffix: Some("_FROM_IP"),
        role: |_| Role::Storage(u64::MAX),
    },
    Row {
        first: 0x6c0,
        count: 16,
        name: "MSR_LASTBRANCH_",
        suffix: Some("_TO_IP"),
        role: |_| Role::Storage(u64::MAX),
    },
];

/// One register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Register {
    pub(crate) row: &'static Row,
    /// Number within its row.
    pub(crate) number: usize,
    pub(crate) role: Role,
}

impl Register {
    /// The SDM's name.
    pub(crate) fn name(&self) -> String {
        match self.row.suffix {
            Some(suffix) => format!("{}{}{suffix}", self.row.name, self.number),
            None => self.row.name.into(),
        }
    }
}

/// Whether the model answers for `msr`, be it present or not.
pub(crate) const fn claims(msr: u32) -> bool {
    matches!(
        msr,
        0xc1..=0xc8
            | 0x186..=0x18d
            | 0x1a6..=0x1a7
            | 0x1c8..=0x1c9
            | 0x1d9
            | 0x309..=0x30b
            | 0x345
            | 0x38d..=0x392
            | 0x3f1
            | 0x3f6
            | 0x3fc..=0x3fd
            | 0x4c1..=0x4c8
            | 0x680..=0x68f
            | 0x6c0..=0x6cf
    )
}

/// The register at `msr`, of a CPU with `general` general counters.
pub(crate) fn decode(msr: u32, general: usize) -> Option<Register> {
    let row = ROWS
        .iter()
        .find(|row| (row.first..row.first + row.count).contains(&msr))?;
    let number = (msr - row.first) as usize;
    let role = (row.role)(number);
    match role {
        Role::Counter(i) | Role::FullCounter(i) | Role::Select(i) if i >= general => None,
        _ => Some(Register { row, number, role }),
    }
}

/// All registers of a CPU with `general` general counters.
pub(crate) fn all(general: usize) -> impl Iterator<Item = (u32, Register)> {
    ROWS.iter()
        .flat_map(|row| row.first..row.first + row.count)
        .filter_map(move |msr| Some((msr, decode(msr, general)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_is_claimed() {
        assert!(all(8).all(|(msr, _)| claims(msr)));
        assert!(!claims(0x1a0), "IA32_MISC_ENABLE is QEMU's");
    }

    #[test]
    fn addresses_are_those_of_the_sdm() {
        let name = |msr| decode(msr, 4).map(|register| register.name());
        assert_eq!(name(0xc1).unwrap(), "IA32_PMC0");
        assert_eq!(name(0x189).unwrap(), "IA32_PERFEVTSEL3");
        assert_eq!(
            name(0x18a),
            None,
            "a fifth counter needs a machine without threads"
        );
        assert_eq!(name(0x4c4).unwrap(), "IA32_A_PMC3");
        assert_eq!(name(0x30b).unwrap(), "IA32_FIXED_CTR2");
        assert_eq!(name(0x391), None);
        assert_eq!(name(0x68f).unwrap(), "MSR_LASTBRANCH_15_FROM_IP");
    }
}
