// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread stat`: counts.

use super::{
    notes::event_notes,
    rows::{rows, Apart, Row},
};
use crate::{
    args::{FormatArgs, RunArgs, StatArgs},
    exit::Exit,
    output::{json_line, rate, seconds, thousands, write_rows, Align, Table},
    run::Run,
    Context,
};
use anyhow::Context as _;
use pmon::{event, Selection, Session, Totals};
use std::{
    fs::File,
    io::{self, Write},
};

/// What is counted when nothing is named.
const DEFAULT_EVENTS: &str =
    "ubox/clockticks/,cbox/clockticks/,pcu/clockticks/,core/instructions/,core/cycles/";

pub(crate) fn run(args: &StatArgs, cx: &mut Context<'_>) -> anyhow::Result<Exit> {
    let mut events = Vec::new();
    for list in &args.run.events {
        events.extend(event::parse(list)?);
    }
    if events.is_empty() {
        events = event::parse(DEFAULT_EVENTS)?;
    }
    for event in &mut events {
        // Without rings there are no samples.
        (event.period, event.leader) = (None, false);
    }
    event_notes(&events, cx.err)?;
    let mut session = (cx.open)()?;
    session.add(events, &selection(&args.run))?;

    let mut file;
    let out: &mut dyn Write = match &args.output {
        Some(path) => {
            file = File::create(path)
                .with_context(|| format!("cannot write to {}", path.display()))?;
            &mut file
        }
        None => &mut *cx.out,
    };
    count(args, &session, &mut Printer::new(out, args))
}

/// Where to count.
pub(crate) fn selection(args: &RunArgs) -> Selection {
    Selection {
        sockets: args.sockets.clone(),
        cpus: args.cpus.clone(),
    }
}

/// Counts until the run is over, and prints.
fn count(args: &StatArgs, session: &Session, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let interval = args.interval.map(|ms| ms.saturating_mul(1_000_000));
    let mut run = Run::start(session, &args.run)?;
    let start = run.started();
    let zero = Totals {
        time: start,
        counts: vec![Default::default(); session.counters().len()],
    };
    let mut before = zero;
    let mut next = interval.map(|ns| start.saturating_add(ns));
    let exit = loop {
        if let Some(exit) = run.wait(session, next)? {
            break exit;
        }
        if let (Some(time), Some(ns)) = (next, interval) {
            let now = session.now();
            if now >= time {
                let totals = session.totals()?;
                printer.print(&rows(session, printer.apart, start, &before, &totals))?;
                before = totals;
                // On the grid of the start, past the intervals that were missed.
                next = Some(time.saturating_add(ns * ((now - time) / ns + 1)));
            }
        }
    };
    session.stop()?;
    let totals = session.totals()?;
    let last = rows(session, printer.apart, start, &before, &totals);
    printer.print(&last)?;
    printer.end(last.first())?;
    Ok(exit)
}

/// Prints rows in the format that was asked for.
struct Printer<'a> {
    out: &'a mut dyn Write,
    format: &'a FormatArgs,
    apart: Apart,
    intervals: bool,
    title: String,
    printed: bool,
}

impl<'a> Printer<'a> {
    fn new(out: &'a mut dyn Write, args: &'a StatArgs) -> Self {
        let apart = match args {
            StatArgs { per_box: true, .. } => Apart::Box,
            StatArgs {
                per_socket: true, ..
            } => Apart::Socket,
            StatArgs { per_cpu: true, .. } => Apart::Cpu,
            _ => Apart::Nothing,
        };
        let title = match &args.run.command[..] {
            [] => "Counts of the machine:".to_owned(),
            command => format!("Counts of the machine while `{}` ran:", command.join(" ")),
        };
        let (format, intervals) = (&args.format, args.interval.is_some());
        Self {
            out,
            format,
            apart,
            intervals,
            title,
            printed: false,
        }
    }

    fn print(&mut self, rows: &[Row]) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.printed, true);
        if self.format.json {
            rows.iter().try_for_each(|row| json_line(self.out, row))?;
        } else if let Some(separator) = self.format.separator() {
            write_rows(self.out, separator, first, rows)?;
        } else {
            if first {
                writeln!(self.out, "{}\n", self.title)?;
            }
            self.table(rows, first)?;
        }
        self.out.flush()
    }

    fn table(&mut self, rows: &[Row], first: bool) -> io::Result<()> {
        let (left, right) = (Align::Left, Align::Right);
        let titles = [
            "time, s", "count", "event", "place", "boxes", "mode", "rate",
        ];
        let aligns = [right, right, left, left, right, left, right];
        let shown = [
            self.intervals,
            true,
            true,
            self.apart != Apart::Nothing,
            true,
            true,
            true,
        ];
        let columns: Vec<_> = (0..titles.len()).filter(|i| shown[*i]).collect();
        // Titles stand above the first interval only, and give the columns their least width.
        let title = |i: usize| (if first { titles[i] } else { "" }, aligns[i]);
        let mut table = Table::new(&columns.iter().map(|i| title(*i)).collect::<Vec<_>>());
        for row in rows {
            let cells = [
                format!("{:>14}", seconds(row.time_ns)),
                format!("{:>20}", thousands(row.count)),
                row.event.clone(),
                format!("{:<8}", row.place()),
                format!("{:>5}", row.boxes),
                format!("{:<5}", row.mode),
                format!(
                    "{:>11}",
                    rate(row.count, row.enabled_ns).unwrap_or("-".to_owned())
                ),
            ];
            table.row(columns.iter().map(|i| cells[*i].clone()));
        }
        table.write(self.out)
    }

    /// The last line.
    fn end(&mut self, row: Option<&Row>) -> io::Result<()> {
        let Some(row) = row.filter(|_| !self.format.json && self.format.separator().is_none())
        else {
            return Ok(());
        };
        writeln!(self.out, "\n  {} s elapsed", seconds(row.time_ns))?;
        self.out.flush()
    }
}
