// SPDX-License-Identifier: GPL-2.0-only

//! The ring's two ends in two threads of the host.

use pmon_host_tests::{
    logic::ring::{Consumer, Producer, RingError, HEADER_WORDS, MAX_RECORD_WORDS},
    memory::RingMemory,
};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

const RECORDS: u64 = 300_000;
const KIND: u32 = 77;
const LOST: u32 = 2;

/// Numbers without a pattern (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Records read, and losses that records told of.
struct Seen {
    read: u64,
    told: u64,
}

fn consume(consumer: &mut Consumer<'_>, done: &AtomicBool) -> Seen {
    let mut random = Random(99);
    let mut buffer = vec![0; MAX_RECORD_WORDS];
    let (mut seen, mut next) = (Seen { read: 0, told: 0 }, 0);
    loop {
        // Before the ring is found empty for the last time.
        let last = done.load(Ordering::Acquire);
        loop {
            let words = match consumer.next(&mut buffer) {
                Ok(None) => break,
                Ok(Some(words)) => words,
                Err(e @ (RingError::BadSize | RingError::ShortBuffer { .. })) => panic!("{e:?}"),
                Err(e @ RingError::Damaged { .. }) => panic!("{e:?}"),
            };
            let (first, seq) = (buffer[0], buffer[2]);
            assert_eq!(first >> 48, words as u64 * 8);
            if first as u32 == LOST {
                seen.told += buffer[3];
                continue;
            }
            assert_eq!(first as u32, KIND);
            assert!(seq >= next, "{seq} after {next}");
            assert!(buffer[HEADER_WORDS..words].iter().all(|&w| w == seq), "torn: {seq}");
            next = seq + 1;
            seen.read += 1;
            if random.below(4) == 0 {
                consumer.release();
            }
            if random.below(500) == 0 {
                thread::yield_now();
            }
        }
        consumer.release();
        if last {
            return seen;
        }
    }
}

fn run(words: usize, flags: u32) -> (Seen, Producer) {
    let memory = RingMemory::new(words);
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0, flags, 4096, 0, 0);
    let done = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut consumer = Consumer::new(mem.page, mem.data).expect("a power of two");
            consume(&mut consumer, &done)
        });
        let mut random = Random(7);
        for n in 0..RECORDS {
            let words = HEADER_WORDS + random.below(40) as usize;
            if let Some(mut grant) = producer.begin(mem, KIND, 0, 0, words) {
                (HEADER_WORDS..words).for_each(|_| grant.put(n));
                grant.commit();
            }
            if random.below(1000) == 0 {
                thread::yield_now();
            }
        }
        done.store(true, Ordering::Release);
        reader.join().expect("the reader")
    });
    assert_eq!(producer.produced(), RECORDS);
    (seen, producer)
}

#[test]
fn nothing_is_torn_and_nothing_is_lost_unsaid() {
    for words in [64, 512, 8192] {
        let (seen, producer) = run(words, 0);
        assert_eq!(seen.read + producer.lost(), RECORDS);
        // Losses at the end have no record after them.
        assert!(seen.told <= producer.lost());
        assert!(seen.read > 0);
    }
}

#[test]
fn an_overwriting_ring_shows_no_torn_record() {
    for words in [64, 512, 8192] {
        let (seen, producer) = run(words, 1);
        // What was read, but not yet given back, counts as lost when it is overwritten.
        assert!(seen.read + producer.lost() >= RECORDS);
        assert!(seen.read > 0 && seen.told == 0);
    }
}
