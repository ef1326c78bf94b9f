// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The command line of the pmon kernel module, as a library so that its tests can put a device in
//! memory under it.
//!
//! `args` says what can be typed, `commands` has a file for each command, `run` starts, waits and
//! ends, `output` writes numbers, tables, JSON and CSV.

mod args;
mod child;
mod commands;
mod exit;
mod interrupt;
mod output;
mod run;

pub use exit::Exit;

use args::{Cli, Command};
use clap::Parser;
use pmon::Session;
use std::{
    ffi::OsString,
    io::{self, BufWriter, IsTerminal, Write},
    process::ExitCode,
};

/// What a command may touch of the world.
pub struct Context<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Progress, notes and errors.
    pub err: &'a mut dyn Write,
    /// Whether `out` is a terminal.
    pub out_is_terminal: bool,
    /// Whether `err` is a terminal, so that somebody watches.
    pub watched: bool,
    /// Opens the device.
    pub open: &'a dyn Fn() -> Result<Session, pmon::Error>,
}

/// The program, on the process's own streams and the kernel's device.
pub fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout());
    let mut context = Context {
        out: &mut out,
        err: &mut io::stderr(),
        out_is_terminal: io::stdout().is_terminal(),
        watched: io::stderr().is_terminal(),
        open: &Session::open,
    };
    ExitCode::from(run_with(std::env::args_os(), &mut context).code())
}

/// Runs the command that `args` name.
pub fn run_with(args: impl IntoIterator<Item = OsString>, cx: &mut Context<'_>) -> Exit {
    let result = match Cli::try_parse_from(args) {
        Ok(cli) => dispatch(cli, cx),
        Err(error) => return usage(&error, cx),
    };
    let flushed = cx.out.flush();
    let exit = result.and_then(|exit| flushed.map(|()| exit).map_err(Into::into));
    exit.unwrap_or_else(|error| exit::report(&error, cx.err))
}

fn dispatch(cli: Cli, cx: &mut Context<'_>) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Info(args) => commands::info::run(&args, cx),
        Command::List(args) => commands::list::run(&args, cx),
        Command::Stat(args) => commands::stat::run(&args, cx),
        Command::Record(args) => commands::record::run(&args, cx),
        Command::Script(args) => commands::script::run(&args, cx),
        Command::Generate(args) => commands::generate::run(&args),
    }
}

/// Help goes to the results, mistakes to the errors.
fn usage(error: &clap::Error, cx: &mut Context<'_>) -> Exit {
    let text = error.render().to_string();
    let (stream, exit): (&mut dyn Write, _) = if error.use_stderr() {
        (cx.err, Exit::Usage)
    } else {
        (cx.out, Exit::Success)
    };
    // Nobody is left to tell when this fails.
    let _ = stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush());
    exit
}
