// SPDX-License-Identifier: GPL-2.0-only

//! What the tests share: slots, and what must be true whenever a session has ended.
#![allow(dead_code, reason = "each test program uses its part")]

use pmon_host_tests::{
    driver::{truth, Driver, Event, Place, Session},
    logic::uncore::{Index, Slot},
};

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
    assert!(machine.violations().is_empty(), "{:#?}", machine.violations());
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

/// All registers of the machine, as text: null for a counter that runs.
pub(crate) fn registers(driver: &Driver) -> serde_json::Map<String, serde_json::Value> {
    match driver.machine().json("regs") {
        serde_json::Value::Object(map) => map,
        other => panic!("{other}"),
    }
}

/// Whether the socket of the driver's CPU stands frozen.
pub(crate) fn frozen(driver: &Driver) -> bool {
    let overflows = driver.machine().json("overflows");
    overflows["sockets"][pmon_host_tests::driver::SOCKET]["frozen"] == true
}

/// Places by counter id.
pub(crate) fn places(session: &Session) -> Vec<Place> {
    session.counters.iter().map(|c| c.0).collect()
}
