// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! From text to events.

use super::{
    error::{ParseError, Problem},
    field::{fields, Field, Target},
    name::{named, Name},
    Event,
};
use crate::{list::List, session::CounterNr, unit::Unit};

/// Reads a list of events.
pub fn parse(text: &str) -> Result<Vec<Event>, ParseError> {
    let mut events = Vec::new();
    for event in split(text) {
        let event = event.trim();
        let read = read_event(event);
        events.push(read.map_err(|problem| ParseError {
            event: event.to_owned(),
            problem,
        })?);
    }
    Ok(events)
}

/// Splits at the commas that are not between two `/`.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.split(move |c| {
        inside ^= c == '/';
        c == ',' && !inside
    })
}

fn read_event(text: &str) -> Result<Event, Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    let Some((place, rest)) = text.split_once('/') else {
        return Err(Problem::NoSlash(without_slash(text)));
    };
    let (terms, modes) = rest.split_once('/').unwrap_or((rest, ""));
    let (unit, boxes) = read_place(place)?;
    let mut builder = Builder::new(unit, boxes);
    for term in terms.split(',') {
        builder.term(term.trim())?;
    }
    builder.modes(modes)?;
    builder.finish()
}

/// What the user may have meant by a word without `/`.
fn without_slash(text: &str) -> String {
    match (Unit::by_name(text), named(Unit::Core, text)) {
        (Some(Unit::Core), _) => "core/cycles/".to_owned(),
        (Some(unit), _) => format!("{unit}/clockticks/"),
        (None, Some(name)) => format!("core/{}/", name.name),
        (None, None) => "cbox/event=0x34,umask=0x11/".to_owned(),
    }
}

/// Reads the unit and its boxes, as in `cbox`, `cbox3`, `cbox0-3` or `uncore_cbox_3`.
fn read_place(text: &str) -> Result<(Unit, Option<(u32, u32)>), Problem> {
    let end = text
        .find(|c: char| c.is_ascii_digit() || c == '-')
        .unwrap_or(text.len());
    let (name, boxes) = text.split_at(end);
    let name = if boxes.is_empty() {
        name
    } else {
        name.strip_suffix('_').unwrap_or(name)
    };
    let unit = Unit::by_name(name).ok_or_else(|| Problem::Unit(text.to_owned()))?;
    if boxes.is_empty() {
        return Ok((unit, None));
    }
    let range = read_range(boxes).ok_or_else(|| Problem::Boxes(boxes.to_owned()))?;
    Ok((unit, Some(range)))
}

fn read_range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |t: &str| {
        t.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| t.parse().ok())?
    };
    let range: (u32, u32) = (number(first)?, number(last)?);
    (range.0 <= range.1).then_some(range)
}

/// Reads a number; `scaled` ones may end in k, M or G (of 1000).
fn read_number(text: &str, scaled: bool) -> Option<u64> {
    let digits = |text: &str, radix| {
        let sound = text.starts_with(|c: char| c.is_digit(radix)) && !text.ends_with('_');
        sound.then(|| u64::from_str_radix(&text.replace('_', ""), radix).ok())?
    };
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return digits(hex, 16);
    }
    let scale = match text.chars().last()? {
        'k' | 'K' => 1000,
        'm' | 'M' => 1_000_000,
        'g' | 'G' => 1_000_000_000,
        _ => return digits(text, 10),
    };
    let plain = &text[..text.len() - 1];
    scaled.then(|| digits(plain, 10)?.checked_mul(scale))?
}

/// An event of which not all terms are read yet.
struct Builder {
    event: Event,
    named: Option<&'static Name>,
    has_event: bool,
    fixed: bool,
    /// Bits that terms have set: config, then filters.
    set: [u64; 5],
    /// The last field, for a message.
    field: Option<&'static str>,
    options: Vec<&'static str>,
}

impl Builder {
    fn new(unit: Unit, boxes: Option<(u32, u32)>) -> Self {
        let event = Event {
            unit,
            boxes,
            sockets: None,
            name: None,
            config: 0,
            filter: [0; 4],
            counter: None,
            period: None,
            leader: false,
            user: false,
            kernel: false,
        };
        Self {
            event,
            named: None,
            has_event: false,
            fixed: false,
            set: [0; 5],
            field: None,
            options: Vec::new(),
        }
    }

    fn term(&mut self, text: &str) -> Result<(), Problem> {
        if text.is_empty() {
            return Err(Problem::EmptyTerm);
        }
        let (word, value) = match text.split_once('=') {
            Some((word, value)) => (word.trim(), Some(value.trim())),
            None => (text, None),
        };
        let unit = self.event.unit;
        if let Some(field) = fields(unit)
            .iter()
            .find(|f| f.name == word || f.alias == Some(word))
        {
            return self.field(field, value);
        }
        if let Some(name) = named(unit, word) {
            return match value {
                None => self.name(name),
                Some(_) => Err(Problem::Value(word.to_owned())),
            };
        }
        self.option(word, value)
    }

