// SPDX-License-Identifier: GPL-2.0-only

//! PCU: power control unit.

use super::uncore::{BoxType, OverflowEnable, Reset};

/// CTL: occupancy counter, inverted.
pub const CTL_OCC_INVERT: u64 = 1 << 30;
/// CTL: edge detection on the occupancy counter.
pub const CTL_OCC_EDGE_DET: u64 = 1 << 31;
/// CTL: the event uses an occupancy sub-counter (bit 7 of ev_sel, 329468 table 2-121).
pub const CTL_USE_OCC: u64 = 1 << 7;

/// The PCU's row.
pub const PCU: BoxType = BoxType {
    unit: 2,
    name: "PCU",
    max_boxes: 1,
    per_core: false,
    stride: 0,
    box_ctl: Some(0xc24), // Table 2-119.
    status: Some(0xc35),
    ctl: 0xc30, // Table 2-121.
    ctr: 0xc36, // Table 2-122.
    counters: 4,
    width: 48,
    fixed: None,
    filters: &[0xc34],
    filter_mask: [0xffff_ffff, 0, 0, 0], // Table 2-123: four bands.
    // Table 2-121: occ_edge_det 31, occ_invert 30, thresh 28:24, ev_sel_ext 21, edge_det 18,
    // occ_sel 15:14, ev_sel.
    config_mask: 0xdf24_c0ff,
    thresh_mask: 0x1f00_0000,
    overflow: OverflowEnable::Counter,
    reset: Reset::BoxCtl,
    global_status: 2,
    clock_event: Some(0x00),
    constraints: &[],
};
