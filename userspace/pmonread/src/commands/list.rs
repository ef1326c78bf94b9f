// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread list`: units, named events and terms.

use crate::{
    args::ListArgs,
    exit::Exit,
    output::{json_line, Align, Table},
    Context,
};
use pmon::{
    event::{fields, Field, Target, NAMES},
    Unit,
};
use serde::Serialize;
use std::io::{self, Write};

/// Terms that are no fields: name, units, what they do.
const OPTIONS: [(&str, &[Unit], &str); 7] = [
    (
        "period=N",
        &Unit::ALL,
        "a sample each N events; also with k, M or G",
    ),
    (
        "leader",
        &Unit::ALL,
        "its samples have the totals of all counters of socket and CPU",
    ),
    ("counter=N", &Unit::ALL, "this counter of the box, not any"),
    (
        "fixed",
        &[Unit::Ubox, Unit::Core],
        "the fixed counter of the named event; or fixed=N",
    ),
    (
        "socket=N",
        &[Unit::Ubox, Unit::Cbox, Unit::Pcu],
        "only this socket, or these: socket=0-1",
    ),
    (
        "u",
        &[Unit::Core],
        "only user mode; may also follow the last /",
    ),
    (
        "k",
        &[Unit::Core],
        "only kernel mode; may also follow the last /",
    ),
];

#[derive(Serialize)]
struct Line<'a> {
    r#type: &'a str,
    unit: &'a str,
    name: &'a str,
    alias: Option<&'a str>,
    max: Option<u64>,
    register: Option<String>,
    bits: Option<String>,
    about: &'a str,
}

pub(crate) fn run(args: &ListArgs, cx: &mut Context<'_>) -> anyhow::Result<Exit> {
    let word = args.word.as_deref().unwrap_or("");
    let lines: Vec<_> = Unit::ALL
        .into_iter()
        .flat_map(of_unit)
        .filter(|line| fits(line, word))
        .collect();
    if lines.is_empty() {
        anyhow::bail!("nothing has `{word}` in its name or description; `pmonread list` shows all");
    }
    if args.json {
        lines.iter().try_for_each(|line| json_line(cx.out, line))?;
    } else {
        text(cx.out, &lines)?;
    }
    Ok(Exit::Success)
}

fn of_unit(unit: Unit) -> Vec<Line<'static>> {
    let base = |r#type, name, about| Line {
        r#type,
        unit: unit.name(),
        name,
        alias: None,
        max: None,
        register: None,
        bits: None,
        about,
    };
    let names = NAMES.iter().filter(|n| n.unit == unit);
    let events = names.map(|n| base("event", n.name, n.about));
    let terms = fields(unit).iter().map(|f| Line {
        alias: f.alias,
        max: Some(f.max()),
        register: Some(register(f)),
        bits: Some(bits(f)),
        ..base("field", f.name, f.about)
    });
    let options = OPTIONS.iter().filter(|(_, units, _)| units.contains(&unit));
    let options = options.map(|(name, _, about)| base("option", name, about));
    events.chain(terms).chain(options).collect()
}

fn register(field: &Field) -> String {
    match field.target {
        Target::Config => "config".to_owned(),
        Target::Filter(index) => format!("filter{index}"),
    }
}

fn bits(field: &Field) -> String {
    match field.bits {
        1 => field.shift.to_string(),
        bits => format!("{}:{}", field.shift + bits - 1, field.shift),
    }
}

fn fits(line: &Line<'_>, word: &str) -> bool {
    let word = word.to_lowercase();
    line.unit == word || line.name.contains(&word) || line.about.to_lowercase().contains(&word)
}

fn text(out: &mut dyn Write, lines: &[Line<'_>]) -> io::Result<()> {
    for unit in Unit::ALL {
        let of_unit = || lines.iter().filter(|l| l.unit == unit.name());
        if of_unit().next().is_none() {
            continue;
        }
        writeln!(out, "{unit}: {}", unit.about())?;
        let left = Align::Left;
        let mut table = Table::new(&[("", left), ("", left), ("", left)]);
        for line in of_unit() {
            let (name, place) = match (line.r#type, &line.register, &line.bits) {
                ("event", ..) => (format!("{}/{}/", line.unit, line.name), String::new()),
                (_, Some(register), Some(bits)) => {
                    let value = if line.max == Some(1) { "" } else { "=N" };
                    (
                        format!("{}{value}", line.name),
                        format!("{register} {bits}"),
                    )
                }
                _ => (line.name.to_owned(), String::new()),
            };
            table.row([name, place, line.about.to_owned()]);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    Ok(())
}
