// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `stat` on a device whose counts are known: counter `id` counts 1000 + `id` in each millisecond.

mod common;

use common::{json, run, run_words};
use pmon::{Call, Errno};
use pmon_fake::{Fake, Plan};
use pmonread::Exit;

#[test]
fn boxes_are_summed_and_columns_line_up() {
    let ran = run(
        &Fake::default(),
        "stat -d 0.1 -e cbox/clockticks/,ubox/clockticks/",
    );
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""));
    let expected = "\
Counts of the machine:

                 count  event             boxes  mode          rate
               601,500  cbox/clockticks/      6  poll     6.015 M/s
               201,300  ubox/clockticks/      2  pmi      2.013 M/s

  0.100000000 s elapsed
";
    assert_eq!(ran.out, expected);
}

#[test]
fn boxes_sockets_and_cpus_apart() {
    let counts = |args: &str| {
        let lines = json(&run(&Fake::default(), args).out);
        let row = |l: &serde_json::Value| {
            (
                l["socket"].as_u64(),
                l["box"].as_u64(),
                l["count"].as_u64().unwrap(),
            )
        };
        lines.iter().map(row).collect::<Vec<_>>()
    };
    let events = "stat --json -d 0.01 -e core/cycles/,pcu/clockticks/";
    assert_eq!(counts(events), [(None, None, 40_060), (None, None, 20_090)]);
    assert_eq!(
        counts(&format!("{events} --per-socket")),
        [
            (Some(0), None, 20_010),
            (Some(1), None, 20_050),
            (Some(0), None, 10_040),
            (Some(1), None, 10_050)
        ]
    );
    assert_eq!(
        counts(&format!("{events} --per-cpu"))[2..],
        [
            (Some(1), Some(2), 10_020),
            (Some(1), Some(3), 10_030),
            (None, None, 20_090)
        ]
    );
    assert_eq!(counts(&format!("{events} --per-box")).len(), 6);
    assert_eq!(
        counts(&format!("{events} -C 1 --sockets 0")),
        [(None, None, 10_000), (None, None, 10_010)]
    );
}

#[test]
fn places_are_shown_when_apart() {
    let ran = run(
        &Fake::default(),
        "stat -d 0.01 --per-box -e cbox1/clockticks/,core3/cycles/",
    );
    assert!(ran.out.contains(
        "  10,000  cbox/clockticks/"
            .replace("cbox", "cbox1")
            .as_str()
    ));
    assert!(
        ran.out.contains("  cbox1@0 ")
            && ran.out.contains("  cbox1@1 ")
            && ran.out.contains("  core3 ")
    );
}

#[test]
fn intervals_are_differences() {
    let ran = run(
        &Fake::default(),
        "stat -d 0.1 -I 30 --json -e ubox/clockticks/ --sockets 0",
    );
    let lines = json(&ran.out);
    let row = |l: &serde_json::Value| {
        (
            l["time_ns"].as_u64().unwrap() / 1_000_000,
            l["interval_ns"].as_u64().unwrap() / 1_000_000,
            l["count"].as_u64().unwrap(),
        )
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            (30, 30, 30_000),
            (60, 30, 30_000),
            (90, 30, 30_000),
            (100, 10, 10_000)
        ]
    );
    let text = run(&Fake::default(), "stat -d 0.1 -I 50 -e ubox/clockticks/").out;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[2],
        "         time, s                 count  event             boxes  mode          rate"
    );
    assert_eq!(
        lines[3],
        "     0.050000000               100,050  ubox/clockticks/      2  pmi      2.001 M/s"
    );
    assert_eq!(lines[4].len(), lines[3].len());
}

