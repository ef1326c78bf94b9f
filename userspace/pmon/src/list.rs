// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Lists of CPUs or sockets, as the kernel writes them: `0-3,8`.

use std::{fmt, str::FromStr};

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List(Vec<(u32, u32)>);

/// Why a text is no list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no list of numbers; write it like 0-3,8")]
pub struct ListError(String);

impl List {
    /// The numbers from `first` to `last`.
    pub fn range(first: u32, last: u32) -> Self {
        Self(vec![(first, last)])
    }

    /// Whether `number` is in it.
    pub fn contains(&self, number: u32) -> bool {
        self.0
            .iter()
            .any(|&(first, last)| (first..=last).contains(&number))
    }

    /// The largest number in it.
    pub fn last(&self) -> Option<u32> {
        self.0.iter().map(|&(_, last)| last).max()
    }
}

impl FromStr for List {
    type Err = ListError;

    fn from_str(text: &str) -> Result<Self, ListError> {
        let range = |part: &str| {
            let part = part.trim();
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = (first.parse().ok()?, last.parse().ok()?);
            (range.0 <= range.1).then_some(range)
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges.map(Self).ok_or_else(|| ListError(text.to_owned()))
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, &(first, last)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{first}")?;
            if last != first {
                write!(f, "-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let list: List = "0-3,8".parse().unwrap();
        assert!(list.contains(3) && list.contains(8) && !list.contains(4));
        assert_eq!((list.to_string().as_str(), list.last()), ("0-3,8", Some(8)));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "a", "3-1", "1,,2", "-1", "1-", "4294967296"] {
            assert!(text.parse::<List>().is_err(), "{text}");
        }
    }
}
