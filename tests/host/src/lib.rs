// SPDX-License-Identifier: GPL-2.0-only

//! The module's pure part as a program of the host, with the hardware model in place of the
//! hardware. `hw` and `logic` are the module's own files.
//!
//! [`bus`] is the seam: registers of the model, a recorder and a source of faults around them.
//! [`driver`] plays the part of the module that only a kernel can run: which half of a service
//! follows which, on an interrupt, at a look, at a stop.

// Formatted as part of the module.
#[rustfmt::skip]
#[path = "../../../rust/hw/mod.rs"]
pub mod hw;
#[rustfmt::skip]
#[path = "../../../rust/logic/mod.rs"]
pub mod logic;

#[path = "../../../userspace/pmon/src/atomic.rs"]
pub mod atomic;

pub mod abi;
pub mod bus;
pub mod driver;
pub mod memory;
pub mod sample;