#[test]
fn values_are_separated() {
    let ran = run(
        &Fake::default(),
        "stat -d 0.02 --csv -I 10 -e cbox/event=0x34,state=1/",
    );
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(
        lines[0],
        "time_ns,interval_ns,event,unit,socket,box,boxes,mode,count,enabled_ns,frozen_ns"
    );
    assert_eq!(
        lines[1],
        "10000000,10000000,\"cbox/event=0x34,state=0x1/\",cbox,,,6,poll,60150,10000000,0"
    );
    assert_eq!(lines.len(), 3, "one line of titles");
    assert!(run(&Fake::default(), "stat -d 0.01 -x ;")
        .out
        .starts_with("time_ns;interval_ns;"));
}

#[test]
fn without_events_the_clocks_are_counted() {
    let lines = json(&run(&Fake::default(), "stat -d 0.01 --json").out);
    let events: Vec<_> = lines.iter().map(|l| l["event"].as_str().unwrap()).collect();
    assert_eq!(
        events,
        [
            "ubox/clockticks/",
            "cbox/clockticks/",
            "pcu/clockticks/",
            "core/instructions/",
            "core/cycles/"
        ]
    );
}

#[test]
fn lists_are_repeatable_and_periods_ignored() {
    let fake = Fake::default();
    let ran = run(
        &fake,
        "stat -a -d 0.01 --json -e ubox/clockticks,period=5000,leader/ -e pcu/clockticks/",
    );
    assert_eq!((ran.exit, json(&ran.out).len()), (Exit::Success, 2));
    assert!(fake.added().iter().all(|c| c.period == 0 && c.flags == 0));
}

#[test]
fn a_command_gives_its_exit_status() {
    let fake = Fake::default();
    let ran = run_words(
        &fake,
        &["stat", "-e", "ubox/clockticks/", "--", "sh", "-c", "exit 7"],
    );
    assert_eq!(ran.exit, Exit::Command(7));
    assert!(ran
        .out
        .starts_with("Counts of the machine while `sh -c exit 7` ran:\n"));
    assert!(!fake.is_running());
    let killed = run_words(&Fake::default(), &["stat", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.exit, Exit::Command(137));
    let ended = run(&Fake::default(), "stat -d 0.05 -- sleep 100");
    assert_eq!(ended.exit, Exit::Success);
}

#[test]
fn a_command_that_cannot_run_says_so() {
    let none = run(&Fake::default(), "stat -- /no/such/command");
    assert_eq!(none.exit, Exit::Command(127));
    assert!(none
        .err
        .starts_with("pmonread: cannot run `/no/such/command`: No such file"));
    assert_eq!(
        run(&Fake::default(), "stat -- /etc/passwd").exit,
        Exit::Command(126)
    );
}

#[test]
fn output_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts");
    let ran = run_words(
        &Fake::default(),
        &["stat", "-d", "0.01", "-o", path.to_str().unwrap()],
    );
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Success, ""));
    assert!(std::fs::read_to_string(&path)
        .unwrap()
        .contains("core/cycles/"));
    let ran = run(&Fake::default(), "stat -d 0.01 -o /no/such/folder/x");
    assert!(ran
        .err
        .starts_with("pmonread: cannot write to /no/such/folder/x: No such file"));
}

#[test]
fn events_that_do_not_fit_are_explained() {
    let fake = Fake::new(Plan {
        cboxes: 2,
        ..Plan::default()
    });
    let err = |args: &str| run(&fake, args).err;
    assert!(err("stat -e cbox5/clockticks/").contains("there is no cbox5; the last one is cbox1"));
    assert!(err("stat -e bogus").contains("a unit comes first"));
    assert!(err("stat --sockets 4").contains("there is no socket 4; the machine has 2"));
    fake.fail(Call::Start, Errno::BUSY);
    assert!(err("stat").starts_with("pmonread: cannot start counting: "));
}

#[test]
fn look_ups_without_states_are_noted() {
    let note = |event: &str| run(&Fake::default(), &format!("stat -d 0.01 -e {event}")).err;
    assert_eq!(
        note("cbox0/event=0x34,umask=0x11/"),
        "note: `cbox0/event=0x34,umask=0x11/` counts nothing without states; add state=0x3f for all\n"
    );
    assert_eq!(note("cbox0/event=0x34,umask=0x11,state=1/"), "");
}
