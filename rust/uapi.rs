// SPDX-License-Identifier: GPL-2.0-only

//! The ABI, made by bindgen from `include/uapi/linux/pmon.h`.

#![allow(
    clippy::all,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    dead_code,
    unreachable_pub,
    unsafe_op_in_unsafe_fn
)]

include!(concat!(env!("PMON_OBJ"), "/rust/uapi_generated.rs"));
