// SPDX-License-Identifier: GPL-2.0-only
//! The control protocol: text commands, one line answers. `docs/model-control.md` describes it.

mod answers;
mod channel;
mod parse;
mod run;

pub(crate) use channel::Channel;
pub(crate) use parse::{number, Command};
