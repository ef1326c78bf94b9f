// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Records for people.

use super::{
    export::{counter_place, mode_letters, own_total, Exporter, Labels},
    number::{seconds, thousands},
};
use crate::args::Column;
use clap::ValueEnum;
use pmon::{
    recording::{Header, Trailer},
    wire::record::{Record, Sample},
    Merged,
};
use std::io::{self, Write};

/// Writes records as text.
pub(crate) struct Text<'a> {
    out: &'a mut dyn Write,
    columns: Vec<Column>,
    /// Totals in every sample.
    values: bool,
    /// Width of the longest box and event.
    widths: (usize, usize),
}

impl<'a> Text<'a> {
    /// `columns` are all when there are none.
    pub(crate) fn new(out: &'a mut dyn Write, columns: &[Column], values: bool) -> Self {
        let all = Column::value_variants();
        let columns = if columns.is_empty() { all } else { columns };
        Self {
            out,
            columns: columns.to_vec(),
            values,
            widths: (0, 0),
        }
    }

    fn title(&self, column: Column) -> String {
        self.pad(column, title(column))
    }

    fn pad(&self, column: Column, cell: &str) -> String {
        let width = match column {
            Column::Time => 18,
            Column::Cpu => 4,
            Column::Socket => 6,
            Column::Task => 15,
            Column::Mode => 4,
            Column::Ip => 18,
            Column::Periods => 7,
            Column::Overshoot => 9,
            Column::Total => 16,
            Column::Box => self.widths.0,
            Column::Event => self.widths.1,
        };
        match column {
            Column::Box | Column::Event | Column::Mode => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        }
    }

    fn sample(&mut self, sample: &Sample<'_>, labels: &Labels) -> io::Result<()> {
        let cells = self
            .columns
            .iter()
            .map(|&c| self.pad(c, &cell(c, sample, labels)));
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(self.out, "{}", line.trim_end())?;
        if self.values || (sample.overflow.leader && sample.values().count() > 1) {
            let boxes = self.widths.0;
            for (id, total) in sample.values() {
                let place = counter_place(labels, id);
                let (total, event) = (thousands(total), labels.event(id));
                writeln!(self.out, "  {total:>26}  {place:<boxes$}  {event}")?;
            }
        }
        Ok(())
    }
}

fn title(column: Column) -> &'static str {
    match column {
        Column::Time => "time, s",
        Column::Cpu => "cpu",
        Column::Socket => "socket",
        Column::Task => "pid/tid",
        Column::Mode => "mode",
        Column::Ip => "ip",
        Column::Box => "box",
        Column::Event => "event",
        Column::Periods => "periods",
        Column::Overshoot => "overshoot",
        Column::Total => "total",
    }
}

fn cell(column: Column, sample: &Sample<'_>, labels: &Labels) -> String {
    let cx = &sample.context;
    match column {
        Column::Time => seconds(cx.time),
        Column::Cpu => cx.cpu.to_string(),
        Column::Socket => cx.socket.to_string(),
        Column::Task => format!("{}/{}", cx.pid, cx.tid),
        Column::Mode => mode_letters(sample),
        Column::Ip => format!("{:#x}", cx.ip),
        Column::Box => counter_place(labels, sample.overflow.id).to_owned(),
        Column::Event => labels.event(sample.overflow.id).to_owned(),
        Column::Periods => thousands(sample.overflow.periods),
        Column::Overshoot => thousands(sample.overflow.overshoot),
        Column::Total => own_total(sample).map_or("-".to_owned(), thousands),
    }
}

impl Exporter for Text<'_> {
    fn header(&mut self, header: &Header) -> io::Result<()> {
        let m = &header.machine;
        let longest = |cells: &mut dyn Iterator<Item = usize>| cells.max().unwrap_or(0);
        self.widths = (
            longest(&mut header.counters.iter().map(|c| c.place().len())).max(3),
            longest(&mut header.counters.iter().map(|c| c.label.len())).max(5),
        );
        writeln!(
            self.out,
            "# {} on {}: family {} model {} stepping {}, {} sockets, {} CPUs, kernel {}",
            header.program, m.host, m.family, m.model, m.stepping, m.sockets, m.cpus, m.kernel
        )?;
        if !header.command.is_empty() {
            writeln!(self.out, "# command: {}", header.command.join(" "))?;
        }
        for (index, event) in header.events.iter().enumerate() {
            let counters = header.counters.iter().filter(|c| c.event == index);
            let mut modes: Vec<_> = counters.clone().map(|c| c.mode.as_str()).collect();
            modes.dedup();
            let (boxes, modes) = (counters.count(), modes.join("+"));
            writeln!(self.out, "# event: {event}, counters {boxes}, mode {modes}")?;
        }
        let titles: Vec<_> = self.columns.iter().map(|&c| self.title(c)).collect();
        // The `#` takes the place of a blank: the first title is shorter than its column.
        let titles = titles.join("  ");
        let line = titles.strip_prefix("  ").unwrap_or(&titles).trim_end();
        writeln!(self.out, "# {line}")
    }

    fn record(&mut self, merged: &Merged, record: &Record<'_>, labels: &Labels) -> io::Result<()> {
        let (time, cpu) = (seconds(record.time()), merged.cpu);
        match *record {
            Record::Sample(ref sample) => self.sample(sample, labels),
            Record::Lost { lost, .. } => {
                writeln!(
                    self.out,
                    "{time:>18}  {cpu:>4}  lost {} records",
                    thousands(lost)
                )
            }
            Record::Throttle { id, period, .. } => {
                let (event, place) = (labels.event(id), counter_place(labels, id));
                let period = thousands(period);
                writeln!(
                    self.out,
                    "{time:>18}  {cpu:>4}  period of {event} on {place} is now {period}"
                )
            }
            Record::Other { kind, .. } => {
                writeln!(
                    self.out,
                    "{time:>18}  {cpu:>4}  record of unknown type {kind}"
                )
            }
        }
    }

    fn trailer(&mut self, trailer: &Trailer, labels: &Labels) -> io::Result<()> {
        let (produced, read, lost) = trailer.sums();
        writeln!(
            self.out,
            "# records: produced {} = read {} + lost {}",
            thousands(produced),
            thousands(read),
            thousands(lost)
        )?;
        for ring in trailer
            .rings
            .iter()
            .filter(|r| r.lost != 0 || r.damaged != 0)
        {
            writeln!(
                self.out,
                "# CPU {}: produced {}, read {}, lost {}, found damaged {} times",
                ring.cpu,
                thousands(ring.produced),
                thousands(ring.read),
                thousands(ring.lost),
                ring.damaged
            )?;
        }
        for (id, total) in (0..).zip(&trailer.totals) {
            let boxes = self.widths.0;
            let (place, event) = (counter_place(labels, id), labels.event(id));
            let total = thousands(total.total);
            writeln!(self.out, "# total: {total:>20}  {place:<boxes$}  {event}")?;
        }
        Ok(())
    }
}
