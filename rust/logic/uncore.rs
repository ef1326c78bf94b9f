// SPDX-License-Identifier: GPL-2.0-only

//! One socket's uncore counters: the manual's steps for set-up (329468 section 2.1.2) and for an
//! overflow (sections 2.1.3 and 2.1.4), as register accesses in order.
//!
//! GLOBAL_CTL is written from a shadow, since its command bits are not stored and each write
//! replaces `pmi_core_sel`. All of it runs on one CPU of the socket.

use super::{
    counter,
    output::Output,
    record::Context,
    registers::{HwError, Reg, Registers},
};
use crate::hw::{
    ubox::*,
    uncore::{
        BoxType, OverflowEnable, Reset, BOX_CTL_FRZ, BOX_CTL_MUST, BOX_CTL_RST_CTRL,
        BOX_CTL_RST_CTRS, CTL_EN, CTL_OV_EN, GLOBAL_STATUS_MASK,
    },
    UNCORE,
};

/// Most boxes on a socket.
pub const MAX_BOXES: usize = 17;
/// Most registers of a box.
const MAX_REGISTERS: usize = 11;

/// A counter of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// General counter i.
    General(u32),
    /// The fixed counter.
    Fixed,
}

/// Where a counter is on its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Row of [`UNCORE`].
    pub kind: usize,
    /// Box, from 0.
    pub box_nr: u32,
    /// Counter of the box.
    pub index: Index,
}

impl Slot {
    /// The box's row.
    pub fn row(&self) -> &'static BoxType {
        // PANIC: `kind` is an index of this table wherever a slot is made.
        &UNCORE[self.kind]
    }

    fn place(&self) -> usize {
        place(self.kind, self.box_nr)
    }

    /// Control register.
    pub fn ctl(&self) -> Reg {
        let row = self.row();
        Reg::Msr(match (self.index, &row.fixed) {
            (Index::Fixed, Some(fixed)) => fixed.ctl,
            (Index::Fixed, None) => row.ctl,
            (Index::General(i), _) => row.ctl + row.stride * self.box_nr + i,
        })
    }

    /// Data register.
    pub fn ctr(&self) -> Reg {
        let row = self.row();
        Reg::Msr(match (self.index, &row.fixed) {
            (Index::Fixed, Some(fixed)) => fixed.ctr,
            (Index::Fixed, None) => row.ctr,
            (Index::General(i), _) => row.ctr + row.stride * self.box_nr + i,
        })
    }

    /// Its bit in GLOBAL_STATUS.
    fn global_status(&self) -> u64 {
        let row = self.row();
        1 << match (self.index, &row.fixed) {
            (Index::Fixed, Some(fixed)) => fixed.global_status,
            _ => row.global_status + self.box_nr,
        }
    }
}

/// Number of a box among all boxes of the socket.
fn place(kind: usize, box_nr: u32) -> usize {
    let before: u32 = UNCORE.iter().take(kind).map(|row| row.max_boxes).sum();
    (before + box_nr) as usize
}

/// A few registers.
#[derive(Clone, Copy)]
pub struct List {
    registers: [Reg; MAX_REGISTERS],
    len: usize,
}

impl List {
    /// Appends one; there is room for all of a box.
    fn push(&mut self, address: u32) {
        if let Some(slot) = self.registers.get_mut(self.len) {
            *slot = Reg::Msr(address);
            self.len += 1;
        }
    }

    /// The registers in order.
    pub fn iter(&self) -> impl Iterator<Item = Reg> + '_ {
        self.registers.iter().take(self.len).copied()
    }
}

/// Registers of a box, controls before data, so that restoring in this order disables first.
pub fn registers(kind: usize, box_nr: u32) -> List {
    let row = &UNCORE[kind];
    let base = row.stride * box_nr;
    let mut list = List {
        registers: [Reg::Msr(0); MAX_REGISTERS],
        len: 0,
    };
    (0..row.counters).for_each(|i| list.push(row.ctl + base + i));
    row.fixed.iter().for_each(|f| list.push(f.ctl));
    row.filters.iter().for_each(|f| list.push(f + base));
    (0..row.counters).for_each(|i| list.push(row.ctr + base + i));
    row.fixed.iter().for_each(|f| list.push(f.ctr));
    row.box_ctl.iter().for_each(|r| list.push(r + base));
    list
}

/// BOX_CTL of a box, where it has one.
pub fn box_ctl(kind: usize, box_nr: u32) -> Option<Reg> {
    let row = &UNCORE[kind];
    row.box_ctl.map(|r| Reg::Msr(r + row.stride * box_nr))
}

