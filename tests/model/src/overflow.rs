// SPDX-License-Identifier: GPL-2.0-only
//! What follows when a counter carries out: status, freeze, interrupt.
//!
//! Uncore: 329468-002 §2.1.1 to §2.1.4. Core: SDM §18.2 and §17.4.7.

use super::core_pmu::registers::{FREEZE_ON_PMI, OVF_UNCORE, UNCORE_PMI};
use super::host::Host;
use super::model::Model;
use super::schedule::{Action, UncoreCounter};
use super::uncore::layout;
use super::uncore::tables::Overflow;

impl Model {
    /// Counts the uncore's events up to this moment where a counter carries out, and adds those
    /// that do to `carried`.
    pub(crate) fn uncore_carries(&mut self, carried: &mut Vec<UncoreCounter>) {
        for (s, socket) in self.sockets.iter_mut().enumerate() {
            if socket
                .next_carry(&self.settings)
                .is_none_or(|ns| ns > self.now)
            {
                continue;
            }
            for (index, pmon_box) in socket.boxes.iter_mut().enumerate() {
                for counter in 0..pmon_box.counters.len() {
                    if pmon_box.settle(counter, self.now, &self.settings) {
                        carried.push(UncoreCounter {
                            socket: s,
                            index,
                            counter,
                        });
                    }
                }
            }
            socket.touch();
        }
    }

    /// A counter of the uncore has carried out just now.
    pub(crate) fn uncore_overflow(&mut self, at: UncoreCounter) {
        let UncoreCounter {
            socket: s,
            index: b,
            counter: i,
        } = at;
        let socket = &mut self.sockets[s];
        let global_bit = match socket.boxes[b].counter_row(i).global_status {
            Some(bit) => 1 << bit,
            None => socket.status_bit(b),
        };
        let pmon_box = &mut socket.boxes[b];
        if !pmon_box.armed(i, &self.settings) {
            return;
        }
        if let (Overflow::PerCounter, Some(bit)) =
            (pmon_box.row().overflow, pmon_box.counter_row(i).status)
        {
            let was_set = (pmon_box.status >> bit) & 1 != 0;
            pmon_box.status |= 1 << bit;
            if was_set {
                return;
            }
        }
        if !pmon_box.sends() || socket.global_status & global_bit != 0 {
            return;
        }
        socket.global_status |= global_bit;

        if self.settings.global_freeze {
            socket.boxes[b].settle_all(self.now, &self.settings);
            socket.boxes[b].sees_freeze = true;
            if socket.begin_freeze(self.now) {
                socket.consequences.freezes += 1;
            }
            let lands = self.now + self.settings.freeze_delay_ns;
            self.schedule.add(lands, Action::Freeze { socket: s });
        }
        let cores = socket.global_ctl & layout::PMI_CORE_SEL;
        if self.settings.uncore_pmi && cores != 0 {
            socket.consequences.pmis += 1;
            let wake = socket.global_ctl & layout::WK_ON_PMI != 0;
            let arrives = self.now + self.settings.pmi_delay_ns;
            self.schedule.add(
                arrives,
                Action::Pmi {
                    socket: s,
                    cores,
                    wake,
                },
            );
        }
        socket.touch();
    }

    /// The freeze signal reaches the boxes of `socket` that did not raise it.
    pub(crate) fn land_freeze(&mut self, socket: usize) {
        let socket = &mut self.sockets[socket];
        socket.settle_all(self.now, &self.settings);
        socket.land_freeze();
    }

    /// The uncore's interrupt reaches the cores of `socket` whose bits are set in `cores`.
    pub(crate) fn uncore_pmi(
        &mut self,
        host: &mut dyn Host,
        socket: usize,
        cores: u32,
        wake: bool,
    ) {
        for i in 0..self.cpus.len() {
            let cpu = &mut self.cpus[i];
            let selected = cpu.core < 32 && (cores >> cpu.core) & 1 != 0;
            let selected = selected || (wake && !self.settings.wake_masked);
            if cpu.socket != socket || !selected || (cpu.thread != 0 && !self.settings.smt_both) {
                continue;
            }
            cpu.interrupts.uncore += 1;
            if !self.settings.debugctl13_ignored && cpu.debugctl & UNCORE_PMI == 0 {
                cpu.interrupts.disabled += 1;
            } else if !wake && host.halted(i) {
                cpu.interrupts.asleep += 1;
            } else {
                if self.settings.ovf_uncore_set {
                    cpu.global_status |= OVF_UNCORE;
                }
                self.deliver(host, i);
            }
        }
    }

    /// Raises LVTPC of `cpu`.
    fn deliver(&mut self, host: &mut dyn Host, cpu: usize) {
        let interrupts = &mut self.cpus[cpu].interrupts;
        if host.pmi(cpu) {
            interrupts.delivered += 1;
        } else {
            interrupts.masked += 1;
        }
    }

    /// Looks at the counters of `cpu`: counts what it did, and lets carries have their effect.
    pub(crate) fn look(&mut self, host: &mut dyn Host, cpu: usize) {
        let now = self.position(host, cpu);
        let carried = self.cpus[cpu].settle(now);
        self.core_overflow(host, cpu, carried);
        self.plan_look(host, cpu);
    }

    /// The core counters whose bits are in `carried` have carried out.
    pub(crate) fn core_overflow(&mut self, host: &mut dyn Host, cpu: usize, carried: u64) {
        let state = &mut self.cpus[cpu];
        state.global_status |= carried;
        let mut counters = 0..state.counters.len();
        if counters.any(|i| carried & state.bit(i) != 0 && state.interrupts(i)) {
            state.interrupts.core += 1;
            if state.debugctl & FREEZE_ON_PMI != 0 {
                // Versions 2 and 3: the interrupt clears the enables.
                state.global_ctrl = 0;
            }
            self.deliver(host, cpu);
        }
    }

    /// Works out when to look at `cpu` next. Its counters are settled before.
    ///
    /// With counted instructions that is the soonest moment at which the next carry can come; if
    /// the CPU did not run meanwhile, the look finds nothing and plans the next one.
    pub(crate) fn plan_look(&mut self, host: &mut dyn Host, cpu: usize) {
        let next = self.cpus[cpu].next_carry();
        self.cpus[cpu].deadline = next.map(|at| match host.insns(cpu) {
            None => at,
            Some(done) => {
                let soonest = host.insns_to_ns(at.saturating_sub(done)).max(1);
                let asleep = if host.halted(cpu) {
                    self.settings.halt_poll_ns
                } else {
                    0
                };
                self.now.saturating_add(soonest.max(asleep))
            }
        });
    }
}
