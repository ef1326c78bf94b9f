// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Random damage to rings: the reader ends, does not panic, and reads on afterwards.

use pmon::{event::parse, RingOptions, Selection};
use pmon_fake::Fake;
use proptest::prelude::*;
use std::time::Duration;

/// A word to overwrite: in the page (`Err`) or in the data (`Ok`), and with what.
type Hit = (Result<usize, usize>, u64);

fn hit() -> impl Strategy<Value = Hit> {
    let value = prop_oneof![
        any::<u64>(),
        0..5000u64,
        Just(u64::MAX),
        (0..9u64).prop_map(|n| n << 51)
    ];
    let place = prop_oneof![(0..512usize).prop_map(Ok), (0..5usize).prop_map(Err)];
    (place, value)
}

proptest! {
    #[test]
    fn damage_never_panics_and_never_hangs(
        hits in prop::collection::vec(hit(), 1..12),
        overwrite in any::<bool>(),
    ) {
        let fake = Fake::default();
        let mut session = fake.session().unwrap();
        session.add(parse("ubox/clockticks,period=700/").unwrap(), &Selection::default()).unwrap();
        let rings = RingOptions { bytes: 4096, overwrite, ..RingOptions::default() };
        session.make_rings(rings).unwrap();
        session.start().unwrap();
        let mut reader = session.reader();
        for (place, value) in hits {
            session.wait(None, Duration::ZERO).unwrap();
            fake.poke(place, value);
            reader.fill(session.now());
            while let Some(record) = reader.pop() {
                if let Ok(merged) = record {
                    let _ = merged.record();
                }
            }
        }
        session.stop().unwrap();
        reader.fill_last();
        while reader.pop().is_some() {}
        let _ = reader.counts().iter().all(|c| c.adds_up());
    }
}
