// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `info`, `list`, `generate` and mistakes on the command line.

mod common;

use common::{json, run, run_words};
use pmon::{Call, Errno};
use pmon_fake::{Fake, Plan};
use pmonread::Exit;

#[test]
fn info_shows_boxes_and_modes() {
    let ran = run(&Fake::default(), "info");
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""));
    let expected = "\
machine   family 6 model 62 stepping 4, 2 sockets with an uncore, 4 CPUs
core      architectural version 3, 4 counters of 48 bits, 3 fixed
          not available: ref-cycles
sampling  periods from 100 events; mode poll looks each 10,000 us; throttled above 100,000/s and CPU
module    ABI version 1

  unit     socket  mode  counters  bits  fixed  bits  PMI on CPU  notes
  ubox0         0  pmi          2    44      1    48           0
  ubox0         1  pmi          2    44      1    48           2
  cbox0-2       0  poll         4    44      0     -           0
  cbox0-2       1  poll         4    44      0     -           2
  pcu0          0  pmi          4    44      0     -           0
  pcu0          1  pmi          4    44      0     -           2
  core0-3       -  pmi          4    44      3    48      itself
";
    assert_eq!(ran.out, expected);
}

#[test]
fn info_as_json_has_a_line_for_each_box() {
    let lines = json(&run(&Fake::default(), "info --json").out);
    assert_eq!(lines.len(), 1 + 2 + 6 + 2 + 4);
    assert_eq!(
        (&lines[0]["type"], &lines[0]["model"]),
        (&"machine".into(), &62.into())
    );
    assert_eq!(
        (&lines[3]["unit"], &lines[3]["mode"]),
        (&"cbox".into(), &"poll".into())
    );
    assert_eq!(lines[3]["config_mask"], "0xff0cffff");
    assert_eq!(
        (&lines[14]["box"], &lines[14]["socket"]),
        (&3.into(), &1.into())
    );
}

#[test]
fn offline_cpus_are_left_out() {
    let fake = Fake::new(Plan {
        offline: Some(3),
        ..Plan::default()
    });
    assert!(run(&fake, "info").out.contains("core0-2 "));
}

#[test]
fn list_needs_no_device_and_filters() {
    let fake = Fake::default();
    fake.fail(Call::Info, Errno::IO);
    let all = run(&fake, "list").out;
    assert!(all.contains("ubox: system configuration agent"));
    assert!(all.contains("  core/ref-cycles/"));
    assert!(all.contains("  opc=N ") && all.contains("filter1 28:20"));
    assert!(all.contains("  edge ") && all.contains("  leader "));
    let pcu = run(&fake, "list pcu").out;
    assert!(pcu.contains("occ_sel=N") && !pcu.contains("cbox:"));
    let clocks = json(&run(&fake, "list clockticks --json").out);
    assert_eq!(clocks.len(), 3);
    let none = run(&fake, "list nothing-like-it");
    assert_eq!(none.exit, Exit::Failure);
    assert!(none.err.contains("nothing has `nothing-like-it`"));
}

#[test]
fn errors_of_the_device_say_what_to_do() {
    let fake = Fake::default();
    fake.fail(Call::Info, Errno::NOTTY);
    let ran = run(&fake, "info");
    assert_eq!(ran.exit, Exit::Failure);
    assert_eq!(ran.err, "pmonread: cannot ask for the machine: the loaded module does not know this call; load the module that this program came with (ENOTTY)\n");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let fake = Fake::default();
    let help = run(&fake, "--help");
    assert_eq!(help.exit, Exit::Success);
    assert!(help.out.contains("Exit status:") && help.out.contains("ubox/clockticks/"));
    assert!(!help.out.contains("generate"));
    for command in ["list", "stat", "record", "script"] {
        let help = run_words(&fake, &[command, "--help"]);
        assert!(help.out.contains("Examples:\n  pmonread "), "{command}");
    }
}

#[test]
fn mistakes_are_usage_errors() {
    let fake = Fake::default();
    for args in [
        "",
        "bogus",
        "stat --per-box --per-cpu",
        "stat --json --csv",
        "stat -I 0",
        "record -m 1000",
        "stat -C 3-1",
        "stat -d x",
        "script -F bogus",
        "stat -x ab",
    ] {
        let ran = run(&fake, args);
        assert_eq!(ran.exit, Exit::Usage, "{args}");
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{args}");
    }
    assert!(run(&fake, "stat -C 3-1")
        .err
        .contains("write it like 0-3,8"));
}

#[test]
fn man_pages_and_completions_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    let ran = run_words(&Fake::default(), &["generate", path.to_str().unwrap()]);
    assert_eq!(ran.exit, Exit::Success);
    for name in [
        "pmonread.1",
        "pmonread-stat.1",
        "pmonread-record.1",
        "pmonread.bash",
        "_pmonread",
        "pmonread.fish",
    ] {
        assert!(path.join(name).metadata().unwrap().len() > 200, "{name}");
    }
    assert!(!path.join("pmonread-generate.1").exists());
}
