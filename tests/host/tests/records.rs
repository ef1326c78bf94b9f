// SPDX-License-Identifier: GPL-2.0-only

//! Records come back as they were written, and no bytes can hurt who reads them.

use pmon_host_tests::{
    logic::{
        record::{
            write_sample, write_throttle, Context, Overflow, Record, RecordError, MISC_POLL,
            MISC_USER,
        },
        ring::{Consumer, Producer, MAX_RECORD_WORDS},
    },
    memory::RingMemory,
    sample::{drain, Sample, Taken},
};
use proptest::prelude::*;

prop_compose! {
    fn context()(
        time: u64, user: bool, poll: bool, ip: u64, pid: u32, tid: u32, cpu: u32, socket: u32,
    ) -> Context {
        let misc = if user { MISC_USER } else { 0 } | if poll { MISC_POLL } else { 0 };
        Context { time, misc, ip, pid, tid, cpu, socket }
    }
}

prop_compose! {
    fn overflow()(id: u32, leader: bool, periods: u64, overshoot: u64) -> Overflow {
        Overflow { id, leader, periods, overshoot }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn samples_come_back(
        all in proptest::collection::vec(
            (context(), overflow(), proptest::collection::vec(any::<(u32, u64)>(), 0..60)), 1..20,
        ),
    ) {
        let memory = RingMemory::new(4096);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        for (seq, (context, overflow, values)) in (0..).zip(all) {
            write_sample(&mut producer, mem, &context, &overflow, values.iter().copied());
            let wanted = Taken::Sample(Sample { context, overflow, seq, values });
            prop_assert_eq!(drain(&mut consumer), [wanted]);
        }
    }

    #[test]
    fn throttles_come_back(time: u64, id: u32, period: u64) {
        let memory = RingMemory::new(64);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        write_throttle(&mut producer, mem, time, id, period);
        prop_assert_eq!(drain(&mut consumer), [Taken::Throttle(id, period)]);
    }

    #[test]
    fn any_words_are_a_record_or_an_error(
        mut words in proptest::collection::vec(any::<u64>(), 0..40), kind in 0u64..6, nr in 0u64..20, fits: bool,
    ) {
        if let (true, [first, ..]) = (fits, &mut words[..]) {
            *first = kind;
        }
        let size = words.len() as u64 * 8;
        if let (true, Some(first)) = (fits, words.first_mut()) {
            *first |= size << 48;
        }
        if let (true, Some(which)) = (fits, words.get_mut(6)) {
            *which = nr << 32;
        }
        match Record::decode(&words) {
            Ok(Record::Sample(s)) => {
                prop_assert_eq!(kind, 1);
                prop_assert_eq!(s.values().count() as u64, nr);
                prop_assert!(words.len() as u64 >= 9 + 2 * nr);
            }
            Ok(record) => prop_assert_eq!(record.time(), words[1]),
            Err(RecordError::Short) => {}
        }
    }
}

#[test]
fn more_values_than_a_record_holds_are_a_loss() {
    let memory = RingMemory::new(2 * MAX_RECORD_WORDS.next_power_of_two());
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
    let (cx, overflow) = (Context::default(), Overflow::default());
    // 9 words and 2 a value.
    let most = (MAX_RECORD_WORDS as u32 - 9) / 2;
    write_sample(&mut producer, mem, &cx, &overflow, (0..most + 1).map(|id| (id, 0)));
    assert_eq!((producer.produced(), producer.lost()), (1, 1));
    write_sample(&mut producer, mem, &cx, &overflow, (0..most).map(|id| (id, 0)));
    assert_eq!((producer.produced(), producer.lost()), (2, 1));
}

#[test]
fn each_length_below_a_records_is_short() {
    let memory = RingMemory::new(64);
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
    let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
    let values = [(1, 2), (3, 4)];
    write_sample(&mut producer, mem, &Context::default(), &Overflow::default(), values.into_iter());
    let mut words = [0; 64];
    let len = consumer.next(&mut words).expect("a record").expect("a record");
    assert_eq!(len, 13);
    for short in 0..len {
        assert_eq!(Record::decode(&words[..short]), Err(RecordError::Short));
        // With a size that says so too.
        let mut cut = words;
        cut[0] = (cut[0] & 0xffff_ffff_ffff) | ((short as u64 * 8) << 48);
        assert_eq!(Record::decode(&cut[..short]), Err(RecordError::Short), "{short}");
    }
}
