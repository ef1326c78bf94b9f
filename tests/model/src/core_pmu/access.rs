// SPDX-License-Identifier: GPL-2.0-only
//! Accesses to the core's registers, and what reads return.

use super::registers::{Register, Role, CAPABILITIES};
use super::write::write;
use crate::access::Access;
use crate::host::Host;
use crate::model::Model;
use crate::stream::{Stream, NS_PER_S};

impl Model {
    /// One access by `cpu` to a core register.
    pub(crate) fn core_access(
        &mut self,
        host: &mut dyn Host,
        cpu: usize,
        msr: u32,
        register: Register,
        value: Option<u64>,
    ) -> Access<u64> {
        self.accesses.core(register.row.name, value.is_some());
        self.look(host, cpu);
        let Some(value) = value else {
            return Access::Done(self.read_core(cpu, msr, register.role));
        };
        let written = write(&mut self.cpus[cpu], msr, register.role, value);
        self.cpus[cpu].select(&self.ratios, cpu);
        self.plan_look(host, cpu);
        let socket = self.cpus[cpu].socket;
        if !written.broken.is_empty() {
            let name = register.name();
            self.blame(written.broken, (cpu, socket), (name.as_str(), msr), value);
        }
        if written.fault {
            Access::Fault
        } else {
            Access::Done(0)
        }
    }

    /// Value of a core register of `cpu`, whose counters are settled before.
    pub(crate) fn read_core(&self, cpu: usize, msr: u32, role: Role) -> u64 {
        let state = &self.cpus[cpu];
        match role {
            Role::Counter(i) | Role::FullCounter(i) => state.counters[i].count.value(),
            Role::Select(i) => state.counters[i].select,
            Role::Fixed(i) => state.counters[state.fixed(i)].count.value(),
            Role::FixedCtrl => state.fixed_ctrl,
            Role::GlobalStatus => state.global_status,
            Role::GlobalCtrl => state.global_ctrl,
            // Write-only in effect: a read returns 0.
            Role::OvfCtrl => 0,
            Role::Capabilities => CAPABILITIES,
            Role::DebugCtl => state.debugctl,
            Role::Residency(which) => self.residency(cpu, which),
            Role::Storage(_) => state.storage.get(&msr).copied().unwrap_or(0),
        }
    }

    /// Time in C3 (0) or C6 (1). So that the two readings of its scope differ, core n of c sleeps
    /// (n + 1)/c of the time of the core that sleeps most, and some core does all that time.
    fn residency(&self, cpu: usize, which: usize) -> u64 {
        let settings = &self.settings;
        let hz = [settings.c3_hz, settings.c6_hz][which];
        let state = &self.cpus[cpu];
        let stream = if settings.residency_core {
            let cores = self.cores(state.socket) as u64;
            Stream::new(hz * (state.core as u64 + 1), NS_PER_S * cores, 0)
        } else {
            Stream::hz(hz, 0)
        };
        // CAST: the register has 64 bits and wraps.
        stream.count(self.now) as u64
    }
}
