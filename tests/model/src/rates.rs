// SPDX-License-Identifier: GPL-2.0-only
//! How often each uncore event happens: the lines of control commands `rate` and `storm`.

use super::settings::Settings;
use super::stream::Stream;
use super::uncore::tables::UNITS;

/// The event of a fixed counter.
pub(crate) const FIXED: u16 = u16::MAX;

/// Which boxes and events a line is for. `None` means all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Index of the unit.
    pub(crate) unit: usize,
    /// `ev_sel`, with bit 8 for `ev_sel_ext`, or [`FIXED`].
    pub(crate) event: u16,
    pub(crate) umask: Option<u8>,
    pub(crate) socket: Option<usize>,
    pub(crate) number: Option<usize>,
}

/// What one counter counts, in the terms of [`Scope`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected {
    pub(crate) unit: usize,
    pub(crate) event: u16,
    pub(crate) umask: u8,
    pub(crate) socket: usize,
    pub(crate) number: usize,
}

impl Scope {
    fn covers(&self, s: &Selected) -> bool {
        self.unit == s.unit
            && self.event == s.event
            && self.umask.is_none_or(|umask| umask == s.umask)
            && self.socket.is_none_or(|socket| socket == s.socket)
            && self.number.is_none_or(|number| number == s.number)
    }
}

/// All rates of the machine's uncores.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    lines: Vec<(Scope, Stream)>,
    storms: [Option<Stream>; UNITS.len()],
    uclk: Stream,
}

impl Rates {
    /// The rates at the start: only the clocks run.
    pub(crate) fn new(settings: &Settings) -> Self {
        let uclk = Stream::hz(settings.uclk_hz, 0);
        Self {
            lines: Vec::new(),
            storms: [None; UNITS.len()],
            uclk,
        }
    }

    /// `rate`: from `now` on the events of `scope` happen `hz` times per second.
    pub(crate) fn set(&mut self, scope: Scope, hz: u64, now: u64) {
        // A line of the same scope could never be reached again.
        self.lines.retain(|(old, _)| *old != scope);
        self.lines.push((scope, Stream::hz(hz, now)));
    }

    /// `storm`: every event of `unit`, until `None`.
    pub(crate) fn set_storm(&mut self, unit: usize, hz: Option<u64>, now: u64) {
        self.storms[unit] = hz.map(|hz| Stream::hz(hz, now));
    }

    /// The uncore clock changes its rate at `now`.
    pub(crate) fn set_uclk(&mut self, hz: u64, now: u64) {
        self.uclk = Stream::hz(hz, now);
    }

    /// The uncore clock.
    pub(crate) const fn uclk(&self) -> Stream {
        self.uclk
    }

    /// The stream of one event.
    pub(crate) fn stream(&self, selected: &Selected) -> Stream {
        if let Some(storm) = self.storms[selected.unit] {
            return storm;
        }
        let line = self
            .lines
            .iter()
            .rev()
            .find(|(scope, _)| scope.covers(selected));
        if let Some((_, stream)) = line {
            return *stream;
        }
        let clock = UNITS[selected.unit].clock.unwrap_or(FIXED);
        if selected.event == clock {
            self.uclk
        } else {
            Stream::NEVER
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncore::tables::{CBOX, PCU, UBOX};

    const CLOCKS: [(usize, u16); 3] = [(UBOX, FIXED), (CBOX, 0), (PCU, 0)];

    fn selected(unit: usize, event: u16, number: usize) -> Selected {
        Selected {
            unit,
            event,
            umask: 3,
            socket: 1,
            number,
        }
    }

    #[test]
    fn only_the_clocks_run_by_themselves() {
        let rates = Rates::new(&Settings::default());
        for (unit, event) in CLOCKS {
            let stream = rates.stream(&selected(unit, event, 0));
            assert_eq!(stream.count(1000), 2000);
        }
        assert_eq!(rates.stream(&selected(UBOX, 0, 0)), Stream::NEVER);
        assert_eq!(rates.stream(&selected(CBOX, 0x35, 0)), Stream::NEVER);
    }

    #[test]
    fn the_latest_matching_line_counts() {
        let mut rates = Rates::new(&Settings::default());
        let all = Scope {
            unit: CBOX,
            event: 0x35,
            umask: None,
            socket: None,
            number: None,
        };
        let one = Scope {
            number: Some(2),
            ..all
        };
        rates.set(all, 10, 0);
        rates.set(one, 20, 0);
        assert_eq!(rates.stream(&selected(CBOX, 0x35, 2)), Stream::hz(20, 0));
        assert_eq!(rates.stream(&selected(CBOX, 0x35, 1)), Stream::hz(10, 0));
        rates.set(all, 30, 5);
        assert_eq!(rates.stream(&selected(CBOX, 0x35, 2)), Stream::hz(30, 5));
        let other = Scope {
            umask: Some(4),
            ..all
        };
        rates.set(other, 40, 6);
        assert_eq!(rates.stream(&selected(CBOX, 0x35, 2)), Stream::hz(30, 5));
    }

    #[test]
    fn a_storm_covers_every_line_until_it_is_off() {
        let mut rates = Rates::new(&Settings::default());
        rates.set_storm(PCU, Some(7), 3);
        assert_eq!(rates.stream(&selected(PCU, 0x99, 0)), Stream::hz(7, 3));
        assert_eq!(rates.stream(&selected(CBOX, 0x35, 0)), Stream::NEVER);
        rates.set_storm(PCU, None, 9);
        assert_eq!(
            rates.stream(&selected(PCU, 0, 0)),
            Stream::hz(2_000_000_000, 0)
        );
    }
}
