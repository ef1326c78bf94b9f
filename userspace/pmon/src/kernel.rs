// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The kernel's device.

use crate::{
    abi,
    device::{Device, RingMemory},
    errno::{Call, CallError},
    ioctl,
    mapping::{Mapping, MappingError},
    unit::Unit,
    Error,
};
use rustix::{
    event::{poll, PollFd, PollFlags, Timespec},
    fs::{open, Mode, OFlags},
    io::Errno,
    time::{clock_gettime, ClockId},
};
use std::{
    cell::Cell,
    fs,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

/// The device node.
pub const PATH: &str = "/dev/pmon";

/// One open file of [`PATH`].
pub struct DevPmon {
    fd: OwnedFd,
    /// Before there are rings, the device has nothing to wait for.
    has_rings: Cell<bool>,
}

impl DevPmon {
    /// Opens the device.
    pub fn open() -> Result<Self, CallError> {
        let fd = open(PATH, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| CallError::new(Call::Open, PATH, errno))?;
        Ok(Self {
            fd,
            has_rings: Cell::new(false),
        })
    }
}

/// Names the call in its error.
fn failed(call: Call) -> impl Fn(Errno) -> CallError {
    move |errno| CallError::new(call, "", errno)
}

impl Device for DevPmon {
    fn info(&self) -> Result<abi::pmon_info, CallError> {
        let mut info = abi::pmon_info::default();
        ioctl::info(self.fd.as_fd(), &mut info).map_err(failed(Call::Info))?;
        Ok(info)
    }

    fn unit(&self, unit: Unit, socket: u32, index: u32) -> Result<abi::pmon_unit_info, CallError> {
        let mut info = abi::pmon_unit_info {
            unit: unit.number(),
            socket,
            box_: index,
            ..Default::default()
        };
        ioctl::unit(self.fd.as_fd(), &mut info)
            .map_err(|errno| CallError::new(Call::Unit, format!("{unit} {index}"), errno))?;
        Ok(info)
    }

    fn add(&self, counter: &mut abi::pmon_counter) -> Result<(), CallError> {
        ioctl::add(self.fd.as_fd(), counter).map_err(failed(Call::Add))
    }

    fn make_rings(&self, rings: &mut abi::pmon_rings) -> Result<Box<dyn RingMemory>, Error> {
        ioctl::rings(self.fd.as_fd(), rings).map_err(failed(Call::Rings))?;
        match Mapping::new(self.fd.as_fd(), rings.map_size) {
            Ok(mapping) => {
                self.has_rings.set(true);
                Ok(Box::new(mapping))
            }
            Err(MappingError::Failed(errno)) => Err(CallError::new(Call::Map, "", errno).into()),
            Err(error) => Err(error.into()),
        }
    }

    fn start(&self) -> Result<(), CallError> {
        ioctl::start(self.fd.as_fd()).map_err(failed(Call::Start))
    }

    fn stop(&self) -> Result<(), CallError> {
        ioctl::stop(self.fd.as_fd()).map_err(failed(Call::Stop))
    }

    fn reset(&self) -> Result<(), CallError> {
        ioctl::reset(self.fd.as_fd()).map_err(failed(Call::Reset))
    }

    fn read(&self, counts: &mut [abi::pmon_count]) -> Result<u64, CallError> {
        ioctl::read(self.fd.as_fd(), counts).map_err(failed(Call::Read))
    }

    fn stats(&self) -> Result<abi::pmon_stats, CallError> {
        let mut stats = abi::pmon_stats::default();
        ioctl::stats(self.fd.as_fd(), &mut stats).map_err(failed(Call::Stats))?;
        Ok(stats)
    }

    fn wait(&self, wake: Option<BorrowedFd<'_>>, timeout: Duration) -> Result<(), CallError> {
        let mut fds = Vec::new();
        if self.has_rings.get() {
            fds.push(PollFd::new(&self.fd, PollFlags::IN));
        }
        fds.extend(wake.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(failed(Call::Wait)(errno)),
        }
    }

    fn now(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        // CAST: time since the boot is positive.
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn socket_of_cpu(&self, cpu: u32) -> Option<u32> {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        fs::read_to_string(path).ok()?.trim().parse().ok()
    }
}
