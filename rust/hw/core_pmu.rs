// SPDX-License-Identifier: GPL-2.0-only

//! A logical CPU's own PMU: architectural performance monitoring (SDM chapter 18 and 35).

/// IA32_PERFEVTSEL0; the others follow.
pub const IA32_PERFEVTSEL0: u32 = 0x186;
/// IA32_PMC0; the others follow. A write takes 32 bits and extends their sign.
pub const IA32_PMC0: u32 = 0xc1;
/// IA32_A_PMC0: the same counter, written at full width; the others follow.
pub const IA32_A_PMC0: u32 = 0x4c1;
/// IA32_FIXED_CTR0: instructions retired; then core cycles and reference cycles.
pub const IA32_FIXED_CTR0: u32 = 0x309;
/// IA32_FIXED_CTR_CTRL: four bits a counter.
pub const IA32_FIXED_CTR_CTRL: u32 = 0x38d;
/// IA32_PERF_GLOBAL_STATUS.
pub const IA32_PERF_GLOBAL_STATUS: u32 = 0x38e;
/// IA32_PERF_GLOBAL_CTRL.
pub const IA32_PERF_GLOBAL_CTRL: u32 = 0x38f;
/// IA32_PERF_GLOBAL_OVF_CTRL: a 1 clears the bit of the same number in the status.
pub const IA32_PERF_GLOBAL_OVF_CTRL: u32 = 0x390;
/// IA32_PERF_CAPABILITIES.
pub const IA32_PERF_CAPABILITIES: u32 = 0x345;
/// IA32_DEBUGCTL.
pub const IA32_DEBUGCTL: u32 = 0x1d9;

/// IA32_PERF_GLOBAL_STATUS: an uncore counter has overflowed.
pub const STATUS_OVF_UNCORE: u64 = 1 << 61;
/// IA32_PERF_GLOBAL_STATUS: all counters.
pub const STATUS_COUNTERS: u64 = 0x7_0000_00ff;
/// IA32_PERF_GLOBAL_*: bit of fixed counter 0.
pub const GLOBAL_FIXED_SHIFT: u32 = 32;
/// IA32_PERF_CAPABILITIES: full-width writes by IA32_A_PMCx.
pub const CAP_FULL_WIDTH_WRITE: u64 = 1 << 13;
/// IA32_DEBUGCTL: this CPU takes PMIs of the uncore.
pub const DEBUGCTL_UNCORE_PMI: u64 = 1 << 13;

/// PERFEVTSEL: counts in user mode.
pub const EVTSEL_USR: u64 = 1 << 16;
/// PERFEVTSEL: counts in kernel mode.
pub const EVTSEL_OS: u64 = 1 << 17;
/// PERFEVTSEL: PMI on overflow.
pub const EVTSEL_INT: u64 = 1 << 20;
/// PERFEVTSEL: counts for all threads of the core (version 3).
pub const EVTSEL_ANY: u64 = 1 << 21;
/// PERFEVTSEL: enabled.
pub const EVTSEL_EN: u64 = 1 << 22;
/// PERFEVTSEL: inverts the comparison with CMASK.
pub const EVTSEL_INV: u64 = 1 << 23;
/// PERFEVTSEL: threshold.
pub const EVTSEL_CMASK: u64 = 0xff << 24;
/// PERFEVTSEL bits that choose the event: event, umask, edge, any, inv, cmask. Bit 19 (PC) is
/// reserved since Sandy Bridge.
pub const EVTSEL_CONFIG_MASK: u64 = 0xffa4_ffff;

/// FIXED_CTR_CTRL, counter 0: kernel mode.
pub const FIXED_OS: u64 = 1 << 0;
/// FIXED_CTR_CTRL, counter 0: user mode.
pub const FIXED_USR: u64 = 1 << 1;
/// FIXED_CTR_CTRL, counter 0: PMI on overflow.
pub const FIXED_PMI: u64 = 1 << 3;
/// FIXED_CTR_CTRL: bits a counter.
pub const FIXED_BITS: u32 = 4;

/// What CPUID leaf 0AH says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaf0a {
    /// Version of architectural performance monitoring; 0: none.
    pub version: u32,
    /// General counters of a logical CPU.
    pub counters: u32,
    /// Their bits.
    pub width: u32,
    /// Fixed counters.
    pub fixed: u32,
    /// Their bits.
    pub fixed_width: u32,
    /// Bit i: architectural event i is not there.
    pub absent_events: u32,
}

impl Leaf0a {
    /// Decodes EAX, EBX, EDX of the leaf (SDM volume 2, CPUID).
    pub fn decode(eax: u32, ebx: u32, edx: u32) -> Self {
        let version = eax & 0xff;
        let events = (eax >> 24).min(31);
        let has_fixed = version >= 2;
        Self {
            version,
            counters: (eax >> 8) & 0xff,
            width: (eax >> 16) & 0xff,
            fixed: if has_fixed { edx & 0x1f } else { 0 },
            fixed_width: if has_fixed { (edx >> 5) & 0xff } else { 0 },
            absent_events: ebx & ((1 << events) - 1),
        }
    }
}

/// An event that only some general counters can count.
#[derive(Clone, Copy, Debug)]
pub struct Constraint {
    /// First event select it holds for.
    pub first: u8,
    /// Last event select it holds for.
    pub last: u8,
    /// Unit mask it holds for; `None`: all.
    pub umask: Option<u8>,
    /// Allowed counters, a bit each.
    pub counters: u32,
}

const fn only(first: u8, last: u8, umask: Option<u8>, counters: u32) -> Constraint {
    Constraint {
        first,
        last,
        umask,
        counters,
    }
}

/// Restrictions of Ivy Bridge (SDM table 19-11, column "comment"); the first row that fits holds.
pub static CONSTRAINTS: [Constraint; 6] = [
    only(0x48, 0x48, Some(0x01), 0b0100), // L1D_PEND_MISS.PENDING
    only(0xa3, 0xa3, Some(0x08), 0b0100), // CYCLE_ACTIVITY.CYCLES_L1D_PENDING
    only(0xa3, 0xa3, Some(0x0c), 0b0100), // CYCLE_ACTIVITY.STALLS_L1D_PENDING
    only(0xc0, 0xc0, Some(0x01), 0b0010), // INST_RETIRED.PREC_DIST
    only(0xa3, 0xa3, None, 0b1111),       // CYCLE_ACTIVITY.*
    only(0xd0, 0xd3, None, 0b1111),       // MEM_*_RETIRED
];
