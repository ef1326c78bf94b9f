// SPDX-License-Identifier: GPL-2.0-only

//! The set-up: steps a to f of 329468 section 2.1.2, access by access. Step d comes before b and c,
//! since `rst_ctrl` would clear what they write.

mod common;

use common::*;
use pmon_host_tests::{
    bus::Access::{self, Write},
    driver::{Driver, Event, SELECT},
    hw::UNCORE,
};

const GLOBAL_CTL: u32 = 0xc00;
const GLOBAL_STATUS: u32 = 0xc01;
/// 329468 table 2-2: `frz_all`, `unfrz_all`; `wk_on_pmi` and the core are in each write.
const KEEP: u64 = (1 << 30) | SELECT;
const FREEZE: u64 = (1 << 31) | KEEP;
const UNFREEZE: u64 = (1 << 29) | KEEP;
/// Table 2-6: `en`, `ov_en`.
const EN: u64 = 1 << 22;
const OV_EN: u64 = 1 << 20;

/// What the start and the stop of a session write.
fn writes(events: &[Event]) -> (Vec<Access>, Vec<Access>) {
    let mut driver = Driver::new("");
    let session = session(&driver, events);
    let only = |log: Vec<Access>| log.into_iter().filter(|a| matches!(a, Write(..))).collect();
    driver.bus.take_log();
    driver.start(session).expect("the start");
    let start = only(driver.bus.take_log());
    driver.stop(0);
    let stop = only(driver.bus.take_log());
    clean(&driver);
    (start, stop)
}

#[test]
fn a_cbo_is_reset_by_its_box_control() {
    let event = Event::new(slot(CBOX, 1, 0), 0x0b34, 5000).filtered([0x2_0000, 0, 0, 0]);
    let (start, _) = writes(&[event]);
    let wanted = [
        Write(GLOBAL_CTL, FREEZE),      // a
        Write(0xd24, 0x3_0103),         // d: frz, rst_ctrl, rst_ctrs
        Write(0xd24, 0x3_0000),         // counts as soon as the socket does
        Write(0xd34, 0),                // which no reset clears
        Write(0xd3a, 0),                //
        Write(GLOBAL_STATUS, 1 << 4),   // an old overflow of this box
        Write(GLOBAL_CTL, FREEZE),      // should BOX_CTL have freed the box
        Write(0xd34, 0x2_0000),         // c: filter
        Write(0xd36, (1 << 44) - 5000), // e
        Write(0xd30, EN | 0x0b34),      // b and c, no ov_en in table 2-14
        Write(GLOBAL_CTL, UNFREEZE),    // f
    ];
    assert_eq!(start, wanted);
}

#[test]
fn the_ubox_is_reset_by_writing_0() {
    let events = [Event::new(slot(UBOX, 0, 1), 0x42, 5000), Event::new(CLOCK, 0, 7000)];
    let (start, _) = writes(&events);
    let wanted = [
        Write(GLOBAL_CTL, FREEZE),
        Write(0xc15, 0b11),
        Write(GLOBAL_STATUS, 0b11),
        Write(0xc17, 0),
        Write(0xc09, 0),
        Write(GLOBAL_CTL, FREEZE),
        Write(0xc17, (1 << 44) - 5000),
        Write(0xc11, EN | OV_EN | 0x42),
        Write(0xc09, (1 << 48) - 7000),
        Write(0xc08, EN | OV_EN),
        Write(GLOBAL_CTL, UNFREEZE),
    ];
    assert_eq!(start, wanted);
}

