// SPDX-License-Identifier: GPL-2.0-only

//! Claims on a box's counters, against a list of who has what.

use pmon_host_tests::logic::{claims::Claims, event::Refusal};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Take { allowed: u32, wanted: Option<u32>, filter: [u32; 4] },
    TakeFixed(u32),
    Give(usize),
}

fn filter() -> impl Strategy<Value = [u32; 4]> {
    let value = || prop_oneof![3 => Just(0u32), 1 => 1u32..3];
    (value(), value()).prop_map(|(a, b)| [a, b, 0, 0])
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u32..16, proptest::option::of(0u32..6), filter())
            .prop_map(|(allowed, wanted, filter)| Step::Take { allowed, wanted, filter }),
        1 => (0u32..3).prop_map(Step::TakeFixed),
        3 => any::<usize>().prop_map(Step::Give),
    ]
}

/// Who has what.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    General(u32, [u32; 4]),
    Fixed(u32),
}

/// The answer that a take must have.
fn expected(
    held: &[Held],
    allowed: u32,
    wanted: Option<u32>,
    filter: &[u32; 4],
) -> Result<u32, Refusal> {
    let taken = |i| held.iter().any(|h| matches!(h, Held::General(n, _) if *n == i));
    let able = |i: &u32| (allowed >> i) & 1 != 0;
    let index = match wanted {
        Some(i) if i >= 4 => return Err(Refusal::NoCounter),
        Some(i) if !able(&i) => return Err(Refusal::WrongCounter),
        Some(i) if taken(i) => return Err(Refusal::Busy),
        Some(i) => i,
        None if allowed == 0 => return Err(Refusal::WrongCounter),
        None => (0..4).rev().filter(able).find(|&i| !taken(i)).ok_or(Refusal::Full)?,
    };
    let clash = |h: &Held| match h {
        Held::General(_, other) => {
            (0..4).any(|n| filter[n] != 0 && other[n] != 0 && other[n] != filter[n])
        }
        Held::Fixed(_) => false,
    };
    if held.iter().any(clash) {
        return Err(Refusal::Busy);
    }
    Ok(index)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn claims_are_what_a_list_says(steps in proptest::collection::vec(step(), 1..100)) {
        let mut claims = Claims::default();
        let mut held: Vec<Held> = Vec::new();
        for step in steps {
            match step {
                Step::Take { allowed, wanted, filter } => {
                    let got = claims.take(4, allowed, wanted, &filter);
                    prop_assert_eq!(got, expected(&held, allowed, wanted, &filter));
                    held.extend(got.map(|i| Held::General(i, filter)));
                }
                Step::TakeFixed(i) => {
                    let got = claims.take_fixed(2, i);
                    let taken = held.contains(&Held::Fixed(i));
                    let wanted = match i {
                        2.. => Err(Refusal::NoCounter),
                        _ if taken => Err(Refusal::Busy),
                        _ => Ok(()),
                    };
                    prop_assert_eq!(got, wanted);
                    held.extend(got.map(|()| Held::Fixed(i)));
                }
                Step::Give(_) if held.is_empty() => {}
                Step::Give(n) => match held.swap_remove(n % held.len()) {
                    Held::General(i, filter) => claims.give(i, &filter),
                    Held::Fixed(i) => claims.give_fixed(i),
                },
            }
        }
        for h in held {
            match h {
                Held::General(i, filter) => claims.give(i, &filter),
                Held::Fixed(i) => claims.give_fixed(i),
            }
        }
        // All is free again, with any filter.
        for i in 0..4 {
            prop_assert_eq!(claims.take(4, 1 << i, None, &[9, 9, 9, 9]), Ok(i));
        }
        prop_assert_eq!(claims.take_fixed(1, 0), Ok(()));
    }
}
