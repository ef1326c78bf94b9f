// SPDX-License-Identifier: GPL-2.0-only

//! The one seam between the driver and the hardware.

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reg {
    /// A model-specific register of the CPU that accesses it, or of its socket.
    Msr(u32),
}

/// Why the hardware cannot do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HwError {
    /// The access raised #GP: the part does not have the register, or refuses the value.
    Fault(Reg),
    /// Somebody else counts with this control register.
    InUse(Reg),
}

/// Access to the registers that one logical CPU reaches.
///
/// Implemented by the kernel (`rust/sys/msr.rs`) and, in host tests, by the hardware model.
pub trait Registers {
    /// Reads a register.
    fn read(&mut self, reg: Reg) -> Result<u64, HwError>;
    /// Writes a register.
    fn write(&mut self, reg: Reg, value: u64) -> Result<(), HwError>;
    /// CLOCK_MONOTONIC, ns.
    fn now(&mut self) -> u64;
}
