// SPDX-License-Identifier: GPL-2.0-only
//! Counts are exact whatever software does: properties over random sequences.

mod common;

use common::*;
use pmon_model::Machine;
use proptest::prelude::*;

/// One step of software or of time.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    GlobalFreeze,
    GlobalUnfreeze,
    BoxFreeze(bool),
    Enable(bool),
    Write(u64),
    Read,
    Rate(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u64..3_000_000).prop_map(Step::Wait),
        1 => Just(Step::GlobalFreeze),
        2 => Just(Step::GlobalUnfreeze),
        2 => any::<bool>().prop_map(Step::BoxFreeze),
        2 => any::<bool>().prop_map(Step::Enable),
        1 => (0u64..1 << 48).prop_map(Step::Write),
        2 => Just(Step::Read),
        1 => (0u64..3_000_000_000_000_000).prop_map(|hz| Step::Rate(hz / 3)),
    ]
}

/// `floor(hz * ns / 10^9)`.
fn events(hz: u64, ns: u64) -> u128 {
    u128::from(hz) * u128::from(ns) / 1_000_000_000
}

/// What the PCU's counter 0 should have done, kept apart from the model's way of doing it.
struct Expected {
    hz: u64,
    since: u64,
    frozen: bool,
    box_frozen: bool,
    enabled: bool,
    value: u128,
    truth: u128,
}

