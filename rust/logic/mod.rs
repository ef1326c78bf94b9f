// SPDX-License-Identifier: GPL-2.0-only

//! What the driver decides: pure code, without I/O, allocation or floats.

pub mod claims;
pub mod core_pmu;
pub mod counter;
pub mod event;
pub mod output;
pub mod record;
pub mod registers;
pub mod ring;
pub mod selftest;
pub mod throttle;
pub mod uncore;
