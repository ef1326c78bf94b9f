// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! The calls, with the errors that the header promises.

use crate::{
    rings::Rings,
    state::{Counter, State},
    Fake,
};
use pmon::{abi, Call, CallError, Device, Errno, Error, RingMemory, Unit};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::{cell::RefMut, os::fd::BorrowedFd, time::Duration};

impl Fake {
    /// The state, unless `call` is to fail.
    fn enter(&self, call: Call) -> Result<RefMut<'_, State>, CallError> {
        let state = self.0.borrow_mut();
        let failure = state
            .failures
            .iter()
            .find(|(c, _)| *c == call)
            .map(|(_, errno)| *errno);
        match failure {
            Some(errno) => Err(CallError::new(call, "", errno)),
            None => Ok(state),
        }
    }
}

/// Fails with `errno` when `wrong`.
fn refuse(wrong: bool, call: Call, errno: Errno) -> Result<(), CallError> {
    if wrong {
        return Err(CallError::new(call, "", errno));
    }
    Ok(())
}

impl Device for Fake {
    fn info(&self) -> Result<abi::pmon_info, CallError> {
        let state = self.enter(Call::Info)?;
        Ok(abi::pmon_info {
            abi_version: abi::PMON_ABI_VERSION,
            nr_sockets: state.plan.sockets,
            nr_cpus: state.plan.cpus,
            cpu_family: 6,
            cpu_model: 62,
            cpu_stepping: 4,
            core_version: 3,
            core_counters: 4,
            core_fixed: 3,
            core_width: 48,
            core_absent_events: 1 << 2,
            poll_interval_us: 10_000,
            min_period: 100,
            max_rate: 100_000,
            ..Default::default()
        })
    }

    fn unit(&self, unit: Unit, socket: u32, index: u32) -> Result<abi::pmon_unit_info, CallError> {
        let state = self.enter(Call::Unit)?;
        let plan = &state.plan;
        let nr_boxes = match unit {
            Unit::Cbox => plan.cboxes,
            Unit::Core => plan.cpus,
            Unit::Ubox | Unit::Pcu => 1,
        };
        refuse(
            index >= nr_boxes || socket >= plan.sockets,
            Call::Unit,
            Errno::NXIO,
        )?;
        let offline = unit == Unit::Core && plan.offline == Some(index);
        refuse(offline, Call::Unit, Errno::NODEV)?;
        let (config_mask, filter_mask) = match unit {
            Unit::Ubox => (0x1f04_ffff, [0; 4]),
            Unit::Cbox => (0xff0c_ffff, [0x007e_001f, 0xdff0_ffff, 0, 0]),
            Unit::Pcu => (0xdf24_c0ff, [0xffff_ffff, 0, 0, 0]),
            Unit::Core => (0xffa4_ffff, [0; 4]),
        };
        Ok(abi::pmon_unit_info {
            unit: unit.number(),
            socket,
            box_: index,
            nr_boxes,
            mode: if unit == Unit::Cbox {
                plan.cbox_mode
            } else {
                abi::PMON_MODE_PMI
            },
            counters: if unit == Unit::Ubox { 2 } else { 4 },
            fixed: match unit {
                Unit::Ubox => 1,
                Unit::Core => 3,
                _ => 0,
            },
            width: 44,
            fixed_width: 48,
            pmi_cpu: if unit == Unit::Core {
                index
            } else {
                state.pmi_cpu(socket)
            },
            config_mask,
            filter_mask,
            ..Default::default()
        })
    }

