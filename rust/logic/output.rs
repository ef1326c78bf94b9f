// SPDX-License-Identifier: GPL-2.0-only

//! Where one session's samples of one CPU go: the ring, and the meter that throttles them.

use super::{
    counter::Counter,
    record::{write_sample, write_throttle, Context, Overflow},
    ring::{Memory, Producer},
    throttle::{Meter, Verdict},
};

/// A session's records on one CPU.
pub struct Output<'m> {
    ring: Option<(Producer, Memory<'m>)>,
    meter: Meter,
    /// The reader is to be woken.
    pub wake: bool,
    /// Samples taken, lost ones included.
    pub samples: u64,
    /// Times a period was raised.
    pub throttled: u64,
}

impl<'m> Output<'m> {
    /// An output without a ring, which allows `max_rate` samples per second.
    pub fn new(max_rate: u64) -> Self {
        Self {
            ring: None,
            meter: Meter::new(max_rate),
            wake: false,
            samples: 0,
            throttled: 0,
        }
    }

    /// Sends the records into a ring from now on.
    pub fn attach_ring(&mut self, producer: Producer, memory: Memory<'m>) {
        self.ring = Some((producer, memory));
    }

    /// The ring.
    pub fn ring(&self) -> Option<&(Producer, Memory<'m>)> {
        self.ring.as_ref()
    }

    /// Notes time spent in the handler, ns.
    pub fn spent(&mut self, ns: u64) {
        self.meter.spent(ns);
    }

    /// Writes one sample with the given totals (id, total).
    pub fn sample(
        &mut self,
        cx: &Context,
        overflow: &Overflow,
        values: impl Iterator<Item = (u32, u64)> + Clone,
    ) {
        self.samples += 1;
        if let Some((producer, memory)) = &mut self.ring {
            self.wake |= write_sample(producer, *memory, cx, overflow, values);
        }
    }

    /// Notes an overflow, and changes the counter's period if the meter says so.
    pub fn pace(&mut self, time: u64, counter: &mut Counter) {
        if !counter.samples() {
            return;
        }
        let changed = match self.meter.sample(time) {
            Verdict::Keep => false,
            Verdict::Relax => counter.relax(),
            Verdict::Stretch => {
                let changed = counter.stretch();
                self.throttled += u64::from(changed);
                changed
            }
        };
        if let (true, Some((producer, memory))) = (changed, &mut self.ring) {
            let period = counter.effective_period();
            self.wake |= write_throttle(producer, *memory, time, counter.id(), period);
        }
    }
}
