// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! A file for each command.

pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod record;
pub(crate) mod script;
pub(crate) mod stat;

mod notes;
mod rows;
mod sink;
