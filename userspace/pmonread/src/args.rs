// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What can be typed.

use clap::{Args, Parser, Subcommand, ValueEnum};
use pmon::List;
use std::{path::PathBuf, time::Duration};

const EXIT_STATUS: &str = "\
Exit status:
  0    done; also when nobody reads the output any more, and after Ctrl-C
  1    an error, which was printed
  2    the command line is wrong
  3    records are missing that nothing accounts for: a ring or a recording is damaged
  126  the command to run could not be started
  127  the command to run was not found
  else the exit status of the command that ran (128 + number when a signal ended it)";

const EVENTS: &str = "\
Events:
  unit[boxes]/term,.../   units are ubox, cbox, pcu and core; without boxes: all of them
  ubox/clockticks/                      by name
  cbox0-3/event=0x34,umask=0x11/        by code, on four boxes of each socket
  core/cycles,period=2M/u               a sample each two million cycles in user mode
  `pmonread list` shows all names and terms.";

/// Counts and samples of the pmon kernel module, for Xeon E5/E7 v2 hosts.
#[derive(Debug, Parser)]
#[command(name = "pmonread", version, after_help = EVENTS)]
#[command(after_long_help = format!("{EVENTS}\n\n{EXIT_STATUS}"))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the machine: its boxes, their counters, and how their overflows are noticed
    Info(InfoArgs),
    /// Show the units, and the names and terms of their events
    List(ListArgs),
    /// Count events while a command runs, for some time, or until Ctrl-C
    Stat(StatArgs),
    /// Sample events into a file while a command runs, for some time, or until Ctrl-C
    Record(RecordArgs),
    /// Print the records of a file
    Script(ScriptArgs),
    /// Write man pages and shell completions into a folder
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Print JSON, one object a line: the machine, then each box
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pmonread list              everything
  pmonread list cbox         the terms of the CBos
  pmonread list clockticks   what has this word in its name or description")]
pub(crate) struct ListArgs {
    /// Show only this unit, or what has this word in its name or description
    pub(crate) word: Option<String>,
    /// Print JSON, one object a line
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// What to count, where, and how long.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Events, in a list with commas; can be given many times
    #[arg(short, long = "event", value_name = "EVENTS")]
    pub(crate) events: Vec<String>,
    /// Count everywhere; this is always so
    #[arg(short, long)]
    pub(crate) all_cpus: bool,
    /// Count core events on these CPUs only, like 0-3,8
    #[arg(short = 'C', long = "cpu", value_name = "CPUS")]
    pub(crate) cpus: Option<List>,
    /// Count on these sockets only, like 0 or 0-1
    #[arg(long, value_name = "SOCKETS")]
    pub(crate) sockets: Option<List>,
    /// End after so many seconds
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) duration: Option<Duration>,
    /// Run this command, and end with it
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(crate) command: Vec<String>,
}

/// Arguments of `stat`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pmonread stat -d 1                                     clocks and instructions, one second
  pmonread stat -e cbox/event=0x34,umask=0x11,state=0x3f/ -- make
  pmonread stat -I 1000 --per-socket -e ubox/clockticks/,cbox/clockticks/
  pmonread stat --json --per-box -e cbox/event=0x36,umask=0x3/ -d 10

The counts of all boxes of an event are summed, unless they are asked for apart. Periods and
leaders mean nothing here.")]
pub(crate) struct StatArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print the counts of each interval of so many milliseconds
    #[arg(short = 'I', long = "interval-print", value_name = "MS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) interval: Option<u64>,
    /// Show each box, and each CPU, apart
    #[arg(long, group = "apart")]
    pub(crate) per_box: bool,
    /// Show each socket apart
    #[arg(long, group = "apart")]
    pub(crate) per_socket: bool,
    /// Show each CPU of core events apart
    #[arg(long, group = "apart")]
    pub(crate) per_cpu: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Write the counts to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// How to print.
#[derive(Debug, Args)]
pub(crate) struct FormatArgs {
    /// Print JSON, one object a line
    #[arg(short, long, group = "format")]
    pub(crate) json: bool,
    /// Print comma-separated values, with a line of titles
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// As --csv, with this character between the values
    #[arg(short = 'x', long, value_name = "CHAR", group = "format", value_parser = separator)]
    pub(crate) field_separator: Option<u8>,
}

impl FormatArgs {
    /// The separator, when values are to be separated.
    pub(crate) fn separator(&self) -> Option<u8> {
        self.field_separator.or(self.csv.then_some(b','))
    }
}

