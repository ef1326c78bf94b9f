// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Starts a session and its command, and finds out when the run is over.

use crate::{args::RunArgs, child::Running, exit::Exit, interrupt::Interrupt};
use anyhow::Context as _;
use pmon::Session;
use std::time::Duration;

/// Longest wait: what comes without a wake-up is noticed after this time.
const TICK: Duration = Duration::from_millis(100);

/// A run under way. Dropping it ends its command.
pub(crate) struct Run {
    interrupt: Interrupt,
    command: Option<Running>,
    /// Begin, ns.
    start: u64,
    /// End, ns.
    deadline: Option<u64>,
}

impl Run {
    /// Starts to count, then starts the command.
    pub(crate) fn start(session: &Session, args: &RunArgs) -> anyhow::Result<Self> {
        let interrupt = Interrupt::watch().context("cannot watch for Ctrl-C")?;
        session.start()?;
        let start = session.now();
        // The session ends with its file when the command cannot be started.
        let command = Running::start(&args.command)?;
        let deadline = args
            .duration
            .map(|duration| start.saturating_add(nanos(duration)));
        Ok(Self {
            interrupt,
            command,
            start,
            deadline,
        })
    }

    /// Begin, CLOCK_MONOTONIC in ns.
    pub(crate) fn started(&self) -> u64 {
        self.start
    }

    /// Waits for records, for the time `until` (ns) or for the end. At the end it returns how the
    /// program is to end.
    pub(crate) fn wait(
        &mut self,
        session: &Session,
        until: Option<u64>,
    ) -> anyhow::Result<Option<Exit>> {
        let now = session.now();
        let left = |time: u64| Duration::from_nanos(time.saturating_sub(now));
        let timeout = [until, self.deadline].into_iter().flatten().map(left).min();
        session.wait(
            Some(self.interrupt.wake()),
            timeout.unwrap_or(TICK).min(TICK),
        )?;
        self.interrupt.clear();
        if let Some(command) = &mut self.command {
            if let Some(status) = command.ended().context("cannot wait for the command")? {
                return Ok(Some(Exit::Command(status)));
            }
        }
        let over = self
            .deadline
            .is_some_and(|deadline| session.now() >= deadline);
        Ok((over || self.interrupt.seen()).then_some(Exit::Success))
    }
}

/// Nanoseconds of a duration.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
