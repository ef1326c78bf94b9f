// SPDX-License-Identifier: GPL-2.0-only

//! The kernel's services that the kernel crate does not wrap, one safe wrapper a file. All unsafe
//! code of the module is here and in `percpu.rs`.

pub(crate) mod bindings;
pub(crate) mod cpu;
pub(crate) mod misc;
pub(crate) mod msr;
pub(crate) mod nmi;
pub(crate) mod pages;
pub(crate) mod reserve;
pub(crate) mod waker;
