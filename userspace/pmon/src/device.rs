// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The seam between the library and the device: one method a call of the header.

use crate::{abi, errno::CallError, unit::Unit, wire::ring::Memory, Error};
use std::{os::fd::BorrowedFd, time::Duration};

/// One session of the device. [`crate::DevPmon`] is the kernel's; tests have one in memory.
///
/// Methods fill in the `size` fields of the structs.
pub trait Device {
    /// `PMON_IOC_INFO`.
    fn info(&self) -> Result<abi::pmon_info, CallError>;

    /// `PMON_IOC_UNIT`; `index` is the box, or the CPU.
    fn unit(&self, unit: Unit, socket: u32, index: u32) -> Result<abi::pmon_unit_info, CallError>;

    /// `PMON_IOC_ADD`; fills in what the kernel chose.
    fn add(&self, counter: &mut abi::pmon_counter) -> Result<(), CallError>;

    /// `PMON_IOC_RINGS`, and the mapping.
    fn make_rings(&self, rings: &mut abi::pmon_rings) -> Result<Box<dyn RingMemory>, Error>;

    /// `PMON_IOC_START`.
    fn start(&self) -> Result<(), CallError>;

    /// `PMON_IOC_STOP`.
    fn stop(&self) -> Result<(), CallError>;

    /// `PMON_IOC_RESET`.
    fn reset(&self) -> Result<(), CallError>;

    /// `PMON_IOC_READ`; returns the time of the totals, CLOCK_MONOTONIC in ns.
    fn read(&self, counts: &mut [abi::pmon_count]) -> Result<u64, CallError>;

    /// `PMON_IOC_STATS`.
    fn stats(&self) -> Result<abi::pmon_stats, CallError>;

    /// Waits until a ring has enough to read, `wake` is readable, `timeout` is over or a signal
    /// comes.
    fn wait(&self, wake: Option<BorrowedFd<'_>>, timeout: Duration) -> Result<(), CallError>;

    /// CLOCK_MONOTONIC, ns.
    fn now(&self) -> u64;

    /// Socket of a logical CPU, where it is known.
    fn socket_of_cpu(&self, cpu: u32) -> Option<u32>;
}

/// The rings of a session, in memory that the producer writes meanwhile.
pub trait RingMemory {
    /// How many rings there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ring `index`.
    fn ring(&self, index: usize) -> Option<Memory<'_>>;
}
