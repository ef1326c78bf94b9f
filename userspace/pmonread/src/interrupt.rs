// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Ctrl-C and its like end a run; they do not kill it.

use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM},
    flag,
    low_level::{pipe, unregister},
    SigId,
};
use std::{
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::{
        atomic::{AtomicBool, Ordering},
        Arc,
    },
};

/// Signals that end a run.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Watches for signals while it lives.
pub(crate) struct Interrupt {
    seen: Arc<AtomicBool>,
    wake: UnixStream,
    handlers: Vec<SigId>,
}

impl Interrupt {
    pub(crate) fn watch() -> io::Result<Self> {
        let seen = Arc::new(AtomicBool::new(false));
        let (wake, write) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut interrupt = Self {
            seen,
            wake,
            handlers: Vec::new(),
        };
        // The flag first: who is woken finds it set.
        for signal in ENDING {
            interrupt
                .handlers
                .push(flag::register(signal, interrupt.seen.clone())?);
        }
        for signal in ENDING.into_iter().chain([SIGCHLD]) {
            interrupt
                .handlers
                .push(pipe::register(signal, write.try_clone()?)?);
        }
        Ok(interrupt)
    }

    /// Whether a signal asked for the end.
    pub(crate) fn seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    /// Readable when a signal came or a child ended.
    pub(crate) fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Makes [`Self::wake`] unreadable again.
    pub(crate) fn clear(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(n) if n > 0) {}
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for id in self.handlers.drain(..) {
            unregister(id);
        }
    }
}
