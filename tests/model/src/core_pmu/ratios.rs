// SPDX-License-Identifier: GPL-2.0-only
//! How often each core event happens: the lines of control command `ratio`.

use crate::stream::{Stream, NS_PER_S};

/// A core event: event select and unit mask.
pub(crate) type Event = (u8, u8);

/// Core cycles, fixed counter 1 (SDM table 18-1).
pub(crate) const CYCLES: Event = (0x3c, 0x00);
/// What the fixed counters count: instructions, core cycles, reference cycles.
pub(crate) const FIXED: [Event; 3] = [(0xc0, 0x00), CYCLES, (0x3c, 0x01)];

/// `num` per `den` steps of each CPU's axis, counted from where each CPU stood.
#[derive(Clone, Debug)]
struct Ratio {
    num: u64,
    den: u64,
    epochs: Vec<u64>,
}

impl Ratio {
    fn stream(&self, cpu: usize) -> Stream {
        Stream::new(
            self.num,
            self.den,
            self.epochs.get(cpu).copied().unwrap_or(0),
        )
    }
}

/// All ratios of the machine's cores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ratios {
    lines: Vec<(Event, Option<usize>, Ratio)>,
    storm: Option<Ratio>,
}

impl Ratios {
    /// `ratio`: `event` happens `num` times per `den` steps on `cpu`, or on all. `epochs` says
    /// where each CPU stands now.
    pub(crate) fn set(
        &mut self,
        event: Event,
        cpu: Option<usize>,
        (num, den): (u64, u64),
        epochs: Vec<u64>,
    ) {
        self.lines.retain(|(e, c, _)| (*e, *c) != (event, cpu));
        self.lines.push((event, cpu, Ratio { num, den, epochs }));
    }

    /// `storm`: every event happens `hz` times per second, or per 10^9 instructions.
    pub(crate) fn set_storm(&mut self, hz: Option<u64>, epochs: Vec<u64>) {
        self.storm = hz.map(|num| Ratio {
            num,
            den: NS_PER_S,
            epochs,
        });
    }

    /// The stream of one event on one CPU.
    pub(crate) fn stream(&self, cpu: usize, event: Event) -> Stream {
        if let Some(storm) = &self.storm {
            return storm.stream(cpu);
        }
        let mut lines = self.lines.iter().rev();
        match lines.find(|(e, c, _)| *e == event && c.is_none_or(|c| c == cpu)) {
            Some((_, _, ratio)) => ratio.stream(cpu),
            None if FIXED.contains(&event) => Stream::new(1, 1, 0),
            None => Stream::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_and_cycles_run_by_themselves() {
        let ratios = Ratios::default();
        for event in FIXED {
            assert_eq!(ratios.stream(0, event).count(1234), 1234);
        }
        assert_eq!(ratios.stream(0, (0x2e, 0x41)), Stream::NEVER);
    }

    #[test]
    fn a_line_can_be_for_one_cpu_and_starts_where_that_cpu_stands() {
        let mut ratios = Ratios::default();
        ratios.set((0x2e, 0x41), Some(1), (1, 10), vec![100, 200]);
        assert_eq!(ratios.stream(0, (0x2e, 0x41)), Stream::NEVER);
        assert_eq!(ratios.stream(1, (0x2e, 0x41)), Stream::new(1, 10, 200));
        ratios.set_storm(Some(5), vec![0, 7]);
        assert_eq!(ratios.stream(1, (0x99, 0x00)), Stream::new(5, NS_PER_S, 7));
    }
}
