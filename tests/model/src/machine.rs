// SPDX-License-Identifier: GPL-2.0-only
//! A machine in this process: clock and CPUs that a test moves by hand.

use std::collections::VecDeque;

use super::access::Access;
use super::host::Host;
use super::model::Model;
use super::record::Violation;

/// The shape of a machine. Logical CPU n is thread `n % threads` of core `n / threads % cores` of
/// socket `n / (threads * cores)`.
#[derive(Clone, Copy, Debug)]
pub struct Topology {
    /// Sockets, 1 to 8.
    pub sockets: usize,
    /// Cores of each socket, 1 to 15.
    pub cores: usize,
    /// Threads of each core, 1 or 2.
    pub threads: usize,
}

/// A performance-monitoring interrupt that a CPU took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pmi {
    /// When, ns.
    pub ns: u64,
    /// Which logical CPU.
    pub cpu: usize,
}

/// State of one logical CPU as the host sees it.
#[derive(Clone, Copy, Debug, Default)]
struct HostCpu {
    insns: u64,
    halted: bool,
    /// The mask bit of its LVTPC entry.
    masked: bool,
}

/// The host side of [`Machine`]: one instruction takes one nanosecond.
#[derive(Clone, Debug)]
struct ManualHost {
    now: u64,
    counted: bool,
    armed: Option<u64>,
    cpus: Vec<HostCpu>,
    pmis: VecDeque<Pmi>,
}

impl Host for ManualHost {
    fn now_ns(&mut self) -> u64 {
        self.now
    }

    fn insns(&mut self, cpu: usize) -> Option<u64> {
        self.counted.then(|| self.cpus[cpu].insns)
    }

    fn insns_to_ns(&mut self, n: u64) -> u64 {
        n
    }

    fn halted(&mut self, cpu: usize) -> bool {
        self.cpus[cpu].halted
    }

    fn arm(&mut self, ns: Option<u64>) {
        self.armed = ns;
    }

    fn pmi(&mut self, cpu: usize) -> bool {
        let state = &mut self.cpus[cpu];
        if std::mem::replace(&mut state.masked, true) {
            return false;
        }
        state.halted = false;
        self.pmis.push_back(Pmi { ns: self.now, cpu });
        true
    }
}

/// The model with a machine around it that stands still until it is told to go on.
#[derive(Debug)]
pub struct Machine {
    model: Model,
    host: ManualHost,
}

impl Machine {
    /// A machine after reset, that counts instructions, with the settings of `config`
    /// (`"key=value,…"`, keys of control command `set`).
    ///
    /// # Errors
    /// A text that names the key or value which cannot be.
    pub fn new(topology: Topology, config: &str) -> Result<Self, String> {
        Self::build(topology, config, true)
    }

    /// The same without counted instructions: core events come from virtual time.
    ///
    /// # Errors
    /// A text that names the key or value which cannot be.
    pub fn timed(topology: Topology, config: &str) -> Result<Self, String> {
        Self::build(topology, config, false)
    }

    fn build(topology: Topology, config: &str, counted: bool) -> Result<Self, String> {
        let Topology {
            sockets,
            cores,
            threads,
        } = topology;
        let mut model = Model::new(config)?;
        for cpu in 0..sockets * cores * threads {
            model.add_cpu(cpu / threads / cores, cpu / threads % cores, cpu % threads);
        }
        let cpus = vec![HostCpu::default(); sockets * cores * threads];
        let pmis = VecDeque::new();
        let mut host = ManualHost {
            now: 0,
            counted,
            armed: None,
            cpus,
            pmis,
        };
        model.reset(&mut host);
        Ok(Self { model, host })
    }

    /// Machine reset.
    pub fn reset(&mut self) {
        self.model.reset(&mut self.host);
    }

    /// Virtual time, ns.
    pub fn now_ns(&self) -> u64 {
        self.host.now
    }

    /// RDMSR on `cpu`.
    pub fn rdmsr(&mut self, cpu: usize, msr: u32) -> Access<u64> {
        self.model.rdmsr(&mut self.host, cpu, msr)
    }

