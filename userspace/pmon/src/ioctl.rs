// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The ioctls. With `mapping.rs` the only file of the library that has unsafe code.

use crate::abi;
use rustix::{
    io::Errno,
    ioctl::{self, opcode, NoArg, Updater},
};
use std::os::fd::BorrowedFd;

// CAST: the magic number is one byte.
const MAGIC: u8 = abi::PMON_IOC_MAGIC as u8;

/// An ioctl that takes the struct and fills it in.
macro_rules! struct_call {
    ($name:ident, $number:literal, $type:ident) => {
        #[doc = concat!("Ioctl ", $number, ", with `struct ", stringify!($type), "`.")]
        pub(crate) fn $name(fd: BorrowedFd<'_>, arg: &mut abi::$type) -> Result<(), Errno> {
            arg.size = size_of::<abi::$type>() as u32; // CAST: far below 4 GiB.
            type Call<'a> = Updater<'a, { opcode::none(MAGIC, $number) }, abi::$type>;
            // SAFETY: the kernel accesses the `size` bytes of the struct and nothing else: the one
            // struct that carries an address is passed by `read` alone.
            unsafe { ioctl::ioctl(fd, Call::new(arg)) }
        }
    };
}

/// An ioctl whose argument is 0.
macro_rules! plain_call {
    ($name:ident, $number:literal) => {
        #[doc = concat!("Ioctl ", $number, ", without an argument.")]
        pub(crate) fn $name(fd: BorrowedFd<'_>) -> Result<(), Errno> {
            type Call = NoArg<{ opcode::none(MAGIC, $number) }>;
            // SAFETY: the kernel accesses no memory of ours.
            unsafe { ioctl::ioctl(fd, Call::new()) }
        }
    };
}

struct_call!(info, 0, pmon_info);
struct_call!(unit, 1, pmon_unit_info);
struct_call!(add, 2, pmon_counter);
struct_call!(rings, 3, pmon_rings);
plain_call!(start, 4);
plain_call!(stop, 5);
plain_call!(reset, 6);
struct_call!(read_raw, 7, pmon_read);
struct_call!(stats, 8, pmon_stats);

/// `PMON_IOC_READ` into `counts`. Returns the time of the totals.
pub(crate) fn read(fd: BorrowedFd<'_>, counts: &mut [abi::pmon_count]) -> Result<u64, Errno> {
    let mut arg = abi::pmon_read {
        nr: u32::try_from(counts.len()).unwrap_or(u32::MAX),
        // The kernel writes the first `nr` elements before the call is over; `counts` is borrowed
        // until then.
        counts: counts.as_mut_ptr().expose_provenance() as u64, // CAST: an address has 64 bits.
        ..Default::default()
    };
    read_raw(fd, &mut arg)?;
    Ok(arg.time)
}