/// Arguments of `record`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pmonread record -e cbox/event=0x34,umask=0x11,state=0x3f,period=100000/ -- make
  pmonread record -e ubox/clockticks,period=1M,leader/,cbox/event=0x36,umask=0x3/ -d 10
  pmonread record -c 2M -e core/cycles/ -C 0-3 -o cycles.data
  pmonread record --json -d 1 -e core/instructions,period=1M/ | jq .ip

Events without a period only count; their totals are in the samples of others of the same socket or
CPU, and in all of a leader.")]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Period of the events that name none, in events; also with k, M or G
    #[arg(short = 'c', long, value_name = "N", value_parser = period)]
    pub(crate) period: Option<u64>,
    /// Write to this file, - is standard output [default: pmon.data; with --json: -]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write JSON, one object a line, instead of a recording
    #[arg(short, long)]
    pub(crate) json: bool,
    /// Size of each CPU's ring, a power of two; also with k or M (of 1024)
    #[arg(short = 'm', long, value_name = "BYTES", default_value = "1M", value_parser = size)]
    pub(crate) ring_size: u64,
    /// Read the rings after so many records in one of them [default: when one is half full]
    #[arg(short, long, value_name = "RECORDS")]
    pub(crate) wakeup: Option<u32>,
    /// Keep only the newest records: full rings overwrite their oldest, and are read at the end
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// No progress and no summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Arguments of `script`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pmonread script                        the records of pmon.data
  pmonread script -F time,task,ip,event  only these columns
  pmonread script --json -i cycles.data | jq 'select(.type == \"sample\") | .ip'")]
pub(crate) struct ScriptArgs {
    /// Read this file, - is standard input
    #[arg(short, long, value_name = "FILE", default_value = "pmon.data")]
    pub(crate) input: PathBuf,
    /// Columns of the text
    #[arg(
        short = 'F',
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        value_enum
    )]
    pub(crate) fields: Vec<Column>,
    /// Show the totals in every sample, not only in those of a leader
    #[arg(short, long)]
    pub(crate) values: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// A column of `script`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Column {
    /// Seconds since the machine's start
    Time,
    /// CPU that took the interrupt
    Cpu,
    /// Its socket
    Socket,
    /// Process and thread
    Task,
    /// Mode of the interrupted code: u user, k kernel; p found by the poll timer
    Mode,
    /// Instruction pointer
    Ip,
    /// Box whose counter overflowed
    Box,
    /// Its event
    Event,
    /// Periods that the sample stands for
    Periods,
    /// Events past the last of them
    Overshoot,
    /// Total of the counter
    Total,
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The folder
    pub(crate) folder: PathBuf,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|s: &f64| *s > 0.0);
    seconds
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .ok_or_else(|| "write seconds like 10 or 0.5".to_owned())
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [one] => Ok(*one),
        _ => Err("one character, or \\t".to_owned()),
    }
}

fn period(text: &str) -> Result<u64, String> {
    scaled(text, 1000)
        .filter(|p| *p != 0)
        .ok_or_else(|| "write it like 100000 or 2M".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    let size = scaled(text, 1024).filter(|s| s.is_power_of_two());
    size.ok_or_else(|| "a power of two, like 65536, 64k or 1M".to_owned())
}

fn scaled(text: &str, step: u64) -> Option<u64> {
    let (number, scale) = match text.chars().last()? {
        'k' | 'K' => (&text[..text.len() - 1], step),
        'm' | 'M' => (&text[..text.len() - 1], step.pow(2)),
        'g' | 'G' => (&text[..text.len() - 1], step.pow(3)),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_finds_no_contradiction() {
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_with_units() {
        assert_eq!((period("2M"), size("64k")), (Ok(2_000_000), Ok(65536)));
        assert!(period("0").is_err() && period("M").is_err() && size("100").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(seconds("0").is_err() && seconds("-1").is_err() && seconds("inf").is_err());
        assert_eq!((separator(";"), separator("\\t")), (Ok(b';'), Ok(b'\t')));
        assert!(separator("").is_err() && separator("ab").is_err());
    }

    #[test]
    fn commands_need_no_dashes() {
        for words in ["stat sleep -x 1", "stat -- sleep -x 1"] {
            let cli = Cli::parse_from(["pmonread"].into_iter().chain(words.split(' ')));
            let Command::Stat(args) = cli.command else {
                panic!()
            };
            assert_eq!(args.run.command, ["sleep", "-x", "1"]);
        }
    }
}
