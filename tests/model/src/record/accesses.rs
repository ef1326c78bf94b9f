// SPDX-License-Identifier: GPL-2.0-only
//! Counts of register accesses: the cost of a driver that does not depend on the host.

use std::collections::BTreeMap;

use serde_json::{json, Map, Value};

/// Reads and writes of each kind of register.
#[derive(Clone, Debug, Default)]
struct ByKind(BTreeMap<&'static str, [u64; 2]>);

impl ByKind {
    fn add(&mut self, kind: &'static str, write: bool) {
        self.0.entry(kind).or_default()[usize::from(write)] += 1;
    }

    fn total(&self) -> u64 {
        self.0.values().flatten().sum()
    }

    fn to_json(&self) -> Value {
        let rows = self.0.iter().map(|(kind, [read, write])| {
            ((*kind).to_string(), json!({ "read": read, "write": write }))
        });
        Value::Object(rows.collect::<Map<_, _>>())
    }
}

/// Accesses to the uncore of each socket, and to the core registers of all CPUs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    sockets: Vec<ByKind>,
    core: ByKind,
}

impl Accesses {
    /// Forgets all but the number of sockets.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            sockets: vec![ByKind::default(); self.sockets.len()],
            ..Self::default()
        };
    }

    /// Counts one access to an uncore register of kind `kind`.
    pub(crate) fn uncore(&mut self, socket: usize, kind: &'static str, write: bool) {
        if self.sockets.len() <= socket {
            self.sockets.resize_with(socket + 1, ByKind::default);
        }
        self.sockets[socket].add(kind, write);
    }

    /// Counts one access to a core register of kind `kind`.
    pub(crate) fn core(&mut self, kind: &'static str, write: bool) {
        self.core.add(kind, write);
    }

    /// The answer of control command `accesses`, for a machine of `sockets` sockets.
    pub(crate) fn to_json(&self, sockets: usize) -> Value {
        let none = ByKind::default();
        let rows: Vec<Value> = (0..sockets)
            .map(|socket| {
                let kinds = self.sockets.get(socket).unwrap_or(&none);
                json!({ "socket": socket, "total": kinds.total(), "by_kind": kinds.to_json() })
            })
            .collect();
        let uncore: u64 = self.sockets.iter().map(ByKind::total).sum();
        json!({
            "total": uncore + self.core.total(),
            "sockets": rows,
            "core": { "total": self.core.total(), "by_kind": self.core.to_json() },
        })
    }
}
