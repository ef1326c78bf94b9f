// SPDX-License-Identifier: GPL-2.0-only
//! The uncore of a socket: unit tables, boxes, rules for writes.

pub(crate) mod access;
pub(crate) mod check;
pub(crate) mod layout;
pub(crate) mod pmon_box;
pub(crate) mod socket;
pub(crate) mod tables;
