// SPDX-License-Identifier: GPL-2.0-only
//! What software did that the manuals forbid.

use serde_json::{json, Value};

/// The rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A reserved bit was written as 1.
    ReservedBit,
    /// BOX_CTL 17:16 were not both written as 1 (329468-002 table 2-13).
    MustBeOne,
    /// The part has no such register.
    AbsentRegister,
    /// A read-only register was written.
    ReadOnly,
    /// The uncore of another socket than that of `only-socket` was accessed.
    WrongSocket,
    /// A counter was written while it ran.
    RunningCounter,
    /// A counter's control was changed while it ran, other than to stop it.
    RunningControl,
    /// A filter was changed while a counter of its box ran.
    RunningFilter,
    /// GLOBAL_CTL was written with both `frz_all` and `unfrz_all`.
    BothCommands,
    /// `edge_det` or `occ_edge_det` was set with a threshold of 0.
    EdgeWithoutThreshold,
    /// `occ_invert` was set with a threshold of 0 (table 2-121).
    InvertWithoutThreshold,
    /// The counter cannot count the event.
    EventNotAllowed,
    /// Two criteria of CBo FILTER0 were applied at a time (table 2-16).
    TwoFilters,
}

impl Kind {
    /// The word in the control channel's answers.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReservedBit => "reserved-bit",
            Self::MustBeOne => "must-be-one",
            Self::AbsentRegister => "absent-register",
            Self::ReadOnly => "read-only",
            Self::WrongSocket => "wrong-socket",
            Self::RunningCounter => "running-counter",
            Self::RunningControl => "running-control",
            Self::RunningFilter => "running-filter",
            Self::BothCommands => "both-commands",
            Self::EdgeWithoutThreshold => "edge-without-threshold",
            Self::InvertWithoutThreshold => "invert-without-threshold",
            Self::EventNotAllowed => "event-not-allowed",
            Self::TwoFilters => "two-filters",
        }
    }
}

/// One broken rule.
#[derive(Clone, Debug)]
pub struct Violation {
    /// When, ns of virtual time.
    pub ns: u64,
    /// Which logical CPU.
    pub cpu: usize,
    /// The socket of the register.
    pub socket: usize,
    /// The manual's name with the box's number, or `MSR_0x…` for one that does not exist.
    pub register: String,
    /// Its MSR address, or the index of an RDPMC.
    pub address: u32,
    /// The rule.
    pub kind: Kind,
    /// What was written; 0 for a read.
    pub value: u64,
}

/// Most violations that are kept; the total goes on.
const KEPT: usize = 1000;

/// All broken rules since the start or the last `violations clear`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Violations {
    kept: Vec<Violation>,
    total: u64,
}

impl Violations {
    /// Records one.
    pub(crate) fn add(&mut self, violation: Violation) {
        self.total += 1;
        if self.kept.len() < KEPT {
            self.kept.push(violation);
        }
    }

    /// Those that were kept, oldest first.
    pub(crate) fn kept(&self) -> &[Violation] {
        &self.kept
    }

    /// The answer of control command `violations`.
    pub(crate) fn to_json(&self) -> Value {
        let rows: Vec<Value> = self
            .kept
            .iter()
            .map(|v| {
                json!({
                    "ns": v.ns,
                    "cpu": v.cpu,
                    "socket": v.socket,
                    "register": v.register,
                    "address": format!("{:#x}", v.address),
                    "kind": v.kind.word(),
                    "value": format!("{:#x}", v.value),
                })
            })
            .collect();
        json!({ "total": self.total, "violations": rows })
    }
}
