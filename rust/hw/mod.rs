// SPDX-License-Identifier: GPL-2.0-only

//! What the manuals say about the registers. Data, no behaviour.
//!
//! Sources, as named in the comments:
//!
//! * 329468: Intel Xeon Processor E5 and E7 v2 Product Families Uncore Performance Monitoring
//!   Reference Manual, 329468-002, February 2014.
//! * SDM: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3.
//!
//! Words: *CBo*, caching agent and slice of the last-level cache. *PCU*, power control unit.
//! *UBox*, system configuration agent, which also gathers the overflows. *PMI*, performance
//! monitoring interrupt.

pub mod cbo;
pub mod core_pmu;
pub mod pcu;
pub mod ubox;
pub mod uncore;

pub use uncore::{BoxType, UNCORE};
