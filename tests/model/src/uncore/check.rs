// SPDX-License-Identifier: GPL-2.0-only
//! The manual's rules for what software may write, each as a function of the state before.

use super::layout;
use super::pmon_box::{selection, PmonBox};
use super::tables::{CBOX, PCU};
use crate::counter::mask;
use crate::record::Kind;
use crate::settings::Settings;

/// Collects the rules that a write breaks.
#[derive(Debug, Default)]
pub(crate) struct Broken(pub(crate) Vec<Kind>);

impl Broken {
    fn when(&mut self, broken: bool, kind: Kind) {
        if broken {
            self.0.push(kind);
        }
    }
}

/// A write to GLOBAL_CTL (329468-002 table 2-2).
pub(crate) fn global_ctl(value: u64) -> Broken {
    let commands = u64::from(layout::FRZ_ALL | layout::UNFRZ_ALL);
    let mut broken = Broken::default();
    broken.when(
        value & !u64::from(layout::GLOBAL_CTL) != 0,
        Kind::ReservedBit,
    );
    broken.when(value & commands == commands, Kind::BothCommands);
    broken
}

/// A write to a register of which only the bits in `defined` exist.
pub(crate) fn defined(value: u64, defined: u32) -> Broken {
    let mut broken = Broken::default();
    broken.when(value & !u64::from(defined) != 0, Kind::ReservedBit);
    broken
}

/// A write to BOX_CTL (tables 2-13 and 2-119).
pub(crate) fn box_ctl(pmon_box: &PmonBox, value: u64) -> Broken {
    let must = u64::from(layout::MUST_BE_ONE);
    let mut broken = defined(value, layout::BOX_CTL);
    broken.when(value & must != must, Kind::MustBeOne);
    let freezes = value & u64::from(layout::FRZ) != 0;
    let resets_ctrs = value & u64::from(layout::RST_CTRS) != 0;
    broken.when(
        resets_ctrs && !freezes && pmon_box.any_runs(),
        Kind::RunningCounter,
    );
    broken
}

/// A write to a box's status register: bits of counters that exist.
pub(crate) fn box_status(pmon_box: &PmonBox, value: u64) -> Broken {
    let bits = pmon_box.row().counters.iter().filter_map(|row| row.status);
    defined(value, bits.fold(0, |all, bit| all | (1 << bit)))
}

/// A write to a counter.
///
/// The clock's bits 47:44 are never held to be reserved, so that software can find its width.
pub(crate) fn counter(pmon_box: &PmonBox, i: usize, value: u64) -> Broken {
    let width = pmon_box.counter_row(i).width.unwrap_or(48);
    let mut broken = Broken::default();
    broken.when(value & !mask(width) != 0, Kind::ReservedBit);
    broken.when(pmon_box.runs(i), Kind::RunningCounter);
    broken
}

/// A write to a counter's control.
pub(crate) fn control(pmon_box: &PmonBox, i: usize, value: u64) -> Broken {
    let layout = pmon_box.counter_row(i).layout;
    let mut broken = defined(value, layout.defined);
    // CAST: the high half is reserved, and reported above.
    let ctl = value as u32;
    let (runs, enables) = (pmon_box.runs(i), ctl & layout::EN != 0);
    let changes = (ctl ^ pmon_box.counters[i].ctl) & layout.stored() != 0;
    broken.when(runs && enables && changes, Kind::RunningControl);
    broken.when(runs && ctl & layout::RST != 0, Kind::RunningCounter);
    if !layout.selects {
        return broken;
    }

    let no_threshold = layout.threshold(ctl) == 0;
    let edges = match pmon_box.unit {
        PCU => layout::EDGE_DET | layout::OCC_EDGE_DET,
        _ => layout::EDGE_DET,
    };
    broken.when(no_threshold && ctl & edges != 0, Kind::EdgeWithoutThreshold);
    let inverts = pmon_box.unit == PCU && ctl & layout::OCC_INVERT != 0;
    broken.when(no_threshold && inverts, Kind::InvertWithoutThreshold);
    let (event, _) = selection(ctl, layout);
    broken.when(
        enables && !pmon_box.may_count(i, event),
        Kind::EventNotAllowed,
    );
    if pmon_box.unit == CBOX {
        let by_thread = enables && ctl & layout::TID_EN != 0;
        broken.when(by_thread && by_state(pmon_box.filter[0]), Kind::TwoFilters);
    }
    broken
}

/// A write to a filter (tables 2-16, 2-17 and 2-123).
pub(crate) fn filter(pmon_box: &PmonBox, i: usize, value: u64, settings: &Settings) -> Broken {
    let mut broken = defined(value, filter_bits(pmon_box, i, settings));
    // CAST: the high half is reserved, and reported above.
    let new = value as u32;
    broken.when(
        new != pmon_box.filter[i] && pmon_box.any_runs(),
        Kind::RunningFilter,
    );
    let by_thread = layout::TID_EN | layout::EN;
    let any_by_thread = pmon_box
        .counters
        .iter()
        .any(|c| c.ctl & by_thread == by_thread);
    let two = pmon_box.unit == CBOX && i == 0 && any_by_thread && by_state(new);
    broken.when(two, Kind::TwoFilters);
    broken
}

/// The bits of a filter that exist.
pub(crate) fn filter_bits(pmon_box: &PmonBox, i: usize, settings: &Settings) -> u32 {
    let (manual, wide) = match (pmon_box.unit, i) {
        (CBOX, 0) => (
            layout::FILTER0_TID | layout::FILTER0_STATE,
            layout::FILTER0_WIDE,
        ),
        (CBOX, _) => (layout::FILTER1, layout::FILTER1_WIDE),
        _ => (u32::MAX, 0),
    };
    if settings.filter_manual {
        manual
    } else {
        manual | wide
    }
}

/// Whether FILTER0 picks states of the line.
fn by_state(filter0: u32) -> bool {
    filter0 & layout::FILTER0_STATE != 0
}
