// SPDX-License-Identifier: GPL-2.0-only
//! Things that will happen at a known moment of virtual time.

/// A counter of an uncore box: socket, index of the box in it, row of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UncoreCounter {
    pub(crate) socket: usize,
    pub(crate) index: usize,
    pub(crate) counter: usize,
}

/// One counter somewhere in the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A counter of an uncore box.
    Uncore(UncoreCounter),
    /// A core counter: logical CPU, row of the counter.
    Core { cpu: usize, counter: usize },
}

/// What happens. The order of the variants is the order of things at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A counter gets events at once: so many, or as many as it needs to carry out.
    Burst { target: Target, events: Option<u64> },
    /// The freeze reaches the boxes of a socket that did not raise it.
    Freeze { socket: usize },
    /// The uncore's interrupt reaches the cores in `cores`.
    Pmi {
        socket: usize,
        cores: u32,
        wake: bool,
    },
}

impl Action {
    /// Whether the action comes before the carries of its moment.
    pub(crate) const fn is_burst(&self) -> bool {
        matches!(self, Self::Burst { .. })
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Burst { .. } => 0,
            Self::Freeze { .. } => 1,
            Self::Pmi { .. } => 2,
        }
    }
}

/// The list of things to come, soonest first; equal ones in the order of their planning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    items: Vec<(u64, Action)>,
}

impl Schedule {
    /// Plans `action` for `ns`.
    pub(crate) fn add(&mut self, ns: u64, action: Action) {
        let key = (ns, action.rank());
        let at = self.items.partition_point(|(t, a)| (*t, a.rank()) <= key);
        self.items.insert(at, (ns, action));
    }

    /// When the next action is due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.items.first().map(|(ns, _)| *ns)
    }

    /// Takes the next action out, if it is due at `ns` and `wanted`.
    pub(crate) fn take(&mut self, ns: u64, wanted: impl Fn(&Action) -> bool) -> Option<Action> {
        let at = self.items.iter().position(|(t, a)| *t <= ns && wanted(a))?;
        Some(self.items.remove(at).1)
    }

    /// Drops the actions for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Action) -> bool) {
        self.items.retain(|(_, action)| keep(action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_one_moment_the_freeze_lands_before_the_interrupt() {
        let mut s = Schedule::default();
        let pmi = Action::Pmi {
            socket: 0,
            cores: 1,
            wake: false,
        };
        let freeze = Action::Freeze { socket: 0 };
        s.add(5, pmi);
        s.add(5, freeze);
        s.add(4, pmi);
        assert_eq!(s.next(), Some(4));
        assert_eq!(s.take(5, |_| true), Some(pmi));
        assert_eq!(s.take(4, |_| true), None);
        assert_eq!(s.take(5, |_| true), Some(freeze));
        assert_eq!(s.take(5, Action::is_burst), None);
        assert_eq!(s.take(5, |_| true), Some(pmi));
    }
}
