// SPDX-License-Identifier: GPL-2.0-only
//! What the model needs of the machine around it.

/// The machine: QEMU through the C interface, or the in-process one of [`crate::Machine`].
///
/// Times are nanoseconds of virtual time.
pub trait Host {
    /// The virtual clock, ns.
    fn now_ns(&mut self) -> u64;

    /// Instructions executed by logical CPU `cpu`; `None` when the machine does not count them.
    fn insns(&mut self, cpu: usize) -> Option<u64>;

    /// Shortest virtual time, ns, in which `n` instructions can run.
    fn insns_to_ns(&mut self, n: u64) -> u64;

    /// Whether `cpu` is asleep.
    fn halted(&mut self, cpu: usize) -> bool;

    /// Asks for one call of [`crate::Model::timer`] at `ns`. Replaces the last request.
    fn arm(&mut self, ns: Option<u64>);

    /// Delivers the performance-counter LVT entry of `cpu`'s local APIC and masks it.
    ///
    /// Returns false, and does nothing, when the entry is masked already.
    fn pmi(&mut self, cpu: usize) -> bool;
}
