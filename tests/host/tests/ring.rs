// SPDX-License-Identifier: GPL-2.0-only

//! The ring: every length at every offset, loss, overwriting, and programs that write what they
//! like into the pages.

use pmon_host_tests::{
    logic::ring::{Consumer, Memory, Producer, RingError, HEADER_WORDS, MAX_RECORD_WORDS},
    memory::RingMemory,
};
use proptest::prelude::*;

/// `PMON_RINGS_OVERWRITE`.
const OVERWRITE: u32 = 1;
/// A record of no type of the ABI.
const KIND: u32 = 77;
const LOST: u32 = 2;

/// Words that tell one record from another.
fn body(seq: u64, word: usize) -> u64 {
    (seq << 32) | word as u64
}

/// Produces one record. Returns whether it got in.
fn produce(producer: &mut Producer, mem: Memory<'_>, words: usize) -> bool {
    let seq = producer.produced();
    let Some(mut grant) = producer.begin(mem, KIND, 0, seq * 10, words) else { return false };
    for i in HEADER_WORDS..words {
        grant.put(body(seq, i));
    }
    grant.commit();
    true
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
enum Got {
    Record { seq: u64, words: usize },
    Lost(u64),
}

/// Reads one record and checks every word of it.
fn consume(consumer: &mut Consumer<'_>, buffer: &mut [u64]) -> Option<Got> {
    let words = consumer.next(buffer).expect("an undamaged ring")?;
    let record = &buffer[..words];
    // `struct pmon_record`: type 31:0, misc 47:32, size 63:48; time; seq.
    let (kind, seq) = (record[0] as u32, record[2]);
    assert_eq!(record[0] >> 48, words as u64 * 8);
    assert_eq!(record[1], seq * 10);
    if kind == LOST {
        assert_eq!(words, HEADER_WORDS + 1);
        return Some(Got::Lost(record[3]));
    }
    assert_eq!(kind, KIND);
    for (i, &word) in record.iter().enumerate().skip(HEADER_WORDS) {
        assert_eq!(word, body(seq, i));
    }
    Some(Got::Record { seq, words })
}

/// Moves an empty ring's positions by `words` (0, or 3 and more).
fn skip(producer: &mut Producer, consumer: &mut Consumer<'_>, mem: Memory<'_>, words: usize) {
    if words == 0 {
        return;
    }
    assert!(produce(producer, mem, words));
    assert!(consumer.next(&mut vec![0; words]).is_ok());
    consumer.release();
}

/// Each record length of the range at each offset of the ring, in an empty ring.
fn lengths_at_offsets(size: usize, lengths: impl Iterator<Item = usize>, step: usize, flags: u32) {
    let mut buffer = vec![0; size];
    for words in lengths {
        let memory = RingMemory::new(size);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, flags, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        let mut start = 0;
        for offset in (0..size).step_by(step) {
            // Round the ring once more where the way is too short for a record.
            let mut way = (offset + size - start % size) % size;
            if way != 0 && way < HEADER_WORDS {
                skip(&mut producer, &mut consumer, mem, size / 2);
                way += size / 2;
            }
            skip(&mut producer, &mut consumer, mem, way);
            let seq = producer.produced();
            assert_eq!(mem.page.head.relaxed() / 8 % size as u64, offset as u64);
            assert!(produce(&mut producer, mem, words));
            assert_eq!(consume(&mut consumer, &mut buffer), Some(Got::Record { seq, words }));
            assert_eq!(consume(&mut consumer, &mut buffer), None);
            consumer.release();
            start = offset + words;
        }
        assert_eq!(producer.lost(), 0);
    }
}

#[test]
fn every_length_at_every_offset() {
    lengths_at_offsets(128, HEADER_WORDS..=128, 1, 0);
    lengths_at_offsets(128, HEADER_WORDS..=128, 1, OVERWRITE);
}

#[test]
fn every_length_of_the_smallest_ring() {
    // 4096 bytes, `PMON_RING_MIN_BYTES`.
    lengths_at_offsets(512, HEADER_WORDS..=512, 37, 0);
}

#[test]
fn the_longest_record() {
    let size = MAX_RECORD_WORDS.next_power_of_two();
    lengths_at_offsets(size, MAX_RECORD_WORDS - 1..=MAX_RECORD_WORDS, size / 5, 0);
    let memory = RingMemory::new(size * 2);
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
    assert!(!produce(&mut producer, mem, MAX_RECORD_WORDS + 1));
    assert_eq!((producer.produced(), producer.lost()), (1, 1));
}

#[test]
fn a_full_ring_counts_its_losses_and_tells_of_them() {
    for words in HEADER_WORDS..=32 {
        let memory = RingMemory::new(64);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 3, 0, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        let fit = 64 / words;
        for n in 0..fit + 5 {
            assert_eq!(produce(&mut producer, mem, words), n < fit);
        }
        assert_eq!((mem.page.produced.relaxed(), mem.page.lost.relaxed()), (fit as u64 + 5, 5));
        let mut buffer = [0; 64];
        for n in 0..fit {
            let seq = n as u64;
            assert_eq!(consume(&mut consumer, &mut buffer), Some(Got::Record { seq, words }));
        }
        assert_eq!(consume(&mut consumer, &mut buffer), None);
        consumer.release();
        assert!(produce(&mut producer, mem, words));
        assert_eq!(consume(&mut consumer, &mut buffer), Some(Got::Lost(5)));
        let seq = fit as u64 + 5;
        assert_eq!(consume(&mut consumer, &mut buffer), Some(Got::Record { seq, words }));
        assert_eq!((producer.produced(), producer.lost()), (seq + 1, 5));
    }
}

#[test]
fn an_overwriting_ring_keeps_the_newest() {
    for words in HEADER_WORDS..=64 {
        let memory = RingMemory::new(64);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, OVERWRITE, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        (0..50).for_each(|_| assert!(produce(&mut producer, mem, words)));
        let kept = 64 / words as u64;
        assert_eq!(producer.lost(), 50 - kept);
        let mut buffer = [0; 64];
        for seq in 50 - kept..50 {
            assert_eq!(consume(&mut consumer, &mut buffer), Some(Got::Record { seq, words }));
        }
        assert_eq!(consume(&mut consumer, &mut buffer), None);
        // What was read is not lost when it is overwritten.
        consumer.release();
        (0..kept).for_each(|_| assert!(produce(&mut producer, mem, words)));
        assert_eq!(producer.lost(), 50 - kept);
    }
}

#[test]
fn a_reader_is_woken_by_records_or_bytes() {
    let wakes = |records, bytes| -> Vec<usize> {
        let memory = RingMemory::new(1024);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, 0, 4096, records, bytes);
        let mut woken = Vec::new();
        for n in 1..=20 {
            let grant = producer.begin(mem, KIND, 0, 0, 10).expect("room");
            if grant.commit() {
                woken.push(n);
            }
        }
        woken
    };
    // A record is of 80 bytes, and nobody reads.
    assert_eq!(wakes(0, 0), [0; 0]);
    assert_eq!(wakes(7, 0), [7, 14]);
    assert_eq!(wakes(1, 0).len(), 20);
    assert_eq!(wakes(0, 240), [3]);
    assert_eq!(wakes(0, 241), [4]);
    assert_eq!(wakes(5, 240), [3, 8, 13, 18]);
}

