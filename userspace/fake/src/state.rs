// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What the device holds, and how its time goes on.

use crate::rings::Rings;
use pmon::{
    abi,
    wire::record::{Context, Overflow, MISC_POLL},
    Call, Errno,
};

/// Called in each wait with its number, from 0.
pub type Hook = Box<dyn FnMut(u32)>;

/// The machine.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Sockets.
    pub sockets: u32,
    /// CBos of a socket.
    pub cboxes: u32,
    /// CPUs, dealt to the sockets in equal blocks.
    pub cpus: u32,
    /// A CPU that is offline.
    pub offline: Option<u32>,
    /// Mode of the CBos.
    pub cbox_mode: u32,
    /// Events of each counter in a millisecond; counter `id` has `id` more.
    pub rate: u64,
    /// Time of a wait, ms.
    pub step_ms: u64,
    /// Order of stamps: ring `i` of a step gets them this much later, ns.
    pub skew_ns: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sockets: 2,
            cboxes: 3,
            cpus: 4,
            offline: None,
            cbox_mode: abi::PMON_MODE_POLL,
            rate: 1000,
            step_ms: 10,
            skew_ns: 7,
        }
    }
}

/// One counter.
pub(crate) struct Counter {
    pub(crate) arg: abi::pmon_counter,
    pub(crate) count: abi::pmon_count,
    /// CPU that takes its overflows.
    pub(crate) cpu: u32,
}

pub(crate) struct State {
    pub(crate) plan: Plan,
    pub(crate) counters: Vec<Counter>,
    pub(crate) rings: Option<Rings>,
    pub(crate) running: bool,
    pub(crate) time: u64,
    pub(crate) waits: u32,
    pub(crate) failures: Vec<(Call, Errno)>,
    pub(crate) hook: Option<Hook>,
    pub(crate) damage: Option<usize>,
    pub(crate) broken_field: Option<(usize, u64)>,
    pub(crate) samples: u64,
}

impl State {
    pub(crate) fn new(plan: Plan) -> Self {
        Self {
            plan,
            counters: Vec::new(),
            rings: None,
            running: false,
            time: 5_000_000_000,
            waits: 0,
            failures: Vec::new(),
            hook: None,
            damage: None,
            broken_field: None,
            samples: 0,
        }
    }

    pub(crate) fn socket_of(&self, cpu: u32) -> u32 {
        cpu / (self.plan.cpus / self.plan.sockets)
    }

    /// First CPU of the socket: it takes the uncore's overflows.
    pub(crate) fn pmi_cpu(&self, socket: u32) -> u32 {
        socket * (self.plan.cpus / self.plan.sockets)
    }

    /// Lets one step of time go by.
    pub(crate) fn advance(&mut self) {
        let step = self.plan.step_ms;
        for ms in 0..step {
            if self.running {
                self.count(self.time + ms * 1_000_000);
            }
        }
        self.time += step * 1_000_000;
        if let (Some(index), Some(rings)) = (self.damage.take(), &self.rings) {
            rings.damage(index);
        }
    }

    /// One millisecond's events, and the samples of those that passed a period.
    fn count(&mut self, time: u64) {
        let mut overflows = Vec::new();
        for (id, c) in self.counters.iter_mut().enumerate() {
            let before = c.count.total;
            c.count.total += self.plan.rate + id as u64;
            c.count.enabled_ns += 1_000_000;
            let Some(multiples) = c.count.total.checked_div(c.arg.period) else {
                continue;
            };
            let periods = multiples - before / c.arg.period;
            if periods != 0 {
                c.count.overflows += 1;
                overflows.push((id, periods, c.count.total % c.arg.period));
            }
        }
        for (id, periods, overshoot) in overflows {
            self.sample(id, periods, overshoot, time);
        }
    }

    fn sample(&mut self, id: usize, periods: u64, overshoot: u64, time: u64) {
        let c = &self.counters[id];
        let (cpu, socket) = (c.cpu, self.socket_of(c.cpu));
        let leader = c.arg.flags & abi::PMON_COUNTER_LEADER != 0;
        let core = c.arg.unit == abi::PMON_UNIT_CORE;
        let polled =
            c.arg.unit == abi::PMON_UNIT_CBOX && self.plan.cbox_mode == abi::PMON_MODE_POLL;
        let seen = |o: &Counter| {
            let same = if o.arg.unit == abi::PMON_UNIT_CORE {
                o.cpu == cpu
            } else {
                o.arg.socket == socket
            };
            same && (leader || (o.arg.unit == abi::PMON_UNIT_CORE) == core)
        };
        let values: Vec<_> = self
            .counters
            .iter()
            .filter(|o| seen(o))
            .map(|o| (o.arg.id, o.count.total))
            .collect();
        let Some(rings) = &mut self.rings else { return };
        let ring = rings.of_cpu(cpu);
        let cx = Context {
            time: time + u64::from(cpu) * self.plan.skew_ns,
            misc: if polled { MISC_POLL } else { 0 },
            ip: 0xffff_ffff_8100_0000 + u64::from(cpu) * 0x10,
            pid: 100 + cpu,
            tid: 200 + cpu,
            cpu,
            socket,
        };
        // CAST: ids are below 512.
        let overflow = Overflow {
            id: id as u32,
            leader,
            periods,
            overshoot,
        };
        rings.write(ring, &cx, &overflow, &values);
        self.samples += 1;
    }
}