    /// WRMSR on `cpu`.
    pub fn wrmsr(&mut self, cpu: usize, msr: u32, value: u64) -> Access<()> {
        self.model.wrmsr(&mut self.host, cpu, msr, value)
    }

    /// RDPMC on `cpu`.
    pub fn rdpmc(&mut self, cpu: usize, index: u32) -> Access<u64> {
        self.model.rdpmc(&mut self.host, cpu, index)
    }

    /// Registers of CPUID leaf 0AH: EAX, EBX, ECX, EDX.
    pub fn cpuid_0a(&self) -> [u32; 4] {
        self.model.cpuid_0a()
    }

    /// Reads `len` bytes of configuration space at `addr` of PCI function `device` of `socket`.
    pub fn pci_read(&self, socket: usize, device: u16, addr: u32, len: u32) -> Access<u32> {
        self.model.pci_read(socket, device, addr, len)
    }

    /// Runs a command of the control protocol and returns its answer.
    pub fn control(&mut self, line: &str) -> String {
        self.model.control(&mut self.host, line)
    }

    /// Runs a command whose answer is JSON.
    ///
    /// # Panics
    /// When the answer is no JSON: the command was wrong.
    pub fn json(&mut self, line: &str) -> serde_json::Value {
        let answer = self.control(line);
        // PANIC: documented, a mistake of the test.
        serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{line}: {answer}"))
    }

    /// The rules that software broke, oldest first.
    pub fn violations(&self) -> &[Violation] {
        self.model.violations()
    }

    /// Lets `ns` pass while no CPU executes anything.
    pub fn advance(&mut self, ns: u64) {
        self.go(ns, None, false);
    }

    /// Lets `cpu` execute `insns` instructions, one each ns, while no other does.
    pub fn execute(&mut self, cpu: usize, insns: u64) {
        self.go(insns, Some(cpu), false);
    }

    /// Lets time pass, at most `ns`, until a CPU takes an interrupt; then returns true. While one
    /// waits for [`Self::take_pmi`] no time passes.
    pub fn advance_to_pmi(&mut self, ns: u64) -> bool {
        self.go(ns, None, true);
        !self.host.pmis.is_empty()
    }

    /// Like [`Self::advance_to_pmi`], while `cpu` executes at most `insns` instructions.
    pub fn execute_to_pmi(&mut self, cpu: usize, insns: u64) -> bool {
        self.go(insns, Some(cpu), true);
        !self.host.pmis.is_empty()
    }

    /// Moves the clock, and lets the model know at each moment that it asked for.
    fn go(&mut self, ns: u64, cpu: Option<usize>, stop: bool) {
        let end = self.host.now.saturating_add(ns);
        while self.host.now < end && (!stop || self.host.pmis.is_empty()) {
            let next = self.host.armed.unwrap_or(end).clamp(self.host.now, end);
            if let Some(cpu) = cpu {
                self.host.cpus[cpu].insns += next - self.host.now;
            }
            self.host.now = next;
            if self.host.armed.is_some_and(|armed| armed <= next) {
                self.host.armed = None;
                self.model.timer(&mut self.host);
            }
        }
    }

    /// The oldest interrupt that was not taken yet.
    pub fn take_pmi(&mut self) -> Option<Pmi> {
        self.host.pmis.pop_front()
    }

    /// The mask bit of `cpu`'s LVTPC entry: set by each interrupt, cleared by software only.
    pub fn masked(&self, cpu: usize) -> bool {
        self.host.cpus[cpu].masked
    }

    /// Software writes the mask bit of `cpu`'s LVTPC entry.
    pub fn set_masked(&mut self, cpu: usize, masked: bool) {
        self.host.cpus[cpu].masked = masked;
    }

    /// Puts `cpu` to sleep, or wakes it. An interrupt wakes it too.
    pub fn set_halted(&mut self, cpu: usize, halted: bool) {
        self.host.cpus[cpu].halted = halted;
    }
}
