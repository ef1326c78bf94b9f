// SPDX-License-Identifier: GPL-2.0-only

//! What the tests share: slots, and what must be true whenever a session has ended.
#![allow(dead_code, reason = "each test program uses its part")]

use pmon_host_tests::{
    driver::{truth, Driver, Event, Session, SOCKET},
    logic::uncore::{Index, Slot},
};
use pmon_model::Machine;

/// Rows of the table of box types.
pub(crate) const UBOX: usize = 0;
pub(crate) const CBOX: usize = 1;
pub(crate) const PCU: usize = 2;

/// The uncore clock.
pub(crate) const CLOCK: Slot = Slot { kind: UBOX, box_nr: 0, index: Index::Fixed };

/// General counter `i` of a box.
pub(crate) fn slot(kind: usize, box_nr: u32, i: u32) -> Slot {
    Slot { kind, box_nr, index: Index::General(i) }
}

/// A session with these uncore counters; a timer looks after those that have no interrupt.
pub(crate) fn session(driver: &Driver, events: &[Event]) -> Session {
    let add = |session: Session, event: &Event| {
        let event = if driver.works[event.kind()] { *event } else { event.polled() };
        session.with(event, driver.fixed_width)
    };
    events.iter().fold(Session::default(), add)
}

/// The model saw nobody break a rule.
pub(crate) fn clean(driver: &Driver) {
    let machine = driver.machine();
    let broken = machine.violations();
    assert!(broken.is_empty(), "{} rules broken, the first: {:?}", broken.len(), broken[0]);
}

/// A stopped session's account of each counter is what the hardware counted, and its samples stand
/// for all of its periods.
pub(crate) fn exact(driver: &Driver, session: &Session) {
    clean(driver);
    for (id, &(place, period)) in session.counters.iter().enumerate() {
        let total = truth(&mut driver.machine(), place);
        assert_eq!(session.account(id).total(), total, "total of {id}, {place:?}");
        let mut last = (0, 0);
        let mut periods = 0;
        for s in session.samples(Some(id as u32)) {
            periods += s.overflow.periods;
            assert!(s.overflow.periods > 0 && s.overflow.overshoot < period, "{s:?}");
            let own = s.values.iter().find(|v| v.0 == id as u32).map(|v| v.1);
            assert_eq!(own, Some(periods * period + s.overflow.overshoot), "{s:?}");
            assert!(s.context.time >= last.0 && own >= Some(last.1), "{s:?} after {last:?}");
            last = (s.context.time, own.unwrap_or(0));
        }
        assert_eq!(Some(periods), total.checked_div(period).or(Some(0)), "{id}, {place:?}");
    }
}

/// All registers of a machine by name, as text: null for a counter that runs.
pub(crate) type Registers = serde_json::Map<String, serde_json::Value>;

/// All registers of the machine.
pub(crate) fn registers(machine: &mut Machine) -> Registers {
    match machine.json("regs") {
        serde_json::Value::Object(map) => map,
        other => panic!("{other}"),
    }
}

/// The registers that are not what they were, each with both values.
pub(crate) fn changed(machine: &mut Machine, before: &Registers) -> Vec<String> {
    let after = registers(machine);
    assert_eq!(after.len(), before.len());
    let both = after.iter().map(|(name, value)| (name, &before[name], value));
    both.filter(|(_, old, new)| old != new)
        .map(|(n, old, new)| format!("{n}: {old} → {new}"))
        .collect()
}

/// Whether the socket of the driver's CPU stands frozen.
pub(crate) fn frozen(machine: &mut Machine) -> bool {
    machine.json("overflows")["sockets"][SOCKET]["frozen"] == true
}
