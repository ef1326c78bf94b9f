// SPDX-License-Identifier: GPL-2.0-only

//! One logical CPU's own counters: set-up and overflow (SDM sections 18.2.1 to 18.2.5).
//!
//! Ours stand still while IA32_PERF_GLOBAL_CTRL lacks their bits; the bits of others are kept. All
//! of it runs on the CPU itself.

use super::{
    counter,
    output::Output,
    record::Context,
    registers::{HwError, Reg, Registers},
};
use crate::hw::core_pmu::*;

/// The PMU's properties that matter here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// CPUID leaf 0AH.
    pub leaf: Leaf0a,
    /// IA32_A_PMCx exist.
    pub full_width: bool,
}

impl Features {
    /// The longest way to an overflow that a general counter can be loaded for, events: IA32_PMCx
    /// takes 32 bits and extends their sign.
    pub fn reach(&self) -> u64 {
        if self.full_width {
            1 << (self.leaf.width - 1)
        } else {
            1 << 31
        }
    }
}

/// Which counter of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// IA32_PMCi.
    General(u32),
    /// IA32_FIXED_CTRi.
    Fixed(u32),
}

impl Slot {
    fn bit(self) -> u64 {
        match self {
            Slot::General(i) => 1 << i,
            Slot::Fixed(i) => 1 << (GLOBAL_FIXED_SHIFT + i),
        }
    }

    fn data(self) -> Reg {
        Reg::Msr(match self {
            Slot::General(i) => IA32_PMC0 + i,
            Slot::Fixed(i) => IA32_FIXED_CTR0 + i,
        })
    }

    /// The register to write the counter by.
    fn load(self, full_width: bool) -> Reg {
        match self {
            Slot::General(i) if full_width => Reg::Msr(IA32_A_PMC0 + i),
            _ => self.data(),
        }
    }
}

/// A counter of a session.
pub struct Counter {
    slot: Slot,
    /// PERFEVTSEL, or the counter's four bits of FIXED_CTR_CTRL.
    ctl: u64,
    saved_ctl: u64,
    saved_data: u64,
    /// Its account.
    pub account: counter::Counter,
}

impl Counter {
    /// A counter at `slot` for the event `config`, in user mode, kernel mode or both;
    /// `interrupts`: its overflow is to be reported.
    pub fn new(
        slot: Slot,
        config: u64,
        user: bool,
        kernel: bool,
        interrupts: bool,
        account: counter::Counter,
    ) -> Self {
        let mode = |usr, os| if user { usr } else { 0 } | if kernel { os } else { 0 };
        let ctl = match slot {
            Slot::General(_) => {
                let int = if interrupts { EVTSEL_INT } else { 0 };
                config | mode(EVTSEL_USR, EVTSEL_OS) | int | EVTSEL_EN
            }
            Slot::Fixed(i) => {
                let pmi = if interrupts { FIXED_PMI } else { 0 };
                (mode(FIXED_USR, FIXED_OS) | pmi) << (FIXED_BITS * i)
            }
        };
        Self {
            slot,
            ctl,
            saved_ctl: 0,
            saved_data: 0,
            account,
        }
    }
}

/// The totals of core counters.
pub fn values(counters: &[Counter]) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
    counters.iter().map(|c| (c.account.id(), c.account.total()))
}

const fn msr(address: u32) -> Reg {
    Reg::Msr(address)
}

fn fixed_field(i: u32) -> u64 {
    0xf << (FIXED_BITS * i)
}

/// One logical CPU.
pub struct CorePmu {
    full_width: bool,
    users: u32,
    /// GLOBAL_CTRL bits that are ours.
    enabled: u64,
    /// GLOBAL_CTRL bits of others.
    others: u64,
    /// GLOBAL_CTRL before the first start.
    restore: u64,
}

/// What GLOBAL_STATUS says of our counters.
pub struct Overflowed {
    status: u64,
    everything: bool,
}

impl Overflowed {
    /// Nothing.
    pub fn nothing() -> Self {
        Self {
            status: 0,
            everything: true,
        }
    }

    /// Whether a counter of ours overflowed.
    pub fn any(&self) -> bool {
        self.status != 0
    }