    fn add(&self, arg: &mut abi::pmon_counter) -> Result<(), CallError> {
        let mut state = self.enter(Call::Add)?;
        let same_box = |c: &&Counter| {
            (c.arg.unit, c.arg.socket, c.arg.box_) == (arg.unit, arg.socket, arg.box_)
        };
        let in_box = state.counters.iter().filter(same_box).count();
        let leads =
            |c: &Counter| c.arg.flags & abi::PMON_COUNTER_LEADER != 0 && c.arg.socket == arg.socket;
        let second = arg.flags & abi::PMON_COUNTER_LEADER != 0 && state.counters.iter().any(leads);
        refuse(state.rings.is_some(), Call::Add, Errno::INPROGRESS)?;
        refuse(arg.period != 0 && arg.period < 100, Call::Add, Errno::RANGE)?;
        refuse(in_box >= 4, Call::Add, Errno::NOSPC)?;
        refuse(second, Call::Add, Errno::EXIST)?;
        if arg.counter == abi::PMON_COUNTER_ANY {
            arg.counter = in_box as u32; // CAST: at most 4.
        }
        arg.id = state.counters.len() as u32; // CAST: at most 512.
        arg.width = 44;
        let core = arg.unit == abi::PMON_UNIT_CORE;
        let cpu = if core {
            arg.box_
        } else {
            state.pmi_cpu(arg.socket)
        };
        state.counters.push(Counter {
            arg: *arg,
            count: abi::pmon_count::default(),
            cpu,
        });
        Ok(())
    }

    fn make_rings(&self, arg: &mut abi::pmon_rings) -> Result<Box<dyn RingMemory>, Error> {
        let mut state = self.enter(Call::Rings)?;
        refuse(state.rings.is_some(), Call::Rings, Errno::EXIST)?;
        let good = arg.bytes.is_power_of_two() && (4096..=64 << 20).contains(&arg.bytes);
        refuse(!good, Call::Rings, Errno::RANGE)?;
        let mut cpus: Vec<_> = state.counters.iter().map(|c| c.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        let rings = Rings::new(cpus, arg.bytes, arg.flags, state.broken_field)?;
        let shared = rings.share();
        arg.nr_rings = shared.len() as u32; // CAST: one for each CPU.
        state.rings = Some(rings);
        Ok(shared)
    }

    fn start(&self) -> Result<(), CallError> {
        let mut state = self.enter(Call::Start)?;
        let samples = state.counters.iter().any(|c| c.arg.period != 0);
        refuse(state.running, Call::Start, Errno::ALREADY)?;
        refuse(state.counters.is_empty(), Call::Start, Errno::NODATA)?;
        refuse(samples && state.rings.is_none(), Call::Start, Errno::NOBUFS)?;
        state.running = true;
        Ok(())
    }

    fn stop(&self) -> Result<(), CallError> {
        let mut state = self.enter(Call::Stop)?;
        refuse(!state.running, Call::Stop, Errno::ALREADY)?;
        state.running = false;
        Ok(())
    }

    fn reset(&self) -> Result<(), CallError> {
        let mut state = self.enter(Call::Reset)?;
        refuse(state.running, Call::Reset, Errno::INPROGRESS)?;
        state
            .counters
            .iter_mut()
            .for_each(|c| c.count = abi::pmon_count::default());
        Ok(())
    }

    fn read(&self, counts: &mut [abi::pmon_count]) -> Result<u64, CallError> {
        let state = self.enter(Call::Read)?;
        counts
            .iter_mut()
            .zip(&state.counters)
            .for_each(|(out, c)| *out = c.count);
        Ok(state.time)
    }

    fn stats(&self) -> Result<abi::pmon_stats, CallError> {
        let state = self.enter(Call::Stats)?;
        Ok(abi::pmon_stats {
            samples: state.samples,
            lost: state.rings.as_ref().map_or(0, Rings::lost),
            interrupts: state.samples,
            ..Default::default()
        })
    }

    fn wait(&self, wake: Option<BorrowedFd<'_>>, timeout: Duration) -> Result<(), CallError> {
        let number = {
            let mut state = self.enter(Call::Wait)?;
            state.waits += 1;
            state.waits - 1
        };
        // The hook may use the handle.
        let hook = self.0.borrow_mut().hook.take();
        if let Some(mut hook) = hook {
            hook(number);
            self.0.borrow_mut().hook = Some(hook);
        }
        if let Some(fd) = wake.filter(|_| !timeout.is_zero()) {
            let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
            let millisecond = Timespec {
                tv_sec: 0,
                tv_nsec: 1_000_000,
            };
            // A signal is as good as a time-out here.
            let _ = poll(&mut fds, Some(&millisecond));
        }
        self.0.borrow_mut().advance();
        Ok(())
    }

    fn now(&self) -> u64 {
        self.0.borrow().time
    }

    fn socket_of_cpu(&self, cpu: u32) -> Option<u32> {
        Some(self.0.borrow().socket_of(cpu))
    }
}
