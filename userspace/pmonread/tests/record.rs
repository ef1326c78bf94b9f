// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `record` and `script`: from rings to files to text.

mod common;

use common::{json, run, run_words, Ran};
use pmon::{Call, Errno};
use pmon_fake::Fake;
use pmonread::Exit;
use serde_json::Value;
use std::{fs, path::PathBuf};
use tempfile::TempDir;

/// A folder with a recording in it.
struct Recorded {
    folder: TempDir,
    ran: Ran,
}

impl Recorded {
    fn new(fake: &Fake, args: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pmon.data");
        let mut words = vec!["record", "-o", path.to_str().unwrap()];
        words.extend(args.split_whitespace());
        let ran = run_words(fake, &words);
        Self { folder, ran }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("pmon.data")
    }

    fn script(&self, args: &str) -> Ran {
        let path = self.path();
        let mut words = vec!["script", "-i", path.to_str().unwrap()];
        words.extend(args.split_whitespace());
        run_words(&Fake::default(), &words)
    }

    fn lines(&self) -> Vec<Value> {
        json(&self.script("--json").out)
    }
}

const EVENTS: &str = "-d 0.05 -e ubox/clockticks,period=5000,leader/,cbox0/event=0x34,state=1/";

#[test]
fn what_is_sampled_is_printed() {
    let recorded = Recorded::new(&Fake::default(), EVENTS);
    assert_eq!(recorded.ran.exit, Exit::Success, "{}", recorded.ran.err);
    let err = &recorded.ran.err;
    assert!(err.starts_with("recorded 0.050000000 s to "), "{err}");
    assert!(
        err.contains("KiB)\nrecords: produced 20 = read 20 + lost 0\n"),
        "{err}"
    );

    let text = recorded.script("").out;
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("# pmonread 0.1.0 on "));
    assert!(lines[0].contains(": family 6 model 62 stepping 4, 2 sockets, 4 CPUs, kernel "));
    assert_eq!(
        lines[1],
        "# event: ubox/clockticks,period=5000,leader/, counters 2, mode pmi"
    );
    assert_eq!(
        lines[2],
        "# event: cbox0/event=0x34,state=0x1/, counters 2, mode poll"
    );
    assert_eq!(lines[3], "#          time, s   cpu  socket          pid/tid  mode                  ip  box      event                        periods  overshoot             total");
    assert_eq!(lines[4], "       5.004000000     0       0          100/200  kL    0xffffffff81000000  ubox0@0  ubox/clockticks/                   1          0             5,000");
    assert_eq!(
        lines[5],
        "                       5,000  ubox0@0  ubox/clockticks/"
    );
    assert_eq!(
        lines[6],
        "                       5,010  cbox0@0  cbox0/event=0x34,state=0x1/"
    );
    assert_eq!(lines[7].split_whitespace().next(), Some("5.004000014"));
    assert!(text.contains("\n# records: produced 20 = read 20 + lost 0\n"));
    assert!(text.ends_with("# total:               50,150  cbox0@1  cbox0/event=0x34,state=0x1/\n"));
}

#[test]
fn columns_are_chosen() {
    let recorded = Recorded::new(&Fake::default(), "-d 0.01 -e core0/cycles,period=4000/");
    let text = recorded.script("-F time,task,event").out;
    let line = text.lines().find(|l| !l.starts_with('#')).unwrap();
    assert_eq!(line, "       5.003000000          100/200  core0/cycles/");
    let values = recorded.script("--values").out;
    assert!(values.contains("\n                       4,000  core0  core0/cycles/\n"));
}

