// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Columns that line up.

use std::io::{self, Write};

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows of cells.
pub(crate) struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a line of titles; those that are all empty leave no line.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let titles: Vec<_> = columns
            .iter()
            .map(|(title, _)| (*title).to_owned())
            .collect();
        let rows = if titles.iter().all(String::is_empty) {
            Vec::new()
        } else {
            vec![titles]
        };
        Self {
            align: columns.iter().map(|(_, align)| *align).collect(),
            rows,
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the rows, indented by two blanks, without blanks at their ends.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.align.len()).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), align) in row.iter().zip(&widths).zip(&self.align) {
                line += "  ";
                line += &match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                };
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[
            ("n", Align::Right),
            ("name", Align::Left),
            ("", Align::Left),
        ]);
        table.row(["1,000", "a", ""].map(str::to_owned));
        table.row(["5", "long", "x"].map(str::to_owned));
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        let expected = "      n  name\n  1,000  a\n      5  long  x\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