/// The control register in `registers(kind, box_nr)` that somebody counts with, if any.
pub fn find_in_use<R: Registers>(
    bus: &mut R,
    kind: usize,
    box_nr: u32,
) -> Result<Option<Reg>, HwError> {
    let row = &UNCORE[kind];
    let controls = row.counters as usize + usize::from(row.fixed.is_some());
    for reg in registers(kind, box_nr).iter().take(controls) {
        if bus.read(reg)? & CTL_EN != 0 {
            return Ok(Some(reg));
        }
    }
    Ok(None)
}

/// A counter of a session.
pub struct Counter {
    slot: Slot,
    ctl: u64,
    filter: [u32; 4],
    /// Its account.
    pub account: counter::Counter,
}

impl Counter {
    /// A counter at `slot` for the event `config`; `interrupts`: its overflow is to be reported.
    pub fn new(
        slot: Slot,
        config: u64,
        filter: [u32; 4],
        interrupts: bool,
        account: counter::Counter,
    ) -> Self {
        let enable = slot.row().overflow == OverflowEnable::Counter || slot.index == Index::Fixed;
        let ov_en = if enable && interrupts { CTL_OV_EN } else { 0 };
        Self {
            slot,
            ctl: config | CTL_EN | ov_en,
            filter,
            account,
        }
    }
}

/// The totals of uncore counters.
pub fn values(counters: &[Counter]) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
    counters.iter().map(|c| (c.account.id(), c.account.total()))
}

#[derive(Clone, Copy)]
struct BoxState {
    users: u32,
    saved: [u64; MAX_REGISTERS],
}

/// What an overflow left in the status registers.
pub struct Overflowed {
    global: u64,
    /// Look at every counter, even if no status names its box.
    everything: bool,
    boxes: [(u32, u64); MAX_BOXES],
    nr: usize,
}

impl Overflowed {
    /// Nothing.
    pub fn nothing() -> Self {
        Self {
            global: 0,
            everything: true,
            boxes: [(0, 0); MAX_BOXES],
            nr: 0,
        }
    }

    /// Whether GLOBAL_STATUS named anybody.
    pub fn any(&self) -> bool {
        self.global != 0
    }

    /// How many sources GLOBAL_STATUS named.
    pub fn sources(&self) -> u32 {
        self.global.count_ones()
    }
}

/// One socket.
pub struct Socket {
    shadow: u64,
    restore: u64,
    freezes: bool,
    users: u32,
    boxes: [BoxState; MAX_BOXES],
}

const fn msr(address: u32) -> Reg {
    Reg::Msr(address)
}

impl Socket {
    /// A socket whose PMIs go to the cores in `pmi_core_sel`; `freezes`: an overflow freezes it.
    pub fn new(pmi_core_sel: u64, freezes: bool) -> Self {
        Self {
            shadow: (pmi_core_sel & GLOBAL_CTL_PMI_CORE_SEL) | GLOBAL_CTL_WK_ON_PMI,
            restore: 0,
            freezes,
            users: 0,
            boxes: [BoxState {
                users: 0,
                saved: [0; MAX_REGISTERS],
            }; MAX_BOXES],
        }
    }

    /// Sessions that count.
    pub fn users(&self) -> u32 {
        self.users
    }

    fn freeze<R: Registers>(&self, bus: &mut R) -> Result<(), HwError> {
        bus.write(msr(U_MSR_PMON_GLOBAL_CTL), self.shadow | GLOBAL_CTL_FRZ_ALL)
    }

    fn unfreeze<R: Registers>(&self, bus: &mut R) -> Result<(), HwError> {
        let keep = if self.users == 0 {
            self.restore
        } else {
            self.shadow
        };
        bus.write(msr(U_MSR_PMON_GLOBAL_CTL), keep | GLOBAL_CTL_UNFRZ_ALL)
    }

    /// Starts counters, steps b to e, between [`Socket::begin_frozen`] and [`Socket::end`], whose
    /// freeze and unfreeze are steps a and f: one unfreeze starts them all. On an error nothing is
    /// changed.
    pub fn start<R: Registers>(
        &mut self,
        bus: &mut R,
        counters: &mut [Counter],
    ) -> Result<(), HwError> {
        let mut taken = 0;
        let mut result = Ok(());
        for c in counters.iter() {
            result = self.take_box(bus, &c.slot);
            if result.is_err() {
                break;
            }
            taken += 1;
        }
        // A BOX_CTL with frz 0 may have freed its box.
        let result = result
            .and_then(|()| self.freeze(bus))
            .and_then(|()| Self::program(bus, counters));
        if result.is_ok() {
            self.users += 1;
        } else {
            // As far as it goes: the first error is the one to report.
            let _ = self.give_back(bus, &counters[..taken]);
        }
        result
    }

