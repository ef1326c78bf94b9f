// SPDX-License-Identifier: GPL-2.0-only

//! Does an overflow of this kind of box reach the processor? Tried at load, since the manual's
//! tables and its text disagree for CBos, and no table tells what a part really does.
//!
//! A counter of the box's clock is armed near its end, with the uncore clock beside it as witness of
//! the freeze. Then the PMI is waited for, with a limit.

use super::{
    registers::{HwError, Reg, Registers},
    uncore::{box_ctl, Index, Slot},
};
use crate::hw::{
    ubox::*,
    uncore::{OverflowEnable, BOX_CTL_MUST, CTL_EN, CTL_OV_EN, GLOBAL_STATUS_MASK},
    UNCORE,
};

/// Events from the start to the overflow.
const AHEAD: u64 = 2000;
/// How long to wait for the overflow, and then for the interrupt, ns.
const LIMIT_NS: u64 = 1_000_000;
/// How long the socket is watched for the freeze, ns.
const FREEZE_NS: u64 = 20_000;
const CLOCK: Slot = Slot {
    kind: 0,
    box_nr: 0,
    index: Index::Fixed,
};

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The counter ran past its end.
    pub overflowed: bool,
    /// GLOBAL_STATUS named the box.
    pub status: bool,
    /// The whole socket stood still.
    pub froze: bool,
    /// The PMI came.
    pub interrupt: bool,
    /// Bits of the counter that was used.
    pub width: u32,
}

/// Tries one box with the PMI going to `pmi_core_sel`; `interrupted` tells whether it has come.
/// Everything is as before afterwards.
pub fn run<R: Registers>(
    bus: &mut R,
    kind: usize,
    box_nr: u32,
    pmi_core_sel: u64,
    mut interrupted: impl FnMut() -> bool,
) -> Result<Outcome, HwError> {
    let control = Reg::Msr(U_MSR_PMON_GLOBAL_CTL);
    let keep = bus.read(control)? & (GLOBAL_CTL_PMI_CORE_SEL | GLOBAL_CTL_WK_ON_PMI);
    let shadow = (pmi_core_sel & GLOBAL_CTL_PMI_CORE_SEL) | GLOBAL_CTL_WK_ON_PMI;
    let touched = touched(kind, box_nr);
    let mut saved = [0; 5];
    for (value, reg) in saved.iter_mut().zip(touched) {
        *value = bus.read(reg)?;
    }
    bus.write(control, shadow | GLOBAL_CTL_FRZ_ALL)?;

    let result = arm(bus, kind, box_nr)
        .and_then(|slot| {
            bus.write(control, shadow | GLOBAL_CTL_UNFRZ_ALL)
                .map(|()| slot)
        })
        .and_then(|slot| watch(bus, slot, &mut interrupted));

    let mut end = bus.write(control, shadow | GLOBAL_CTL_FRZ_ALL);
    for (&value, reg) in saved.iter().zip(touched) {
        let must = if Some(reg) == box_ctl(kind, box_nr) {
            BOX_CTL_MUST
        } else {
            0
        };
        end = end.and(bus.write(reg, value | must));
    }
    if let Some(status) = UNCORE[kind].status {
        end = end.and(bus.write(Reg::Msr(status), 1));
    }
    let status = Reg::Msr(U_MSR_PMON_GLOBAL_STATUS);
    end = end
        .and(bus.write(status, GLOBAL_STATUS_MASK))
        .and(bus.write(control, keep | GLOBAL_CTL_UNFRZ_ALL));
    end.and(result)
}

/// Registers that the test touches; the controls come first. Without a box's BOX_CTL, or where the
/// uncore clock itself is tried, one stands twice.
fn touched(kind: usize, box_nr: u32) -> [Reg; 5] {
    let slot = tested(kind, box_nr);
    let last = box_ctl(kind, box_nr).unwrap_or(CLOCK.ctr());
    [slot.ctl(), CLOCK.ctl(), slot.ctr(), CLOCK.ctr(), last]
}

/// The counter that is tried.
fn tested(kind: usize, box_nr: u32) -> Slot {
    let index = match UNCORE[kind].clock_event {
        Some(_) => Index::General(0),
        None => Index::Fixed,
    };
    Slot {
        kind,
        box_nr,
        index,
    }
}

fn arm<R: Registers>(bus: &mut R, kind: usize, box_nr: u32) -> Result<Slot, HwError> {
    let row = &UNCORE[kind];
    let slot = tested(kind, box_nr);
    if let Some(reg) = box_ctl(kind, box_nr) {
        bus.write(reg, BOX_CTL_MUST)?;
    }
    if slot != CLOCK {
        bus.write(CLOCK.ctr(), 0)?;
        bus.write(CLOCK.ctl(), CTL_EN)?;
    }
    bus.write(slot.ctr(), (1 << row.width) - AHEAD)?;
    let enable = row.overflow == OverflowEnable::Counter || slot.index == Index::Fixed;
    let ov_en = if enable { CTL_OV_EN } else { 0 };
    bus.write(slot.ctl(), row.clock_event.unwrap_or(0) | CTL_EN | ov_en)?;
    Ok(slot)
}

fn watch<R: Registers>(
    bus: &mut R,
    slot: Slot,
    interrupted: &mut impl FnMut() -> bool,
) -> Result<Outcome, HwError> {
    let row = slot.row();
    let armed = (1u64 << row.width) - AHEAD;
    let mut outcome = Outcome {
        width: row.width,
        ..Outcome::default()
    };
    let start = bus.now();
    let mut value = armed;
    while (armed..1 << row.width).contains(&value) {
        if bus.now().saturating_sub(start) > LIMIT_NS {
            return Ok(outcome);
        }
        value = bus.read(slot.ctr())?;
    }
    if value >> row.width != 0 {
        // The counter is wider than the narrower reading: it was armed for that one. Arm it again.
        let wide = row.fixed.map_or(row.width, |f| f.width);
        outcome.width = wide;
        let ctl = bus.read(slot.ctl())?;
        bus.write(slot.ctl(), 0)?;
        bus.write(slot.ctr(), (1 << wide) - AHEAD)?;
        bus.write(slot.ctl(), ctl)?;
        while value >> row.width != 0 {
            if bus.now().saturating_sub(start) > LIMIT_NS {
                return Ok(outcome);
            }
            value = bus.read(slot.ctr())?;
        }
    }
    outcome.overflowed = true;

    let overflow = bus.now();
    while !outcome.interrupt && bus.now().saturating_sub(overflow) < LIMIT_NS {
        outcome.interrupt = interrupted();
    }
    let bit = match (slot.index, row.fixed) {
        (Index::Fixed, Some(fixed)) => fixed.global_status,
        _ => row.global_status + slot.box_nr,
    };
    // From here on: a handler would read and reload by now.
    let before = bus.read(CLOCK.ctr())?;
    let later = bus.now();
    while bus.now().saturating_sub(later) < FREEZE_NS {}
    outcome.status = (bus.read(Reg::Msr(U_MSR_PMON_GLOBAL_STATUS))? >> bit) & 1 != 0;
    outcome.froze = bus.read(CLOCK.ctr())? == before;
    Ok(outcome)
}
