// SPDX-License-Identifier: GPL-2.0-only

//! Registers of the CPU this runs on. Accesses that fault are an error, not an oops; that holds in
//! NMI context too.

use super::bindings;
use crate::logic::registers::{HwError, Reg, Registers};

/// The local CPU's registers. Whoever makes one does not migrate while it is used.
pub(crate) struct LocalRegisters;

impl Registers for LocalRegisters {
    #[inline]
    fn read(&mut self, reg: Reg) -> Result<u64, HwError> {
        let Reg::Msr(address) = reg;
        let mut value = 0;
        // SAFETY: `value` is valid for the call; a fault is caught.
        match unsafe { bindings::pmon_shim_rdmsr(address, &mut value) } {
            0 => Ok(value),
            _ => Err(HwError::Fault(reg)),
        }
    }

    #[inline]
    fn write(&mut self, reg: Reg, value: u64) -> Result<(), HwError> {
        let Reg::Msr(address) = reg;
        // SAFETY: a fault is caught; which registers may be written is decided by `hw`'s tables.
        match unsafe { bindings::pmon_shim_wrmsr(address, value) } {
            0 => Ok(()),
            _ => Err(HwError::Fault(reg)),
        }
    }

    fn now(&mut self) -> u64 {
        now()
    }
}

/// Time since `start`, ns. The clock may step back a little between two looks in NMI context.
pub(crate) fn since(start: u64) -> u64 {
    now().saturating_sub(start)
}

/// CLOCK_MONOTONIC, ns, in any context.
pub(crate) fn now() -> u64 {
    // SAFETY: made for NMI context.
    unsafe { bindings::ktime_get_mono_fast_ns() }
}