#[test]
fn json_has_everything() {
    let recorded = Recorded::new(&Fake::default(), EVENTS);
    let lines = recorded.lines();
    let header = &lines[0];
    assert_eq!(header["type"], "header");
    assert_eq!(header["machine"]["model"], 62);
    assert_eq!(header["counters"][0]["mode"], "pmi");
    assert_eq!(header["counters"][2]["mode"], "poll");
    let sample = &lines[1];
    assert_eq!(sample["type"], "sample");
    assert_eq!(sample["ip"], "0xffffffff81000000");
    assert_eq!((&sample["pid"], &sample["tid"]), (&100.into(), &200.into()));
    assert_eq!(
        (&sample["leader"], &sample["total"]),
        (&true.into(), &5000.into())
    );
    assert_eq!(sample["values"][1]["box"], "cbox0@0");
    let trailer = lines.last().unwrap();
    assert_eq!(
        (&trailer["type"], &trailer["stats"]["samples"]),
        (&"trailer".into(), &20.into())
    );
    let sum = |key: &str| {
        trailer["rings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((sum("produced"), sum("read"), sum("lost")), (20, 20, 0));
    let times: Vec<_> = lines[1..lines.len() - 1]
        .iter()
        .map(|l| l["time_ns"].as_u64().unwrap())
        .collect();
    assert!(times.windows(2).all(|w| w[0] <= w[1]));
}

#[test]
fn json_can_be_had_at_once() {
    let recorded = Recorded::new(&Fake::default(), EVENTS);
    let direct = run(&Fake::default(), &format!("record --json {EVENTS}"));
    assert_eq!(direct.exit, Exit::Success);
    // All but the header, which has the time of day.
    assert_eq!(json(&direct.out)[1..], recorded.lines()[1..]);
    assert!(direct.err.contains("to standard output\n"));
}

#[test]
fn csv_has_a_line_for_each_record() {
    let recorded = Recorded::new(&Fake::default(), EVENTS);
    let text = recorded.script("-x ;").out;
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("type;time_ns;cpu;seq;socket;pid;tid;mode;ip;box;event;periods;overshoot;total;lost;period;values"));
    assert_eq!(lines.next(), Some("sample;5004000000;0;0;0;100;200;kL;0xffffffff81000000;ubox0@0;ubox/clockticks/;1;0;5000;;;0:5000 2:5010"));
    assert_eq!(lines.count(), 19);
}

#[test]
fn losses_are_told_everywhere() {
    let recorded = Recorded::new(
        &Fake::default(),
        "--overwrite -m 4k -d 1 -e core0/cycles,period=1000/",
    );
    let err = &recorded.ran.err;
    assert!(
        err.contains("note: records were lost; make periods longer or rings larger (-m)"),
        "{err}"
    );
    let text = recorded.script("").out;
    assert!(text.contains("\n# CPU 0: produced 1,000, read "), "{text}");
    let trailer = recorded.lines().pop().unwrap();
    let ring = &trailer["rings"][0];
    let number = |key: &str| ring[key].as_u64().unwrap();
    assert!(number("lost") > 0 && number("produced") == number("read") + number("lost"));
}

#[test]
fn a_damaged_ring_is_told_and_survived() {
    let fake = Fake::default();
    let once = fake.clone();
    fake.on_wait(Box::new(move |number| {
        if number == 1 {
            once.damage(0);
        }
    }));
    let recorded = Recorded::new(&fake, "-d 0.1 -q -e core/cycles,period=1000/");
    assert_eq!(recorded.ran.exit, Exit::Incomplete);
    let err = &recorded.ran.err;
    assert!(
        err.contains("the ring of CPU 0 is damaged at position "),
        "{err}"
    );
    assert!(err.contains("CPU 0: produced 100 is not read "), "{err}");
    let script = recorded.script("");
    assert_eq!(script.exit, Exit::Incomplete);
    assert!(script.out.contains("found damaged 1 times"));
    assert!(script.err.contains("records are missing"));
}

#[test]
fn files_that_end_early_are_printed_as_far_as_they_go() {
    let recorded = Recorded::new(&Fake::default(), EVENTS);
    let bytes = fs::read(recorded.path()).unwrap();
    fs::write(recorded.path(), &bytes[..bytes.len() / 2 / 8 * 8 + 800]).unwrap();
    let ran = recorded.script("--json");
    assert_eq!(ran.exit, Exit::Incomplete);
    assert!(json(&ran.out).len() > 1, "{}", ran.err);
    assert!(ran.err.contains("what came before is sound") || ran.err.contains("has no end"));
    fs::write(recorded.path(), "something else").unwrap();
    let ran = recorded.script("");
    assert_eq!(ran.exit, Exit::Failure);
    assert_eq!(
        ran.err,
        "pmonread: this is no recording of pmonread; make one with `pmonread record`\n"
    );
    let ran = run(&Fake::default(), "script -i /no/such/file");
    assert!(ran
        .err
        .starts_with("pmonread: cannot read /no/such/file: No such file"));
}

#[test]
fn an_old_recording_is_kept() {
    let recorded = Recorded::new(&Fake::default(), EVENTS);
    let first = fs::read(recorded.path()).unwrap();
    let path = recorded.path();
    let path = path.to_str().unwrap();
    let ran = run_words(
        &Fake::default(),
        &[
            "record",
            "-o",
            path,
            "-q",
            "-d",
            "0.01",
            "-c",
            "3k",
            "-e",
            "core/cycles/",
        ],
    );
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""));
    assert_eq!(fs::read(format!("{path}.old")).unwrap(), first);
}

#[test]
fn commands_and_polled_boxes_are_noted() {
    let recorded = Recorded::new(&Fake::default(), "-c 2000 -e cbox/event=1/ -- sh -c true");
    assert_eq!(recorded.ran.exit, Exit::Command(0));
    assert!(recorded
        .ran
        .err
        .contains("note: cbox in mode poll: ip, pid and tid are those of the timer"));
    assert!(recorded
        .script("")
        .out
        .contains("\n# command: sh -c true\n"));
    let sample = &recorded.lines()[1];
    assert_eq!(sample["poll"], true);
}

#[test]
fn what_cannot_be_recorded_is_explained() {
    let err = |args: &str| {
        let fake = Fake::default();
        let ran = run(&fake, &format!("record -o /dev/null -d 0.01 {args}"));
        assert_eq!(ran.exit, Exit::Failure, "{args}");
        ran.err
    };
    assert!(err("")
        .contains("there is nothing to record; name events, like -e ubox/clockticks,period=1M/"));
    assert!(err("-e core/cycles/").contains("no event has a period"));
    assert!(err("-e core/cycles,period=7/").contains("the period is too small or too large"));
    assert!(err("-m 128M -c 1M -e core/cycles/").contains("a power of two from 4 KiB to 64 MiB"));
    let two = "-e ubox/clockticks,period=1M,leader/,pcu/clockticks,period=1M,leader/";
    assert!(err(two).contains("the socket has a leader already"));
    let fake = Fake::default();
    fake.break_map_page(0, 7);
    let ran = run(&fake, "record -o /dev/null -c 1M -e core/cycles/");
    assert!(ran
        .err
        .contains("the module's rings have version 7, this program knows version 1"));
    let fake = Fake::default();
    fake.fail(Call::Wait, Errno::IO);
    let ran = run(&fake, "record -o /dev/null -c 1M -e core/cycles/");
    assert!(ran.err.contains("cannot wait for samples"));
}
