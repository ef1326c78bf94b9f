// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread record`: samples into a file.

use super::{notes::event_notes, sink::Sink, stat::selection};
use crate::{
    args::RecordArgs,
    exit::Exit,
    output::{seconds, thousands},
    run::{nanos, Run},
    Context,
};
use anyhow::{bail, Context as _};
use pmon::{
    event::{self, Event},
    recording::{Header, Trailer},
    Mode, Reader, RingOptions, Session,
};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Program in the header.
const PROGRAM: &str = concat!("pmonread ", env!("CARGO_PKG_VERSION"));
/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &RecordArgs, cx: &mut Context<'_>) -> anyhow::Result<Exit> {
    let events = events(args)?;
    let path = output(args);
    if path.is_none() && !args.json && cx.out_is_terminal {
        bail!("a recording is nothing for a terminal; send it elsewhere, or use --json");
    }
    event_notes(&events, cx.err)?;
    let mut session = (cx.open)()?;
    session.add(events, &selection(&args.run))?;
    let rings = RingOptions {
        bytes: args.ring_size,
        wakeup_records: args.wakeup.unwrap_or(0),
        overwrite: args.overwrite,
    };
    session.make_rings(rings)?;
    let header = Header::new(&session, rings, PROGRAM, &args.run.command);

    let mut file;
    let out: &mut dyn Write = match &path {
        Some(path) => {
            file = BufWriter::new(create(path)?);
            &mut file
        }
        None => &mut *cx.out,
    };
    let sink = Sink::new(out, args.json, &header)?;
    let progress = Progress::new(cx.err, args, cx.watched && path.is_some());
    Recorder {
        session: &session,
        reader: session.reader(),
        sink,
        progress,
        broken: 0,
    }
    .run(args, path.as_deref())
}

fn events(args: &RecordArgs) -> anyhow::Result<Vec<Event>> {
    let mut events = Vec::new();
    for list in &args.run.events {
        events.extend(event::parse(list)?);
    }
    if events.is_empty() {
        bail!("there is nothing to record; name events, like -e ubox/clockticks,period=1M/");
    }
    for event in &mut events {
        event.period = event.period.or(args.period);
    }
    if events.iter().all(|e| e.period.is_none()) {
        bail!("no event has a period, so none would be sampled; write period=N in one, or -c N");
    }
    Ok(events)
}

/// The file to write; none for standard output.
fn output(args: &RecordArgs) -> Option<PathBuf> {
    match &args.output {
        Some(path) => (path.as_os_str() != "-").then(|| path.clone()),
        None => (!args.json).then(|| PathBuf::from("pmon.data")),
    }
}

/// Makes the file; one that is there already is kept as `.old`, as perf does.
fn create(path: &Path) -> anyhow::Result<File> {
    let failed = || format!("cannot write to {}", path.display());
    if path.is_file() {
        let mut old = path.as_os_str().to_owned();
        old.push(".old");
        fs::rename(path, old).with_context(failed)?;
    }
    File::create(path).with_context(failed)
}

struct Recorder<'a> {
    session: &'a Session,
    reader: Reader<'a>,
    sink: Sink<'a>,
    progress: Progress<'a>,
    /// Rings found damaged, and records that are none.
    broken: u64,
}

impl Recorder<'_> {
    /// Records until the run is over, then stops, reads what is left and closes the file.
    fn run(mut self, args: &RecordArgs, path: Option<&Path>) -> anyhow::Result<Exit> {
        let mut run = Run::start(self.session, &args.run)?;
        let exit = loop {
            if let Some(exit) = run.wait(self.session, None)? {
                break exit;
            }
            if !args.overwrite {
                self.reader.fill(self.session.now());
                self.take()?;
                self.sink.flush()?;
                self.progress.show(self.session.now(), &self.reader)?;
            }
        };
        self.session.stop()?;
        self.reader.fill_last();
        self.take()?;
        let totals = self.session.totals()?;
        let trailer = Trailer::new(&self.reader, &totals, &self.session.stats()?);
        self.sink.finish(&trailer)?;
        let elapsed = totals.time.saturating_sub(run.started());
        self.progress.summary(&trailer, elapsed, path)?;
        self.progress.notes(self.session, &trailer)?;
        let complete = self.broken == 0 && trailer.adds_up();
        Ok(if complete { exit } else { Exit::Incomplete })
    }

    /// Writes the records that may go out.
    fn take(&mut self) -> anyhow::Result<()> {
        while let Some(item) = self.reader.pop() {
            match item {
                Ok(merged) if merged.record().is_ok() => self.sink.record(&merged)?,
                Ok(merged) => {
                    self.broken += 1;
                    let cpu = merged.cpu;
                    self.progress
                        .say(&format!("a record of CPU {cpu} is too short; left out"))?;
                }
                Err(error) => {
                    self.broken += 1;
                    self.progress.say(&error.to_string())?;
                }
            }
        }
        Ok(())
    }
}

