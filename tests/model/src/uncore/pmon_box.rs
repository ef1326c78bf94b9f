// SPDX-License-Identifier: GPL-2.0-only
//! The state of one PMON box: its counters, and when they run.

use super::layout::{self, ControlLayout};
use super::tables::{CounterRow, Overflow, Unit, CBOX, PCU, UNITS};
use crate::counter::Counter;
use crate::rates::{Rates, Selected, FIXED};
use crate::settings::Settings;
use crate::stream::Stream;

/// CBo event LLC_LOOKUP: counts nothing unless FILTER0 names a state.
const LLC_LOOKUP: u16 = 0x34;

/// One counter with its control.
#[derive(Clone, Debug)]
pub(crate) struct PmonCounter {
    pub(crate) ctl: u32,
    pub(crate) count: Counter,
    /// What it counts while it runs.
    stream: Stream,
    /// Moment up to which it has counted, ns.
    since: u64,
}

/// One PMON box of one socket.
#[derive(Clone, Debug)]
pub(crate) struct PmonBox {
    /// Index into [`UNITS`].
    pub(crate) unit: usize,
    /// Number within its kind.
    pub(crate) number: usize,
    /// Stored bits of BOX_CTL.
    pub(crate) ctl: u32,
    pub(crate) filter: [u32; 2],
    pub(crate) status: u32,
    /// The global freeze has reached the box.
    pub(crate) sees_freeze: bool,
    pub(crate) counters: Vec<PmonCounter>,
}

impl PmonBox {
    /// Box `number` of unit `unit` as it is after reset.
    pub(crate) fn new(unit: usize, number: usize) -> Self {
        let counter = PmonCounter {
            ctl: 0,
            count: Counter::default(),
            stream: Stream::NEVER,
            since: 0,
        };
        Self {
            unit,
            number,
            ctl: 0,
            filter: [0; 2],
            status: 0,
            sees_freeze: false,
            counters: vec![counter; UNITS[unit].counters.len()],
        }
    }

    /// All registers to their reset values at `now`; what was counted stays known.
    pub(crate) fn reset(&mut self, now: u64) {
        let old = std::mem::replace(self, Self::new(self.unit, self.number));
        for (counter, old) in self.counters.iter_mut().zip(old.counters) {
            counter.count = old.count;
            counter.count.set(0, 64);
            counter.since = now;
        }
    }

