// SPDX-License-Identifier: GPL-2.0-only

//! What all uncore boxes have in common: the shape of their control registers, and one row a kind.

/// CTL: counter enabled (329468 table 2-6, 2-14, 2-121).
pub const CTL_EN: u64 = 1 << 22;
/// CTL: an overflow is reported, where the box has the bit (329468 table 2-6, 2-121).
pub const CTL_OV_EN: u64 = 1 << 20;
/// CTL: edge detection (same tables).
pub const CTL_EDGE_DET: u64 = 1 << 18;
/// CTL: event select (same tables).
pub const CTL_EV_SEL: u64 = 0xff;
/// CTL: unit mask (table 2-6, 2-14).
pub const CTL_UMASK: u64 = 0xff00;

/// BOX_CTL: "software must write 1" (329468 table 2-13, 2-119). Bit 17 lets the box take part in
/// overflow handling, bit 16 makes it obey the global freeze.
pub const BOX_CTL_MUST: u64 = 3 << 16;
/// BOX_CTL: freeze the box's counters.
pub const BOX_CTL_FRZ: u64 = 1 << 8;
/// BOX_CTL: clear the box's counters.
pub const BOX_CTL_RST_CTRS: u64 = 1 << 1;
/// BOX_CTL: clear the box's controls.
pub const BOX_CTL_RST_CTRL: u64 = 1 << 0;

/// How a box's counters are made to report an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverflowEnable {
    /// By `CTL_OV_EN` of each counter.
    Counter,
    /// For the whole box, by BOX_CTL bit 17; a counter has no bit of its own.
    Box,
}

/// How a box's counters are set to 0 at set-up (329468 section 2.1.2 step d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// By `rst_ctrl` and `rst_ctrs` of BOX_CTL.
    BoxCtl,
    /// By writing 0 to each data register: the box has no BOX_CTL.
    WriteZero,
}

/// A fixed counter.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// Control register.
    pub ctl: u32,
    /// Data register.
    pub ctr: u32,
    /// Bits of the counter at the most; the driver finds out how many there are.
    pub width: u32,
    /// Its bit in GLOBAL_STATUS.
    pub global_status: u32,
}

/// An event that only some counters can count.
#[derive(Clone, Copy, Debug)]
pub struct Constraint {
    /// First event select it holds for.
    pub first: u8,
    /// Last event select it holds for.
    pub last: u8,
    /// Allowed counters, a bit each.
    pub counters: u32,
}

/// One kind of uncore box. Addresses are those of box 0.
#[derive(Clone, Copy, Debug)]
pub struct BoxType {
    /// `PMON_UNIT_*` of the ABI.
    pub unit: u32,
    /// Name in messages.
    pub name: &'static str,
    /// Most boxes on a socket.
    pub max_boxes: u32,
    /// One box per physical core.
    pub per_core: bool,
    /// Distance from a box's registers to the next one's.
    pub stride: u32,
    /// BOX_CTL.
    pub box_ctl: Option<u32>,
    /// BOX_STATUS: bit i is counter i.
    pub status: Option<u32>,
    /// CTL0; the others follow.
    pub ctl: u32,
    /// CTR0; the others follow.
    pub ctr: u32,
    /// General counters.
    pub counters: u32,
    /// Bits of a general counter.
    pub width: u32,
    /// The fixed counter.
    pub fixed: Option<Fixed>,
    /// Filter registers.
    pub filters: &'static [u32],
    /// Bits of each filter that software may set.
    pub filter_mask: [u32; 4],
    /// Bits of CTL that choose the event.
    pub config_mask: u64,
    /// Bits of CTL that hold the threshold.
    pub thresh_mask: u64,
    /// How an overflow is enabled.
    pub overflow: OverflowEnable,
    /// How counters are reset.
    pub reset: Reset,
    /// Bit of GLOBAL_STATUS of box 0; the others follow.
    pub global_status: u32,
    /// Event that counts the box's clock, for the self-test; `None`: the fixed counter does.
    pub clock_event: Option<u64>,
    /// Events that not every counter can count.
    pub constraints: &'static [Constraint],
}

/// Bits of GLOBAL_STATUS that are known (329468 section 2.1.3).
pub const GLOBAL_STATUS_MASK: u64 = (1 << 27) - 1;

/// The uncore of Ivy Bridge-EP/EX, family 6 model 62: boxes behind MSRs.
pub static UNCORE: [BoxType; 3] = [super::ubox::UBOX, super::cbo::CBO, super::pcu::PCU];
