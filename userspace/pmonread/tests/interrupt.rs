// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Ctrl-C ends a run and loses nothing. The only test of its program: signals are for the process.

mod common;

use common::{json, run, run_words};
use pmon_fake::Fake;
use pmonread::Exit;
use signal_hook::{consts::SIGINT, low_level::raise};

/// A device whose user types Ctrl-C in the third wait.
fn interrupted() -> Fake {
    let fake = Fake::default();
    fake.on_wait(Box::new(|number| {
        if number == 2 {
            raise(SIGINT).unwrap();
        }
    }));
    fake
}

#[test]
fn ctrl_c_ends_cleanly() {
    let fake = interrupted();
    let ran = run(&fake, "stat --json -e ubox/clockticks/ --sockets 0");
    assert_eq!((ran.exit, fake.is_running()), (Exit::Success, false));
    assert_eq!(json(&ran.out)[0]["count"], 30_000);

    let ran = run(&interrupted(), "record --json -c 1000 -e core0/cycles/");
    assert_eq!(ran.exit, Exit::Success);
    let lines = json(&ran.out);
    assert_eq!(
        lines.len(),
        1 + 30 + 1,
        "a sample each millisecond, and both ends"
    );
    assert_eq!(lines[31]["rings"][0]["read"], 30);

    // The command gets its end, too.
    let ran = run_words(
        &interrupted(),
        &["stat", "-e", "ubox/clockticks/", "--", "sleep", "100"],
    );
    assert_eq!(ran.exit, Exit::Success);
}
