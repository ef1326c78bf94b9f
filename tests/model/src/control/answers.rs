// SPDX-License-Identifier: GPL-2.0-only
//! The JSON answers of the commands. All counters are settled before.

use serde_json::{json, Map, Value};

use crate::core_pmu::cpu::Cpu;
use crate::core_pmu::registers::{self, Role as CoreRole};
use crate::counter::Counter;
use crate::model::Model;
use crate::uncore::access::places;
use crate::uncore::pmon_box::PmonBox;
use crate::uncore::socket::{box_index, Socket};
use crate::uncore::tables::{Role, CBOX, UNITS};

/// The words of a CPU's counters: `0`, `1`, …, `fixed0`, ….
pub(crate) fn core_counters(cpu: &Cpu) -> Vec<String> {
    (0..cpu.counters.len())
        .map(|i| match i.checked_sub(cpu.general) {
            Some(fixed) => format!("fixed{fixed}"),
            None => i.to_string(),
        })
        .collect()
}

/// One number of each counter of a box, as decimal strings.
fn box_numbers(pmon_box: &PmonBox, number: fn(&Counter) -> u128) -> Value {
    let rows = pmon_box.row().counters.iter().zip(&pmon_box.counters);
    let all = rows.map(|(row, c)| (row.word.to_string(), number(&c.count).to_string().into()));
    Value::Object(all.collect::<Map<_, _>>())
}

/// One number of each counter of a CPU, as decimal strings.
fn core_numbers(cpu: &Cpu, number: fn(&Counter) -> u128) -> Map<String, Value> {
    let rows = core_counters(cpu).into_iter().zip(&cpu.counters);
    rows.map(|(word, c)| (word, number(&c.count).to_string().into()))
        .collect()
}

/// One number of each counter of a socket, by unit: a list of boxes where there can be several.
fn socket_numbers(
    socket: &Socket,
    cbos: usize,
    number: fn(&Counter) -> u128,
) -> Map<String, Value> {
    let units = UNITS.iter().enumerate().map(|(unit, row)| {
        let boxes = if unit == CBOX { cbos } else { row.boxes };
        let mut all = (0..boxes).map(|n| box_numbers(&socket.boxes[box_index(unit, n)], number));
        let value = if row.boxes == 1 {
            all.next()
        } else {
            Some(all.collect())
        };
        (row.word.to_string(), value.unwrap_or_default())
    });
    units.collect()
}

/// `truth`.
pub(crate) fn truth(model: &Model) -> Value {
    let truth = |count: &Counter| count.truth;
    let sockets = model.sockets.iter().enumerate().map(|(i, socket)| {
        let mut row = socket_numbers(socket, model.cbos(i), truth);
        row.insert("socket".into(), i.into());
        Value::Object(row)
    });
    let cpus = model.cpus.iter().enumerate().map(|(i, cpu)| {
        let mut row = core_numbers(cpu, truth);
        row.insert("cpu".into(), i.into());
        Value::Object(row)
    });
    json!({
        "now_ns": model.now,
        "sockets": sockets.collect::<Vec<_>>(),
        "cpus": cpus.collect::<Vec<_>>(),
    })
}

/// `overflows`.
pub(crate) fn overflows(model: &Model) -> Value {
    let carries = |count: &Counter| count.carries;
    let sockets = model.sockets.iter().enumerate().map(|(i, socket)| {
        let c = &socket.consequences;
        // A freeze that still lasts counts up to now.
        let lasting = socket.freeze_since.map_or(0, |since| model.now - since);
        json!({
            "socket": i,
            "carries": socket_numbers(socket, model.cbos(i), carries),
            "pmis_sent": c.pmis,
            "freezes": c.freezes,
            "freezes_commanded": c.commanded,
            "frozen": socket.freeze_since.is_some(),
            "frozen_ns": c.frozen_ns + lasting,
            "longest_frozen_ns": c.longest_ns.max(lasting),
        })
    });
    let cpus = model.cpus.iter().enumerate().map(|(i, cpu)| {
        let n = &cpu.interrupts;
        json!({
            "cpu": i,
            "carries": core_numbers(cpu, carries),
            "pmis": {
                "core": n.core,
                "uncore": n.uncore,
                "delivered": n.delivered,
                "dropped_masked": n.masked,
                "dropped_asleep": n.asleep,
                "dropped_debugctl13": n.disabled,
            },
        })
    });
    json!({ "sockets": sockets.collect::<Vec<_>>(), "cpus": cpus.collect::<Vec<_>>() })
}

/// `regs`: every register by its name; null for a counter that runs.
pub(crate) fn registers(model: &mut Model) -> Value {
    let mut all = Map::new();
    for socket in 0..model.sockets.len() {
        for place in places(model.cbos(socket)) {
            let pmon_box = &model.sockets[socket].boxes[box_index(place.unit, place.number)];
            let runs = matches!(place.register.role, Role::Ctr(i) if pmon_box.runs(i));
            let value = model.read_uncore(socket, &place);
            all.insert(format!("socket{socket}.{}", place.name()), hex(value, runs));
        }
    }
    for (cpu, state) in model.cpus.iter().enumerate() {
        for (msr, register) in registers::all(state.general) {
            let runs = match register.role {
                CoreRole::Counter(i) | CoreRole::FullCounter(i) => state.runs(i),
                CoreRole::Fixed(i) => state.runs(state.fixed(i)),
                CoreRole::Residency(_) => true,
                _ => false,
            };
            let value = model.read_core(cpu, msr, register.role);
            all.insert(format!("cpu{cpu}.{}", register.name()), hex(value, runs));
        }
    }
    Value::Object(all)
}

fn hex(value: u64, runs: bool) -> Value {
    if runs {
        Value::Null
    } else {
        format!("{value:#x}").into()
    }
}

/// `report`.
pub(crate) fn everything(model: &Model) -> Value {
    let marks = model
        .marks
        .iter()
        .map(|(ns, text)| json!({ "ns": ns, "text": text }));
    json!({
        "settings": model.settings.to_json(),
        "truth": truth(model),
        "accesses": model.accesses.to_json(model.sockets.len()),
        "violations": model.violations.to_json(),
        "overflows": overflows(model),
        "marks": marks.collect::<Vec<_>>(),
    })
}