impl Expected {
    fn pass(&mut self, from: u64, to: u64) {
        if self.enabled && !self.frozen && !self.box_frozen {
            let n = events(self.hz, to - self.since) - events(self.hz, from - self.since);
            self.value = (self.value + n) % (1 << 48);
            self.truth += n;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_counter_gets_what_happened_while_it_ran(
        steps in proptest::collection::vec(step(), 1..60), armed in any::<bool>(),
    ) {
        // Armed, its own overflows change status only, so that the same is expected.
        let mut m = machine("global_freeze=never");
        let control = if armed { OV_EN } else { 0 } | 0x42;
        ok(&mut m, "rate pcu 0x42 * 123456789");
        wr(&mut m, 0, PCU_BOX_CTL, BOX_RUN);
        let mut e = Expected {
            hz: 123_456_789, since: 0, frozen: false, box_frozen: false, enabled: false,
            value: 0, truth: 0,
        };
        for step in steps {
            match step {
                Step::Wait(ns) => {
                    e.pass(m.now_ns(), m.now_ns() + ns);
                    m.advance(ns);
                }
                Step::GlobalFreeze => {
                    e.frozen = true;
                    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
                }
                Step::GlobalUnfreeze => {
                    e.frozen = false;
                    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
                }
                Step::BoxFreeze(on) => {
                    e.box_frozen = on;
                    wr(&mut m, 0, PCU_BOX_CTL, BOX_RUN | if on { BOX_FRZ } else { 0 });
                }
                Step::Enable(on) => {
                    e.enabled = on;
                    wr(&mut m, 0, PCU_CTL0, control | if on { EN } else { 0 });
                }
                Step::Write(value) => {
                    e.value = value.into();
                    wr(&mut m, 0, PCU_CTR0, value);
                }
                Step::Read => prop_assert_eq!(u128::from(rd(&mut m, 0, PCU_CTR0)), e.value),
                Step::Rate(hz) => {
                    (e.hz, e.since) = (hz, m.now_ns());
                    ok(&mut m, &format!("rate pcu 0x42 * {hz}"));
                }
            }
        }
        prop_assert_eq!(u128::from(rd(&mut m, 0, PCU_CTR0)), e.value);
        let truth = m.json("truth")["sockets"][0]["pcu"]["0"].as_str().map(str::to_string);
        prop_assert_eq!(truth, Some(e.truth.to_string()));
    }

    #[test]
    fn a_sampling_counter_overflows_at_the_first_possible_moment(
        hz in 1_000_000u64..10_000_000_000, period in 1u64..1_000_000, start in 0u64..1_000_000,
    ) {
        let mut m = machine("pmi_delay_ns=0");
        ok(&mut m, &format!("set uclk_hz {hz}"));
        m.advance(start);
        arm_clock(&mut m, period, 1);
        prop_assert!(m.advance_to_pmi(u64::MAX / 2));
        let at = m.take_pmi().unwrap().ns;
        prop_assert!(events(hz, at) - events(hz, start) >= u128::from(period));
        prop_assert!(events(hz, at - 1) - events(hz, start) < u128::from(period));
        let over = events(hz, at) - events(hz, start) - u128::from(period);
        prop_assert_eq!(u128::from(rd(&mut m, 0, FIXED_CTR)), over);
    }

    #[test]
    fn core_counts_are_fractions_of_the_instructions(
        num in 0u64..1000, den in 1u64..1000, first in 0u64..100_000,
        runs in proptest::collection::vec((0u64..100_000, 0usize..4, any::<bool>()), 1..30),
    ) {
        let mut m = machine("");
        m.execute(1, first);
        ok(&mut m, &format!("ratio 0x2e 0x41 {num} {den}"));
        wr(&mut m, 1, EVTSEL0, 0x43_412e);
        let (mut done, mut counted) = (0u64, 0u64);
        for (n, cpu, enabled) in runs {
            wr(&mut m, 1, PERF_CTRL, u64::from(enabled));
            m.execute(cpu, n);
            if cpu == 1 {
                if enabled {
                    counted += num * (done + n) / den - num * done / den;
                }
                done += n;
            }
        }
        prop_assert_eq!(rd(&mut m, 1, PMC0), counted);
        prop_assert_eq!(m.json("truth")["cpus"][1]["0"].clone(), counted.to_string());
    }
}

/// Samples with `period` for `ns`, and returns what the counter's values add up to.
fn total(m: &mut Machine, ns: u64, period: u64) -> u64 {
    let (end, base) = (m.now_ns() + ns, (1u64 << 48) - period);
    let since_load = |m: &mut Machine| rd(m, 0, FIXED_CTR).wrapping_sub(base) & ((1 << 48) - 1);
    let mut sum = 0;
    wr(m, 0, FIXED_CTR, base);
    wr(m, 0, FIXED_CTL, EN | OV_EN);
    wr(m, 0, GLOBAL_CTL, UNFRZ_ALL | 1);
    while m.advance_to_pmi(end.saturating_sub(m.now_ns())) {
        while let Some(pmi) = m.take_pmi() {
            m.set_masked(pmi.cpu, false);
        }
        sum += since_load(m);
        wr(m, 0, FIXED_CTR, base);
        wr(m, 0, GLOBAL_STATUS, 1);
        wr(m, 0, GLOBAL_CTL, UNFRZ_ALL | 1);
    }
    wr(m, 0, GLOBAL_CTL, FRZ_ALL);
    sum + since_load(m)
}

#[test]
fn sampling_loses_no_event() {
    let mut m = machine("uclk_hz=2499999999");
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    let sum = total(&mut m, 10_000_000, 12_345);
    assert_eq!(
        m.json("truth")["sockets"][0]["ubox"]["fixed0"],
        sum.to_string()
    );
    clean(&m);
}

#[test]
fn many_wraps_between_two_looks() {
    // 2^44 events every 17.6 ms at 10^15 Hz.
    let mut m = machine("");
    ok(&mut m, "rate cbox 0x35 0x03 1000000000000000");
    start_cbo(&mut m, 0, 0, EN | 0x0335, 0);
    ok(&mut m, "set cbo_overflow silent");
    m.advance(3_600_000_000_000);
    let happened = 3_600u128 * 1_000_000_000_000_000;
    assert_eq!(u128::from(rd(&mut m, 0, C0_CTR0)), happened % (1 << 44));
    assert_eq!(
        m.json("truth")["sockets"][0]["cbox"][0]["0"],
        happened.to_string()
    );
    let carries = &m.json("overflows")["sockets"][0]["carries"]["cbox"][0]["0"];
    assert_eq!(*carries, (happened >> 44).to_string());
}
