// SPDX-License-Identifier: GPL-2.0-only

//! Registers for the module's code: those of the model, as one CPU reaches them.

use crate::logic::registers::{HwError, Reg, Registers};
use pmon_model::{Machine, Topology};
use std::{
    cell::{RefCell, RefMut},
    rc::Rc,
};

/// The machine of all tests: 2 sockets of 4 cores of 2 threads.
pub const TOPOLOGY: Topology = Topology { sockets: 2, cores: 4, threads: 2 };

/// A machine with the model's settings `config` (`"key=value,…"`).
///
/// # Panics
/// When there is no such setting.
pub fn machine(config: &str) -> Rc<RefCell<Machine>> {
    // PANIC: documented, a mistake of the test.
    let machine = Machine::new(TOPOLOGY, config).unwrap_or_else(|e| panic!("{config}: {e}"));
    Rc::new(RefCell::new(machine))
}

/// The registers that one CPU of the model reaches.
#[derive(Clone, Debug)]
pub struct ModelBus {
    machine: Rc<RefCell<Machine>>,
    /// Logical CPU that makes the accesses.
    pub cpu: usize,
    /// What an access takes, ns of virtual time.
    pub access_ns: u64,
    /// What a look at the clock takes, ns of virtual time: who waits for the clock waits for ever
    /// when it is 0.
    pub clock_ns: u64,
}

impl ModelBus {
    /// Accesses by `cpu` that take no time.
    pub fn new(machine: Rc<RefCell<Machine>>, cpu: usize) -> Self {
        Self { machine, cpu, access_ns: 0, clock_ns: 0 }
    }

    /// The machine.
    pub fn machine(&self) -> RefMut<'_, Machine> {
        self.machine.borrow_mut()
    }
}

impl Registers for ModelBus {
    fn read(&mut self, reg: Reg) -> Result<u64, HwError> {
        let Reg::Msr(msr) = reg;
        let mut machine = self.machine.borrow_mut();
        machine.advance(self.access_ns);
        machine.rdmsr(self.cpu, msr).done().ok_or(HwError::Fault(reg))
    }

    fn write(&mut self, reg: Reg, value: u64) -> Result<(), HwError> {
        let Reg::Msr(msr) = reg;
        let mut machine = self.machine.borrow_mut();
        machine.advance(self.access_ns);
        machine.wrmsr(self.cpu, msr, value).done().ok_or(HwError::Fault(reg))
    }

    fn now(&mut self) -> u64 {
        let mut machine = self.machine.borrow_mut();
        machine.advance(self.clock_ns);
        machine.now_ns()
    }
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read of the MSR.
    Read(u32),
    /// A write of the MSR, and the value.
    Write(u32, u64),
}

/// The model's registers, with a record of all accesses and, on demand, one that faults.
#[derive(Clone, Debug)]
pub struct TestBus {
    /// The registers themselves.
    pub inner: ModelBus,
    /// Accesses so far, the one that faulted included.
    pub log: Vec<Access>,
    /// The access, counted from 0 by [`Self::log`], that raises #GP and does nothing.
    pub fault_at: Option<usize>,
}

impl TestBus {
    /// A recorder around `inner`.
    pub fn new(inner: ModelBus) -> Self {
        Self { inner, log: Vec::new(), fault_at: None }
    }

    fn note(&mut self, access: Access, reg: Reg) -> Result<(), HwError> {
        let faults = self.fault_at == Some(self.log.len());
        self.log.push(access);
        if faults {
            return Err(HwError::Fault(reg));
        }
        Ok(())
    }

    /// The accesses since the last call.
    pub fn take_log(&mut self) -> Vec<Access> {
        std::mem::take(&mut self.log)
    }
}

impl Registers for TestBus {
    fn read(&mut self, reg: Reg) -> Result<u64, HwError> {
        let Reg::Msr(msr) = reg;
        self.note(Access::Read(msr), reg)?;
        self.inner.read(reg)
    }

    fn write(&mut self, reg: Reg, value: u64) -> Result<(), HwError> {
        let Reg::Msr(msr) = reg;
        self.note(Access::Write(msr, value), reg)?;
        self.inner.write(reg, value)
    }

    fn now(&mut self) -> u64 {
        self.inner.now()
    }
}
