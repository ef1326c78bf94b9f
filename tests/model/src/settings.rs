// SPDX-License-Identifier: GPL-2.0-only
//! The settings of the control command `set`: one row a key.

use serde_json::{Map, Value};

/// All settings. A `bool` is true while the setting has the first of its two words.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The uncore clock, Hz.
    pub(crate) uclk_hz: u64,
    /// Width of the UBox clock counter: 48 (prose of 329468-002) or 44 (its table 2-9).
    pub(crate) fixed_width: u64,
    /// From a carry to the freeze of the other boxes, ns.
    pub(crate) freeze_delay_ns: u64,
    /// From a carry to the interrupt, ns.
    pub(crate) pmi_delay_ns: u64,
    /// Number of CBos; 0 stands for the number of cores of a socket.
    pub(crate) cbos: u64,
    /// C3 residency of the core that sleeps most, Hz.
    pub(crate) c3_hz: u64,
    /// C6 residency of the core that sleeps most, Hz.
    pub(crate) c6_hz: u64,
    /// How often a sleeping CPU's core counters are looked at, ns.
    pub(crate) halt_poll_ns: u64,
    /// A CBo's overflow reaches the UBox (prose of the CBo chapter), or nobody (its tables).
    pub(crate) cbo_signals: bool,
    /// IA32_DEBUGCTL bit 13 does not matter, or gates the uncore's PMI.
    pub(crate) debugctl13_ignored: bool,
    /// An uncore PMI sets bit 61 of IA32_PERF_GLOBAL_STATUS, or does not.
    pub(crate) ovf_uncore_set: bool,
    /// Both threads of a selected core get the PMI, or only the first.
    pub(crate) smt_both: bool,
    /// With `wk_on_pmi` the interrupt goes to the cores of the mask, or to all.
    pub(crate) wake_masked: bool,
    /// The uncore's interrupt arrives, or never does.
    pub(crate) uncore_pmi: bool,
    /// An overflow freezes, or never does.
    pub(crate) global_freeze: bool,
    /// The uncore MSRs exist, or raise #GP.
    pub(crate) uncore_present: bool,
    /// A box is held by the global freeze until `unfrz_all`, or its own BOX_CTL lets it go too.
    pub(crate) freeze_separate: bool,
    /// BOX_CTL.frz reads back, or reads 0 (write-only, as the tables have it).
    pub(crate) frz_stored: bool,
    /// A cleared GLOBAL_STATUS bit stays clear, or comes back while the box's status is set.
    pub(crate) status_latched: bool,
    /// CBo filter bits as in the manual's tables, or as Linux and the event files use them.
    pub(crate) filter_manual: bool,
    /// 0x3FC and 0x3FD belong to the core (SDM), or to the socket (329468-002 tables 2-124, 2-125).
    pub(crate) residency_core: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            uclk_hz: 2_000_000_000,
            fixed_width: 48,
            freeze_delay_ns: 200,
            pmi_delay_ns: 500,
            cbos: 0,
            c3_hz: 0,
            c6_hz: 0,
            halt_poll_ns: 10_000,
            cbo_signals: true,
            debugctl13_ignored: true,
            ovf_uncore_set: true,
            smt_both: true,
            wake_masked: true,
            uncore_pmi: true,
            global_freeze: true,
            uncore_present: true,
            freeze_separate: true,
            frz_stored: true,
            status_latched: true,
            filter_manual: true,
            residency_core: true,
        }
    }
}

/// A number: its key, the least and the greatest value, and where it is kept.
struct Number {
    key: &'static str,
    least: u64,
    most: u64,
    at: fn(&mut Settings) -> &mut u64,
}

