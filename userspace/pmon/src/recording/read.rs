// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Reads a recording. Nothing in it is trusted.

use super::{
    header::{Header, Trailer},
    RecordingError, FRAME_BYTES, KIND_RECORD, KIND_TRAILER, MAGIC, MAX_JSON, VERSION,
};
use crate::{
    merge::Merged,
    wire::{record::Record, ring::MAX_RECORD_WORDS},
};
use serde::de::DeserializeOwned;
use std::io::{self, Read};

/// What comes after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A record. It decodes.
    Record(Merged),
    /// The end.
    Trailer(Box<Trailer>),
}

/// Reads header, records and trailer.
pub struct RecordingReader<R> {
    input: R,
    header: Header,
    position: u64,
    ended: bool,
}

impl<R: Read> RecordingReader<R> {
    /// Reads the header.
    pub fn new(mut input: R) -> Result<Self, RecordingError> {
        let mut position = 0;
        let not_one = |error| match error {
            RecordingError::Truncated { .. } => RecordingError::NotOne,
            other => other,
        };
        let magic: [u8; 8] = array(&mut input, &mut position).map_err(not_one)?;
        if magic != MAGIC {
            return Err(RecordingError::NotOne);
        }
        let version = u32::from_le_bytes(array(&mut input, &mut position)?);
        if version != VERSION {
            return Err(RecordingError::Version(version));
        }
        let length = u32::from_le_bytes(array(&mut input, &mut position)?);
        let header = json(&mut input, &mut position, length, "header")?;
        Ok(Self {
            input,
            header,
            position,
            ended: false,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next item; nothing after the trailer. After an error there is nothing more to read.
    pub fn read(&mut self) -> Result<Option<Item>, RecordingError> {
        if self.ended {
            return Ok(None);
        }
        let item = self.frame();
        self.ended = !matches!(item, Ok(Item::Record(_)));
        item.map(Some)
    }

    fn frame(&mut self) -> Result<Item, RecordingError> {
        loop {
            let start = self.position;
            let head: [u8; FRAME_BYTES] = match array(&mut self.input, &mut self.position) {
                Err(RecordingError::Truncated { position }) if position == start => {
                    return Err(RecordingError::NoTrailer);
                }
                other => other?,
            };
            let [k0, k1, r0, r1, l0, l1, l2, l3] = head;
            let length = u32::from_le_bytes([l0, l1, l2, l3]);
            match u16::from_le_bytes([k0, k1]) {
                KIND_RECORD => return self.record(u16::from_le_bytes([r0, r1]), length),
                KIND_TRAILER => {
                    let trailer = json(&mut self.input, &mut self.position, length, "trailer")?;
                    return Ok(Item::Trailer(Box::new(trailer)));
                }
                // From a newer program.
                _ => self.skip(length)?,
            }
        }
    }

    fn record(&mut self, ring: u16, length: u32) -> Result<Item, RecordingError> {
        let damaged = RecordingError::Damaged {
            position: self.position,
            what: "record",
        };
        // CAST: to a larger type.
        let words = length as usize / 8;
        if length % 8 != 0 || words > MAX_RECORD_WORDS {
            return Err(damaged);
        }
        let bytes = take(&mut self.input, &mut self.position, length)?;
        let words: Box<[u64]> = bytes
            .chunks_exact(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()))
            .collect();
        if Record::decode(&words).is_err() {
            return Err(damaged);
        }
        let ring = usize::from(ring);
        let cpu = self.header.rings.get(ring).copied().ok_or(damaged)?;
        Ok(Item::Record(Merged { ring, cpu, words }))
    }

    fn skip(&mut self, length: u32) -> Result<(), RecordingError> {
        let skipped = io::copy(&mut (&mut self.input).take(length.into()), &mut io::sink())
            .map_err(RecordingError::Io)?;
        self.position += skipped;
        if skipped < length.into() {
            return Err(RecordingError::Truncated {
                position: self.position,
            });
        }
        Ok(())
    }
}

/// The next `length` bytes. No more memory is taken than the input has bytes.
fn take(input: &mut impl Read, position: &mut u64, length: u32) -> Result<Vec<u8>, RecordingError> {
    let mut bytes = Vec::new();
    input
        .take(length.into())
        .read_to_end(&mut bytes)
        .map_err(RecordingError::Io)?;
    *position += bytes.len() as u64;
    if (bytes.len() as u64) < length.into() {
        return Err(RecordingError::Truncated {
            position: *position,
        });
    }
    Ok(bytes)
}

fn array<const N: usize>(
    input: &mut impl Read,
    position: &mut u64,
) -> Result<[u8; N], RecordingError> {
    // CAST: the arrays are a few bytes long.
    let bytes = take(input, position, N as u32)?;
    Ok(bytes.try_into().unwrap_or([0; N]))
}

fn json<T: DeserializeOwned>(
    input: &mut impl Read,
    position: &mut u64,
    length: u32,
    what: &'static str,
) -> Result<T, RecordingError> {
    let damaged = RecordingError::Damaged {
        position: *position,
        what,
    };
    if length > MAX_JSON {
        return Err(damaged);
    }
    serde_json::from_slice(&take(input, position, length)?).map_err(|_| damaged)
}
