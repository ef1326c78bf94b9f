// SPDX-License-Identifier: GPL-2.0-only

//! The memory of a session's rings, which kernel and programs map.

use crate::{
    atomic::Word,
    logic::ring::{
        Memory,
        RingPage, //
    },
    uapi, //
};
use kernel::{
    mm::virt::VmaNew,
    page::{
        AsPageIter,
        PAGE_SIZE, //
    },
    prelude::*, //
};

const PAGE_WORDS: usize = PAGE_SIZE / 8;

/// Whole zeroed pages: the map page, then each ring's page and data.
pub(crate) struct RingPages {
    words: VVec<u64>,
    base: *mut u64,
    ring_words: usize,
}

// SAFETY: `base` points into `words`, which is owned; the words are accessed as atomics.
unsafe impl Send for RingPages {}
// SAFETY: as above.
unsafe impl Sync for RingPages {}

impl RingPages {
    /// Memory for `rings` rings of `bytes` bytes, a power of two of whole pages.
    pub(crate) fn new(rings: usize, bytes: usize) -> Result<Self> {
        let ring_words = (PAGE_SIZE + bytes) / 8;
        let len = rings
            .checked_mul(ring_words)
            .and_then(|n| n.checked_add(PAGE_WORDS))
            .ok_or(ENOMEM)?;
        let mut words = VVec::from_elem(0u64, len, GFP_KERNEL)?;
        let page = uapi::pmon_map_page {
            version: uapi::PMON_ABI_VERSION,
            nr_rings: rings as u32,
            ring_offset: PAGE_SIZE as u64,
            ring_stride: (ring_words * 8) as u64,
        };
        let base = words.as_mut_ptr();
        // SAFETY: the first page is ours, aligned, and nobody has mapped it yet.
        unsafe { base.cast::<uapi::pmon_map_page>().write(page) };
        Ok(Self {
            words,
            base,
            ring_words,
        })
    }

    /// Bytes in all.
    pub(crate) fn len(&self) -> usize {
        self.words.len() * 8
    }

    /// Memory of ring `n`.
    ///
    /// # Safety
    ///
    /// `self` must outlive the result.
    pub(crate) unsafe fn ring(&self, n: usize) -> Option<Memory<'static>> {
        let start = PAGE_WORDS + n.checked_mul(self.ring_words)?;
        if start + self.ring_words > self.words.len() {
            return None;
        }
        // SAFETY: in bounds, aligned to a page; `Word` and `RingPage` are made of atomics, so that
        // programs may write at any time; the caller keeps the memory.
        unsafe {
            let page = self.base.add(start);
            Some(Memory {
                page: &*page.cast::<RingPage>(),
                data: core::slice::from_raw_parts(
                    page.add(PAGE_WORDS).cast::<Word>(),
                    self.ring_words - PAGE_WORDS,
                ),
            })
        }
    }

    /// Maps all of it: shared, from offset 0, in its whole length.
    pub(crate) fn map(&mut self, vma: &VmaNew) -> Result {
        // SAFETY: the VMA is being set up; its offset has no accessor.
        let offset = unsafe { (*vma.as_ptr()).vm_pgoff };
        let shared = vma.flags() & kernel::mm::virt::flags::SHARED != 0;
        if offset != 0 || !shared || vma.end() - vma.start() != self.len() || vma.executable() {
            return Err(EINVAL);
        }
        vma.try_clear_mayexec()?;
        vma.set_dontexpand();
        // A child shares the file, not the mapping: two readers would fight for the tail.
        vma.set_dontcopy();
        let mixed = vma.set_mixedmap();
        for (i, page) in self.words.page_iter().enumerate() {
            mixed.vm_insert_page(vma.start() + i * PAGE_SIZE, &page)?;
        }
        Ok(())
    }
}
