// SPDX-License-Identifier: GPL-2.0-only
//! The passing of time.
//!
//! Nothing happens between calls. A call first brings the state up to the host's clock, event by
//! event in the order of their moments, and in the end asks for a call at the next moment at which
//! something happens by itself.

use super::core_pmu::cpuid;
use super::host::Host;
use super::model::Model;
use super::schedule::{Action, Target, UncoreCounter};

impl Model {
    /// Machine reset: all registers to their reset values; truth, counts and settings stay.
    pub fn reset(&mut self, host: &mut dyn Host) {
        self.enter(host);
        for (i, socket) in self.sockets.iter_mut().enumerate() {
            socket.settle_all(self.now, &self.settings);
            socket.reset(self.now);
            socket.select(i, &self.rates);
        }
        for i in 0..self.cpus.len() {
            let now = self.position(host, i);
            let cpu = &mut self.cpus[i];
            cpu.settle(now);
            cpu.reset(now, &self.ratios, i);
        }
        self.schedule.retain(Action::is_burst);
        self.leave(host);
    }

    /// The moment that [`Host::arm`] asked for has come. Calls at any other time do no harm.
    pub fn timer(&mut self, host: &mut dyn Host) {
        self.armed = None;
        self.enter(host);
        self.leave(host);
    }

    /// Brings the state up to the host's clock. First part of every call.
    pub(crate) fn enter(&mut self, host: &mut dyn Host) {
        self.start(host);
        let now = host.now_ns().max(self.now);
        while let Some(ns) = self.next_moment().filter(|ns| *ns <= now) {
            self.now = ns;
            self.step(host);
        }
        self.now = now;
        for i in 0..self.cpus.len() {
            if self.cpus[i].deadline.is_some_and(|ns| ns <= now) {
                self.look(host, i);
            }
        }
    }

    /// Asks the host for the next call. Last part of every call.
    pub(crate) fn leave(&mut self, host: &mut dyn Host) {
        let cpus = self.cpus.iter().filter_map(|cpu| cpu.deadline).min();
        let next = self.next_moment().into_iter().chain(cpus).min();
        if next != self.armed {
            self.armed = next;
            host.arm(next);
        }
    }

    /// The next moment at which something happens at a known time.
    fn next_moment(&mut self) -> Option<u64> {
        let settings = &self.settings;
        let carry = self
            .sockets
            .iter_mut()
            .filter_map(|s| s.next_carry(settings))
            .min();
        let planned = self.schedule.next();
        // Where instructions are counted, nobody knows when they will have been executed.
        let timed = self.cpus.iter().filter(|_| !self.counted);
        let core = timed.filter_map(|cpu| cpu.deadline).min();
        [carry, planned, core].into_iter().flatten().min()
    }

    /// Lets everything happen that is due at `self.now`.
    ///
    /// First all events of the moment are counted, then the overflows among them have their
    /// effects, so that two counters that one of these would stop can overflow together.
    fn step(&mut self, host: &mut dyn Host) {
        let mut core = vec![None; self.cpus.len()];
        let mut uncore = Vec::new();
        while let Some(Action::Burst { target, events }) =
            self.schedule.take(self.now, Action::is_burst)
        {
            match target {
                Target::Uncore(at) if self.uncore_burst(at, events) => uncore.push(at),
                Target::Uncore(_) => {}
                Target::Core { cpu, counter } => {
                    let carried = self.core_burst(host, cpu, counter, events);
                    *core[cpu].get_or_insert(0) |= carried;
                }
            }
        }
        self.uncore_carries(&mut uncore);
        for at in uncore {
            self.uncore_overflow(at);
        }
        for (i, carried) in core.into_iter().enumerate() {
            if let Some(carried) = carried {
                self.core_overflow(host, i, carried);
                self.plan_look(host, i);
            }
            if !self.counted && self.cpus[i].deadline.is_some_and(|ns| ns <= self.now) {
                self.look(host, i);
            }
        }
        while let Some(action) = self.schedule.take(self.now, |action| !action.is_burst()) {
            match action {
                Action::Freeze { socket } => self.land_freeze(socket),
                Action::Pmi {
                    socket,
                    cores,
                    wake,
                } => self.uncore_pmi(host, socket, cores, wake),
                Action::Burst { .. } => {}
            }
        }
    }

    /// An uncore counter gets `events` at once, or as many as it needs to carry out, if it runs.
    /// Returns whether it carried out.
    fn uncore_burst(&mut self, at: UncoreCounter, events: Option<u64>) -> bool {
        let socket = &mut self.sockets[at.socket];
        socket.touch();
        let pmon_box = &mut socket.boxes[at.index];
        let carried = pmon_box.settle(at.counter, self.now, &self.settings);
        if !pmon_box.runs(at.counter) {
            return carried;
        }
        let width = pmon_box.width(at.counter, &self.settings);
        let count = &mut pmon_box.counters[at.counter].count;
        let events = events.map_or(count.missing(width), u128::from);
        count.add(events, width) | carried
    }

    /// The same for a core counter. Returns the bits of all that carried out.
    fn core_burst(
        &mut self,
        host: &mut dyn Host,
        cpu: usize,
        counter: usize,
        events: Option<u64>,
    ) -> u64 {
        let now = self.position(host, cpu);
        let state = &mut self.cpus[cpu];
        let carried = state.settle(now);
        if !state.runs(counter) {
            return carried;
        }
        let count = &mut state.counters[counter].count;
        let events = events.map_or(count.missing(cpuid::WIDTH), u128::from);
        let carries = count.add(events, cpuid::WIDTH);
        carried | if carries { state.bit(counter) } else { 0 }
    }
}
