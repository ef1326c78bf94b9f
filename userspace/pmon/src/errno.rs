// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What each error number of the header's contract means for the call that returned it, and what to
//! do about it.

use rustix::io::Errno;
use std::fmt;

/// A call of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open of the device node.
    Open,
    /// `PMON_IOC_INFO`.
    Info,
    /// `PMON_IOC_UNIT`.
    Unit,
    /// `PMON_IOC_ADD`.
    Add,
    /// `PMON_IOC_RINGS`.
    Rings,
    /// mmap() of the rings.
    Map,
    /// `PMON_IOC_START`.
    Start,
    /// `PMON_IOC_STOP`.
    Stop,
    /// `PMON_IOC_RESET`.
    Reset,
    /// `PMON_IOC_READ`.
    Read,
    /// `PMON_IOC_STATS`.
    Stats,
    /// poll().
    Wait,
}

impl Call {
    /// All calls.
    pub const ALL: [Call; 12] = [
        Call::Open,
        Call::Info,
        Call::Unit,
        Call::Add,
        Call::Rings,
        Call::Map,
        Call::Start,
        Call::Stop,
        Call::Reset,
        Call::Read,
        Call::Stats,
        Call::Wait,
    ];

    fn attempt(self) -> &'static str {
        match self {
            Call::Open => "cannot open",
            Call::Info => "cannot ask for the machine",
            Call::Unit => "cannot ask for",
            Call::Add => "cannot add",
            Call::Rings => "cannot make the rings",
            Call::Map => "cannot map the rings",
            Call::Start => "cannot start counting",
            Call::Stop => "cannot stop counting",
            Call::Reset => "cannot set the totals to 0",
            Call::Read => "cannot read the totals",
            Call::Stats => "cannot read the statistics",
            Call::Wait => "cannot wait for samples",
        }
    }
}

/// A call of the device failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The call.
    pub call: Call,
    /// What it was about; may be empty.
    pub subject: String,
    /// How it failed.
    pub errno: Errno,
}

impl CallError {
    /// The failure of `call`.
    pub fn new(call: Call, subject: impl Into<String>, errno: Errno) -> Self {
        Self {
            call,
            subject: subject.into(),
            errno,
        }
    }
}

impl std::error::Error for CallError {}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.call.attempt())?;
        if !self.subject.is_empty() {
            write!(f, " {}", self.subject)?;
        }
        match explain(self.call, self.errno) {
            Some((name, text)) => write!(f, ": {text} ({name})"),
            None => write!(f, ": {}", std::io::Error::from(self.errno)),
        }
    }
}

/// An error number's name, and what it says about `call`.
fn explain(call: Call, errno: Errno) -> Option<(&'static str, &'static str)> {
    Some(match errno {
        Errno::NOENT => (
            "ENOENT",
            "the module is not loaded; try `modprobe pmon` and look at \
            dmesg",
        ),
        Errno::ACCESS => (
            "EACCES",
            "the device belongs to another user; run as root or change \
            its group",
        ),
        Errno::PERM => ("EPERM", permission(call)),
        Errno::NOTTY => (
            "ENOTTY",
            "the loaded module does not know this call; load the module \
            that this program came with",
        ),
        Errno::FAULT => (
            "EFAULT",
            "memory of this program cannot be accessed; this is a bug in \
            it, please report it",
        ),
        Errno::INVAL => ("EINVAL", invalid(call)),
        Errno::TOOBIG => (
            "E2BIG",
            "the loaded module is older than this program; load the \
            module that it came with",
        ),
        Errno::NXIO => ("ENXIO", missing(call)),
        Errno::NODEV => ("ENODEV", gone(call)),
        Errno::OPNOTSUPP => (
            "EOPNOTSUPP",
            "the event or filter sets bits that this unit \
            reserves; `pmonread info --json` shows the masks of allowed bits",
        ),
        Errno::DOM => (
            "EDOM",
            "this event cannot be counted by the named counter; name another \
            one, or leave counter= out",
        ),
        Errno::RANGE => ("ERANGE", range(call)),
        Errno::BUSY => (
            "EBUSY",
            "the counter, its filter or the CPU's counters are in use by \
            somebody else; dmesg names the register and, where it is known, the owner (perf and \
            the NMI watchdog are the usual ones: `sysctl kernel.nmi_watchdog=0`)",
        ),
        Errno::NOSPC => (
            "ENOSPC",
            "the box has no free counter left for this event; count fewer \
            events on it, or in several runs",
        ),
        Errno::MFILE => (
            "EMFILE",
            "a session has at most 512 counters; name fewer boxes, \
            sockets or CPUs",
        ),
        Errno::EXIST => ("EEXIST", exists(call)),
        Errno::INPROGRESS => ("EINPROGRESS", in_progress(call)),
        Errno::ALREADY => ("EALREADY", already(call)),
        Errno::NODATA => ("ENODATA", "the session has no counters; add events first"),
        Errno::NOBUFS => ("ENOBUFS", no_rings(call)),
        Errno::NOMEM => (
            "ENOMEM",
            "the kernel has no memory for it; make the rings smaller",
        ),
        _ => return None,
    })
}