    /// The row of the box's kind.
    pub(crate) fn row(&self) -> &'static Unit {
        &UNITS[self.unit]
    }

    /// The row of counter `i`.
    pub(crate) fn counter_row(&self, i: usize) -> &'static CounterRow {
        &self.row().counters[i]
    }

    /// The width of counter `i`, bits.
    pub(crate) fn width(&self, i: usize, settings: &Settings) -> u32 {
        // CAST: the setting is 44 or 48.
        self.counter_row(i)
            .width
            .unwrap_or(settings.fixed_width as u32)
    }

    /// Whether the box's counters are held.
    pub(crate) fn frozen(&self) -> bool {
        if !self.row().has_box_ctl {
            return self.sees_freeze;
        }
        let obeys = self.ctl & layout::FREEZE_ENABLE != 0;
        self.ctl & layout::FRZ != 0 || (self.sees_freeze && obeys)
    }

    /// Whether counter `i` counts.
    pub(crate) fn runs(&self, i: usize) -> bool {
        self.counters[i].ctl & layout::EN != 0 && !self.frozen()
    }

    /// Whether any counter counts.
    pub(crate) fn any_runs(&self) -> bool {
        (0..self.counters.len()).any(|i| self.runs(i))
    }

    /// Whether a carry of counter `i` changes more than its value.
    pub(crate) fn armed(&self, i: usize, settings: &Settings) -> bool {
        match self.row().overflow {
            Overflow::PerCounter => self.counters[i].ctl & layout::OV_EN != 0,
            Overflow::PerBox => settings.cbo_signals && self.ctl & layout::OVERFLOW_ENABLE != 0,
        }
    }

    /// Whether the box sends its overflows to the UBox.
    pub(crate) fn sends(&self) -> bool {
        !self.row().has_box_ctl || self.ctl & layout::OVERFLOW_ENABLE != 0
    }

    /// Brings counter `i` up to `now`. Returns whether it carried out meanwhile.
    pub(crate) fn settle(&mut self, i: usize, now: u64, settings: &Settings) -> bool {
        let (runs, width) = (self.runs(i), self.width(i, settings));
        let counter = &mut self.counters[i];
        let from = std::mem::replace(&mut counter.since, now);
        runs && counter.count.add(counter.stream.between(from, now), width)
    }

    /// Brings all counters up to `now`.
    pub(crate) fn settle_all(&mut self, now: u64, settings: &Settings) {
        for i in 0..self.counters.len() {
            self.settle(i, now, settings);
        }
    }

    /// When the next carry comes that somebody hears of.
    pub(crate) fn next_carry(&self, settings: &Settings) -> Option<u64> {
        (0..self.counters.len())
            .filter(|&i| self.runs(i) && self.armed(i, settings))
            .filter_map(|i| {
                let counter = &self.counters[i];
                let missing = counter.count.missing(self.width(i, settings));
                counter.stream.reached(counter.since, missing)
            })
            .min()
    }

    /// Works out anew what each counter counts. All are settled before.
    pub(crate) fn select(&mut self, socket: usize, rates: &Rates) {
        for i in 0..self.counters.len() {
            self.counters[i].stream = self.stream(i, socket, rates);
        }
    }

    /// What counter `i` counts.
    ///
    /// An event is an increment of 1, so that a threshold of 0 or 1 lets all pass and a higher one
    /// none, and each event is an edge.
    fn stream(&self, i: usize, socket: usize, rates: &Rates) -> Stream {
        let (ctl, row) = (self.counters[i].ctl, self.counter_row(i));
        let (event, umask) = selection(ctl, row.layout);
        if !self.may_count(i, event) || (self.unit == CBOX && self.filtered_out(event)) {
            return Stream::NEVER;
        }
        let selected = Selected {
            unit: self.unit,
            event,
            umask,
            socket,
            number: self.number,
        };
        let stream = match row.layout.threshold(ctl) {
            0 | 1 => rates.stream(&selected),
            _ => Stream::NEVER,
        };
        let invert = layout::OCC_INVERT | layout::OCCUPANCY;
        if self.unit == PCU && ctl & invert == invert {
            return stream.complement(rates.uclk()).unwrap_or(Stream::NEVER);
        }
        stream
    }

    /// Whether the part lets counter `i` count `event`.
    pub(crate) fn may_count(&self, i: usize, event: u16) -> bool {
        let mut rows = self.row().constraints.iter();
        let row = rows.find(|row| (row.events.0..=row.events.1).contains(&event));
        row.is_none_or(|row| (row.counters >> i) & 1 != 0)
    }

    /// Writes BOX_CTL: freeze, reset, and the bits that must be one. The counters are settled
    /// before.
    pub(crate) fn write_ctl(&mut self, value: u32, settings: &Settings) {
        self.ctl = value & (layout::FRZ | layout::MUST_BE_ONE);
        if !settings.freeze_separate && value & layout::FRZ == 0 {
            self.sees_freeze = false;
        }
        for counter in &mut self.counters {
            if value & layout::RST_CTRL != 0 {
                counter.ctl = 0;
            }
            if value & layout::RST_CTRS != 0 {
                counter.count.set(0, 64);
            }
        }
    }

    /// Writes the control of counter `i`. The counter is settled before.
    pub(crate) fn write_control(&mut self, i: usize, value: u32) {
        let layout = self.counter_row(i).layout;
        self.counters[i].ctl = value & layout.stored();
        if value & layout.defined & layout::RST != 0 {
            self.counters[i].count.set(0, 64);
        }
    }

    fn filtered_out(&self, event: u16) -> bool {
        let states = layout::FILTER0_STATE | (layout::FILTER0_WIDE & (1 << 23));
        event == LLC_LOOKUP && self.filter[0] & states == 0
    }
}

/// Event and unit mask of a control value: `ev_sel` with the extension as bit 8, and bits 15:8.
pub(crate) fn selection(ctl: u32, layout: &ControlLayout) -> (u16, u8) {
    if !layout.selects {
        return (FIXED, 0);
    }
    let [ev_sel, umask, ..] = ctl.to_le_bytes();
    let extended = layout.defined & ctl & layout::EV_SEL_EXT != 0;
    (u16::from(ev_sel) | (u16::from(extended) << 8), umask)
}