    fn field(&mut self, field: &'static Field, value: Option<&str>) -> Result<(), Problem> {
        let term = field.name;
        let value = match value {
            None if field.bits == 1 => 1,
            None => return Err(Problem::NoValue(term)),
            Some(text) => number(term, text, false, field.max())?,
        };
        let mut place = |index: usize, mask: u64| {
            let twice = self.set[index] & mask != 0;
            self.set[index] |= mask;
            if twice {
                Err(Problem::Twice(term.to_owned()))
            } else {
                Ok(())
            }
        };
        match field.target {
            Target::Config => {
                place(0, field.mask())?;
                self.event.config |= value << field.shift;
            }
            Target::Filter(register) => {
                place(register + 1, field.mask())?;
                // CAST: fields of filters lie in bits 31:0.
                self.event.filter[register] |= (value << field.shift) as u32;
            }
        }
        self.event.config |= field.also;
        self.has_event |= term == "event";
        self.field = Some(term);
        Ok(())
    }

    fn name(&mut self, name: &'static Name) -> Result<(), Problem> {
        if self.named.is_some() || self.set[0] & 0xffff != 0 {
            return Err(Problem::Twice(name.name.to_owned()));
        }
        self.named = Some(name);
        self.event.name = Some(name.name);
        self.has_event = true;
        match name.code {
            Some((event, umask)) => {
                // The PCU has occ_sel where others have the unit mask.
                self.set[0] |= if name.unit == Unit::Pcu { 0xff } else { 0xffff };
                self.event.config |= u64::from(event) | (u64::from(umask) << 8);
            }
            None => self.fixed = true,
        }
        Ok(())
    }

    fn option(&mut self, word: &str, value: Option<&str>) -> Result<(), Problem> {
        const OPTIONS: [&str; 7] = ["period", "leader", "counter", "fixed", "socket", "u", "k"];
        let unit = self.event.unit;
        let Some(option) = OPTIONS.into_iter().find(|o| *o == word) else {
            return Err(Problem::Term {
                unit,
                term: word.to_owned(),
            });
        };
        if self.options.contains(&option) {
            return Err(Problem::Twice(word.to_owned()));
        }
        self.options.push(option);
        match (option, value) {
            ("leader" | "u" | "k", Some(_)) => return Err(Problem::Value(word.to_owned())),
            ("leader", None) => self.event.leader = true,
            ("u" | "k", None) => self.modes(option)?,
            ("fixed", None) => self.fixed = true,
            (_, None) => return Err(Problem::NoValue(option)),
            ("period", Some(text)) => {
                let period = number(option, text, true, u64::MAX)?;
                if period == 0 {
                    return Err(Problem::NoPeriod);
                }
                self.event.period = Some(period);
            }
            ("socket", Some(_)) if unit == Unit::Core => return Err(Problem::CoreSocket),
            ("socket", Some(text)) => {
                let bad = || Problem::Number {
                    term: option,
                    value: text.to_owned(),
                };
                let (first, last) = read_range(text).ok_or_else(bad)?;
                self.event.sockets = Some(List::range(first, last));
            }
            (_, Some(text)) => {
                // CAST: the limit is below 2^32.
                let nr = number(option, text, false, 0xff)? as u32;
                if self.event.counter.is_some() {
                    return Err(Problem::Twice(word.to_owned()));
                }
                self.fixed |= option == "fixed";
                self.event.counter = Some(match option {
                    "fixed" => CounterNr::Fixed(nr),
                    _ => CounterNr::General(nr),
                });
            }
        }
        Ok(())
    }

    fn modes(&mut self, modes: &str) -> Result<(), Problem> {
        for mode in modes.trim().trim_start_matches(':').chars() {
            match mode {
                'u' => self.event.user = true,
                'k' => self.event.kernel = true,
                _ => return Err(Problem::Modes(modes.to_owned())),
            }
            if self.event.unit != Unit::Core {
                return Err(Problem::NoModes);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Event, Problem> {
        let unit = self.event.unit;
        if self.fixed {
            self.fix()?;
        } else if !self.has_event {
            return Err(Problem::NoEvent(unit));
        }
        if self.event.leader && self.event.period.is_none() {
            return Err(Problem::LeaderPeriod);
        }
        let many = self
            .event
            .boxes
            .map_or(unit == Unit::Cbox, |(first, last)| first != last);
        if self.event.leader && many && unit != Unit::Core {
            return Err(Problem::LeaderBoxes);
        }
        Ok(self.event)
    }

    /// Puts the event on its fixed counter.
    fn fix(&mut self) -> Result<(), Problem> {
        if let Some(field) = self.field {
            return Err(Problem::FixedField(field.to_owned()));
        }
        let of_name = self.named.map(|n| n.fixed);
        let counter = match (of_name, self.event.counter) {
            (None, Some(counter @ CounterNr::Fixed(_))) => counter,
            (Some(Some(nr)), None) => CounterNr::Fixed(nr),
            (Some(Some(nr)), Some(CounterNr::Fixed(given))) if nr == given => CounterNr::Fixed(nr),
            (Some(Some(_)), Some(_)) => return Err(Problem::Twice("counter".to_owned())),
            _ => return Err(Problem::NotFixed(self.event.unit)),
        };
        self.event.config = 0;
        self.event.counter = Some(counter);
        Ok(())
    }
}

fn number(term: &'static str, text: &str, scaled: bool, max: u64) -> Result<u64, Problem> {
    let bad = || Problem::Number {
        term,
        value: text.to_owned(),
    };
    let value = read_number(text, scaled).ok_or_else(bad)?;
    if value > max {
        return Err(Problem::TooLarge { term, value, max });
    }
    Ok(value)
}
