// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Rings and records: the very files that the module compiles, so that both ends agree.

#[path = "../../../rust/logic/record.rs"]
pub mod record;
#[path = "../../../rust/logic/ring.rs"]
pub mod ring;
