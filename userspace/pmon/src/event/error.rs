// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Why a text is no event, and how to make it one.

use super::{field::fields, name::NAMES};
use crate::unit::Unit;

/// A text is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event `{event}`: {problem}")]
pub struct ParseError {
    /// The event.
    pub event: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing between two commas.
    #[error("nothing is there; write events like ubox/clockticks/,cbox/event=0x34,umask=0x11/")]
    Empty,
    /// No `/`.
    #[error("a unit comes first; write it like {0}")]
    NoSlash(String),
    /// No unit has this name.
    #[error("there is no unit `{0}`; units are ubox, cbox, pcu and core")]
    Unit(String),
    /// What follows the unit's name is no box.
    #[error("`{0}` names no boxes; write them like cbox3 or cbox0-3, or just cbox for all")]
    Boxes(String),
    /// Two commas, or a `/` too early.
    #[error("a term is empty; separate terms by single commas")]
    EmptyTerm,
    /// No event was given.
    #[error("it does not say what to count; give event=, or a name: {}", names(*.0))]
    NoEvent(Unit),
    /// Not a term of this unit.
    #[error("{unit} has no term `{term}`; it has {}{}", terms(*.unit), elsewhere(term))]
    Term {
        /// The unit.
        unit: Unit,
        /// The term.
        term: String,
    },
    /// A term lacks its value.
    #[error("{0} needs a value; write {0}=0x1")]
    NoValue(&'static str),
    /// A term takes no value.
    #[error("{0} takes no value; write just {0}")]
    Value(String),
    /// A value is no number.
    #[error("`{value}` is no number for {term}; write it like 100000, 0x1f or, for a period, 2M")]
    Number {
        /// The term.
        term: &'static str,
        /// Its value.
        value: String,
    },
    /// A value is too large.
    #[error("{value:#x} is too large for {term}, which is at most {max:#x}")]
    TooLarge {
        /// The term.
        term: &'static str,
        /// Its value.
        value: u64,
        /// Its limit.
        max: u64,
    },
    /// Two terms set the same bits.
    #[error("{0} is set twice, or by the event's name already; keep one")]
    Twice(String),
    /// A period of 0.
    #[error("a period is at least 1; leave it out to count only")]
    NoPeriod,
    /// A leader that does not sample.
    #[error("a leader samples; give it a period, like leader,period=1000000")]
    LeaderPeriod,
    /// A leader on many boxes.
    #[error("only one leader per socket; name one box, like cbox0")]
    LeaderBoxes,
    /// Fixed, but nothing says which.
    #[error("no fixed counter counts this; leave `fixed` out, or use one of {}", fixed_names(*.0))]
    NotFixed(Unit),
    /// Fields beside a fixed counter.
    #[error("a fixed counter takes no fields; leave out {0}, or `fixed`")]
    FixedField(String),
    /// Modes that are none.
    #[error(
        "`{0}` after the last `/` is neither u (user) nor k (kernel); is a `/` missing before?"
    )]
    Modes(String),
    /// Modes of a unit that has none.
    #[error("only core counts by mode; leave out u and k")]
    NoModes,
    /// Sockets of a unit that has none.
    #[error("core has CPUs and no sockets; name CPUs, like core0-3, or use the option -C")]
    CoreSocket,
}

/// `a, b and c`.
fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn names(unit: Unit) -> String {
    join(NAMES.iter().filter(|n| n.unit == unit).map(|n| n.name))
}

fn fixed_names(unit: Unit) -> String {
    join(
        NAMES
            .iter()
            .filter(|n| n.unit == unit && n.fixed.is_some())
            .map(|n| n.name),
    )
}

fn terms(unit: Unit) -> String {
    let options: &[&str] = match unit {
        Unit::Core => &["period", "leader", "counter", "fixed", "u", "k"],
        _ => &["period", "leader", "counter", "fixed", "socket"],
    };
    let names = NAMES.iter().filter(|n| n.unit == unit).map(|n| n.name);
    join(
        fields(unit)
            .iter()
            .map(|f| f.name)
            .chain(options.iter().copied())
            .chain(names),
    )
}

/// Says which other units have the term.
fn elsewhere(term: &str) -> String {
    let has = |unit: &Unit| {
        fields(*unit)
            .iter()
            .any(|f| f.name == term || f.alias == Some(term))
            || NAMES.iter().any(|n| n.unit == *unit && n.name == term)
    };
    let units = join(Unit::ALL.into_iter().filter(has).map(Unit::name));
    if units.is_empty() {
        String::new()
    } else {
        format!(" (`{term}` is a term of {units})")
    }
}
