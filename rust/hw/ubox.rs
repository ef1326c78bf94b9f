// SPDX-License-Identifier: GPL-2.0-only

//! UBox: global control of the uncore's counters, two counters and the uncore clock.

use super::uncore::{BoxType, Fixed, OverflowEnable, Reset};

/// U_MSR_PMON_GLOBAL_CTL (329468 table 2-1).
pub const U_MSR_PMON_GLOBAL_CTL: u32 = 0xc00;
/// U_MSR_PMON_GLOBAL_STATUS (329468 table 2-1); write 1 to clear.
pub const U_MSR_PMON_GLOBAL_STATUS: u32 = 0xc01;

/// GLOBAL_CTL: freeze every uncore counter (329468 table 2-2). A command, not stored.
pub const GLOBAL_CTL_FRZ_ALL: u64 = 1 << 31;
/// GLOBAL_CTL: wake sleeping cores for the PMI.
pub const GLOBAL_CTL_WK_ON_PMI: u64 = 1 << 30;
/// GLOBAL_CTL: unfreeze every uncore counter. A command, not stored.
pub const GLOBAL_CTL_UNFRZ_ALL: u64 = 1 << 29;
/// GLOBAL_CTL: cores that get the PMI, bit n is core n.
pub const GLOBAL_CTL_PMI_CORE_SEL: u64 = 0x7fff;

/// The UBox's row. Fixed counter: 329468 section 2.2 says 48 bits in its text, 44 in table 2-9.
pub const UBOX: BoxType = BoxType {
    unit: 0,
    name: "UBox",
    max_boxes: 1,
    per_core: false,
    stride: 0,
    box_ctl: None,
    status: Some(0xc15), // Table 2-5.
    ctl: 0xc10,          // Table 2-6.
    ctr: 0xc16,          // Table 2-7.
    counters: 2,
    width: 44,
    fixed: Some(Fixed {
        ctl: 0xc08,
        ctr: 0xc09,
        width: 48,
        global_status: 0,
    }), // Table 2-8, 2-9.
    filters: &[],
    filter_mask: [0; 4],
    config_mask: 0x1f04_ffff, // Table 2-6: thresh 28:24, edge_det 18, umask, ev_sel.
    thresh_mask: 0x1f00_0000,
    overflow: OverflowEnable::Counter,
    reset: Reset::WriteZero, // Section 2.1.2 step d.
    global_status: 1,
    clock_event: None,
    constraints: &[],
};
