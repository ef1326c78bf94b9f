// SPDX-License-Identifier: GPL-2.0-only

//! The PMI: the kernel's NMI handler calls this on every NMI.
//!
//! What follows is [`crate::percpu::Cpu`]'s `on_nmi` and `service`: unmask LVTPC, read
//! U_MSR_PMON_GLOBAL_STATUS, the box's status, the session's counters; one record; reload; clear
//! the statuses; unfreeze.

use crate::{
    machine,
    sys::nmi::Interrupted, //
};

/// Handles an NMI. Returns the overflows that were handled: with more than one the NMI core knows
/// that a second NMI may be on its way. 0: it is somebody else's.
// NMI: see `percpu`.
pub(crate) fn handle(at: Interrupted) -> u32 {
    // SAFETY: NMI context, on the CPU that is named.
    machine::this_cpu().map_or(0, |cpu| unsafe { cpu.on_nmi(at) })
}
