// SPDX-License-Identifier: GPL-2.0-only
//! What the model remembers for the tests: accesses, violations, marks.

pub(crate) mod accesses;
pub(crate) mod violations;

pub(crate) use accesses::Accesses;
pub(crate) use violations::Violations;
pub use violations::{Kind, Violation};
