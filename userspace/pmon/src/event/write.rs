// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! From events back to text; [`super::parse`] makes the same event of it.

use super::{
    field::{fields, Field, Target},
    name::named,
    Event,
};
use crate::session::CounterNr;
use std::fmt;

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = self.terms().join(",");
        write!(f, "{}", self.unit)?;
        match self.boxes {
            Some((first, last)) if first == last => write!(f, "{first}")?,
            Some((first, last)) => write!(f, "{first}-{last}")?,
            None => {}
        }
        write!(f, "/{terms}/")?;
        if self.user {
            f.write_str("u")?;
        }
        if self.kernel {
            f.write_str("k")?;
        }
        Ok(())
    }
}

impl Event {
    fn terms(&self) -> Vec<String> {
        let mut terms = Vec::new();
        terms.extend(self.name.map(str::to_owned));
        let on_fixed = matches!(self.counter, Some(CounterNr::Fixed(_)));
        if !on_fixed {
            terms.extend(
                fields(self.unit)
                    .iter()
                    .filter_map(|field| self.field(field)),
            );
        }
        match self.counter {
            Some(CounterNr::Fixed(nr)) => {
                let name = self.name.and_then(|n| named(self.unit, n));
                match name {
                    Some(name) if name.code.is_none() => {}
                    Some(_) => terms.push("fixed".to_owned()),
                    None => terms.push(format!("fixed={nr}")),
                }
            }
            Some(CounterNr::General(nr)) => terms.push(format!("counter={nr}")),
            None => {}
        }
        terms.extend(self.sockets.as_ref().map(|list| format!("socket={list}")));
        terms.extend(self.period.map(|period| format!("period={period}")));
        if self.leader {
            terms.push("leader".to_owned());
        }
        terms
    }

    /// The field's term, when the event has to say it.
    fn field(&self, field: &Field) -> Option<String> {
        let register = match field.target {
            Target::Config => self.config,
            Target::Filter(index) => u64::from(self.filter[index]),
        };
        let value = (register & field.mask()) >> field.shift;
        let needed = match field.name {
            "event" => self.name.is_none(),
            // Part of a name's code.
            "umask" if self.name.is_some() => false,
            // The bands are parts of `filter`, which comes first.
            band if band.starts_with("filter_band") => false,
            _ if field.also != 0 => self.config & field.also != 0,
            _ => value != 0,
        };
        match (needed, field.bits) {
            (false, _) => None,
            (true, 1) => Some(field.name.to_owned()),
            (true, _) => Some(format!("{}={value:#x}", field.name)),
        }
    }
}