/// A choice of two readings: its key, the words for true and false, and where it is kept.
struct Choice {
    key: &'static str,
    words: [&'static str; 2],
    at: fn(&mut Settings) -> &mut bool,
}

/// Longest delay, ns: a minute of virtual time.
const MAX_DELAY_NS: u64 = 60_000_000_000;

/// Fastest clock or event, Hz.
pub(crate) const MAX_HZ: u64 = 1_000_000_000_000_000;

#[rustfmt::skip]
const NUMBERS: [Number; 8] = [
    Number { key: "uclk_hz", least: 0, most: MAX_HZ, at: |s| &mut s.uclk_hz },
    Number { key: "fixed_width", least: 44, most: 48, at: |s| &mut s.fixed_width },
    Number { key: "freeze_delay_ns", least: 0, most: MAX_DELAY_NS, at: |s| &mut s.freeze_delay_ns },
    Number { key: "pmi_delay_ns", least: 0, most: MAX_DELAY_NS, at: |s| &mut s.pmi_delay_ns },
    Number { key: "cbos", least: 0, most: 15, at: |s| &mut s.cbos },
    Number { key: "c3_hz", least: 0, most: MAX_HZ, at: |s| &mut s.c3_hz },
    Number { key: "c6_hz", least: 0, most: MAX_HZ, at: |s| &mut s.c6_hz },
    Number { key: "halt_poll_ns", least: 1, most: MAX_DELAY_NS, at: |s| &mut s.halt_poll_ns },
];

#[rustfmt::skip]
const CHOICES: [Choice; 13] = [
    Choice { key: "cbo_overflow", words: ["signals", "silent"], at: |s| &mut s.cbo_signals },
    Choice { key: "debugctl13", words: ["ignored", "needed"], at: |s| &mut s.debugctl13_ignored },
    Choice { key: "ovf_uncore", words: ["set", "clear"], at: |s| &mut s.ovf_uncore_set },
    Choice { key: "smt_pmi", words: ["both", "first"], at: |s| &mut s.smt_both },
    Choice { key: "wk_on_pmi", words: ["mask", "all"], at: |s| &mut s.wake_masked },
    Choice { key: "uncore_pmi", words: ["works", "never"], at: |s| &mut s.uncore_pmi },
    Choice { key: "global_freeze", words: ["works", "never"], at: |s| &mut s.global_freeze },
    Choice { key: "uncore", words: ["present", "absent"], at: |s| &mut s.uncore_present },
    Choice { key: "box_unfreeze", words: ["own", "any"], at: |s| &mut s.freeze_separate },
    Choice { key: "frz_reads", words: ["stored", "zero"], at: |s| &mut s.frz_stored },
    Choice { key: "global_status", words: ["latched", "level"], at: |s| &mut s.status_latched },
    Choice { key: "cbo_filter", words: ["manual", "wide"], at: |s| &mut s.filter_manual },
    Choice { key: "residency", words: ["core", "socket"], at: |s| &mut s.residency_core },
];

impl Settings {
    /// Changes one setting from its text form.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if let Some(row) = NUMBERS.iter().find(|row| row.key == key) {
            let n = super::control::number(value)?;
            if n < row.least || n > row.most || (key == "fixed_width" && n != 44 && n != 48) {
                return Err(format!("{key} cannot be {value}"));
            }
            *(row.at)(self) = n;
            return Ok(());
        }
        let row = CHOICES
            .iter()
            .find(|row| row.key == key)
            .ok_or(format!("no setting {key}"))?;
        let word = row.words.iter().position(|word| *word == value);
        let word = word.ok_or(format!("{key} is {} or {}", row.words[0], row.words[1]))?;
        *(row.at)(self) = word == 0;
        Ok(())
    }

    /// All settings as one JSON object.
    pub(crate) fn to_json(&self) -> Value {
        let mut copy = self.clone();
        let mut all = Map::new();
        for row in &NUMBERS {
            all.insert(row.key.into(), (*(row.at)(&mut copy)).into());
        }
        for row in &CHOICES {
            let word = usize::from(!*(row.at)(&mut copy));
            all.insert(row.key.into(), row.words[word].into());
        }
        Value::Object(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_takes_both_words_and_no_other() {
        for row in &CHOICES {
            let mut s = Settings::default();
            assert!(
                *(row.at)(&mut s),
                "{}: the default is the first word",
                row.key
            );
            s.set(row.key, row.words[1]).unwrap();
            assert_eq!(s.to_json()[row.key], row.words[1]);
            s.set(row.key, row.words[0]).unwrap();
            assert_eq!(s.to_json()[row.key], row.words[0]);
            assert!(s.set(row.key, "perhaps").is_err());
        }
    }

    #[test]
    fn numbers_have_limits() {
        let mut s = Settings::default();
        s.set("cbos", "0xf").unwrap();
        assert_eq!(s.cbos, 15);
        assert!(s.set("cbos", "16").is_err());
        assert!(s.set("fixed_width", "46").is_err());
        assert!(s.set("fixed_width", "44").is_ok());
        assert!(s.set("no_such_key", "1").is_err());
    }
}