    /// Saves a box that nobody uses yet, and does step d. On an error nothing is changed.
    fn take_box<R: Registers>(&mut self, bus: &mut R, slot: &Slot) -> Result<(), HwError> {
        let state = &mut self.boxes[slot.place()];
        let first = state.users == 0;
        if first {
            if let Some(reg) = find_in_use(bus, slot.kind, slot.box_nr)? {
                return Err(HwError::InUse(reg));
            }
            let list = registers(slot.kind, slot.box_nr);
            for (saved, reg) in state.saved.iter_mut().zip(list.iter()) {
                *saved = bus.read(reg)?;
            }
        }
        state.users += 1;
        let result = Self::reset(bus, slot, first);
        if result.is_err() {
            let _ = self.give_back_one(bus, slot);
        }
        result
    }

    /// Step d, before b and c: `rst_ctrl` would clear what they program. `whole`: of the whole box.
    fn reset<R: Registers>(bus: &mut R, slot: &Slot, whole: bool) -> Result<(), HwError> {
        let row = slot.row();
        if whole {
            if let (Reset::BoxCtl, Some(reg)) = (row.reset, box_ctl(slot.kind, slot.box_nr)) {
                let reset = BOX_CTL_FRZ | BOX_CTL_RST_CTRL | BOX_CTL_RST_CTRS;
                bus.write(reg, BOX_CTL_MUST | reset)?;
                bus.write(reg, BOX_CTL_MUST)?;
            }
            // Neither the reset nor anybody else clears the filters.
            for filter in row.filters {
                bus.write(msr(filter + row.stride * slot.box_nr), 0)?;
            }
            clear_statuses(bus, slot)?;
        }
        match row.reset {
            Reset::WriteZero => bus.write(slot.ctr(), 0),
            Reset::BoxCtl => Ok(()),
        }
    }

    /// Steps b, c and e.
    fn program<R: Registers>(bus: &mut R, counters: &mut [Counter]) -> Result<(), HwError> {
        for c in counters.iter_mut() {
            let row = c.slot.row();
            for (reg, &value) in row.filters.iter().zip(&c.filter) {
                if value != 0 {
                    bus.write(msr(reg + row.stride * c.slot.box_nr), u64::from(value))?;
                }
            }
            bus.write(c.slot.ctr(), c.account.load())?;
            bus.write(c.slot.ctl(), c.ctl)?;
        }
        Ok(())
    }

    /// Disables counters, and restores the boxes that nobody uses any more.
    fn give_back<R: Registers>(
        &mut self,
        bus: &mut R,
        counters: &[Counter],
    ) -> Result<(), HwError> {
        let mut result = Ok(());
        for c in counters {
            // Goes on after a fault: the other registers are owed too.
            result = result.and(self.give_back_one(bus, &c.slot));
        }
        result
    }

    fn give_back_one<R: Registers>(&mut self, bus: &mut R, slot: &Slot) -> Result<(), HwError> {
        let mut result = bus.write(slot.ctl(), 0);
        let state = &mut self.boxes[slot.place()];
        state.users -= 1;
        if state.users != 0 {
            return result;
        }
        let list = registers(slot.kind, slot.box_nr);
        let box_ctl = box_ctl(slot.kind, slot.box_nr);
        for (&saved, reg) in state.saved.iter().zip(list.iter()) {
            let must = if Some(reg) == box_ctl {
                BOX_CTL_MUST
            } else {
                0
            };
            result = result.and(bus.write(reg, saved | must));
        }
        result.and(clear_statuses(bus, slot))
    }

    /// Looks at the counters of `counters` without freezing. Returns whether one has a
    /// sample to take or is to be reloaded.
    pub fn poll<R: Registers>(bus: &mut R, counters: &mut [Counter]) -> Result<bool, HwError> {
        let mut due = false;
        for c in counters.iter_mut() {
            c.account.advance(bus.read(c.slot.ctr())?);
            due |= c.account.is_due() || c.account.owes();
        }
        Ok(due)
    }

    /// First half of an overflow's service, by the PMI: which boxes, and what do their statuses
    /// say. Counters stand frozen from here to [`Socket::end`]. `frozen`: the overflow's own freeze
    /// holds; else one is written.
    pub fn begin<R: Registers>(&self, bus: &mut R, frozen: bool) -> Result<Overflowed, HwError> {
        let global = bus.read(msr(U_MSR_PMON_GLOBAL_STATUS))? & GLOBAL_STATUS_MASK;
        if global != 0 && !(frozen && self.freezes) {
            self.freeze(bus)?;
        }
        self.statuses(bus, global, false)
    }