/// What the user sees meanwhile and at the end.
struct Progress<'a> {
    err: &'a mut dyn Write,
    quiet: bool,
    watched: bool,
    next: u64,
    /// A line without an end is on the screen.
    open_line: bool,
}

impl<'a> Progress<'a> {
    fn new(err: &'a mut dyn Write, args: &RecordArgs, watched: bool) -> Self {
        Self {
            err,
            quiet: args.quiet,
            watched: watched && !args.quiet,
            next: 0,
            open_line: false,
        }
    }

    fn show(&mut self, now: u64, reader: &Reader<'_>) -> io::Result<()> {
        if !self.watched || now < self.next {
            return Ok(());
        }
        self.next = now + nanos(PROGRESS);
        let counts = reader.counts();
        let read = thousands(counts.iter().map(|c| c.read).sum());
        let lost = thousands(counts.iter().map(|c| c.lost).sum());
        write!(
            self.err,
            "\r\x1b[K{read} records, {lost} lost; end with Ctrl-C"
        )?;
        self.open_line = true;
        self.err.flush()
    }

    fn clear(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open_line) {
            write!(self.err, "\r\x1b[K")?;
        }
        Ok(())
    }

    /// A line that is said even to quiet users.
    fn say(&mut self, text: &str) -> io::Result<()> {
        self.clear()?;
        writeln!(self.err, "pmonread: {text}")
    }

    fn summary(&mut self, t: &Trailer, elapsed: u64, path: Option<&Path>) -> io::Result<()> {
        self.clear()?;
        if self.quiet {
            return Ok(());
        }
        let (produced, read, lost) = t.sums();
        let name = path.map_or("standard output".to_owned(), |p| p.display().to_string());
        let size = path.and_then(|p| fs::metadata(p).ok()).map(|m| m.len());
        let size = size.map_or(String::new(), |s| format!(" ({})", crate::output::bytes(s)));
        writeln!(self.err, "recorded {} s to {name}{size}", seconds(elapsed))?;
        writeln!(
            self.err,
            "records: produced {} {} read {} + lost {}",
            thousands(produced),
            if t.adds_up() { "=" } else { "IS NOT" },
            thousands(read),
            thousands(lost)
        )
    }

    fn notes(&mut self, session: &Session, t: &Trailer) -> io::Result<()> {
        for ring in t
            .rings
            .iter()
            .filter(|r| r.read.checked_add(r.lost) != Some(r.produced))
        {
            let text = format!(
                "CPU {}: produced {} is not read {} + lost {}: records are missing that nothing \
                    accounts for",
                ring.cpu, ring.produced, ring.read, ring.lost
            );
            self.say(&text)?;
        }
        if self.quiet {
            return Ok(());
        }
        let (_, _, lost) = t.sums();
        if lost != 0 {
            writeln!(
                self.err,
                "note: records were lost; make periods longer or rings larger (-m)"
            )?;
        }
        if t.late != 0 {
            let late = thousands(t.late);
            writeln!(
                self.err,
                "note: {late} records came too late to be in the order of time"
            )?;
        }
        let polled = |c: &&pmon::Counter| {
            let event = session.events().get(c.event);
            c.mode == Mode::Poll && event.is_some_and(|e| e.period.is_some())
        };
        let mut units: Vec<_> = session
            .counters()
            .iter()
            .filter(polled)
            .map(|c| c.place.unit.name())
            .collect();
        units.sort_unstable();
        units.dedup();
        if !units.is_empty() {
            let units = units.join(" and ");
            writeln!(
                self.err,
                "note: {units} in mode poll: ip, pid and tid are those of the timer"
            )?;
        }
        Ok(())
    }
}
