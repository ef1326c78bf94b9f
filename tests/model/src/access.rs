// SPDX-License-Identifier: GPL-2.0-only
//! Register accesses of software: RDMSR, WRMSR, RDPMC.

use super::core_pmu::registers as core_registers;
use super::host::Host;
use super::model::Model;
use super::record::Kind;
use super::uncore::tables;

/// What an access led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access<T> {
    /// The model does not know the register.
    NotMine,
    /// Done; a read has its value.
    Done(T),
    /// The part raises #GP(0).
    Fault,
}

impl<T> Access<T> {
    /// The value; `None` when there is none.
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(value) => Some(value),
            Self::NotMine | Self::Fault => None,
        }
    }
}

/// Whether the model answers for `msr`, be it present or not.
pub const fn claims_msr(msr: u32) -> bool {
    tables::claims(msr) || core_registers::claims(msr)
}

impl Model {
    /// RDMSR on logical CPU `cpu`.
    pub fn rdmsr(&mut self, host: &mut dyn Host, cpu: usize, msr: u32) -> Access<u64> {
        self.access(host, cpu, msr, None)
    }

    /// WRMSR on logical CPU `cpu`.
    pub fn wrmsr(&mut self, host: &mut dyn Host, cpu: usize, msr: u32, value: u64) -> Access<()> {
        match self.access(host, cpu, msr, Some(value)) {
            Access::Done(_) => Access::Done(()),
            Access::Fault => Access::Fault,
            Access::NotMine => Access::NotMine,
        }
    }

    /// RDPMC on logical CPU `cpu`: counter `index`, or fixed counter j for 4000_0000H + j.
    pub fn rdpmc(&mut self, host: &mut dyn Host, cpu: usize, index: u32) -> Access<u64> {
        if cpu >= self.cpus.len() {
            return Access::NotMine;
        }
        self.enter(host);
        self.look(host, cpu);
        let state = &self.cpus[cpu];
        let row = match index.checked_sub(1 << 30) {
            Some(fixed) => state.general + fixed as usize,
            None if (index as usize) < state.general => index as usize,
            None => usize::MAX,
        };
        let answer = match state.counters.get(row) {
            Some(counter) => Access::Done(counter.count.value()),
            None => Access::Fault,
        };
        if answer == Access::Fault {
            let socket = state.socket;
            self.blame([Kind::AbsentRegister], (cpu, socket), ("RDPMC", index), 0);
        } else {
            self.accesses.core("RDPMC", false);
        }
        self.leave(host);
        answer
    }

    /// One access by `cpu`: a write of `value`, or a read.
    fn access(
        &mut self,
        host: &mut dyn Host,
        cpu: usize,
        msr: u32,
        value: Option<u64>,
    ) -> Access<u64> {
        if cpu >= self.cpus.len() || !claims_msr(msr) {
            return Access::NotMine;
        }
        self.enter(host);
        let socket = self.cpus[cpu].socket;
        let answer = if tables::claims(msr) {
            let place = tables::decode(msr, self.cbos(socket));
            place.filter(|_| self.settings.uncore_present).map(|place| {
                self.uncore_access(cpu, msr, &place, value);
                match value {
                    Some(_) => Access::Done(0),
                    None => Access::Done(self.read_uncore(socket, &place)),
                }
            })
        } else {
            let register = core_registers::decode(msr, self.cpus[cpu].general);
            register.map(|register| self.core_access(host, cpu, msr, register, value))
        };
        let answer = answer.unwrap_or_else(|| {
            let name = format!("MSR_{msr:#x}");
            let at = (name.as_str(), msr);
            self.blame(
                [Kind::AbsentRegister],
                (cpu, socket),
                at,
                value.unwrap_or(0),
            );
            Access::Fault
        });
        self.leave(host);
        answer
    }
}
