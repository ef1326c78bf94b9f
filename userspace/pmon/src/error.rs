// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What can go wrong in the library.

use crate::{
    errno::CallError, event::ParseError, mapping::MappingError, place::PlaceError,
    reader::ReadError, recording::RecordingError,
};

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call of the device failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The text is no event.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The event is not for this machine.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The mapping is not what the header promises.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// Something in a ring is no record.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A recording cannot be written or read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}