fn permission(call: Call) -> &'static str {
    match call {
        Call::Map => {
            "the rings can only be mapped shared, from offset 0; this is a bug, please \
            report it"
        }
        _ => {
            "counting needs CAP_PERFMON or CAP_SYS_ADMIN; run as root, or give the program the \
            capability"
        }
    }
}

fn invalid(call: Call) -> &'static str {
    match call {
        Call::Add => {
            "these options mean nothing together for this unit; `pmonread list` shows \
            what each unit takes"
        }
        Call::Rings => {
            "the options of the rings mean nothing together; leave them at their \
            defaults"
        }
        Call::Map => {
            "the mapping has not the size that the module asked for; this is a bug, \
            please report it"
        }
        _ => "the module refuses the arguments; load the module that this program came with",
    }
}

fn missing(call: Call) -> &'static str {
    match call {
        Call::Open => {
            "the module serves no device; look at dmesg for what it said when it was loaded"
        }
        Call::Start => "a CPU or box of the session is not there any more; look at `pmonread info`",
        _ => "this machine has no such unit, socket, box, counter or CPU; look at `pmonread info`",
    }
}

fn gone(call: Call) -> &'static str {
    match call {
        Call::Open => "the module found nothing that it could count with; dmesg says why",
        Call::Start => "a CPU of the session went offline; choose others with -C",
        _ => {
            "the unit's registers are missing on this part, or the CPU is offline; look at \
            `pmonread info`"
        }
    }
}

fn range(call: Call) -> &'static str {
    match call {
        Call::Add => {
            "the period is too small or too large for the counter; `pmonread info` \
            shows the smallest"
        }
        Call::Rings => {
            "the size of a ring must be a power of two from 4 KiB to 64 MiB, and a \
            watermark smaller than that"
        }
        _ => "a number is outside its limits",
    }
}

fn exists(call: Call) -> &'static str {
    match call {
        Call::Add => "the socket has a leader already; mark one event with `leader` only",
        _ => "the session has its rings already",
    }
}

fn in_progress(call: Call) -> &'static str {
    match call {
        Call::Add => "counters cannot be added once the session has rings; add all events first",
        _ => "not while the session counts; stop it first",
    }
}

fn already(call: Call) -> &'static str {
    match call {
        Call::Stop => "the session does not count",
        _ => "the session counts already",
    }
}

fn no_rings(call: Call) -> &'static str {
    match call {
        Call::Start => {
            "an event has a period, but the session has no rings; make them before the start"
        }
        _ => "the session has no rings; make them first",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contract of the header, line by line, and what open() adds; with the system's numbers.
    const CONTRACT: [(&str, i32); 20] = [
        ("ENOTTY", 25),
        ("EFAULT", 14),
        ("EINVAL", 22),
        ("E2BIG", 7),
        ("EPERM", 1),
        ("ENXIO", 6),
        ("ENODEV", 19),
        ("EOPNOTSUPP", 95),
        ("EDOM", 33),
        ("ERANGE", 34),
        ("EBUSY", 16),
        ("ENOSPC", 28),
        ("EMFILE", 24),
        ("EEXIST", 17),
        ("EINPROGRESS", 115),
        ("EALREADY", 114),
        ("ENODATA", 61),
        ("ENOBUFS", 105),
        ("ENOENT", 2),
        ("EACCES", 13),
    ];

    #[test]
    fn every_number_of_the_contract_is_explained_for_every_call() {
        for call in Call::ALL {
            for (name, number) in CONTRACT {
                let (explained, text) = explain(call, Errno::from_raw_os_error(number)).unwrap();
                assert_eq!(explained, name);
                assert!(!text.is_empty());
            }
        }
    }

    #[test]
    fn messages_name_call_subject_and_remedy() {
        let text = CallError::new(Call::Add, "`ubox/clockticks/`", Errno::NOSPC).to_string();
        assert!(text.starts_with("cannot add `ubox/clockticks/`: the box has no free counter"));
        assert!(text.ends_with("(ENOSPC)"));
        let other = CallError::new(Call::Start, "", Errno::IO).to_string();
        assert_eq!(
            other,
            "cannot start counting: Input/output error (os error 5)"
        );
    }
}
