// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! One CPU's ring of records, seen from both ends.
//!
//! The producer is the kernel on the ring's CPU; the consumer is a program that mapped the pages.
//! The producer owns the bytes from `tail + size` down to `head`, the consumer those between `tail`
//! and `head`. Four accesses order the two:
//!
//! ```text
//!   producer                                   consumer
//!   A  load tail, acquire                      C  load head, acquire
//!      write the record's words                   read the record's words
//!   B  store head, release                     D  store tail, release
//! ```
//!
//! B pairs with C: who sees the new head sees the record. D pairs with A: the producer reuses words
//! only after they were read. In an overwriting ring A gives way to `oldest`: the producer moves it
//! past the words (E: write barrier) before it touches them, and the consumer, having copied a
//! record, looks at it again (F: read barrier), so that it notices a torn copy.
//!
//! Everything that the consumer can write is untrusted here: a wild tail makes the ring look full.

use crate::atomic::{read_barrier, write_barrier, Word};

/// Words of a record's header: type, misc and size; time; sequence number.
pub const HEADER_WORDS: usize = 3;
/// Words of the longest record (its size field has 16 bits).
pub const MAX_RECORD_WORDS: usize = u16::MAX as usize / 8;
/// Words of `struct pmon_lost`.
const LOST_WORDS: usize = HEADER_WORDS + 1;
/// `PMON_RECORD_LOST`.
const TYPE_LOST: u32 = 2;
/// `PMON_RINGS_OVERWRITE`.
const OVERWRITE: u32 = 1;

/// `struct pmon_ring_page`: a ring's positions, in bytes since the start.
#[repr(C)]
pub struct RingPage {
    /// Logical CPU in the low half, `PMON_RINGS_*` flags in the high half.
    pub cpu_flags: Word,
    /// Offset of the data from the start of this page.
    pub data_offset: Word,
    /// Bytes of data.
    pub data_size: Word,
    reserved0: [Word; 5],
    /// End of the newest record.
    pub head: Word,
    /// Start of the oldest whole record.
    pub oldest: Word,
    /// Records produced, lost ones included.
    pub produced: Word,
    /// Records lost.
    pub lost: Word,
    reserved1: [Word; 4],
    /// Start of the first record not yet read; the consumer's.
    pub tail: Word,
    reserved2: [Word; 7],
}

/// The word of `data` at position `pos`.
fn word(data: &[Word], pos: u64) -> Option<&Word> {
    let mask = (data.len() as u64).wrapping_sub(1);
    // CAST: masked by the length of a slice.
    data.get(((pos / 8) & mask) as usize)
}

/// First word of a record.
fn header(kind: u32, misc: u16, words: usize) -> u64 {
    u64::from(kind) | (u64::from(misc) << 32) | ((words as u64 * 8) << 48)
}

/// Bytes of the record whose first word is `first`.
fn size_of_record(first: u64) -> u64 {
    first >> 48
}

/// A ring's shared memory. `data.len()` is a power of two.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// The positions.
    pub page: &'a RingPage,
    /// The records.
    pub data: &'a [Word],
}

/// The kernel's end: everything it must not take from memory that programs can write.
pub struct Producer {
    head: u64,
    oldest: u64,
    produced: u64,
    lost: u64,
    /// Lost since the last record that got in.
    unreported: u64,
    overwrite: bool,
    wake_records: u64,
    wake_bytes: u64,
    records_since_wake: u64,
}

impl Producer {
    /// Makes the producer of an empty ring and writes the ring's page. A reader is to be woken
    /// after `wake_records` records, and when `wake_bytes` bytes are unread; 0 is never.
    pub fn new(
        mem: Memory<'_>,
        cpu: u32,
        flags: u32,
        data_offset: u64,
        wake_records: u32,
        wake_bytes: u32,
    ) -> Self {
        mem.page
            .cpu_flags
            .set_relaxed(u64::from(cpu) | (u64::from(flags) << 32));
        mem.page.data_offset.set_relaxed(data_offset);
        mem.page.data_size.set_relaxed(mem.data.len() as u64 * 8);
        Self {
            head: 0,
            oldest: 0,
            produced: 0,
            lost: 0,
            unreported: 0,
            overwrite: flags & OVERWRITE != 0,
            wake_records: u64::from(wake_records),
            wake_bytes: u64::from(wake_bytes),
            records_since_wake: 0,
        }
    }