#[test]
fn the_pcu_is_reset_by_its_box_control() {
    let event = Event::new(slot(PCU, 0, 2), 0x0b, 5000).filtered([0x0a0b_0c0d, 0, 0, 0]);
    let (start, _) = writes(&[event]);
    let wanted = [
        Write(GLOBAL_CTL, FREEZE),
        Write(0xc24, 0x3_0103),
        Write(0xc24, 0x3_0000),
        Write(0xc34, 0),
        Write(0xc35, 0b1111),
        Write(GLOBAL_STATUS, 1 << 2),
        Write(GLOBAL_CTL, FREEZE),
        Write(0xc34, 0x0a0b_0c0d),
        Write(0xc38, (1 << 48) - 5000),
        Write(0xc32, EN | OV_EN | 0x0b),
        Write(GLOBAL_CTL, UNFREEZE),
    ];
    assert_eq!(start, wanted);
}

/// The positions of the writes of GLOBAL_CTL with a bit set.
fn commands(log: &[Access], bit: u32) -> Vec<usize> {
    let fits = |a: &Access| matches!(a, Write(GLOBAL_CTL, v) if (v >> bit) & 1 != 0);
    log.iter().enumerate().filter(|(_, a)| fits(a)).map(|(at, _)| at).collect()
}

/// All counters of the socket at once.
fn everything() -> Vec<Event> {
    let mut all = vec![Event::new(CLOCK, 0, 1_000_000)];
    for (kind, boxes) in [(UBOX, 1), (CBOX, 4), (PCU, 1)] {
        for nr in 0..boxes {
            let counters = UNCORE[kind].counters;
            all.extend((0..counters).map(|i| Event::new(slot(kind, nr, i), 0x21, 1_000_000)));
        }
    }
    all
}

#[test]
fn one_unfreeze_starts_all_and_comes_last() {
    let (start, stop) = writes(&everything());
    for log in [&start, &stop] {
        assert_eq!(commands(log, 31).first(), Some(&0));
        assert_eq!(commands(log, 29), [log.len() - 1]);
    }
}

#[test]
fn each_write_of_global_ctl_has_the_shadow_and_each_of_box_ctl_its_ones() {
    let mut driver = Driver::new("");
    let session = session(&driver, &everything());
    driver.start(session).expect("the start");
    driver.run(2_000_000);
    driver.look().expect("a look");
    let counting = driver.bus.take_log();
    driver.stop(0);
    let stopping = driver.bus.take_log();
    let mut seen = (0, 0);
    for access in counting.iter().chain(&stopping[..stopping.len() - 1]) {
        match *access {
            Write(GLOBAL_CTL, value) => {
                seen.0 += 1;
                assert_eq!(value & !((1 << 31) | (1 << 29)), KEEP, "{value:#x}");
            }
            Write(address, value) if [0xc24, 0xd04, 0xd24, 0xd44, 0xd64].contains(&address) => {
                seen.1 += 1;
                assert_eq!(value & (3 << 16), 3 << 16, "{address:#x} {value:#x}");
            }
            _ => {}
        }
    }
    // Two for each box at the start and one at the stop.
    assert!(seen.0 > 3 && seen.1 == 15, "{seen:?}");
    // The last one gives back what was there.
    assert_eq!(stopping.last(), Some(&Write(GLOBAL_CTL, 1 << 29)));
    clean(&driver);
}

#[test]
fn a_counter_is_enabled_after_its_value_and_filters_are_there() {
    let mut events = everything();
    let filters = [0x2_0000, 0x21, 0, 0];
    for event in &mut events {
        if event.kind() == CBOX {
            *event = event.filtered(filters);
        }
    }
    let (start, _) = writes(&events);
    let first = |address| start.iter().position(|a| matches!(a, Write(r, _) if *r == address));
    for (kind, boxes) in [(UBOX, 1), (CBOX, 4), (PCU, 1)] {
        let row = &UNCORE[kind];
        for nr in 0..boxes {
            let base = row.stride * nr;
            for i in 0..row.counters {
                let enabled = first(row.ctl + base + i);
                let value = Write(row.ctr + base + i, (1 << row.width) - 1_000_000);
                assert!(start.iter().position(|a| *a == value) < enabled);
                assert!(kind != CBOX || first(row.filters[0] + base) < enabled);
            }
        }
    }
}
