// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Writes a recording.

use super::{
    header::{Header, Trailer},
    RecordingError, FRAME_BYTES, KIND_RECORD, KIND_TRAILER, MAGIC, VERSION,
};
use crate::merge::Merged;
use serde::Serialize;
use std::io::{self, Write};

/// Writes header, records and trailer, in this order.
pub struct RecordingWriter<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> RecordingWriter<W> {
    /// Writes the header.
    pub fn new(out: W, header: &Header) -> Result<Self, RecordingError> {
        let mut writer = Self { out, bytes: 0 };
        let json = padded(header)?;
        writer.put(&MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        writer.put(&length(&json)?)?;
        writer.put(&json)?;
        Ok(writer)
    }

    /// Writes a record.
    pub fn record(&mut self, merged: &Merged) -> Result<(), RecordingError> {
        let bytes: Vec<u8> = merged.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        // CAST: there are fewer rings than 2^16: one for each CPU.
        self.frame(KIND_RECORD, merged.ring as u16, &bytes)
    }

    /// Writes the trailer and gives the file back.
    pub fn finish(mut self, trailer: &Trailer) -> Result<W, RecordingError> {
        self.frame(KIND_TRAILER, 0, &padded(trailer)?)?;
        self.out.flush().map_err(RecordingError::Io)?;
        Ok(self.out)
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn frame(&mut self, kind: u16, ring: u16, payload: &[u8]) -> Result<(), RecordingError> {
        let mut head = [0; FRAME_BYTES];
        head[..2].copy_from_slice(&kind.to_le_bytes());
        head[2..4].copy_from_slice(&ring.to_le_bytes());
        head[4..].copy_from_slice(&length(payload)?);
        self.put(&head)?;
        self.put(payload)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(RecordingError::Io)
    }
}

/// JSON with blanks up to a multiple of 8 bytes.
fn padded(value: &impl Serialize) -> Result<Vec<u8>, RecordingError> {
    let mut json = serde_json::to_vec(value).map_err(|e| RecordingError::Io(e.into()))?;
    json.resize(json.len().next_multiple_of(8), b' ');
    Ok(json)
}

fn length(bytes: &[u8]) -> Result<[u8; 4], RecordingError> {
    let length = u32::try_from(bytes.len());
    length
        .map(u32::to_le_bytes)
        .map_err(|_| RecordingError::Io(io::ErrorKind::FileTooLarge.into()))
}
