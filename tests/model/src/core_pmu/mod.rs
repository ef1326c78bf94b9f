// SPDX-License-Identifier: GPL-2.0-only
//! The performance monitoring of a core: architectural version 3, per logical CPU.

pub(crate) mod access;
pub(crate) mod cpu;
pub(crate) mod cpuid;
pub(crate) mod ratios;
pub(crate) mod registers;
pub(crate) mod write;