#[test]
fn a_short_buffer_leaves_the_record() {
    let memory = RingMemory::new(64);
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
    let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
    assert!(produce(&mut producer, mem, 20));
    assert_eq!(consumer.next(&mut [0; 19]), Err(RingError::ShortBuffer { words: 20 }));
    assert_eq!(consume(&mut consumer, &mut [0; 20]), Some(Got::Record { seq: 0, words: 20 }));
    let odd = RingMemory::new(48);
    let mem = odd.memory();
    assert!(matches!(Consumer::new(mem.page, mem.data), Err(RingError::BadSize)));
}

/// A step of one of the two ends.
#[derive(Clone, Debug)]
enum Step {
    Produce(usize),
    Consume(usize),
    Release,
    /// The program goes, and another comes that begins at the tail.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (HEADER_WORDS..80).prop_map(Step::Produce),
        4 => (1..8usize).prop_map(Step::Consume),
        3 => Just(Step::Release),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn produced_is_read_and_lost_and_waiting(
        steps in proptest::collection::vec(step(), 1..200), log in 5u32..8,
    ) {
        let memory = RingMemory::new(1 << log);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        let mut buffer = vec![0; 1 << log];
        let (mut next, mut told, mut read, mut unreleased) = (0, 0, 0, 0);
        for step in steps.into_iter().chain([Step::Release, Step::Consume(1000), Step::Release]) {
            match step {
                Step::Produce(words) => { produce(&mut producer, mem, words); }
                Step::Release => { consumer.release(); unreleased = 0; }
                Step::Reopen => {
                    // It reads again what was not given back.
                    consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
                    read -= unreleased;
                    next = 0;
                    unreleased = 0;
                }
                Step::Consume(n) => for _ in 0..n {
                    match consume(&mut consumer, &mut buffer) {
                        None => break,
                        Some(Got::Lost(n)) => told += n,
                        Some(Got::Record { seq, .. }) => {
                            prop_assert!(seq >= next, "{} after {}", seq, next);
                            next = seq + 1;
                            read += 1;
                            unreleased += 1;
                        }
                    }
                },
            }
        }
        prop_assert_eq!(producer.produced(), read + producer.lost());
        prop_assert_eq!(mem.page.produced.relaxed(), producer.produced());
        prop_assert_eq!(mem.page.lost.relaxed(), producer.lost());
        prop_assert_eq!(mem.page.tail.relaxed(), producer.head());
        // The rest would be told of before the next record; told twice where it was read twice.
        prop_assert!(told <= 4 * producer.lost());
    }

