// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! How results look.

mod csv;
mod export;
mod json;
mod number;
mod table;
mod text;

pub(crate) use self::{
    csv::{write_rows, Csv},
    export::{export, Exporter, Labels},
    json::{json_line, Json},
    number::{bytes, rate, seconds, thousands},
    table::{Align, Table},
    text::Text,
};
