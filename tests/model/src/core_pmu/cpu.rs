// SPDX-License-Identifier: GPL-2.0-only
//! The state of one logical CPU's counters, and when they run.
//!
//! Positions are steps of the CPU's axis: its executed instructions, or virtual time in ns where
//! the machine does not count them. Rings are not told apart: a counter counts when USR or OS is
//! set. ANY counts the own thread only.

use std::collections::BTreeMap;

use super::cpuid::{FIXED, WIDTH};
use super::ratios::{self, Ratios};
use super::registers::{CMASK, EN, FIXED_ENABLE, FIXED_PMI, INT, INV, USR_OS};
use crate::counter::Counter;
use crate::stream::Stream;

/// What became of a CPU's interrupts, since the start or the last `overflows clear`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    /// Sent to this CPU by its own counters, and by the uncore.
    pub(crate) core: u64,
    pub(crate) uncore: u64,
    pub(crate) delivered: u64,
    /// Dropped: LVTPC was masked; the CPU slept; IA32_DEBUGCTL bit 13 was needed and clear.
    pub(crate) masked: u64,
    pub(crate) asleep: u64,
    pub(crate) disabled: u64,
}

/// One counter, general or fixed.
#[derive(Clone, Debug)]
pub(crate) struct CoreCounter {
    /// IA32_PERFEVTSEL; unused for a fixed counter.
    pub(crate) select: u64,
    pub(crate) count: Counter,
    stream: Stream,
    since: u64,
}

/// One logical CPU.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    pub(crate) socket: usize,
    pub(crate) core: usize,
    pub(crate) thread: usize,
    /// Number of general counters.
    pub(crate) general: usize,
    /// The general counters, then the fixed ones.
    pub(crate) counters: Vec<CoreCounter>,
    pub(crate) fixed_ctrl: u64,
    pub(crate) global_ctrl: u64,
    pub(crate) global_status: u64,
    pub(crate) debugctl: u64,
    /// Registers without effect, by address.
    pub(crate) storage: BTreeMap<u32, u64>,
    /// When to look at the counters next, ns.
    pub(crate) deadline: Option<u64>,
    pub(crate) interrupts: Interrupts,
}

impl Cpu {
    /// A CPU at its place, as it is after reset.
    pub(crate) fn new(socket: usize, core: usize, thread: usize) -> Self {
        Self {
            socket,
            core,
            thread,
            general: 0,
            counters: Vec::new(),
            fixed_ctrl: 0,
            global_ctrl: 0,
            global_status: 0,
            debugctl: 0,
            storage: BTreeMap::new(),
            deadline: None,
            interrupts: Interrupts::default(),
        }
    }

    /// Gives the CPU its counters, once the machine's threads are known.
    pub(crate) fn equip(&mut self, general: usize, ratios: &Ratios, cpu: usize) {
        let counter = CoreCounter {
            select: 0,
            count: Counter::default(),
            stream: Stream::NEVER,
            since: 0,
        };
        self.general = general;
        self.counters = vec![counter; general + FIXED];
        self.reset(0, ratios, cpu);
    }

    /// All registers to their reset values at position `now`.
    pub(crate) fn reset(&mut self, now: u64, ratios: &Ratios, cpu: usize) {
        for counter in &mut self.counters {
            counter.select = 0;
            counter.count.set(0, WIDTH);
            counter.since = now;
        }
        self.fixed_ctrl = 0;
        // The SDM's reset value: all general counters enabled, the fixed ones not.
        self.global_ctrl = (1 << self.general) - 1;
        self.global_status = 0;
        self.debugctl = 0;
        self.storage.clear();
        self.deadline = None;
        self.select(ratios, cpu);
    }

    /// Row of fixed counter `i` in `counters`.
    pub(crate) const fn fixed(&self, i: usize) -> usize {
        self.general + i
    }

    /// The bit of counter `i` in the global registers.
    pub(crate) fn bit(&self, i: usize) -> u64 {
        match i.checked_sub(self.general) {
            Some(fixed) => 1 << (32 + fixed),
            None => 1 << i,
        }
    }

    /// The bits of all counters in the global registers.
    pub(crate) fn bits(&self) -> u64 {
        (0..self.counters.len()).fold(0, |bits, i| bits | self.bit(i))
    }

    /// The four control bits of the counter when it is a fixed one.
    fn fixed_bits(&self, i: usize) -> Option<u64> {
        let fixed = i.checked_sub(self.general)?;
        Some((self.fixed_ctrl >> (4 * fixed)) & 0xf)
    }

    /// Whether counter `i` counts.
    pub(crate) fn runs(&self, i: usize) -> bool {
        let select = self.counters[i].select;
        let enabled = match self.fixed_bits(i) {
            Some(bits) => bits & FIXED_ENABLE != 0,
            None => select & EN != 0 && select & USR_OS != 0,
        };
        enabled && self.global_ctrl & self.bit(i) != 0
    }

    /// Whether the overflow of counter `i` raises the interrupt.
    pub(crate) fn interrupts(&self, i: usize) -> bool {
        match self.fixed_bits(i) {
            Some(bits) => bits & FIXED_PMI != 0,
            None => self.counters[i].select & INT != 0,
        }
    }

    /// Brings all counters to position `now`. Returns the bits of those that carried out.
    pub(crate) fn settle(&mut self, now: u64) -> u64 {
        let mut carried = 0;
        for i in 0..self.counters.len() {
            let runs = self.runs(i);
            let counter = &mut self.counters[i];
            let from = std::mem::replace(&mut counter.since, now);
            if runs && counter.count.add(counter.stream.between(from, now), WIDTH) {
                carried |= self.bit(i);
            }
        }
        carried
    }

    /// Position of the next carry that raises an interrupt.
    pub(crate) fn next_carry(&self) -> Option<u64> {
        (0..self.counters.len())
            .filter(|&i| self.runs(i) && self.interrupts(i))
            .filter_map(|i| {
                let counter = &self.counters[i];
                counter
                    .stream
                    .reached(counter.since, counter.count.missing(WIDTH))
            })
            .min()
    }

    /// Works out anew what each counter counts. All are settled before.
    pub(crate) fn select(&mut self, ratios: &Ratios, cpu: usize) {
        for i in 0..self.counters.len() {
            self.counters[i].stream = match i.checked_sub(self.general) {
                Some(fixed) => ratios.stream(cpu, ratios::FIXED[fixed]),
                None => general_stream(self.counters[i].select, ratios, cpu),
            };
        }
    }
}

/// What a general counter counts. An event is an increment of 1 in a cycle of its own, so that a
/// CMASK of 0 or 1 lets all pass and a higher one none; INV counts the other cycles.
fn general_stream(select: u64, ratios: &Ratios, cpu: usize) -> Stream {
    let [event, umask, ..] = select.to_le_bytes();
    let cmask = (select >> CMASK) & 0xff;
    let stream = if cmask > 1 {
        Stream::NEVER
    } else {
        ratios.stream(cpu, (event, umask))
    };
    if cmask > 0 && select & INV != 0 {
        return stream
            .complement(ratios.stream(cpu, ratios::CYCLES))
            .unwrap_or(Stream::NEVER);
    }
    stream
}
