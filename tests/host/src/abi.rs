// SPDX-License-Identifier: GPL-2.0-only

//! The ABI as bindgen reads it from `include/uapi/linux/pmon.h`.

#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::as_underscore,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks,
    reason = "made by bindgen: names and comments are the header's"
)]

include!(concat!(env!("OUT_DIR"), "/abi.rs"));
