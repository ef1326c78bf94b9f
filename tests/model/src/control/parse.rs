// SPDX-License-Identifier: GPL-2.0-only
//! Commands from their text.

use crate::core_pmu::ratios::Event as CoreEvent;
use crate::rates::{Scope, FIXED};
use crate::settings::MAX_HZ;
use crate::uncore::tables::{UBOX, UNITS};

/// A unit by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Index into the unit table.
    Uncore(usize),
    Core,
}

/// The `key=number` words at the end of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) socket: Option<usize>,
    pub(crate) number: Option<usize>,
    pub(crate) cpu: Option<usize>,
    /// Word of a counter: `0`, `fixed0`.
    pub(crate) counter: Option<String>,
}

/// A list of which the answer is asked, and which then can be cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Truth,
    Accesses,
    Violations,
    Overflows,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// An empty line or a comment.
    Nothing,
    Rate(Scope, u64),
    Ratio(CoreEvent, Option<usize>, (u64, u64)),
    /// Events at once after a time, ns; no number stands for as many as overflow needs.
    Burst(u64, Unit, Option<u64>, Options),
    Storm(Unit, Option<u64>),
    Show(Report),
    Clear(Report),
    Regs,
    OnlySocket(Option<usize>),
    Set(String, String),
    Settings,
    Everything,
    Mark(String),
}

/// A decimal or 0x-hexadecimal number.
pub(crate) fn number(word: &str) -> Result<u64, String> {
    let parsed = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => word.parse(),
    };
    parsed.map_err(|_| format!("{word} is no number"))
}

fn small(word: &str) -> Result<usize, String> {
    usize::try_from(number(word)?).map_err(|_| format!("{word} is too great"))
}

fn hz(word: &str) -> Result<u64, String> {
    let hz = number(word)?;
    if hz > MAX_HZ {
        return Err(format!("{word} Hz is too fast"));
    }
    Ok(hz)
}

fn unit(word: &str) -> Result<Unit, String> {
    if word == "core" {
        return Ok(Unit::Core);
    }
    let found = UNITS.iter().position(|row| row.word == word);
    found.map(Unit::Uncore).ok_or(format!("no unit {word}"))
}

/// Takes the options of which `allowed` has the keys.
fn options(words: &[&str], allowed: &[&str]) -> Result<Options, String> {
    let mut options = Options::default();
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or(format!("{word} is not key=value"))?;
        if !allowed.contains(&key) {
            return Err(format!("no {key}= here"));
        }
        match key {
            "socket" => options.socket = Some(small(value)?),
            "box" => options.number = Some(small(value)?),
            "cpu" => options.cpu = Some(small(value)?),
            _ => options.counter = Some(value.into()),
        }
    }
    Ok(options)
}

fn rate(words: &[&str]) -> Result<Command, String> {
    let [word, event, umask, rate, rest @ ..] = words else {
        return Err("rate UNIT EVENT UMASK HZ [socket= box=]".into());
    };
    let Unit::Uncore(unit) = unit(word)? else {
        return Err("core events have a ratio".into());
    };
    let event = match *event {
        "fixed" if unit == UBOX => FIXED,
        event => match number(event)? {
            // CAST: eight bits and the extension.
            event @ 0..=0x1ff => event as u16,
            _ => return Err(format!("no event {event}")),
        },
    };
    let umask = match *umask {
        "*" => None,
        umask => Some(u8::try_from(number(umask)?).map_err(|_| format!("no umask {umask}"))?),
    };
    let options = options(rest, &["socket", "box"])?;
    let scope = Scope {
        unit,
        event,
        umask,
        socket: options.socket,
        number: options.number,
    };
    Ok(Command::Rate(scope, hz(rate)?))
}

fn ratio(words: &[&str]) -> Result<Command, String> {
    let [event, umask, num, den, rest @ ..] = words else {
        return Err("ratio EVENT UMASK NUM DEN [cpu=]".into());
    };
    let byte = |word: &str| u8::try_from(number(word)?).map_err(|_| format!("{word} is no byte"));
    let event = (byte(event)?, byte(umask)?);
    let ratio = (hz(num)?, hz(den)?);
    if ratio.1 == 0 {
        return Err("DEN cannot be 0".into());
    }
    Ok(Command::Ratio(event, options(rest, &["cpu"])?.cpu, ratio))
}

