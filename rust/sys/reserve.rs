// SPDX-License-Identifier: GPL-2.0-only

//! Reservation of the core PMU's general counters, which perf and the NMI watchdog respect.

use super::bindings as b;
use crate::hw::core_pmu::{
    IA32_PERFEVTSEL0,
    IA32_PMC0, //
};
use kernel::prelude::*;

/// All general counters of all CPUs; given back when dropped.
pub(crate) struct CorePmuReservation(u32);

impl CorePmuReservation {
    /// Takes `counters` general counters, or names the one that somebody has.
    pub(crate) fn new(counters: u32) -> Result<Self> {
        let mut taken = Self(0);
        for i in 0..counters {
            // SAFETY: takes any address; 0 means that it is taken.
            if unsafe { b::reserve_perfctr_nmi(IA32_PMC0 + i) } == 0 {
                return Err(busy("IA32_PMC", i));
            }
            // SAFETY: as above.
            if unsafe { b::reserve_evntsel_nmi(IA32_PERFEVTSEL0 + i) } == 0 {
                // SAFETY: reserved right above.
                unsafe { b::release_perfctr_nmi(IA32_PMC0 + i) };
                return Err(busy("IA32_PERFEVTSEL", i));
            }
            taken.0 += 1;
        }
        Ok(taken)
    }
}

fn busy(register: &str, i: u32) -> Error {
    pr_warn!(
        "{register}{i} is reserved by perf or by the NMI watchdog (a perf event on each CPU): end \
         perf's hardware events, and 'sysctl kernel.nmi_watchdog=0'\n"
    );
    EBUSY
}

impl Drop for CorePmuReservation {
    fn drop(&mut self) {
        for i in 0..self.0 {
            // SAFETY: reserved in `new`.
            unsafe {
                b::release_perfctr_nmi(IA32_PMC0 + i);
                b::release_evntsel_nmi(IA32_PERFEVTSEL0 + i);
            }
        }
    }
}
