// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Runs pmonread on a device in memory.

#![allow(dead_code)] // Each test program uses its part.

use pmon_fake::Fake;
use pmonread::{run_with, Context, Exit};

/// What a run left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `pmonread` with arguments that have no blanks in them.
pub(crate) fn run(fake: &Fake, args: &str) -> Ran {
    run_words(fake, &args.split_whitespace().collect::<Vec<_>>())
}

/// Runs `pmonread` with these arguments.
pub(crate) fn run_words(fake: &Fake, args: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut context = Context {
        out: &mut out,
        err: &mut err,
        out_is_terminal: false,
        watched: false,
        open: &|| fake.session(),
    };
    let args = std::iter::once("pmonread")
        .chain(args.iter().copied())
        .map(Into::into);
    let exit = run_with(args, &mut context);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran {
        exit,
        out: text(out),
        err: text(err),
    }
}

/// The lines of a text as JSON.
pub(crate) fn json(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
