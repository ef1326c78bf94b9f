// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Sessions on a device in memory: placing, counting, sampling, damaged rings.

use pmon::{
    abi, event::parse, wire::record::Record, Call, Errno, Error, Merged, Mode, PlaceError,
    ReadError, Reader, RingOptions, Selection, Session, Unit,
};
use pmon_fake::{Fake, Plan};
use std::time::Duration;

fn session(fake: &Fake, events: &str) -> Session {
    let mut session = fake.session().unwrap();
    session
        .add(parse(events).unwrap(), &Selection::default())
        .unwrap();
    session
}

fn select(sockets: Option<&str>, cpus: Option<&str>) -> Selection {
    Selection {
        sockets: sockets.map(|s| s.parse().unwrap()),
        cpus: cpus.map(|s| s.parse().unwrap()),
    }
}

fn wait(session: &Session) {
    session.wait(None, Duration::from_millis(10)).unwrap();
}

fn pop_all(reader: &mut Reader<'_>) -> Vec<Merged> {
    std::iter::from_fn(|| reader.pop())
        .map(Result::unwrap)
        .collect()
}

#[test]
fn wildcards_take_all_boxes_of_all_sockets() {
    let fake = Fake::default();
    let session = session(
        &fake,
        "cbox/event=0x34,state=0x3f/,ubox/clockticks/,core/cycles/u",
    );
    assert_eq!(session.counters().len(), 2 * 3 + 2 + 4);
    let added = fake.added();
    let cbox: Vec<_> = added[..6].iter().map(|c| (c.socket, c.box_)).collect();
    assert_eq!(cbox, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    assert_eq!((added[0].config, added[0].filter[0]), (0x34, 0x3f << 17));
    assert_eq!(added[6].counter, abi::PMON_COUNTER_FIXED);
    assert_eq!(added[8].flags, abi::PMON_COUNTER_EXCLUDE_KERNEL);
    assert_eq!(session.counters()[0].mode, Mode::Poll);
    assert_eq!(session.counters()[9].socket, Some(0));
}

#[test]
fn sockets_and_cpus_are_chosen() {
    let places = |events: &str, selection: &Selection| {
        let mut session = Fake::default().session().unwrap();
        session.add(parse(events).unwrap(), selection).unwrap();
        session
            .counters()
            .iter()
            .map(|c| c.place.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        places("ubox/clockticks/", &select(Some("1"), None)),
        ["ubox0 on socket 1"]
    );
    assert_eq!(
        places("core/cycles/", &select(None, Some("1,3"))),
        ["core1", "core3"]
    );
    assert_eq!(
        places("core/cycles/", &select(Some("1"), None)),
        ["core2", "core3"]
    );
    assert_eq!(places("core2/cycles/", &Selection::default()), ["core2"]);
    assert_eq!(
        places("cbox1/clockticks,socket=0/", &Selection::default()),
        ["cbox1 on socket 0"]
    );
}

#[test]
fn what_is_not_there_is_named() {
    let fake = Fake::new(Plan {
        offline: Some(3),
        ..Plan::default()
    });
    let refuse = |events: &str, selection: &Selection| {
        let mut session = fake.session().unwrap();
        match session.add(parse(events).unwrap(), selection).unwrap_err() {
            Error::Place(error) => error,
            other => panic!("{other}"),
        }
    };
    let all = Selection::default();
    assert_eq!(
        refuse("cbox1-7/clockticks/", &all).to_string(),
        "event `cbox1-7/clockticks/`: there is no cbox7; the last one is cbox2"
    );
    assert!(matches!(
        refuse("core3/cycles/", &all),
        PlaceError::NoBox {
            index: 3,
            last: 2,
            ..
        }
    ));
    assert!(matches!(
        refuse("core/cycles/", &select(None, Some("3"))),
        PlaceError::Nowhere(_)
    ));
    assert!(matches!(
        refuse("core/cycles/", &select(None, Some("9"))),
        PlaceError::NoCpu { cpu: 9, has: 4 }
    ));
    assert!(matches!(
        refuse("ubox/clockticks,socket=2/", &all),
        PlaceError::NoSocket { socket: 2, has: 2 }
    ));
    let bare = Fake::new(Plan {
        sockets: 1,
        cbox_mode: abi::PMON_MODE_ABSENT,
        ..Plan::default()
    });
    let mut session = bare.session().unwrap();
    let error = session
        .add(parse("cbox/clockticks/").unwrap(), &all)
        .unwrap_err();
    assert!(matches!(
        error,
        Error::Place(PlaceError::NoUnit {
            unit: Unit::Cbox,
            ..
        })
    ));
}

#[test]
fn refusals_name_event_and_box() {
    let fake = Fake::default();
    fake.fail(Call::Add, Errno::BUSY);
    let mut session = fake.session().unwrap();
    let error = session.add(
        parse("cbox2/clockticks,period=500/").unwrap(),
        &select(Some("1"), None),
    );
    let text = error.unwrap_err().to_string();
    assert!(text.starts_with("cannot add `cbox2/clockticks,period=500/` to cbox2 on socket 1: "));
    assert!(text.contains("dmesg names the register") && text.ends_with("(EBUSY)"));
}

#[test]
fn totals_grow_while_it_runs() {
    let fake = Fake::default();
    let session = session(&fake, "ubox/clockticks/");
    session.start().unwrap();
    wait(&session);
    session.stop().unwrap();
    wait(&session);
    let totals = session.totals().unwrap();
    assert_eq!(
        totals.counts.iter().map(|c| c.total).collect::<Vec<_>>(),
        [10_000, 10_010]
    );
    session.reset().unwrap();
    assert_eq!(session.totals().unwrap().counts[0].total, 0);
}

#[test]
fn samples_come_sorted_and_complete() {
    let fake = Fake::default();
    let mut session = session(&fake, "core/cycles,period=500/,ubox/clockticks,period=300/");
    session.make_rings(RingOptions::default()).unwrap();
    session.start().unwrap();
    let mut reader = session.reader();
    let mut records = Vec::new();
    for _ in 0..10 {
        wait(&session);
        reader.fill(session.now());
        records.extend(pop_all(&mut reader));
    }
    // The newest have to wait for the grace time.
    assert!(records.len() < fake_samples(&session));
    session.stop().unwrap();
    reader.fill_last();
    records.extend(pop_all(&mut reader));
    assert_eq!(records.len(), fake_samples(&session));
    assert!(records.windows(2).all(|w| w[0].time() <= w[1].time()));
    assert_eq!(reader.late(), 0);
    assert!(reader.counts().iter().all(|c| c.adds_up() && c.read != 0));
    check_periods(&session, &records);
}

fn fake_samples(session: &Session) -> usize {
    session.stats().unwrap().samples as usize
}

/// The periods of all samples of a counter are its total divided by its period.
fn check_periods(session: &Session, records: &[Merged]) {
    let totals = session.totals().unwrap();
    for (id, total) in (0..).zip(&totals.counts) {
        let periods: u64 = records
            .iter()
            .filter_map(|m| match m.record() {
                Ok(Record::Sample(s)) if s.overflow.id == id => Some(s.overflow.periods),
                _ => None,
            })
            .sum();
        assert_eq!(
            Some(periods),
            session
                .event_of(id)
                .unwrap()
                .period
                .map(|p| total.total / p)
        );
    }
}

#[test]
fn full_rings_lose_and_say_so() {
    let fake = Fake::default();
    let mut session = session(&fake, "core/cycles,period=100/");
    session
        .make_rings(RingOptions {
            bytes: 4096,
            ..RingOptions::default()
        })
        .unwrap();
    session.start().unwrap();
    let mut reader = session.reader();
    for round in 0..40 {
        wait(&session);
        if round == 20 {
            reader.fill(session.now());
        }
    }
    session.stop().unwrap();
    reader.fill_last();
    let records = pop_all(&mut reader);
    let lost: u64 = records
        .iter()
        .filter_map(|m| match m.record() {
            Ok(Record::Lost { lost, .. }) => Some(lost),
            _ => None,
        })
        .sum();
    let counts = reader.counts();
    assert!(
        counts.iter().all(|c| c.lost != 0 && c.adds_up()),
        "{counts:?}"
    );
    // The records that were lost at the very end have no later record to be reported by.
    assert!(lost != 0 && lost <= counts.iter().map(|c| c.lost).sum());
}

#[test]
fn overwriting_rings_keep_the_newest() {
    let fake = Fake::default();
    let mut session = session(&fake, "ubox/clockticks,period=100/");
    let options = RingOptions {
        bytes: 4096,
        overwrite: true,
        ..RingOptions::default()
    };
    session.make_rings(options).unwrap();
    session.start().unwrap();
    (0..20).for_each(|_| wait(&session));
    session.stop().unwrap();
    let mut reader = session.reader();
    reader.fill_last();
    let records = pop_all(&mut reader);
    assert!(reader.counts().iter().all(|c| c.lost != 0 && c.adds_up()));
    let newest = records.last().unwrap().time();
    assert!(session.now() - newest < 2_000_000);
}

#[test]
fn a_damaged_ring_is_an_error_and_not_the_end() {
    let fake = Fake::default();
    let mut session = session(&fake, "ubox/clockticks,period=500/");
    session.make_rings(RingOptions::default()).unwrap();
    session.start().unwrap();
    let mut reader = session.reader();
    fake.damage(1);
    wait(&session);
    reader.fill(session.now());
    assert_eq!(
        reader.pop(),
        Some(Err(ReadError::Damaged {
            cpu: 2,
            position: 0
        }))
    );
    wait(&session);
    session.stop().unwrap();
    reader.fill_last();
    let records = pop_all(&mut reader);
    let counts = reader.counts();
    assert!(counts[0].adds_up() && !counts[1].adds_up() && counts[1].damaged == 1);
    assert!(records.iter().any(|m| m.cpu == 2), "the ring is read on");
}

#[test]
fn descriptions_that_lead_out_of_the_mapping_are_refused() {
    for (field, value) in [
        (0, 2),
        (0, (1 << 32) | 9),
        (1, 1 << 40),
        (1, 4),
        (2, 1),
        (2, u64::MAX),
        (0, u64::MAX),
    ] {
        let fake = Fake::default();
        let mut session = session(&fake, "ubox/clockticks,period=500/");
        fake.break_map_page(field, value);
        let error = session.make_rings(RingOptions::default()).unwrap_err();
        assert!(
            matches!(error, Error::Mapping(_)),
            "{field} {value:#x}: {error}"
        );
    }
}