fn burst(words: &[&str], counted: bool) -> Result<Command, String> {
    const KEYS: [&str; 4] = ["counter", "socket", "box", "cpu"];
    match (words, counted) {
        ([dt, word, n, rest @ ..], true) => {
            let events = Some(number(n)?);
            Ok(Command::Burst(
                number(dt)?,
                unit(word)?,
                events,
                options(rest, &KEYS)?,
            ))
        }
        ([dt, word, rest @ ..], false) => Ok(Command::Burst(
            number(dt)?,
            unit(word)?,
            None,
            options(rest, &KEYS)?,
        )),
        _ => Err("burst DT UNIT N counter=, overflow DT UNIT counter= [socket= box= cpu=]".into()),
    }
}

fn report(words: &[&str], report: Report) -> Result<Command, String> {
    match words {
        [] => Ok(Command::Show(report)),
        ["clear"] => Ok(Command::Clear(report)),
        _ => Err("only clear can follow".into()),
    }
}

fn alone(words: &[&str], command: Command) -> Result<Command, String> {
    if words.is_empty() {
        Ok(command)
    } else {
        Err("nothing can follow".into())
    }
}

impl Command {
    /// The command that `line` says.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((name, rest)) = words.split_first() else {
            return Ok(Self::Nothing);
        };
        match *name {
            comment if comment.starts_with('#') => Ok(Self::Nothing),
            "rate" => rate(rest),
            "ratio" => ratio(rest),
            "burst" => burst(rest, true),
            "overflow" => burst(rest, false),
            "storm" => match rest {
                [word, "off"] => Ok(Self::Storm(unit(word)?, None)),
                [word, rate] => Ok(Self::Storm(unit(word)?, Some(hz(rate)?))),
                _ => Err("storm UNIT HZ|off".into()),
            },
            "truth" => report(rest, Report::Truth),
            "accesses" => report(rest, Report::Accesses),
            "violations" => report(rest, Report::Violations),
            "overflows" => report(rest, Report::Overflows),
            "regs" => alone(rest, Self::Regs),
            "only-socket" => match rest {
                ["all"] => Ok(Self::OnlySocket(None)),
                [socket] => Ok(Self::OnlySocket(Some(small(socket)?))),
                _ => Err("only-socket N|all".into()),
            },
            "set" => match rest {
                [key, value] => Ok(Self::Set((*key).into(), (*value).into())),
                _ => Err("set KEY VALUE".into()),
            },
            "settings" => alone(rest, Self::Settings),
            "report" => alone(rest, Self::Everything),
            "mark" => Ok(Self::Mark(rest.join(" "))),
            name => Err(format!("no command {name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uncore::tables::{CBOX, PCU};

    #[test]
    fn commands_are_parsed() {
        let scope = Scope {
            unit: CBOX,
            event: 0x35,
            umask: Some(3),
            socket: None,
            number: Some(2),
        };
        assert_eq!(
            Command::parse("rate cbox 0x35 0x3 1000 box=2"),
            Ok(Command::Rate(scope, 1000))
        );
        assert_eq!(
            Command::parse("ratio 0x2e 65 1 100 cpu=3"),
            Ok(Command::Ratio((0x2e, 0x41), Some(3), (1, 100)))
        );
        let fixed = Options {
            counter: Some("fixed0".into()),
            ..Options::default()
        };
        assert_eq!(
            Command::parse("overflow 500 ubox counter=fixed0"),
            Ok(Command::Burst(500, Unit::Uncore(UBOX), None, fixed))
        );
        assert_eq!(
            Command::parse("storm pcu off"),
            Ok(Command::Storm(Unit::Uncore(PCU), None))
        );
        assert_eq!(Command::parse("  # a comment"), Ok(Command::Nothing));
        assert_eq!(
            Command::parse("truth clear"),
            Ok(Command::Clear(Report::Truth))
        );
    }

    #[test]
    fn mistakes_are_refused() {
        for line in [
            "rate cbox 0x35 0x3",
            "rate core 0xc0 0 5",
            "rate cbox fixed * 5",
            "rate nobox 0 0 5",
            "rate cbox 0x200 0 5",
            "rate cbox 0 0 5 cpu=1",
            "ratio 0xc0 0 1 0",
            "burst 5 cbox",
            "storm cbox fast",
            "truth twice",
            "regs now",
            "only-socket",
            "set cbos",
            "nothing",
            "rate cbox 1 1 99999999999999999999",
        ] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }
}