    /// How many.
    pub fn sources(&self) -> u32 {
        self.status.count_ones()
    }
}

impl CorePmu {
    /// A CPU on which nothing counts.
    pub fn new(full_width: bool) -> Self {
        Self {
            full_width,
            users: 0,
            enabled: 0,
            others: 0,
            restore: 0,
        }
    }

    /// Sessions that count.
    pub fn users(&self) -> u32 {
        self.users
    }

    fn halt<R: Registers>(&self, bus: &mut R) -> Result<(), HwError> {
        bus.write(msr(IA32_PERF_GLOBAL_CTRL), self.others)
    }

    fn go<R: Registers>(&self, bus: &mut R) -> Result<(), HwError> {
        let value = if self.users == 0 {
            self.restore
        } else {
            self.others | self.enabled
        };
        bus.write(msr(IA32_PERF_GLOBAL_CTRL), value)
    }

    /// Starts counters, between [`CorePmu::begin_halted`] and [`CorePmu::end`]. On an error nothing
    /// is changed.
    pub fn start<R: Registers>(
        &mut self,
        bus: &mut R,
        counters: &mut [Counter],
    ) -> Result<(), HwError> {
        let bits = bits(counters);
        for c in counters.iter_mut() {
            if self.is_counting(bus, c.slot)? {
                return Err(HwError::InUse(c.slot.data()));
            }
            self.save(bus, c)?;
        }
        self.others &= !bits;
        self.halt(bus)?;
        let mut result = Ok(());
        for c in counters.iter_mut() {
            result = result.and_then(|()| self.program(bus, c));
        }
        let result = result.and_then(|()| bus.write(msr(IA32_PERF_GLOBAL_OVF_CTRL), bits));
        match result {
            Ok(()) => {
                self.enabled |= bits;
                self.users += 1;
            }
            Err(_) => {
                for c in counters.iter() {
                    // As far as it goes: the first error is the one to report.
                    let _ = self.restore(bus, c);
                }
                self.others |= self.restore & bits;
            }
        }
        result
    }

    /// Whether somebody else counts with a counter.
    fn is_counting<R: Registers>(&self, bus: &mut R, slot: Slot) -> Result<bool, HwError> {
        let on = match slot {
            Slot::General(i) => bus.read(msr(IA32_PERFEVTSEL0 + i))? & EVTSEL_EN != 0,
            Slot::Fixed(i) => bus.read(msr(IA32_FIXED_CTR_CTRL))? & fixed_field(i) != 0,
        };
        Ok(on && self.others & slot.bit() != 0)
    }

    fn save<R: Registers>(&self, bus: &mut R, c: &mut Counter) -> Result<(), HwError> {
        c.saved_data = bus.read(c.slot.data())?;
        c.saved_ctl = match c.slot {
            Slot::General(i) => bus.read(msr(IA32_PERFEVTSEL0 + i))?,
            Slot::Fixed(i) => bus.read(msr(IA32_FIXED_CTR_CTRL))? & fixed_field(i),
        };
        Ok(())
    }

    fn program<R: Registers>(&self, bus: &mut R, c: &mut Counter) -> Result<(), HwError> {
        let load = c.account.load();
        // The counter is written while disabled (SDM section 18.2.1.1).
        self.set(bus, c.slot, load, c.ctl)
    }

    fn restore<R: Registers>(&self, bus: &mut R, c: &Counter) -> Result<(), HwError> {
        self.set(bus, c.slot, c.saved_data, c.saved_ctl)
    }

    /// Disables a counter, writes it, and gives it a control.
    fn set<R: Registers>(
        &self,
        bus: &mut R,
        slot: Slot,
        data: u64,
        ctl: u64,
    ) -> Result<(), HwError> {
        let (reg, others) = match slot {
            Slot::General(i) => (msr(IA32_PERFEVTSEL0 + i), 0),
            Slot::Fixed(i) => {
                let reg = msr(IA32_FIXED_CTR_CTRL);
                (reg, bus.read(reg)? & !fixed_field(i))
            }
        };
        // All of them, also after a fault.
        let disabled = bus.write(reg, others);
        let loaded = bus.write(slot.load(self.full_width), data);
        disabled.and(loaded).and(bus.write(reg, others | ctl))
    }

