// SPDX-License-Identifier: GPL-2.0-only

//! What the ring needs of a memory model, on top of the standard library's: the twin of the module's
//! `rust/atomic.rs`.

use core::sync::atomic::{fence, AtomicU64, Ordering};

/// A 64-bit word of memory that somebody else changes at any time.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Word(AtomicU64);

impl Word {
    /// Reads it, unordered.
    pub fn relaxed(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Reads it; what follows comes after.
    pub fn acquire(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Writes it, unordered.
    pub fn set_relaxed(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Writes it; what precedes came before.
    pub fn set_release(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }
}

/// Reads before come before reads after.
pub fn read_barrier() {
    fence(Ordering::Acquire);
}

/// Writes before come before writes after.
pub fn write_barrier() {
    fence(Ordering::Release);
}
