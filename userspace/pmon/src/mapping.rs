// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The mapping of the rings. With `ioctl.rs` the only file of the library that has unsafe code.

use crate::{
    abi,
    atomic::Word,
    device::RingMemory,
    wire::ring::{Memory, RingPage},
};
use rustix::{
    io::Errno,
    mm::{mmap, munmap, MapFlags, ProtFlags},
};
use std::{ffi::c_void, os::fd::BorrowedFd, ptr, slice};

// `RingPage` is what the header says, so that a ring's page may be looked at as one.
const _: () = assert!(size_of::<RingPage>() == size_of::<abi::pmon_ring_page>());

/// Why a mapping cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// mmap() failed.
    #[error("cannot map the rings: {0}")]
    Failed(Errno),
    /// The module speaks another version.
    #[error("the module's rings have version {0}, this program knows version {known}; load the \
        module that it came with", known = abi::PMON_ABI_VERSION)]
    Version(u32),
    /// Offsets or sizes lead out of the mapping.
    #[error("the module's description of its rings makes no sense ({0}); please report it")]
    Layout(&'static str),
}

/// The mapped rings of a session.
pub struct Mapping {
    base: *mut c_void,
    size: usize,
    /// Offset of each ring's page, offset of its data, words of its data.
    ///
    /// # Invariants
    ///
    /// Page and data lie inside the mapping, on multiples of 8 bytes.
    rings: Vec<(usize, usize, usize)>,
}

// SAFETY: what the mapping holds is only accessed as atomic words.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `size` bytes of `fd`, which holds rings as the header describes them.
    pub fn new(fd: BorrowedFd<'_>, size: u64) -> Result<Self, MappingError> {
        let size = usize::try_from(size).map_err(|_| MappingError::Layout("size"))?;
        if size < size_of::<abi::pmon_map_page>() {
            return Err(MappingError::Layout("size"));
        }
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice; no memory of ours changes.
        let base = unsafe { mmap(ptr::null_mut(), size, prot, MapFlags::SHARED, fd, 0) }
            .map_err(MappingError::Failed)?;
        let mut mapping = Self {
            base,
            size,
            rings: Vec::new(),
        };
        mapping.rings = mapping.layout()?;
        Ok(mapping)
    }

    /// Reads where the rings are.
    fn layout(&self) -> Result<Vec<(usize, usize, usize)>, MappingError> {
        let outside = MappingError::Layout;
        let word = |offset| self.words(offset, 1).map(|w| w[0].relaxed());
        let first = word(0).ok_or(outside("first page"))?;
        // CAST: the version is the low half.
        let (version, nr) = (first as u32, first >> 32);
        if version != abi::PMON_ABI_VERSION {
            return Err(MappingError::Version(version));
        }
        let offset = word(8).ok_or(outside("first page"))?;
        let stride = word(16).ok_or(outside("first page"))?;
        let mut rings = Vec::new();
        for i in 0..nr {
            let page = stride
                .checked_mul(i)
                .and_then(|o| o.checked_add(offset))
                .and_then(|o| usize::try_from(o).ok())
                .ok_or(outside("stride"))?;
            let header = self.page(page).ok_or(outside("ring page"))?;
            let bytes = header.data_size.relaxed();
            let data = usize::try_from(header.data_offset.relaxed())
                .ok()
                .and_then(|o| o.checked_add(page))
                .ok_or(outside("data offset"))?;
            // CAST: `words` refuses what is larger than the mapping.
            let len = (bytes / 8) as usize;
            if !bytes.is_power_of_two() || bytes < 8 || self.words(data, len).is_none() {
                return Err(outside("data size"));
            }
            // INVARIANT: `page` and `words` found both inside and aligned.
            rings.push((page, data, len));
        }
        Ok(rings)
    }

    /// The mapping's `len` words from `offset`, when they are inside it and aligned.
    fn words(&self, offset: usize, len: usize) -> Option<&[Word]> {
        let end = len
            .checked_mul(8)
            .and_then(|bytes| bytes.checked_add(offset))?;
        if end > self.size || offset % 8 != 0 {
            return None;
        }
        // SAFETY: inside the mapping, which is aligned to pages and lives as long as `self`; any
        // bytes are valid words, and words may change under us.
        Some(unsafe { slice::from_raw_parts(self.base.byte_add(offset).cast::<Word>(), len) })
    }

    /// The ring page at `offset`, when it is inside the mapping and aligned.
    fn page(&self, offset: usize) -> Option<&RingPage> {
        let words = self.words(offset, size_of::<RingPage>() / 8)?;
        // SAFETY: `RingPage` is `repr(C)` and made of as many words and nothing else.
        Some(unsafe { &*words.as_ptr().cast::<RingPage>() })
    }
}

impl RingMemory for Mapping {
    fn len(&self) -> usize {
        self.rings.len()
    }

    fn ring(&self, index: usize) -> Option<Memory<'_>> {
        let &(page, data, len) = self.rings.get(index)?;
        Some(Memory {
            page: self.page(page)?,
            data: self.words(data, len)?,
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is our mapping, and nothing borrows from it any more. An error would leave
        // it mapped, which harms nobody.
        let _ = unsafe { munmap(self.base, self.size) };
    }
}
