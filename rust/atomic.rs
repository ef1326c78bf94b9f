// SPDX-License-Identifier: GPL-2.0-only

//! The atomics of the shared code, in the kernel's memory model. User space has its own
//! (`userspace/pmon/src/atomic.rs`).

use kernel::sync::{
    atomic::{
        Acquire,
        Atomic,
        Relaxed,
        Release, //
    },
    barrier, //
};

/// A 64-bit word of memory that programs have mapped too.
#[repr(transparent)]
pub struct Word(Atomic<u64>);

impl Word {
    /// A word of the kernel's own.
    pub fn new(value: u64) -> Self {
        Self(Atomic::new(value))
    }

    /// Reads it, unordered.
    pub fn relaxed(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Reads it; what follows comes after.
    pub fn acquire(&self) -> u64 {
        self.0.load(Acquire)
    }

    /// Writes it, unordered.
    pub fn set_relaxed(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Writes it; what precedes came before.
    pub fn set_release(&self, value: u64) {
        self.0.store(value, Release);
    }
}

/// Reads before come before reads after.
pub fn read_barrier() {
    barrier::smp_mb(barrier::Read);
}

/// Writes before come before writes after.
pub fn write_barrier() {
    barrier::smp_mb(barrier::Write);
}
