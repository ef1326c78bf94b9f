// SPDX-License-Identifier: GPL-2.0-only

//! Structs that come from programs and go back: sized by their first member, as `pmon.h` says.

use crate::uapi::*;
use kernel::{
    prelude::*,
    transmute::{
        AsBytes,
        FromBytes, //
    },
    uaccess::UserSlice, //
};

/// A struct of the ABI that begins with its size.
///
/// # Safety
///
/// `#[repr(C)]`, integers only, without padding, the first member `size: u32`.
pub(crate) unsafe trait Sized32: FromBytes + AsBytes + Default {
    /// Bytes of the struct's first version.
    const FIRST: usize;
}

macro_rules! sized {
    ($($name:ty),* $(,)?) => {$(
        // SAFETY: integers only; `docs/abi.md` lists the offsets and a test checks them.
        unsafe impl FromBytes for $name {}
        // SAFETY: no padding, by the same test.
        unsafe impl AsBytes for $name {}
        // SAFETY: all of it, and `size` stands first.
        unsafe impl Sized32 for $name {
            const FIRST: usize = size_of::<$name>();
        }
    )*};
}

sized!(
    pmon_info,
    pmon_unit_info,
    pmon_counter,
    pmon_rings,
    pmon_read,
    pmon_stats
);

// SAFETY: four 64-bit integers.
unsafe impl AsBytes for pmon_count {}

/// A program's struct: what it gave, and where the answer goes.
pub(crate) struct Argument<T> {
    /// The struct; members that the program does not know are 0.
    pub(crate) value: T,
    user: UserPtr,
    size: usize,
}

impl<T: Sized32> Argument<T> {
    /// Reads it.
    pub(crate) fn read(arg: usize) -> Result<Self> {
        let user = UserPtr::from_addr(arg);
        let size: u32 = UserSlice::new(user, 4).reader().read()?;
        let size = size as usize;
        if size < T::FIRST {
            return Err(EINVAL);
        }
        if size > PAGE_LIMIT {
            return Err(E2BIG);
        }
        let mut reader = UserSlice::new(user, size).reader();
        let value = reader.read::<T>()?;
        // A newer program's members must be 0.
        while !reader.is_empty() {
            if reader.read::<u8>()? != 0 {
                return Err(E2BIG);
            }
        }
        Ok(Self { value, user, size })
    }

    /// Writes the answer, with the size that the program gave.
    pub(crate) fn write(self) -> Result<isize> {
        UserSlice::new(self.user, self.size.min(size_of::<T>()))
            .writer()
            .write(&self.value)?;
        Ok(0)
    }
}

/// No struct is longer.
const PAGE_LIMIT: usize = 4096;