    /// Records produced, lost ones included.
    pub fn produced(&self) -> u64 {
        self.produced
    }

    /// Records lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Position of the newest record's end.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Starts a record of `words` words, or counts it as lost when there is no room.
    pub fn begin<'a>(
        &'a mut self,
        mem: Memory<'a>,
        kind: u32,
        misc: u16,
        time: u64,
        words: usize,
    ) -> Option<Grant<'a>> {
        let seq = self.produced;
        self.produced += 1;
        let report = self.unreported != 0 && !self.overwrite;
        let total = words + if report { LOST_WORDS } else { 0 };
        if words > MAX_RECORD_WORDS || !self.make_room(mem, total as u64 * 8) {
            self.lost += 1;
            self.unreported += 1;
            self.publish_counts(mem);
            return None;
        }
        let lost = core::mem::take(&mut self.unreported);
        let end = self.head + total as u64 * 8;
        let mut grant = Grant {
            start: self.head,
            at: self.head,
            end,
            producer: self,
            mem,
        };
        if report {
            grant.put_header(TYPE_LOST, 0, LOST_WORDS, time, seq);
            grant.put(lost);
        }
        grant.put_header(kind, misc, words, time, seq);
        Some(grant)
    }

    fn publish_counts(&self, mem: Memory<'_>) {
        mem.page.produced.set_relaxed(self.produced);
        mem.page.lost.set_relaxed(self.lost);
    }

    /// Makes `bytes` free after the head; false when they are not to be had.
    fn make_room(&mut self, mem: Memory<'_>, bytes: u64) -> bool {
        let size = mem.data.len() as u64 * 8;
        if bytes > size {
            return false;
        }
        // A: pairs with D.
        let tail = mem.page.tail.acquire();
        if !self.overwrite {
            let used = self.head.wrapping_sub(tail);
            return used <= size && size - used >= bytes;
        }
        while self.head + bytes - self.oldest > size {
            let record = word(mem.data, self.oldest).map_or(0, |w| size_of_record(w.relaxed()));
            if record < HEADER_WORDS as u64 * 8
                || record % 8 != 0
                || record > self.head - self.oldest
            {
                // The program has overwritten its own records: what is left of them is gone.
                self.oldest = self.head;
                break;
            }
            if self.oldest >= tail {
                self.lost += 1;
            }
            self.oldest += record;
        }
        mem.page.oldest.set_relaxed(self.oldest);
        // E: pairs with F.
        write_barrier();
        true
    }
}

/// Room for one record; nobody sees it before [`Grant::commit`].
pub struct Grant<'a> {
    producer: &'a mut Producer,
    mem: Memory<'a>,
    start: u64,
    at: u64,
    end: u64,
}

impl Grant<'_> {
    fn put_header(&mut self, kind: u32, misc: u16, words: usize, time: u64, seq: u64) {
        self.put(header(kind, misc, words));
        self.put(time);
        self.put(seq);
    }

    /// Appends a word; past the record's end it is dropped.
    pub fn put(&mut self, value: u64) {
        if self.at < self.end {
            if let Some(w) = word(self.mem.data, self.at) {
                w.set_relaxed(value);
            }
            self.at += 8;
        }
    }

    /// Publishes the record. Returns whether the reader is to be woken.
    pub fn commit(mut self) -> bool {
        while self.at < self.end {
            self.put(0);
        }
        let p = self.producer;
        p.head = self.end;
        p.publish_counts(self.mem);
        // B: pairs with C.
        self.mem.page.head.set_release(p.head);
        p.records_since_wake += 1;
        let unread = p.head.wrapping_sub(self.mem.page.tail.relaxed());
        let crossed = p.wake_bytes != 0
            && unread >= p.wake_bytes
            && unread.wrapping_sub(self.end - self.start) < p.wake_bytes;
        let wake = crossed || (p.wake_records != 0 && p.records_since_wake >= p.wake_records);
        if wake {
            p.records_since_wake = 0;
        }
        wake
    }
}

