// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Structs and constants of `include/uapi/linux/pmon.h`, which documents them.

// Generated code has a style of its own.
#![allow(
    missing_docs,
    non_camel_case_types,
    unsafe_op_in_unsafe_fn,
    rustdoc::all,
    clippy::all
)]
#![allow(
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks
)]

include!(concat!(env!("OUT_DIR"), "/abi.rs"));
