// SPDX-License-Identifier: GPL-2.0-only

//! The checks of events and filters against the model, which knows the manuals' rules by its own
//! tables: what the module accepts breaks no rule, and what it refuses would.

mod common;

use common::*;
use pmon_host_tests::{
    bus::{machine, Access, ModelBus, TestBus},
    driver::leaf,
    hw::{pcu, UNCORE},
    logic::{
        core_pmu::Features,
        counter,
        event::{check_core, check_uncore, Refusal},
        registers::{Reg, Registers},
        uncore::{Counter, Socket},
    },
};
use pmon_model::Kind;
use proptest::prelude::*;

/// The rules that a start of the event on counter `i` breaks.
fn broken(kind: usize, i: u32, config: u64, filter: [u32; 4]) -> Vec<Kind> {
    let mut bus = ModelBus::new(machine(""), 0);
    let mut socket = Socket::new(1, true);
    let account = counter::Counter::new(0, 44, 0, false);
    let mut counters = [Counter::new(slot(kind, 0, i), config, filter, true, account)];
    let found = socket.begin_frozen(&mut bus).expect("no fault");
    socket.start(&mut bus, &mut counters).expect("no fault");
    socket.end(&mut bus, &found).expect("no fault");
    let machine = bus.machine();
    let mut kinds: Vec<_> = machine.violations().iter().map(|v| v.kind).collect();
    kinds.dedup();
    kinds
}

/// Checks one event on all counters of a box. In the driver's own bits no rule is broken that the
/// model could see.
fn compare(kind: usize, config: u64, filter: [u32; 4]) -> Result<(), TestCaseError> {
    let row = &UNCORE[kind];
    // `en`, `ov_en` and `rst` are the driver's.
    let own = (1 << 22) | (1 << 17) | if kind == CBOX { 0 } else { 1 << 20 };
    let answer = check_uncore(row, config, &filter);
    for i in 0..row.counters {
        let kinds = broken(kind, i, config, filter);
        let text = format!("{} {i} {config:#x} {filter:x?}: {answer:?}, {kinds:?}", row.name);
        let reserved = kinds.contains(&Kind::ReservedBit) || config & own != 0;
        let spare = row.filters.len();
        match answer {
            Ok(allowed) if (allowed >> i) & 1 != 0 => prop_assert!(kinds.is_empty(), "{}", text),
            Ok(_) => prop_assert_eq!(kinds, vec![Kind::EventNotAllowed], "{}", text),
            Err(Refusal::Reserved) => {
                prop_assert!(reserved || filter[spare..].iter().any(|&f| f != 0), "{}", text);
            }
            Err(Refusal::Meaningless) => {
                let invert = config & (pcu::CTL_OCC_INVERT | pcu::CTL_OCC_EDGE_DET) != 0;
                let thread = kind == CBOX && filter[0] & 0x1f != 0;
                prop_assert!(!kinds.is_empty() || (kind == PCU && invert) || thread, "{}", text);
                prop_assert!(!reserved, "{}", text);
            }
            Err(other) => prop_assert!(false, "{other:?}"),
        }
    }
    Ok(())
}

/// A few bits, mostly legal ones.
fn bits(legal: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => any::<u64>().prop_map(move |v| v & legal),
        2 => (any::<u64>(), any::<u64>()).prop_map(move |(v, w)| v & w & legal),
        1 => (any::<u64>(), 0u32..64).prop_map(move |(v, bit)| (v & legal) | (1 << bit)),
        1 => (0u64..256).prop_map(|v| v),
    ]
}

fn filters(kind: usize) -> impl Strategy<Value = [u32; 4]> {
    let legal = UNCORE[kind].filter_mask;
    let none = prop_oneof![2 => Just(0u64), 1 => any::<u64>()];
    (none, any::<[u32; 4]>(), 0u32..64, 0usize..4).prop_map(move |(use_them, values, bit, n)| {
        let mut all =
            [0, 1, 2, 3].map(|i| if (use_them >> i) & 1 != 0 { values[i] & legal[i] } else { 0 });
        if bit < 8 {
            // Now and then a reserved one.
            all[n] |= 1 << (bit * 4);
        }
        all
    })
}

fn any_event() -> impl Strategy<Value = (usize, u64, [u32; 4])> {
    (0usize..3).prop_flat_map(|kind| (Just(kind), bits(UNCORE[kind].config_mask), filters(kind)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_accepted_breaks_no_rule((kind, config, filter) in any_event()) {
        compare(kind, config, filter)?;
    }

    #[test]
    fn what_is_accepted_of_core_events_breaks_no_rule(config in bits(0xffa4_ffff)) {
        let bus = ModelBus::new(machine(""), 0);
        let features = Features { leaf: leaf(&bus.machine()), full_width: true };
        let answer = check_core(&features, config);
        let mut bus = TestBus::new(bus);
        // USR, OS, INT and EN are the driver's.
        let written = bus.write(Reg::Msr(0x186), config);
        let clean = written.is_ok() && bus.inner.machine().violations().is_empty();
        prop_assert_eq!(bus.log, [Access::Write(0x186, config)]);
        let own = config & ((0xb << 16) | (1 << 20) | (1 << 22)) != 0;
        match answer {
            Ok(allowed) => prop_assert!(clean && !own && allowed != 0 && allowed < 16),
            Err(Refusal::Reserved) => prop_assert!(!clean || own),
            Err(Refusal::Meaningless) => prop_assert_eq!((config >> 23) & 0x1ff, 1),
            Err(other) => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn every_event_select_of_every_box() {
    for kind in [UBOX, CBOX, PCU] {
        for event in 0..256 {
            compare(kind, event, [0; 4]).expect("the same");
        }
    }
}

#[test]
fn every_single_bit_of_control_and_filters() {
    for kind in [UBOX, CBOX, PCU] {
        for bit in 0..64 {
            compare(kind, 1 << bit, [0; 4]).expect("the same");
        }
        for n in 0..4 {
            for bit in 0..32 {
                let mut filter = [0; 4];
                filter[n] = 1 << bit;
                compare(kind, 0, filter).expect("the same");
            }
        }
    }
}
