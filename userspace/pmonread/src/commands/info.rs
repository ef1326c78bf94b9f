// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! `pmonread info`: the machine.

use crate::{
    args::InfoArgs,
    exit::Exit,
    output::{json_line, thousands, Align, Table},
    Context,
};
use pmon::{abi, BoxInfo, Machine, Unit};
use serde::Serialize;
use std::io::{self, Write};

/// Architectural events, by bit of `core_absent_events` (SDM volume 2, CPUID leaf 0AH, EBX).
const ARCHITECTURAL: [&str; 7] = [
    "cycles",
    "instructions",
    "ref-cycles",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
];

#[derive(Serialize)]
struct MachineLine {
    r#type: &'static str,
    abi_version: u32,
    family: u32,
    model: u32,
    stepping: u32,
    sockets: u32,
    cpus: u32,
    core_version: u32,
    core_counters: u32,
    core_fixed: u32,
    core_width: u32,
    absent_events: Vec<&'static str>,
    min_period: u64,
    poll_interval_us: u32,
    max_rate: u64,
}

#[derive(Serialize)]
struct UnitLine {
    r#type: &'static str,
    unit: &'static str,
    socket: Option<u32>,
    r#box: u32,
    mode: &'static str,
    counters: u32,
    width: u32,
    fixed: u32,
    fixed_width: u32,
    pmi_cpu: u32,
    in_use: bool,
    needs_debugctl: bool,
    no_freeze: bool,
    config_mask: String,
    filter_mask: [String; 4],
}

pub(crate) fn run(args: &InfoArgs, cx: &mut Context<'_>) -> anyhow::Result<Exit> {
    let session = (cx.open)()?;
    let machine = session.machine();
    if args.json {
        json(cx.out, machine)?;
    } else {
        text(cx.out, machine)?;
    }
    Ok(Exit::Success)
}

fn json(out: &mut dyn Write, machine: &Machine) -> io::Result<()> {
    let info = &machine.info;
    json_line(
        out,
        &MachineLine {
            r#type: "machine",
            abi_version: info.abi_version,
            family: info.cpu_family,
            model: info.cpu_model,
            stepping: info.cpu_stepping,
            sockets: info.nr_sockets,
            cpus: info.nr_cpus,
            core_version: info.core_version,
            core_counters: info.core_counters,
            core_fixed: info.core_fixed,
            core_width: info.core_width,
            absent_events: absent(info),
            min_period: info.min_period,
            poll_interval_us: info.poll_interval_us,
            max_rate: info.max_rate,
        },
    )?;
    machine
        .boxes
        .iter()
        .try_for_each(|b| json_line(out, &unit_line(machine, b)))
}

fn unit_line(machine: &Machine, b: &BoxInfo) -> UnitLine {
    let flag = |bit| b.info.flags & bit != 0;
    UnitLine {
        r#type: "unit",
        unit: b.unit.name(),
        socket: machine.socket_of(b.unit, b.socket, b.index),
        r#box: b.index,
        mode: b.mode.name(),
        counters: b.info.counters,
        width: b.info.width,
        fixed: b.info.fixed,
        fixed_width: b.info.fixed_width,
        pmi_cpu: b.info.pmi_cpu,
        in_use: flag(abi::PMON_UNIT_IN_USE),
        needs_debugctl: flag(abi::PMON_UNIT_NEEDS_DEBUGCTL),
        no_freeze: flag(abi::PMON_UNIT_NO_FREEZE),
        config_mask: format!("{:#x}", b.info.config_mask),
        filter_mask: b.info.filter_mask.map(|mask| format!("{mask:#x}")),
    }
}

fn absent(info: &abi::pmon_info) -> Vec<&'static str> {
    let bits = (0..).zip(ARCHITECTURAL);
    bits.filter(|(bit, _)| (info.core_absent_events >> bit) & 1 != 0)
        .map(|(_, name)| name)
        .collect()
}

fn text(out: &mut dyn Write, machine: &Machine) -> io::Result<()> {
    let info = &machine.info;
    writeln!(
        out,
        "machine   family {} model {} stepping {}, {} sockets with an uncore, {} CPUs",
        info.cpu_family, info.cpu_model, info.cpu_stepping, info.nr_sockets, info.nr_cpus
    )?;
    writeln!(
        out,
        "core      architectural version {}, {} counters of {} bits, {} fixed",
        info.core_version, info.core_counters, info.core_width, info.core_fixed
    )?;
    if !absent(info).is_empty() {
        writeln!(out, "          not available: {}", absent(info).join(", "))?;
    }
    writeln!(
        out,
        "sampling  periods from {} events; mode poll looks each {} us; throttled above {}/s and \
            CPU",
        thousands(info.min_period),
        thousands(info.poll_interval_us.into()),
        thousands(info.max_rate)
    )?;
    writeln!(out, "module    ABI version {}\n", info.abi_version)?;
    table(machine).write(out)
}

/// A row for each run of boxes that are alike.
fn table(machine: &Machine) -> Table {
    let (left, right) = (Align::Left, Align::Right);
    let mut table = Table::new(&[
        ("unit", left),
        ("socket", right),
        ("mode", left),
        ("counters", right),
        ("bits", right),
        ("fixed", right),
        ("bits", right),
        ("PMI on CPU", right),
        ("notes", left),
    ]);
    let mut rest = &machine.boxes[..];
    while let Some(first) = rest.first() {
        let alike = rest.iter().take_while(|b| cells(b) == cells(first)).count();
        let (run, others) = rest.split_at(alike);
        rest = others;
        let last = run.last().map_or(first.index, |b| b.index);
        let name = match first.unit {
            unit if last == first.index => format!("{unit}{last}"),
            unit => format!("{unit}{}-{last}", first.index),
        };
        table.row(std::iter::once(name).chain(cells(first)));
    }
    table
}

fn cells(b: &BoxInfo) -> [String; 8] {
    let core = b.unit == Unit::Core;
    let dash = "-".to_owned();
    [
        if core {
            dash.clone()
        } else {
            b.socket.to_string()
        },
        b.mode.to_string(),
        b.info.counters.to_string(),
        b.info.width.to_string(),
        b.info.fixed.to_string(),
        if b.info.fixed == 0 {
            dash
        } else {
            b.info.fixed_width.to_string()
        },
        if core {
            "itself".to_owned()
        } else {
            b.info.pmi_cpu.to_string()
        },
        notes(b.info.flags),
    ]
}

fn notes(flags: u32) -> String {
    let notes = [
        (abi::PMON_UNIT_IN_USE, "in use by somebody else"),
        (
            abi::PMON_UNIT_NEEDS_DEBUGCTL,
            "PMI needs IA32_DEBUGCTL bit 13",
        ),
        (
            abi::PMON_UNIT_NO_FREEZE,
            "overflow does not freeze the socket",
        ),
    ];
    let set = notes
        .iter()
        .filter(|(bit, _)| flags & bit != 0)
        .map(|(_, text)| *text);
    set.collect::<Vec<_>>().join(", ")
}
