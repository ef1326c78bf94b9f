// SPDX-License-Identifier: GPL-2.0-only
//! The uncore of one socket: its boxes and the UBox's global registers.

use super::layout;
use super::pmon_box::PmonBox;
use super::tables::UNITS;
use crate::rates::Rates;
use crate::settings::Settings;

/// What the overflows of a socket led to, since the start or the last `overflows clear`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consequences {
    /// Global freezes raised by an overflow.
    pub(crate) freezes: u64,
    /// Global freezes by `frz_all`.
    pub(crate) commanded: u64,
    /// Time with the global freeze raised, ns: in all, and the longest stretch.
    pub(crate) frozen_ns: u64,
    pub(crate) longest_ns: u64,
    /// Interrupts that the UBox sent, each to all cores of its mask.
    pub(crate) pmis: u64,
}

/// The uncore of one socket.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    /// All boxes, unit by unit.
    pub(crate) boxes: Vec<PmonBox>,
    /// Stored bits of GLOBAL_CTL: `pmi_core_sel` and `wk_on_pmi`.
    pub(crate) global_ctl: u32,
    pub(crate) global_status: u32,
    /// Since when the global freeze is raised, ns.
    pub(crate) freeze_since: Option<u64>,
    pub(crate) consequences: Consequences,
    /// When the next carry comes; valid while not `stale`.
    next_carry: Option<u64>,
    stale: bool,
}

/// Index in [`Socket::boxes`] of box `number` of unit `unit`.
pub(crate) fn box_index(unit: usize, number: usize) -> usize {
    UNITS[..unit].iter().map(|row| row.boxes).sum::<usize>() + number
}

impl Socket {
    /// A socket as it is after reset.
    pub(crate) fn new() -> Self {
        let boxes = UNITS
            .iter()
            .enumerate()
            .flat_map(|(unit, row)| (0..row.boxes).map(move |number| PmonBox::new(unit, number)))
            .collect();
        Self {
            boxes,
            global_ctl: 0,
            global_status: 0,
            freeze_since: None,
            consequences: Consequences::default(),
            next_carry: None,
            stale: true,
        }
    }

    /// All registers to their reset values at `now`.
    pub(crate) fn reset(&mut self, now: u64) {
        self.end_freeze(now);
        self.global_ctl = 0;
        self.global_status = 0;
        for pmon_box in &mut self.boxes {
            pmon_box.reset(now);
        }
        self.touch();
    }

    /// Something changed that can move the next carry.
    pub(crate) fn touch(&mut self) {
        self.stale = true;
    }

    /// When the next carry comes that somebody hears of.
    pub(crate) fn next_carry(&mut self, settings: &Settings) -> Option<u64> {
        if self.stale {
            self.next_carry = self
                .boxes
                .iter()
                .filter_map(|b| b.next_carry(settings))
                .min();
            self.stale = false;
        }
        self.next_carry
    }

    /// Brings all counters up to `now`.
    pub(crate) fn settle_all(&mut self, now: u64, settings: &Settings) {
        for pmon_box in &mut self.boxes {
            pmon_box.settle_all(now, settings);
        }
        self.touch();
    }

    /// Works out anew what each counter of socket `number` counts.
    pub(crate) fn select(&mut self, number: usize, rates: &Rates) {
        for pmon_box in &mut self.boxes {
            pmon_box.select(number, rates);
        }
        self.touch();
    }

    /// The freeze signal rises at `now`. Returns false when it was up.
    pub(crate) fn begin_freeze(&mut self, now: u64) -> bool {
        let rises = self.freeze_since.is_none();
        self.freeze_since.get_or_insert(now);
        rises
    }

    /// The freeze signal has reached all boxes. They are settled before.
    pub(crate) fn land_freeze(&mut self) {
        for pmon_box in &mut self.boxes {
            pmon_box.sees_freeze = true;
        }
        self.touch();
    }

    /// The freeze signal falls at `now`, for all boxes at once. They are settled before.
    pub(crate) fn end_freeze(&mut self, now: u64) {
        if let Some(since) = self.freeze_since.take() {
            let stretch = now - since;
            self.consequences.frozen_ns += stretch;
            self.consequences.longest_ns = self.consequences.longest_ns.max(stretch);
        }
        for pmon_box in &mut self.boxes {
            pmon_box.sees_freeze = false;
        }
        self.touch();
    }

    /// GLOBAL_STATUS bit of box `index`, where all its counters share one.
    pub(crate) fn status_bit(&self, index: usize) -> u32 {
        let pmon_box = &self.boxes[index];
        // CAST: numbers of boxes are below 32.
        1 << (pmon_box.row().global_status + pmon_box.number as u32)
    }

    /// GLOBAL_STATUS bits of the boxes whose own status is not clear.
    pub(crate) fn pending(&self) -> u32 {
        (0..self.boxes.len())
            .filter(|&i| self.boxes[i].status != 0)
            .fold(0, |bits, i| bits | self.status_bit(i))
            & layout::GLOBAL_STATUS
    }

    /// Starts the counts of control command `overflows` anew at `now`.
    pub(crate) fn clear_consequences(&mut self, now: u64) {
        self.consequences = Consequences::default();
        if let Some(since) = &mut self.freeze_since {
            *since = now;
        }
        for counter in self.boxes.iter_mut().flat_map(|b| &mut b.counters) {
            counter.count.carries = 0;
        }
    }
}
