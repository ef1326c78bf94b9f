// SPDX-License-Identifier: GPL-2.0-only
//! Bit layouts of the control registers, from the tables of 329468-002.

/// `en`, in every counter control.
pub(crate) const EN: u32 = 1 << 22;
/// `ov_en`, where the unit has it.
pub(crate) const OV_EN: u32 = 1 << 20;
/// `rst`: write-only, clears the counter.
pub(crate) const RST: u32 = 1 << 17;
/// `edge_det`.
pub(crate) const EDGE_DET: u32 = 1 << 18;
/// CBo `tid_en` (table 2-14).
pub(crate) const TID_EN: u32 = 1 << 19;
/// PCU `ev_sel_ext` (table 2-121).
pub(crate) const EV_SEL_EXT: u32 = 1 << 21;
/// PCU `occ_invert` (table 2-121).
pub(crate) const OCC_INVERT: u32 = 1 << 30;
/// PCU `occ_edge_det` (table 2-121).
pub(crate) const OCC_EDGE_DET: u32 = 1 << 31;
/// PCU `ev_sel[7]`: the event uses an occupancy sub-counter (table 2-121).
pub(crate) const OCCUPANCY: u32 = 1 << 7;

/// BOX_CTL `rst_ctrl`: write-only, clears the controls (tables 2-13, 2-119).
pub(crate) const RST_CTRL: u32 = 1 << 0;
/// BOX_CTL `rst_ctrs`: write-only, clears the counters.
pub(crate) const RST_CTRS: u32 = 1 << 1;
/// BOX_CTL `frz`.
pub(crate) const FRZ: u32 = 1 << 8;
/// BOX_CTL bit 16, named Freeze Enable in the E5/E7 datasheets: obey the global freeze.
pub(crate) const FREEZE_ENABLE: u32 = 1 << 16;
/// BOX_CTL bit 17, named Overflow Enable there: send overflows to the UBox.
pub(crate) const OVERFLOW_ENABLE: u32 = 1 << 17;
/// The bits that software must write as 1.
pub(crate) const MUST_BE_ONE: u32 = FREEZE_ENABLE | OVERFLOW_ENABLE;
/// All bits of BOX_CTL that are not reserved.
pub(crate) const BOX_CTL: u32 = RST_CTRL | RST_CTRS | FRZ | MUST_BE_ONE;

/// GLOBAL_CTL `frz_all`: write-only (table 2-2).
pub(crate) const FRZ_ALL: u32 = 1 << 31;
/// GLOBAL_CTL `wk_on_pmi`.
pub(crate) const WK_ON_PMI: u32 = 1 << 30;
/// GLOBAL_CTL `unfrz_all`: write-only.
pub(crate) const UNFRZ_ALL: u32 = 1 << 29;
/// GLOBAL_CTL `pmi_core_sel`: bit n is core n.
pub(crate) const PMI_CORE_SEL: u32 = 0x7fff;
/// All bits of GLOBAL_CTL that are not reserved.
pub(crate) const GLOBAL_CTL: u32 = FRZ_ALL | WK_ON_PMI | UNFRZ_ALL | PMI_CORE_SEL;
/// Bits of GLOBAL_STATUS that belong to a box: fixed, UBox, PCU, CBos 3 to 17, PCI boxes to 26.
pub(crate) const GLOBAL_STATUS: u32 = 0x07ff_ffff;

/// CBo FILTER0 `tid` (table 2-16).
pub(crate) const FILTER0_TID: u32 = 0x1f;
/// CBo FILTER0 `state`.
pub(crate) const FILTER0_STATE: u32 = 0x007e_0000;
/// FILTER0 bits of other sources: Linux's `link` 8:5, the event files' `state` up to 23.
pub(crate) const FILTER0_WIDE: u32 = 0x0080_01e0;
/// CBo FILTER1 `nid`, `opc`, `nc`, `isoc` (table 2-17).
pub(crate) const FILTER1: u32 = 0xdff0_ffff;
/// FILTER1 bit 29, which Linux calls `c6`.
pub(crate) const FILTER1_WIDE: u32 = 1 << 29;

/// Layout of one kind of counter control register.
#[derive(Debug)]
pub(crate) struct ControlLayout {
    /// Bits that are not reserved.
    pub(crate) defined: u32,
    /// `ev_sel`, `umask` and the event extension exist (not in a clock's control).
    pub(crate) selects: bool,
    /// Shift and width of `thresh`.
    pub(crate) thresh: (u32, u32),
}

impl ControlLayout {
    /// Bits that a read returns: all defined ones but the write-only `rst`.
    pub(crate) const fn stored(&self) -> u32 {
        self.defined & !RST
    }

    /// The threshold in `ctl`.
    pub(crate) const fn threshold(&self, ctl: u32) -> u32 {
        (ctl >> self.thresh.0) & ((1 << self.thresh.1) - 1)
    }
}

/// Table 2-6: U_MSR_PMON_CTL.
pub(crate) const UBOX: ControlLayout = ControlLayout {
    defined: 0x1f56_ffff,
    selects: true,
    thresh: (24, 5),
};
/// Table 2-8: U_MSR_PMON_FIXED_CTL.
pub(crate) const UBOX_FIXED: ControlLayout = ControlLayout {
    defined: EN | OV_EN,
    selects: false,
    thresh: (24, 0),
};
/// Table 2-14: Cn_MSR_PMON_CTL.
pub(crate) const CBOX: ControlLayout = ControlLayout {
    defined: 0xff4e_ffff,
    selects: true,
    thresh: (24, 8),
};
/// Table 2-121: PCU_MSR_PMON_CTL.
pub(crate) const PCU: ControlLayout = ControlLayout {
    defined: 0xdf76_c0ff,
    selects: true,
    thresh: (24, 5),
};
