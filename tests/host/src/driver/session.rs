// SPDX-License-Identifier: GPL-2.0-only

//! A session's counters, its ring, and what came out of it.

use super::{CPU, SOCKET};
use crate::{
    hw::{core_pmu::Leaf0a, UNCORE},
    logic::{
        core_pmu, counter,
        output::Output,
        ring::{Consumer, Producer},
        uncore::{self, Index, Slot},
    },
    memory::RingMemory,
    sample::{drain, Sample, Taken},
};
use pmon_model::Machine;

/// Words of a session's ring.
const RING_WORDS: usize = 1 << 14;

/// An uncore counter to be.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    slot: Slot,
    config: u64,
    filter: [u32; 4],
    period: u64,
    leader: bool,
    polled: bool,
}

impl Event {
    /// `config` on the counter `slot`, sampled every `period` events (0: never).
    pub fn new(slot: Slot, config: u64, period: u64) -> Self {
        Self { slot, config, filter: [0; 4], period, leader: false, polled: false }
    }

    /// Row of the box's type.
    pub fn kind(&self) -> usize {
        self.slot.kind
    }

    /// The same as a leader.
    pub fn leading(self) -> Self {
        Self { leader: true, ..self }
    }

    /// The same, where a timer looks for its overflow.
    pub fn polled(self) -> Self {
        Self { polled: true, ..self }
    }

    /// The same with the box's filters.
    pub fn filtered(self, filter: [u32; 4]) -> Self {
        Self { filter, ..self }
    }
}

/// Where a counter is.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// On the socket.
    Uncore(Slot),
    /// On the CPU.
    Core(core_pmu::Slot),
}

/// A session's part on the CPU.
pub struct Session {
    /// Counters of the socket.
    pub uncore: Vec<uncore::Counter>,
    /// The CPU's own.
    pub core: Vec<core_pmu::Counter>,
    /// Where samples go.
    pub output: Output<'static>,
    /// What came out of the ring.
    pub records: Vec<Taken>,
    /// By counter id: where it is, and its period.
    pub counters: Vec<(Place, u64)>,
    consumer: Consumer<'static>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl Session {
    /// A session without counters that may take `max_rate` samples per second.
    pub fn new(max_rate: u64) -> Self {
        let memory = RingMemory::leaked(RING_WORDS);
        let mut output = Output::new(max_rate);
        output.attach_ring(Producer::new(memory, CPU as u32, 0, 4096, 0, 0), memory);
        let consumer = Consumer::new(memory.page, memory.data);
        Self {
            uncore: Vec::new(),
            core: Vec::new(),
            output,
            records: Vec::new(),
            counters: Vec::new(),
            // PANIC: the length is a power of two.
            consumer: consumer.unwrap_or_else(|e| panic!("{e:?}")),
        }
    }

    fn next_id(&mut self, place: Place, period: u64) -> u32 {
        self.counters.push((place, period));
        // CAST: a few.
        self.counters.len() as u32 - 1
    }

    /// Adds an uncore counter; the uncore clock's has `fixed_width` bits.
    pub fn with(mut self, event: Event, fixed_width: u32) -> Self {
        let Event { slot, config, filter, period, leader, polled } = event;
        let id = self.next_id(Place::Uncore(slot), period);
        let width = if slot.index == Index::Fixed { fixed_width } else { slot.row().width };
        let account = counter::Counter::new(id, width, period, leader);
        self.uncore.push(uncore::Counter::new(slot, config, filter, !polled, account));
        self
    }

    /// Adds a counter of the CPU that counts in all rings.
    pub fn with_core(mut self, slot: core_pmu::Slot, config: u64, period: u64) -> Self {
        let id = self.next_id(Place::Core(slot), period);
        let account = counter::Counter::new(id, 48, period, false);
        self.core.push(core_pmu::Counter::new(slot, config, true, true, true, account));
        self
    }

    /// Whether one of its uncore counters is a leader.
    pub fn has_leader(&self) -> bool {
        self.uncore.iter().any(|c| c.account.is_leader())
    }

    /// Takes the new records out of the ring.
    pub fn drain(&mut self) {
        self.records.append(&mut drain(&mut self.consumer));
    }

    /// The account of counter `id`.
    pub fn account(&self, id: usize) -> &counter::Counter {
        let uncore = self.uncore.iter().map(|c| &c.account);
        let mut all = uncore.chain(self.core.iter().map(|c| &c.account));
        // PANIC: a mistake of the test.
        all.find(|a| a.id() as usize == id).unwrap_or_else(|| panic!("no counter {id}"))
    }

    /// All samples, or those of counter `id`.
    pub fn samples(&self, id: Option<u32>) -> impl Iterator<Item = &Sample> {
        self.records.iter().filter_map(move |record| match record {
            Taken::Sample(s) if id.is_none_or(|id| s.overflow.id == id) => Some(s),
            _ => None,
        })
    }
}

/// Events that a counter really counted since the start or the last `truth clear`.
///
/// # Panics
/// When the model does not have the counter.
pub fn truth(machine: &mut Machine, place: Place) -> u64 {
    let all = machine.json("truth");
    let number = match place {
        Place::Core(slot) => {
            let cpu = &all["cpus"][CPU];
            match slot {
                core_pmu::Slot::General(i) => cpu[i.to_string()].clone(),
                core_pmu::Slot::Fixed(i) => cpu[format!("fixed{i}")].clone(),
            }
        }
        Place::Uncore(slot) => {
            let units = ["ubox", "cbox", "pcu"];
            let unit = &all["sockets"][SOCKET][units[slot.kind]];
            let one = UNCORE[slot.kind].max_boxes == 1;
            let counters = if one { unit } else { &unit[slot.box_nr as usize] };
            match slot.index {
                Index::General(i) => counters[i.to_string()].clone(),
                Index::Fixed => counters["fixed0"].clone(),
            }
        }
    };
    // PANIC: documented, a mistake of the test.
    number.as_str().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no {place:?}: {all}"))
}

/// CPUID leaf 0AH of the model.
pub fn leaf(machine: &Machine) -> Leaf0a {
    let [eax, ebx, _, edx] = machine.cpuid_0a();
    Leaf0a::decode(eax, ebx, edx)
}
