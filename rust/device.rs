// SPDX-License-Identifier: GPL-2.0-only

//! `/dev/pmon`: which ioctl is which, mmap, poll and the end of a session.

use crate::{
    abi::Argument,
    session::Session,
    sys::{
        cpu,
        misc::PollDevice, //
    },
    uapi::*, //
};
use kernel::{
    bindings,
    fs::File,
    ioctl::_IO,
    miscdevice::{
        MiscDevice,
        MiscDeviceOptions,
        MiscDeviceRegistration, //
    },
    mm::virt::VmaNew,
    prelude::*,
    sync::{
        poll::PollTable,
        Arc,
        ArcBorrow, //
    },
};

/// The device's name.
pub(crate) const OPTIONS: MiscDeviceOptions = MiscDeviceOptions { name: c"pmon" };

const INFO: u32 = _IO(PMON_IOC_MAGIC, 0);
const UNIT: u32 = _IO(PMON_IOC_MAGIC, 1);
const ADD: u32 = _IO(PMON_IOC_MAGIC, 2);
const RINGS: u32 = _IO(PMON_IOC_MAGIC, 3);
const START: u32 = _IO(PMON_IOC_MAGIC, 4);
const STOP: u32 = _IO(PMON_IOC_MAGIC, 5);
const RESET: u32 = _IO(PMON_IOC_MAGIC, 6);
const READ: u32 = _IO(PMON_IOC_MAGIC, 7);
const STATS: u32 = _IO(PMON_IOC_MAGIC, 8);

/// For ioctls without a struct.
fn no_argument(arg: usize) -> Result {
    if arg == 0 {
        Ok(())
    } else {
        Err(EINVAL)
    }
}

#[vtable]
impl MiscDevice for Session {
    type Ptr = Arc<Self>;

    fn open(_file: &File, _misc: &MiscDeviceRegistration<Self>) -> Result<Arc<Self>> {
        if !cpu::perfmon_capable() {
            return Err(EPERM);
        }
        Session::new()
    }

    fn release(session: Arc<Self>, _file: &File) {
        session.close();
    }

    fn mmap(session: ArcBorrow<'_, Self>, _file: &File, vma: &VmaNew) -> Result {
        session.map(vma)
    }

    fn ioctl(session: ArcBorrow<'_, Self>, _file: &File, cmd: u32, arg: usize) -> Result<isize> {
        match cmd {
            INFO => {
                let mut a = Argument::read(arg)?;
                session.info(&mut a.value)?;
                a.write()
            }
            UNIT => {
                let mut a = Argument::read(arg)?;
                session.unit(&mut a.value)?;
                a.write()
            }
            ADD => {
                let mut a = Argument::read(arg)?;
                session.add(&mut a.value)?;
                a.write()
            }
            RINGS => {
                let mut a = Argument::read(arg)?;
                session.make_rings(&mut a.value)?;
                a.write()
            }
            READ => {
                let mut a = Argument::read(arg)?;
                session.read(&mut a.value)?;
                a.write()
            }
            STATS => {
                let mut a = Argument::read(arg)?;
                session.stats(&mut a.value)?;
                a.write()
            }
            START => no_argument(arg).and_then(|()| session.start()).map(|()| 0),
            STOP => no_argument(arg).and_then(|()| session.stop()).map(|()| 0),
            RESET => no_argument(arg).and_then(|()| session.reset()).map(|()| 0),
            _ => Err(ENOTTY),
        }
    }
}

impl PollDevice for Session {
    fn poll(session: ArcBorrow<'_, Self>, file: &File, table: PollTable<'_>) -> u32 {
        session.waker.register(&table, file);
        let (readable, ended) = session.readiness();
        let bit = |on, bits| if on { bits } else { 0 };
        bit(readable, bindings::POLLIN | bindings::POLLRDNORM) | bit(ended, bindings::POLLHUP)
    }
}
