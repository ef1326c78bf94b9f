// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! What there is to count with.

use crate::{
    abi,
    device::Device,
    errno::CallError,
    unit::{Mode, Unit},
};
use rustix::io::Errno;
use std::collections::HashMap;

/// One box, or one CPU's own counters.
#[derive(Clone, Copy, Debug)]
pub struct BoxInfo {
    /// Its kind.
    pub unit: Unit,
    /// Its socket; 0 for [`Unit::Core`].
    pub socket: u32,
    /// Box of the socket, or the CPU.
    pub index: u32,
    /// How its overflows are noticed.
    pub mode: Mode,
    /// What the module says about it.
    pub info: abi::pmon_unit_info,
}

/// The machine, as the module sees it.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// `PMON_IOC_INFO`.
    pub info: abi::pmon_info,
    /// All boxes, by unit, socket and index.
    pub boxes: Vec<BoxInfo>,
    sockets: HashMap<u32, u32>,
}

impl Machine {
    /// Asks the device.
    pub fn gather(device: &dyn Device) -> Result<Self, CallError> {
        let info = device.info()?;
        let mut boxes = Vec::new();
        for unit in [Unit::Ubox, Unit::Cbox, Unit::Pcu] {
            for socket in 0..info.nr_sockets {
                let Some(first) = ask(device, unit, socket, 0)? else {
                    continue;
                };
                boxes.push(first);
                for index in 1..first.info.nr_boxes {
                    boxes.extend(ask(device, unit, socket, index)?);
                }
            }
        }
        for cpu in 0..info.nr_cpus {
            boxes.extend(ask(device, Unit::Core, 0, cpu)?);
        }
        let socket = |cpu| Some((cpu, device.socket_of_cpu(cpu)?));
        let sockets = (0..info.nr_cpus).filter_map(socket).collect();
        Ok(Self {
            info,
            boxes,
            sockets,
        })
    }

    /// The boxes of `unit`.
    pub fn of_unit(&self, unit: Unit) -> impl Iterator<Item = &BoxInfo> {
        self.boxes.iter().filter(move |b| b.unit == unit)
    }

    /// Socket of a box or CPU, where it is known.
    pub fn socket_of(&self, unit: Unit, socket: u32, index: u32) -> Option<u32> {
        match unit {
            Unit::Core => self.sockets.get(&index).copied(),
            _ => Some(socket),
        }
    }
}

/// One box; nothing where there is none or its CPU is offline.
fn ask(
    device: &dyn Device,
    unit: Unit,
    socket: u32,
    index: u32,
) -> Result<Option<BoxInfo>, CallError> {
    match device.unit(unit, socket, index) {
        Ok(info) => {
            let mode = Mode::from_number(info.mode);
            Ok(Some(BoxInfo {
                unit,
                socket,
                index,
                mode,
                info,
            }))
        }
        Err(error) if matches!(error.errno, Errno::NXIO | Errno::NODEV) => Ok(None),
        Err(error) => Err(error),
    }
}
