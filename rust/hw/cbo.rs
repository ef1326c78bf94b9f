// SPDX-License-Identifier: GPL-2.0-only

//! CBo: caching agent with its slice of the last-level cache, one per core.

use super::uncore::{BoxType, Constraint, OverflowEnable, Reset};

/// Event LLC_LOOKUP, which counts nothing unless FILTER0 names cache states (329468 table 2-16).
pub const EVENT_LLC_LOOKUP: u64 = 0x34;
/// FILTER0: thread that caused the event; needs `CTL_TID_EN`.
pub const FILTER0_TID: u32 = 0x1f;
/// CTL: count only what the thread in FILTER0 caused (329468 table 2-14).
pub const CTL_TID_EN: u64 = 1 << 19;

const fn only(first: u8, last: u8, counters: u32) -> Constraint {
    Constraint {
        first,
        last,
        counters,
    }
}

/// The CBo's row. Which counters can count an event is in Intel's event file for this part
/// (`ivytown/uncore-cache.json` in the kernel's tools/perf); counter 0 alone can measure occupancy
/// (329468 section 2.3).
pub const CBO: BoxType = BoxType {
    unit: 1,
    name: "CBo",
    max_boxes: 15,
    per_core: true,
    stride: 0x20,
    box_ctl: Some(0xd04), // Table 2-12, 2-13.
    status: None,
    ctl: 0xd10, // Table 2-14.
    ctr: 0xd16, // Table 2-15.
    counters: 4,
    width: 44,
    fixed: None,
    filters: &[0xd14, 0xd1a],
    // Table 2-16: state 22:17, tid 4:0. Table 2-17: isoc 31, nc 30, opc 28:20, nid 15:0.
    filter_mask: [0x007e_001f, 0xdff0_ffff, 0, 0],
    // Table 2-14: thresh 31:24, tid_en 19, edge_det 18, umask, ev_sel.
    config_mask: 0xff0c_ffff,
    thresh_mask: 0xff00_0000,
    overflow: OverflowEnable::Box, // Table 2-14 has no ov_en.
    reset: Reset::BoxCtl,
    global_status: 3,
    clock_event: Some(0x00),
    constraints: &[
        only(0x11, 0x11, 0b0001),
        only(0x36, 0x36, 0b0001),
        only(0x1f, 0x1f, 0b1110),
        only(0x02, 0x07, 0b0011),
        only(0x12, 0x14, 0b0011),
        only(0x31, 0x35, 0b0011),
        only(0x37, 0x37, 0b0011),
        only(0x39, 0x39, 0b0011),
        only(0x3c, 0x3c, 0b0011),
        only(0x1b, 0x1e, 0b1100),
    ],
};