    #[test]
    fn overwritten_is_read_or_lost(
        steps in proptest::collection::vec(step(), 1..200), log in 5u32..8,
    ) {
        let memory = RingMemory::new(1 << log);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, OVERWRITE, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        let mut buffer = vec![0; 1 << log];
        let (mut next, mut read) = (0, 0);
        for step in steps.into_iter().chain([Step::Consume(1000)]) {
            match step {
                Step::Produce(words) => { produce(&mut producer, mem, words); }
                Step::Reopen | Step::Release => consumer.release(),
                Step::Consume(n) => {
                    for _ in 0..n {
                        let Some(got) = consume(&mut consumer, &mut buffer) else { break };
                        let Got::Record { seq, .. } = got else { panic!("{got:?}") };
                        prop_assert!(seq >= next);
                        next = seq + 1;
                        read += 1;
                    }
                    // Given back at once, so that nothing that was read counts as lost.
                    consumer.release();
                }
            }
        }
        prop_assert_eq!(producer.produced(), read + producer.lost());
    }

    #[test]
    fn a_wild_tail_never_breaks_the_producer(
        tails in proptest::collection::vec(
            (prop_oneof![any::<u64>(), 0u64..2000, (0u64..600).prop_map(u64::wrapping_neg)],
             HEADER_WORDS..100),
            1..200,
        ),
        flags in 0u32..2, log in 3u32..8,
    ) {
        let memory = RingMemory::new(1 << log);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, flags, 4096, 1, 1);
        let mut written = 0;
        for (tail, words) in tails {
            mem.page.tail.set_relaxed(tail);
            let head = mem.page.head.relaxed();
            written += u64::from(produce(&mut producer, mem, words));
            prop_assert!(mem.page.head.relaxed() >= head);
            prop_assert!(mem.page.oldest.relaxed() <= mem.page.head.relaxed());
            if flags == 0 {
                prop_assert_eq!(producer.produced(), written + producer.lost());
            }
            prop_assert!(producer.lost() <= producer.produced());
        }
    }

    #[test]
    fn a_program_that_scribbles_everywhere_never_breaks_the_producer(
        writes in proptest::collection::vec((any::<bool>(), any::<usize>(), any::<u64>(), HEADER_WORDS..70), 1..200),
        flags in 0u32..2,
    ) {
        let memory = RingMemory::new(64);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, flags, 4096, 0, 0);
        let mut head = 0;
        for (page, at, value, words) in writes {
            let place = if page { memory.page_words() } else { mem.data };
            place[at % place.len()].set_relaxed(value);
            if produce(&mut producer, mem, words) {
                // Its own idea of the head, not the page's.
                prop_assert!(mem.page.head.relaxed() > head);
                head = mem.page.head.relaxed();
            }
            prop_assert!(producer.lost() <= producer.produced());
        }
    }

    #[test]
    fn damage_never_breaks_the_consumer(
        lengths in proptest::collection::vec(HEADER_WORDS..30, 1..40),
        damage in proptest::collection::vec((any::<bool>(), any::<usize>(), any::<u64>()), 1..10),
        flags in 0u32..2,
    ) {
        let memory = RingMemory::new(128);
        let mem = memory.memory();
        let mut producer = Producer::new(mem, 0, flags, 4096, 0, 0);
        let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
        let mut buffer = [0; MAX_RECORD_WORDS];
        for words in lengths {
            produce(&mut producer, mem, words);
        }
        for (page, at, value) in damage {
            let place = if page { memory.page_words() } else { mem.data };
            place[at % place.len()].set_relaxed(value);
            // It may not go on for ever: a ring of 128 words has no more than 42 records.
            let mut reads = 0;
            while let Ok(Some(words)) = consumer.next(&mut buffer) {
                reads += 1;
                prop_assert!((HEADER_WORDS..=128).contains(&words));
                prop_assert!(reads <= 43, "endless");
            }
            consumer.release();
        }
    }
}

#[test]
fn a_tail_from_the_future_makes_the_ring_look_full() {
    let ring = RingMemory::new(64);
    let mem = ring.memory();
    let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
    assert!(produce(&mut producer, mem, 8));
    let head = mem.page.head.relaxed();
    for tail in [head + 8, head + 64 * 8, head + 64 * 8 + 8, 1 << 63] {
        mem.page.tail.set_relaxed(tail);
        let lost = producer.lost();
        assert!(!produce(&mut producer, mem, 8), "tail {tail}");
        assert_eq!((producer.lost(), mem.page.head.relaxed()), (lost + 1, head));
    }
    // An honest one again: the record gets in, behind the report of the lost ones.
    mem.page.tail.set_relaxed(head);
    assert!(produce(&mut producer, mem, 8));
}
