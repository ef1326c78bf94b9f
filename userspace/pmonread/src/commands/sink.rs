// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Where `record` puts its records: a recording, or JSON.

use crate::output::{export, Exporter, Json, Labels};
use pmon::{
    recording::{Header, RecordingWriter, Trailer},
    Merged,
};
use std::io::Write;

/// Takes records.
pub(crate) enum Sink<'a> {
    /// A recording.
    Recording(RecordingWriter<&'a mut dyn Write>),
    /// JSON, one object a line.
    Json(Json<'a>, Labels),
}

impl<'a> Sink<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, json: bool, header: &Header) -> anyhow::Result<Self> {
        if !json {
            return Ok(Self::Recording(RecordingWriter::new(out, header)?));
        }
        let mut json = Json { out };
        json.header(header)?;
        Ok(Self::Json(json, Labels::new(header)))
    }

    pub(crate) fn record(&mut self, merged: &Merged) -> anyhow::Result<()> {
        match self {
            Self::Recording(writer) => Ok(writer.record(merged)?),
            Self::Json(json, labels) => Ok(export(json, merged, labels)?),
        }
    }

    /// Lets others see what there is so far: a reader of JSON may be waiting.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Recording(_) => Ok(()),
            Self::Json(json, _) => Ok(json.out.flush()?),
        }
    }

    pub(crate) fn finish(self, trailer: &Trailer) -> anyhow::Result<()> {
        match self {
            Self::Recording(writer) => {
                writer.finish(trailer)?;
            }
            Self::Json(mut json, labels) => {
                json.trailer(trailer, &labels)?;
                json.out.flush()?;
            }
        }
        Ok(())
    }
}