/// What a consumer can find wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingError {
    /// The data's length is not a power of two of whole words.
    BadSize,
    /// No record can stand at this position. The consumer goes on at the head.
    Damaged {
        /// Where, in bytes since the start.
        position: u64,
    },
    /// The buffer is too short for the record, which stays in the ring.
    ShortBuffer {
        /// Words that are needed.
        words: usize,
    },
}

/// The program's end.
pub struct Consumer<'a> {
    mem: Memory<'a>,
    position: u64,
    overwrite: bool,
}

impl<'a> Consumer<'a> {
    /// Makes a consumer that begins at the ring's tail.
    pub fn new(page: &'a RingPage, data: &'a [Word]) -> Result<Self, RingError> {
        if !data.len().is_power_of_two() {
            return Err(RingError::BadSize);
        }
        // CAST: the flags are the high half.
        let flags = (page.cpu_flags.relaxed() >> 32) as u32;
        Ok(Self {
            mem: Memory { page, data },
            position: page.tail.relaxed(),
            overwrite: flags & OVERWRITE != 0,
        })
    }

    /// Logical CPU that produces.
    pub fn cpu(&self) -> u32 {
        // CAST: the CPU is the low half.
        self.mem.page.cpu_flags.relaxed() as u32
    }

    /// Records produced, lost ones included.
    pub fn produced(&self) -> u64 {
        self.mem.page.produced.relaxed()
    }

    /// Records lost.
    pub fn lost(&self) -> u64 {
        self.mem.page.lost.relaxed()
    }

    /// Copies the next record into `out` and returns its length in words, or nothing when the ring
    /// is empty.
    pub fn next(&mut self, out: &mut [u64]) -> Result<Option<usize>, RingError> {
        loop {
            // Before the head: else the ring could turn over in between.
            if self.overwrite {
                self.position = self.position.max(self.mem.page.oldest.acquire());
            }
            // C: pairs with B.
            let head = self.mem.page.head.acquire();
            if head == self.position {
                return Ok(None);
            }
            let result = self.copy(head, out);
            if self.overwrite {
                // F: pairs with E.
                read_barrier();
                if self.mem.page.oldest.relaxed() > self.position {
                    continue;
                }
            }
            match result {
                Ok(words) => {
                    self.position += words as u64 * 8;
                    return Ok(Some(words));
                }
                Err(RingError::Damaged { .. }) => self.position = head,
                Err(_) => {}
            }
            return result.map(Some);
        }
    }

    fn copy(&self, head: u64, out: &mut [u64]) -> Result<usize, RingError> {
        let damaged = RingError::Damaged {
            position: self.position,
        };
        let available = head.wrapping_sub(self.position);
        let first = word(self.mem.data, self.position).map_or(0, Word::relaxed);
        let size = size_of_record(first);
        if available > self.mem.data.len() as u64 * 8
            || self.position % 8 != 0
            || size < HEADER_WORDS as u64 * 8
            || size % 8 != 0
            || size > available
        {
            return Err(damaged);
        }
        // CAST: at most 16 bits.
        let words = (size / 8) as usize;
        let Some(out) = out.get_mut(..words) else {
            return Err(RingError::ShortBuffer { words });
        };
        for (i, o) in out.iter_mut().enumerate() {
            *o = word(self.mem.data, self.position + i as u64 * 8).map_or(0, Word::relaxed);
        }
        Ok(words)
    }

    /// Gives the records read so far back to the producer.
    pub fn release(&self) {
        // D: pairs with A.
        self.mem.page.tail.set_release(self.position);
    }
}