    /// First half of an overflow's service, by the PMI: our counters stand still if one overflowed.
    pub fn begin<R: Registers>(&self, bus: &mut R) -> Result<Overflowed, HwError> {
        let status = bus.read(msr(IA32_PERF_GLOBAL_STATUS))? & self.enabled;
        if status != 0 {
            self.halt(bus)?;
        }
        Ok(Overflowed {
            status,
            everything: false,
        })
    }

    /// As [`CorePmu::begin`], where no overflow may have happened, or nobody counts:
    /// halts first.
    pub fn begin_halted<R: Registers>(&mut self, bus: &mut R) -> Result<Overflowed, HwError> {
        if self.users == 0 {
            self.restore = bus.read(msr(IA32_PERF_GLOBAL_CTRL))?;
            self.others = self.restore;
        }
        self.halt(bus)?;
        match bus.read(msr(IA32_PERF_GLOBAL_STATUS)) {
            Ok(status) => Ok(Overflowed {
                status: status & self.enabled,
                everything: true,
            }),
            Err(e) => {
                let _ = self.go(bus);
                Err(e)
            }
        }
    }

    /// Looks at counters while they run. Returns whether one has a sample to take or is
    /// to be reloaded.
    pub fn poll<R: Registers>(bus: &mut R, counters: &mut [Counter]) -> Result<bool, HwError> {
        let mut due = false;
        for c in counters.iter_mut() {
            c.account.advance(bus.read(c.slot.data())?);
            due |= c.account.is_due() || c.account.owes();
        }
        Ok(due)
    }

    /// Takes in one session's counters, samples those that overflowed and reloads them. Returns the
    /// overflows.
    pub fn collect<R: Registers>(
        &self,
        bus: &mut R,
        found: &Overflowed,
        counters: &mut [Counter],
        output: &mut Output<'_>,
        cx: &Context,
    ) -> Result<u32, HwError> {
        let ours = |c: &Counter| found.status & c.slot.bit() != 0;
        if !found.everything && !counters.iter().any(ours) {
            return Ok(0);
        }
        Self::poll(bus, counters)?;
        let mut overflows = 0;
        for n in 0..counters.len() {
            let account = &counters[n].account;
            // A look settles all accounts: it may be the last.
            if !(account.is_due() || (found.everything && account.owes())) {
                continue;
            }
            overflows += 1;
            let due = account.is_due();
            let overflow = counters[n].account.settle();
            if let Some(o) = &overflow {
                output.sample(cx, o, values(counters));
            }
            if due {
                output.pace(cx.time, &mut counters[n].account);
                let reg = counters[n].slot.load(self.full_width);
                bus.write(reg, counters[n].account.load())?;
            }
        }
        Ok(overflows)
    }

    /// Second half: clears the status and lets the counters go on, whatever else fails.
    pub fn end<R: Registers>(&self, bus: &mut R, found: &Overflowed) -> Result<(), HwError> {
        let result = match found.status {
            0 => Ok(()),
            status => bus.write(msr(IA32_PERF_GLOBAL_OVF_CTRL), status),
        };
        result.and(self.go(bus))
    }

    /// Stops counters that [`CorePmu::collect`] has just taken in, before [`CorePmu::end`].
    pub fn stop<R: Registers>(&mut self, bus: &mut R, counters: &[Counter]) -> Result<(), HwError> {
        let mut result = Ok(());
        for c in counters {
            // Goes on after a fault: the other registers are owed too.
            result = result.and(self.restore(bus, c));
        }
        let bits = bits(counters);
        self.enabled &= !bits;
        self.others |= self.restore & bits;
        self.users -= 1;
        result.and(bus.write(msr(IA32_PERF_GLOBAL_OVF_CTRL), bits))
    }
}

/// Bits of counters in IA32_PERF_GLOBAL_*.
fn bits(counters: &[Counter]) -> u64 {
    counters.iter().fold(0, |bits, c| bits | c.slot.bit())
}
