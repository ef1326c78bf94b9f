// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The grammar of events: what it takes, what it makes of it, and every message.

use pmon::{
    event::{self, fields, parse, Event, Target, NAMES},
    CounterNr, List, Unit,
};
use proptest::prelude::*;

fn one(text: &str) -> Event {
    let mut events = parse(text).unwrap();
    assert_eq!(events.len(), 1, "{text}");
    events.remove(0)
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn perf_users_find_their_syntax() {
    let e = one("cbox0/event=0x34,umask=0x11,period=100000/");
    assert_eq!(
        (e.unit, e.boxes, e.config, e.period),
        (Unit::Cbox, Some((0, 0)), 0x1134, Some(100_000))
    );
    let e = one("ubox/clockticks,period=1000000/");
    assert_eq!(
        (e.unit, e.boxes, e.config, e.counter),
        (Unit::Ubox, None, 0, Some(CounterNr::Fixed(0)))
    );
    let e = one("core/event=0xc0,umask=0x0,period=5k/");
    assert_eq!((e.config, e.period), (0xc0, Some(5000)));
    assert_eq!(one("uncore_cbox_3/event=0x35/"), one("cbox3/event=53/"));
    assert_eq!(one("cpu/event=0x3c/u"), one("core/event=0x3c,u/"));
    assert_eq!(one("core/cycles/:k"), one("core/cycles,k/"));
    assert_eq!(one("core/cpu-cycles/"), one("core/cycles/"));
    assert_eq!(one("pcu/clockticks"), one("pcu/clockticks/"));
    assert_eq!(
        one("core/cycles,period=1_000/"),
        one("core/cycles,period=1K/")
    );
}

#[test]
fn lists_are_split_outside_slashes() {
    let events = parse("cbox/event=1,umask=2/, ubox/clockticks/,core/instructions/u").unwrap();
    assert_eq!(events.len(), 3);
    assert!(events[2].user && !events[2].kernel);
}

#[test]
fn boxes_and_sockets() {
    assert_eq!(one("cbox2-5/clockticks/").boxes, Some((2, 5)));
    assert_eq!(one("core3/cycles/").boxes, Some((3, 3)));
    assert_eq!(
        one("cbox/clockticks,socket=0-1/").sockets,
        Some(List::range(0, 1))
    );
}

#[test]
fn filters_go_where_the_manual_has_them() {
    assert_eq!(
        one("cbox/event=0x34,state=0x3f/").filter,
        [0x3f << 17, 0, 0, 0]
    );
    let e = one("cbox/event=0x35,nid=0x3,opc=0x182,nc,isoc/");
    assert_eq!(
        e.filter,
        [0, 0x3 | (0x182 << 20) | (1 << 30) | (1 << 31), 0, 0]
    );
    let e = one("cbox/event=0x35,tid=0x1e/");
    assert_eq!((e.filter[0], e.config), (0x1e, 0x35 | (1 << 19)));
    assert_eq!(
        one("cbox/event=0x35,filter_opc=0x182/"),
        one("cbox/event=0x35,opc=0x182/")
    );
    assert_eq!(one("pcu/event=0xb,filter=0x14/").filter, [0x14, 0, 0, 0]);
    assert_eq!(
        one("pcu/event=0xc,filter_band1=0x14/").filter,
        [0x1400, 0, 0, 0]
    );
}

#[test]
fn control_bits_go_where_the_manual_has_them() {
    let e = one("pcu/event=0x80,occ_sel=3,occ_invert,occ_edge,ev_sel_ext,edge,thresh=0x1f/");
    assert_eq!(
        e.config,
        0x80 | (3 << 14) | (1 << 30) | (1 << 31) | (1 << 21) | (1 << 18) | (0x1f << 24)
    );
    let e = one("core/event=0xc2,umask=1,cmask=0x10,inv,any,edge=0/");
    assert_eq!(e.config, 0x1c2 | (0x10 << 24) | (1 << 23) | (1 << 21));
    assert_eq!(
        one("cbox/event=0x11,thresh=255,edge/").config,
        0x11 | (255 << 24) | (1 << 18)
    );
    assert_eq!(
        one("ubox/event=0x42,umask=8,thresh=3,counter=1/").config,
        0x842 | (3 << 24)
    );
}

#[test]
fn names_stand_for_codes_and_fixed_counters() {
    for (text, config) in [
        ("core/instructions/", 0xc0),
        ("core/cycles/", 0x3c),
        ("core/ref-cycles/", 0x13c),
        ("core/cache-references/", 0x4f2e),
        ("core/cache-misses/", 0x412e),
        ("core/branches/", 0xc4),
        ("core/branch-misses/", 0xc5),
        ("cbox/clockticks/", 0),
        ("pcu/clockticks/", 0),
    ] {
        assert_eq!(
            (one(text).config, one(text).counter),
            (config, None),
            "{text}"
        );
    }
    for (text, nr) in [("instructions", 0), ("cycles", 1), ("ref-cycles", 2)] {
        let e = one(&format!("core/{text},fixed/"));
        assert_eq!((e.config, e.counter), (0, Some(CounterNr::Fixed(nr))));
    }
    assert_eq!(one("core/fixed=1/").counter, Some(CounterNr::Fixed(1)));
    assert_eq!(
        one("core/cycles,counter=2/").counter,
        Some(CounterNr::General(2))
    );
}

#[test]
fn labels_leave_out_how_to_sample() {
    assert_eq!(
        one("ubox/clockticks,period=1M,leader/").label(),
        "ubox/clockticks/"
    );
    assert_eq!(
        one("cbox0/event=52,umask=17,period=7/u".trim_end_matches('u')).label(),
        "cbox0/event=0x34,umask=0x11/"
    );
}

/// Each mistake, and the message that it gets.
#[test]
fn every_mistake_has_its_message() {
    let cases = [
        ("", "event ``: nothing is there; write events like ubox/clockticks/,cbox/event=0x34,umask=0x11/"),
        ("ubox/clockticks/,", "event ``: nothing is there"),
        ("cycles", "event `cycles`: a unit comes first; write it like core/cycles/"),
        ("cbox", "write it like cbox/clockticks/"),
        ("core", "write it like core/cycles/"),
        ("nonsense", "write it like cbox/event=0x34,umask=0x11/"),
        ("imc/event=4/", "there is no unit `imc`; units are ubox, cbox, pcu and core"),
        ("cbox3-1/event=4/", "`3-1` names no boxes; write them like cbox3 or cbox0-3"),
        ("cbox0-/event=4/", "`0-` names no boxes"),
        ("cbox99999999999/event=4/", "names no boxes"),
        ("cbox/event=1,,umask=2/", "a term is empty"),
        ("cbox//", "a term is empty"),
        ("cbox/umask=1/", "it does not say what to count; give event=, or a name: clockticks"),
        ("core/period=5/", "or a name: instructions, cycles, ref-cycles, cache-references"),
        ("ubox/event=1,inv/", "ubox has no term `inv`; it has event, umask, edge, thresh, period, leader, counter, fixed, socket, clockticks (`inv` is a term of core)"),
        ("ubox/event=1,bogus/", "ubox has no term `bogus`"),
        ("ubox/instructions/", "(`instructions` is a term of core)"),
        ("cbox/event/", "event needs a value; write event=0x1"),
        ("cbox/event=1,period/", "period needs a value"),
        ("cbox/event=1,counter/", "counter needs a value"),
        ("cbox/clockticks=1/", "clockticks takes no value"),
        ("cbox0/clockticks,period=9,leader=1/", "leader takes no value; write just leader"),
        ("cbox/event=x/", "`x` is no number for event; write it like 100000, 0x1f or, for a period, 2M"),
        ("cbox/event=/", "`` is no number for event"),
        ("cbox/event=0x/", "`0x` is no number"),
        ("cbox/event=-1/", "`-1` is no number"),
        ("cbox/event=+1/", "`+1` is no number"),
        ("cbox/event=1k/", "`1k` is no number"),
        ("cbox/event=1,period=18446744073709551616/", "is no number for period"),
        ("cbox/event=1,period=18446744073709551615k/", "is no number for period"),
        ("cbox/event=1,socket=a/", "`a` is no number for socket"),
        ("cbox/event=0x100/", "0x100 is too large for event, which is at most 0xff"),
        ("cbox/event=0x35,opc=0x200/", "0x200 is too large for opc, which is at most 0x1ff"),
        ("ubox/event=1,thresh=32/", "0x20 is too large for thresh, which is at most 0x1f"),
        ("cbox/event=1,edge=2/", "0x2 is too large for edge"),
        ("cbox/event=1,event=1/", "event is set twice"),
        ("cbox/clockticks,event=1/", "event is set twice, or by the event's name already; keep one"),
        ("cbox/event=1,clockticks/", "clockticks is set twice"),
        ("core/cycles,umask=1/", "umask is set twice"),
        ("pcu/event=0xb,filter=1,filter_band0=2/", "filter_band0 is set twice"),
        ("cbox/event=1,period=5,period=5/", "period is set twice"),
        ("cbox/event=1,counter=0,fixed=0/", "fixed is set twice"),
        ("core/cycles,fixed,counter=1/", "counter is set twice"),
        ("cbox/event=1,period=0/", "a period is at least 1; leave it out to count only"),
        ("ubox/clockticks,leader/", "a leader samples; give it a period, like leader,period=1000000"),
        ("cbox/clockticks,period=100,leader/", "only one leader per socket; name one box, like cbox0"),
        ("cbox/clockticks,fixed/", "no fixed counter counts this; leave `fixed` out"),
        ("core/branches,fixed/", "or use one of instructions, cycles, ref-cycles"),
        ("core/event=1,fixed/", "a fixed counter takes no fields; leave out event, or `fixed`"),
        ("core/cycles,fixed,cmask=1/", "leave out cmask"),
        ("ubox/clockticks,umask=1/", "leave out umask"),
        ("core/cycles/x", "`x` after the last `/` is neither u (user) nor k (kernel); is a `/` missing before?"),
        ("core/cycles,core/instructions/", "core has no term `core`"),
        ("cbox/clockticks/u", "only core counts by mode; leave out u and k"),
        ("cbox/clockticks,k/", "only core counts by mode"),
        ("core/cycles,socket=0/", "core has CPUs and no sockets; name CPUs, like core0-3, or use the option -C"),
    ];
    for (text, expected) in cases {
        let message = message(text);
        assert!(
            message.contains(expected),
            "{text}:\n  {message}\n  {expected}"
        );
    }
}

/// Any event that the grammar can say.
fn any_event() -> impl Strategy<Value = Event> {
    let unit = prop::sample::select(Unit::ALL.to_vec());
    let boxes = prop::option::of((0..20u32, 0..20u32).prop_map(|(a, n)| (a, a + n)));
    let options = (
        any::<bool>(),
        any::<bool>(),
        prop::option::of(1..u64::MAX),
        0..4u32,
    );
    let bits = (
        any::<u64>(),
        any::<[u32; 4]>(),
        any::<prop::sample::Index>(),
    );
    (unit, boxes, options, bits, any::<[bool; 3]>()).prop_map(
        |(
            unit,
            boxes,
            (user, kernel, period, nr),
            (config, filter, name),
            [named, counter, fixed],
        )| {
            let mut text = unit.to_string();
            if let Some((first, last)) = boxes {
                text += &format!("{first}-{last}");
            }
            let names: Vec<_> = NAMES.iter().filter(|n| n.unit == unit).collect();
            let name = named.then(|| names[name.index(names.len())]);
            let on_fixed = name.is_some_and(|n| n.code.is_none() || (fixed && n.fixed.is_some()));
            text += "/";
            text += name.map_or("event=0x1", |n| n.name);
            if on_fixed && name.is_some_and(|n| n.code.is_some()) {
                text += ",fixed";
            }
            if counter && !on_fixed {
                text += &format!(",counter={nr}");
            }
            if let Some(period) = period {
                text += &format!(",period={period}");
            }
            let mut event = one(&(text + "/"));
            if unit == Unit::Core {
                (event.user, event.kernel) = (user, kernel);
            }
            if !on_fixed {
                for field in fields(unit) {
                    if name.is_some() && ["event", "umask"].contains(&field.name) {
                        continue;
                    }
                    match field.target {
                        Target::Config => {
                            event.config = (event.config & !field.mask()) | (config & field.mask());
                        }
                        // A filter that has no enable bit, or whose bit is set.
                        Target::Filter(i) if field.also == 0 || config & field.also != 0 => {
                            event.filter[i] |= filter[i] & field.mask() as u32;
                            event.config |= field.also;
                        }
                        Target::Filter(_) => {}
                    }
                }
            }
            event
        },
    )
}

proptest! {
    /// An event and its text are the same thing.
    #[test]
    fn events_survive_writing_and_reading(event in any_event()) {
        let text = event.to_string();
        prop_assert_eq!(one(&text), event, "{}", text);
    }

    /// No text makes the parser panic, and what it takes it can write.
    #[test]
    fn any_text_is_taken_or_refused(text in "[a-z0-9/,=_: -]{0,40}|.{0,20}") {
        if let Ok(events) = parse(&text) {
            for event in events {
                prop_assert_eq!(&one(&event.to_string()), &event);
            }
        }
    }

    /// The same near sound events.
    #[test]
    fn broken_events_are_taken_or_refused(at in 0..60usize, with in "[/,=0-9ux-]{0,2}") {
        let mut text = "cbox0-3/event=0x34,umask=0x11,state=0x3f,period=100k/".to_owned();
        text.insert_str(at.min(text.len()), &with);
        if let Ok(events) = event::parse(&text) {
            prop_assert!(!events.is_empty());
        }
    }
}
