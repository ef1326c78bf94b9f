// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Exit codes, and the last words of a run that failed.

use crate::child::StartError;
use pmon::recording::RecordingError;
use std::io::{self, Write};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done, or nobody reads the output any more.
    Success,
    /// 1: an error, which was printed.
    Failure,
    /// 2: the command line is wrong.
    Usage,
    /// 3: records are missing that nothing accounts for: a ring or a recording was damaged.
    Incomplete,
    /// The exit status of the command that ran; 126 and 127 when it could not be started.
    Command(u8),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::Incomplete => 3,
            Exit::Command(code) => code,
        }
    }
}

/// Prints why the run failed, and finds its exit code.
pub(crate) fn report(error: &anyhow::Error, err: &mut dyn Write) -> Exit {
    let broken_pipe = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    if error
        .chain()
        .any(|e| e.downcast_ref().is_some_and(broken_pipe))
    {
        return Exit::Success;
    }
    // Nobody is left to tell when this fails.
    let _ = writeln!(err, "pmonread: {}", one_line(error));
    for cause in error.chain() {
        if let Some(start) = cause.downcast_ref::<StartError>() {
            return Exit::Command(start.code());
        }
        if is_damage(cause.downcast_ref()) {
            return Exit::Incomplete;
        }
    }
    Exit::Failure
}

/// The error and its causes. Errors of the library tell their causes themselves.
fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            let colon = if text.is_empty() { "" } else { ": " };
            text += &format!("{colon}{cause}");
        }
    }
    text
}

fn is_damage(error: Option<&RecordingError>) -> bool {
    matches!(
        error,
        Some(
            RecordingError::Damaged { .. }
                | RecordingError::Truncated { .. }
                | RecordingError::NoTrailer
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{anyhow, Context};

    fn ends(error: anyhow::Error) -> (Exit, String) {
        let mut text = Vec::new();
        let exit = report(&error, &mut text);
        (exit, String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(ends(pipe().into()), (Exit::Success, String::new()));
        let deep = Err::<(), _>(RecordingError::Io(pipe()))
            .context("writing")
            .unwrap_err();
        assert_eq!(ends(deep).0, Exit::Success);
    }

    #[test]
    fn causes_are_told_once() {
        let error = anyhow!("no such file").context("cannot open x");
        assert_eq!(ends(error).1, "pmonread: cannot open x: no such file\n");
        let error = anyhow::Error::from(RecordingError::Io(io::ErrorKind::NotFound.into()));
        assert_eq!(
            ends(error),
            (
                Exit::Failure,
                "pmonread: recording: entity not found\n".into()
            )
        );
    }

    #[test]
    fn damage_has_its_own_code() {
        assert_eq!(ends(RecordingError::NoTrailer.into()).0.code(), 3);
        assert_eq!(ends(RecordingError::NotOne.into()).0.code(), 1);
    }
}
