// SPDX-License-Identifier: GPL-2.0-only

//! Bindings that `kernel::bindings` lacks, made by bindgen from `bindings.h`.

#![allow(
    clippy::all,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks,
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    unused_imports,
    dead_code,
    improper_ctypes,
    unreachable_pub,
    unsafe_op_in_unsafe_fn
)]

include!(concat!(env!("PMON_OBJ"), "/rust/bindings_generated.rs"));
