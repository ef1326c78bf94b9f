// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Recordings: a session's records in a file, with what is needed to understand them later.
//!
//! `docs/recording-format.md` describes the bytes.

mod header;
mod read;
mod write;

pub use header::{CounterLine, Header, MachineLine, RingLine, StatsLine, TotalLine, Trailer};
pub use read::{Item, RecordingReader};
pub use write::RecordingWriter;

use std::io;

/// First bytes of a recording.
pub const MAGIC: [u8; 8] = *b"PMONREC\0";
/// Version of the format.
pub const VERSION: u32 = 1;
/// Largest JSON text that a reader takes, bytes.
pub const MAX_JSON: u32 = 16 << 20;

/// Frame with one record.
const KIND_RECORD: u16 = 1;
/// Frame with the trailer.
const KIND_TRAILER: u16 = 2;
/// Bytes of a frame's head: kind, ring, bytes that follow.
const FRAME_BYTES: usize = 8;

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The system refused.
    #[error("recording: {0}")]
    Io(#[source] io::Error),
    /// Something else.
    #[error("this is no recording of pmonread; make one with `pmonread record`")]
    NotOne,
    /// Of another version.
    #[error(
        "the recording has version {0}, this program reads version {VERSION}; use the \
        pmonread that made it, or a newer one"
    )]
    Version(u32),
    /// It ends in the middle.
    #[error(
        "the recording ends in the middle of a record, at byte {position}; what came before \
        is sound"
    )]
    Truncated {
        /// Where the file ends.
        position: u64,
    },
    /// It ends without its trailer.
    #[error(
        "the recording has no end: pmonread was killed while it wrote; what it has is sound, \
        but records lost and totals are not known"
    )]
    NoTrailer,
    /// Something that cannot be.
    #[error("the recording is damaged at byte {position} ({what}); what came before is sound")]
    Damaged {
        /// Where.
        position: u64,
        /// What was looked at.
        what: &'static str,
    },
}
