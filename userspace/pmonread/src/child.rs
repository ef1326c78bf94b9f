// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The command that runs while we count.

use rustix::process::{kill_process, Pid, Signal};
use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus},
};

/// The command could not be started.
#[derive(Debug)]
pub(crate) struct StartError {
    program: String,
    error: io::Error,
}

impl StartError {
    /// As shells do: 127 when there is no such command, else 126.
    pub(crate) fn code(&self) -> u8 {
        match self.error.kind() {
            io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

impl std::error::Error for StartError {}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot run `{}`: {}", self.program, self.error)
    }
}

/// A running command; it is ended with us.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(command: &[String]) -> Result<Option<Self>, StartError> {
        let Some((program, args)) = command.split_first() else {
            return Ok(None);
        };
        match Command::new(program).args(args).spawn() {
            Ok(child) => Ok(Some(Self(child))),
            Err(error) => Err(StartError {
                program: program.clone(),
                error,
            }),
        }
    }

    /// The exit status as shells count it, once the command has ended.
    pub(crate) fn ended(&mut self) -> io::Result<Option<u8>> {
        Ok(self.0.try_wait()?.map(status))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
            // It has ended meanwhile when either fails.
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
            let _ = self.0.wait();
        }
    }
}

fn status(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(u8::MAX)
}
