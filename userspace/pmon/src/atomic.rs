// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What the ring needs of a memory model, on top of the standard library's. The module has the same
//! names on top of the kernel's.

use core::sync::atomic::{fence, AtomicU64, Ordering};

/// A 64-bit word of memory that somebody else changes at any time.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Word(AtomicU64);

impl Word {
    /// Loads the word, in no order with other accesses.
    pub fn relaxed(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Loads the word before every later access.
    pub fn acquire(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Stores the word, in no order with other accesses.
    pub fn set_relaxed(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Stores the word after every earlier access.
    pub fn set_release(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }
}

/// Loads before it happen before all accesses after it.
pub fn read_barrier() {
    fence(Ordering::Acquire);
}

/// All accesses before it happen before the stores after it.
pub fn write_barrier() {
    fence(Ordering::Release);
}