    /// As [`Socket::begin`], where no overflow may have happened, or nobody counts: freezes first. On an error
    /// nothing is frozen.
    pub fn begin_frozen<R: Registers>(&mut self, bus: &mut R) -> Result<Overflowed, HwError> {
        if self.users == 0 {
            let keep = GLOBAL_CTL_PMI_CORE_SEL | GLOBAL_CTL_WK_ON_PMI;
            self.restore = bus.read(msr(U_MSR_PMON_GLOBAL_CTL))? & keep;
        }
        self.freeze(bus)?;
        let global = bus.read(msr(U_MSR_PMON_GLOBAL_STATUS));
        let found = global.and_then(|g| self.statuses(bus, g & GLOBAL_STATUS_MASK, true));
        if found.is_err() {
            let _ = self.unfreeze(bus);
        }
        found
    }

    fn statuses<R: Registers>(
        &self,
        bus: &mut R,
        global: u64,
        everything: bool,
    ) -> Result<Overflowed, HwError> {
        let mut found = Overflowed {
            global,
            everything,
            boxes: [(0, 0); MAX_BOXES],
            nr: 0,
        };
        for row in &UNCORE {
            let Some(status) = row.status else { continue };
            if (global >> row.global_status) & 1 != 0 {
                found.boxes[found.nr] = (status, bus.read(msr(status))?);
                found.nr += 1;
            }
        }
        Ok(found)
    }

    /// Takes in one session's counters, samples those that overflowed and reloads them. A
    /// leader's sample also has the totals in `more`. Returns the overflows.
    ///
    /// Which counter of a box it was is told by its value: its total has reached what was due. That
    /// holds for boxes with a status, for CBos, which have none, and where nothing was signalled.
    pub fn collect<R: Registers>(
        &self,
        bus: &mut R,
        found: &Overflowed,
        counters: &mut [Counter],
        more: impl Iterator<Item = (u32, u64)> + Clone,
        output: &mut Output<'_>,
        cx: &Context,
    ) -> Result<u32, HwError> {
        let ours = |c: &Counter| found.global & c.slot.global_status() != 0;
        if !found.everything && !counters.iter().any(ours) {
            return Ok(0);
        }
        Self::poll(bus, counters)?;
        let mut overflows = 0;
        for n in 0..counters.len() {
            // A box that named itself stands frozen; another may run on until the freeze lands, and
            // its own interrupt is to come.
            if !(found.everything || ours(&counters[n])) {
                continue;
            }
            let account = &counters[n].account;
            // A look settles all accounts: it may be the last.
            if !(account.is_due() || (found.everything && account.owes())) {
                continue;
            }
            overflows += 1;
            let due = account.is_due();
            let overflow = counters[n].account.settle();
            if let Some(o) = &overflow {
                if o.leader {
                    output.sample(cx, o, values(counters).chain(more.clone()));
                } else {
                    output.sample(cx, o, values(counters));
                }
            }
            if due {
                output.pace(cx.time, &mut counters[n].account);
                bus.write(counters[n].slot.ctr(), counters[n].account.load())?;
            }
        }
        Ok(overflows)
    }

    /// Second half: clears the statuses, the box's first so that it cannot set the global one
    /// again, and unfreezes, whatever else fails.
    pub fn end<R: Registers>(&self, bus: &mut R, found: &Overflowed) -> Result<(), HwError> {
        let mut result = Ok(());
        for &(status, bits) in found.boxes.iter().take(found.nr) {
            result = result.and(bus.write(msr(status), bits));
        }
        if found.global != 0 {
            result = result.and(bus.write(msr(U_MSR_PMON_GLOBAL_STATUS), found.global));
        }
        result.and(self.unfreeze(bus))
    }

    /// Stops counters that [`Socket::collect`] has just taken in, before [`Socket::end`].
    pub fn stop<R: Registers>(&mut self, bus: &mut R, counters: &[Counter]) -> Result<(), HwError> {
        self.users -= 1;
        self.give_back(bus, counters)
    }
}

/// Clears a box's statuses, its own first: nobody counts with it.
fn clear_statuses<R: Registers>(bus: &mut R, slot: &Slot) -> Result<(), HwError> {
    let row = slot.row();
    let own = match row.status {
        Some(status) => bus.write(msr(status), (1 << row.counters) - 1),
        None => Ok(()),
    };
    let fixed = row.fixed.map_or(0, |f| 1 << f.global_status);
    let global = fixed | (1 << (row.global_status + slot.box_nr));
    own.and(bus.write(msr(U_MSR_PMON_GLOBAL_STATUS), global))
}
