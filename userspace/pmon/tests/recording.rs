// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Recordings: what is written is read; what is broken is refused where it breaks.

use pmon::{
    event::parse,
    recording::{Header, Item, RecordingError, RecordingReader, RecordingWriter, Trailer, MAGIC},
    Merged, RingOptions, Selection,
};
use pmon_fake::Fake;
use proptest::prelude::*;
use std::{sync::OnceLock, time::Duration};

struct Sample {
    header: Header,
    records: Vec<Merged>,
    trailer: Trailer,
    bytes: Vec<u8>,
}

/// A recording of a few samples.
fn recording() -> &'static Sample {
    static SAMPLE: OnceLock<Sample> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let mut session = Fake::default().session().unwrap();
        let events = parse("core/cycles,period=3000/,ubox/clockticks,period=4000,leader/").unwrap();
        session.add(events, &Selection::default()).unwrap();
        session.make_rings(RingOptions::default()).unwrap();
        let header = Header::new(&session, RingOptions::default(), "test 1", &["true".into()]);
        session.start().unwrap();
        session.wait(None, Duration::ZERO).unwrap();
        session.stop().unwrap();
        let mut reader = session.reader();
        reader.fill_last();
        let records: Vec<_> = std::iter::from_fn(|| reader.pop())
            .map(Result::unwrap)
            .collect();
        let trailer = Trailer::new(
            &reader,
            &session.totals().unwrap(),
            &session.stats().unwrap(),
        );
        let mut writer = RecordingWriter::new(Vec::new(), &header).unwrap();
        records.iter().for_each(|r| writer.record(r).unwrap());
        let size = writer.bytes();
        let bytes = writer.finish(&trailer).unwrap();
        assert!(size < bytes.len() as u64 && bytes.len() % 8 == 0);
        Sample {
            header,
            records,
            trailer,
            bytes,
        }
    })
}

/// Reads all; returns the records, the trailer, and the error that ended it.
fn read(bytes: &[u8]) -> (Vec<Merged>, Option<Trailer>, Option<RecordingError>) {
    let mut records = Vec::new();
    let mut reader = match RecordingReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (records, None, Some(error)),
    };
    loop {
        match reader.read() {
            Ok(Some(Item::Record(merged))) => records.push(merged),
            Ok(Some(Item::Trailer(trailer))) => {
                assert!(matches!(reader.read(), Ok(None)));
                return (records, Some(*trailer), None);
            }
            Ok(None) => unreachable!("an end without a trailer is an error"),
            Err(error) => {
                assert!(matches!(reader.read(), Ok(None)));
                return (records, None, Some(error));
            }
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let sample = recording();
    assert!(sample.records.len() > 10 && sample.trailer.adds_up());
    let reader = RecordingReader::new(&sample.bytes[..]).unwrap();
    assert_eq!(*reader.header(), sample.header);
    let (records, trailer, error) = read(&sample.bytes);
    assert!(error.is_none());
    assert_eq!(trailer.as_ref(), Some(&sample.trailer));
    assert_eq!(records, sample.records);
}

#[test]
fn the_header_says_machine_events_and_mode() {
    let header = &recording().header;
    assert_eq!(
        (
            header.machine.family,
            header.machine.model,
            header.machine.sockets
        ),
        (6, 62, 2)
    );
    assert_eq!(
        header.events,
        [
            "core/cycles,period=3000/",
            "ubox/clockticks,period=4000,leader/"
        ]
    );
    assert_eq!(
        (header.counters[4].mode.as_str(), header.counters[4].leader),
        ("pmi", true)
    );
    assert_eq!(header.counters[5].place(), "ubox0@1");
    assert_eq!(header.counters[0].place(), "core0");
}

#[test]
fn other_files_and_versions_are_refused() {
    assert!(matches!(read(b"").2, Some(RecordingError::NotOne)));
    assert!(matches!(
        read(b"PERFILE2 and so on").2,
        Some(RecordingError::NotOne)
    ));
    let mut newer = recording().bytes.clone();
    newer[8] = 9;
    let error = read(&newer).2.unwrap();
    assert!(error
        .to_string()
        .contains("has version 9, this program reads version 1"));
    let mut huge = MAGIC.to_vec();
    huge.extend([1, 0, 0, 0, 255, 255, 255, 255]);
    assert!(matches!(
        read(&huge).2,
        Some(RecordingError::Damaged { what: "header", .. })
    ));
}

#[test]
fn frames_of_newer_programs_are_skipped() {
    let sample = recording();
    let (_, trailer_frame) = sample
        .bytes
        .split_at(sample.bytes.len() - trailer_bytes(sample));
    let mut bytes = sample.bytes[..sample.bytes.len() - trailer_frame.len()].to_vec();
    bytes.extend([77, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    bytes.extend(trailer_frame);
    let (records, trailer, error) = read(&bytes);
    assert!(error.is_none() && trailer.is_some());
    assert_eq!(records.len(), sample.records.len());
}

/// Bytes of the trailer's frame.
fn trailer_bytes(sample: &Sample) -> usize {
    let mut writer = RecordingWriter::new(Vec::new(), &sample.header).unwrap();
    sample
        .records
        .iter()
        .for_each(|r| writer.record(r).unwrap());
    sample.bytes.len() - writer.bytes() as usize
}

proptest! {
    /// A file that ends too early gives its whole records and an error.
    #[test]
    fn truncation_is_found(cut in any::<prop::sample::Index>()) {
        let sample = recording();
        let length = cut.index(sample.bytes.len());
        let (records, trailer, error) = read(&sample.bytes[..length]);
        prop_assert!(error.is_some() && trailer.is_none());
        prop_assert!(records.iter().zip(&sample.records).all(|(a, b)| a.words == b.words));
    }

    /// Garbage ends in an error or in other numbers, never in a panic.
    #[test]
    fn garbage_never_panics(
        at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut bytes = recording().bytes.clone();
        for (index, value) in at {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        let _ = read(&bytes);
    }

    /// So do files of nothing else.
    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..300), magic in any::<bool>()) {
        let mut bytes = if magic { [&MAGIC[..], &[1, 0, 0, 0]].concat() } else { Vec::new() };
        bytes.extend(noise);
        let _ = read(&bytes);
    }
}
