// SPDX-License-Identifier: GPL-2.0-only
//! The machine's monitoring hardware as a whole.

use std::collections::VecDeque;

use super::core_pmu::cpu::Cpu;
use super::core_pmu::cpuid;
use super::core_pmu::ratios::Ratios;
use super::host::Host;
use super::rates::Rates;
use super::record::{Accesses, Kind, Violation, Violations};
use super::schedule::Schedule;
use super::settings::Settings;
use super::uncore::socket::Socket;
use super::uncore::tables::MAX_CBOS;

/// The performance-monitoring hardware of a machine.
#[derive(Debug)]
pub struct Model {
    pub(crate) settings: Settings,
    pub(crate) rates: Rates,
    pub(crate) ratios: Ratios,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) schedule: Schedule,
    pub(crate) accesses: Accesses,
    pub(crate) violations: Violations,
    /// Moments with a text: control command `mark`.
    pub(crate) marks: VecDeque<(u64, String)>,
    /// The socket of control command `only-socket`.
    pub(crate) only_socket: Option<usize>,
    /// Moment up to which everything has happened, ns.
    pub(crate) now: u64,
    /// What the host was asked for last.
    pub(crate) armed: Option<u64>,
    started: bool,
    /// The machine counts instructions.
    pub(crate) counted: bool,
}

impl Model {
    /// A model without CPUs, with the settings of `config`: "key=value" pairs separated by commas.
    ///
    /// # Errors
    /// A text that names the key or value which cannot be.
    pub fn new(config: &str) -> Result<Self, String> {
        let mut settings = Settings::default();
        for pair in config.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or(format!("no value for {pair}"))?;
            settings.set(key, value)?;
        }
        Ok(Self {
            rates: Rates::new(&settings),
            settings,
            ratios: Ratios::default(),
            sockets: Vec::new(),
            cpus: Vec::new(),
            schedule: Schedule::default(),
            accesses: Accesses::default(),
            violations: Violations::default(),
            marks: VecDeque::new(),
            only_socket: None,
            now: 0,
            armed: None,
            started: false,
            counted: false,
        })
    }

    /// Adds the next logical CPU. All are added before the first access.
    pub fn add_cpu(&mut self, socket: usize, core: usize, thread: usize) {
        while self.sockets.len() <= socket {
            self.sockets.push(Socket::new());
        }
        self.cpus.push(Cpu::new(socket, core, thread));
    }

    /// Gives CPUs and boxes what depends on the whole machine, at the first call after they are all
    /// known.
    pub(crate) fn start(&mut self, host: &mut dyn Host) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.counted = host.insns(0).is_some();
        let general = self.general_counters();
        for (i, cpu) in self.cpus.iter_mut().enumerate() {
            cpu.equip(general, &self.ratios, i);
        }
        self.select_all();
    }

    /// Registers of CPUID leaf 0AH: EAX, EBX, ECX, EDX.
    pub fn cpuid_0a(&self) -> [u32; 4] {
        cpuid::leaf_0a(self.general_counters())
    }

    fn general_counters(&self) -> usize {
        cpuid::general(self.cpus.iter().any(|cpu| cpu.thread != 0))
    }

    /// Number of CBos of `socket`.
    pub(crate) fn cbos(&self, socket: usize) -> usize {
        if self.settings.cbos != 0 {
            // CAST: the setting is at most 15.
            return self.settings.cbos as usize;
        }
        self.cores(socket).min(MAX_CBOS)
    }

    /// Number of cores of `socket`.
    pub(crate) fn cores(&self, socket: usize) -> usize {
        let cpus = self.cpus.iter().filter(|cpu| cpu.socket == socket);
        cpus.map(|cpu| cpu.core + 1).max().unwrap_or(0)
    }

    /// Where `cpu` stands on the axis of its events.
    pub(crate) fn position(&self, host: &mut dyn Host, cpu: usize) -> u64 {
        host.insns(cpu).unwrap_or(self.now)
    }

    /// Where all CPUs stand.
    pub(crate) fn positions(&self, host: &mut dyn Host) -> Vec<u64> {
        (0..self.cpus.len())
            .map(|cpu| self.position(host, cpu))
            .collect()
    }

    /// Brings all counters up to now, where nothing more happens before now.
    pub(crate) fn settle_all(&mut self, host: &mut dyn Host) {
        for socket in &mut self.sockets {
            socket.settle_all(self.now, &self.settings);
        }
        for cpu in 0..self.cpus.len() {
            self.look(host, cpu);
        }
    }

    /// Works out anew what each counter counts. All are settled before.
    pub(crate) fn select_all(&mut self) {
        for (i, socket) in self.sockets.iter_mut().enumerate() {
            socket.select(i, &self.rates);
        }
        for (i, cpu) in self.cpus.iter_mut().enumerate() {
            cpu.select(&self.ratios, i);
        }
    }

    /// Records broken rules.
    pub(crate) fn blame(
        &mut self,
        broken: impl IntoIterator<Item = Kind>,
        (cpu, socket): (usize, usize),
        (register, address): (&str, u32),
        value: u64,
    ) {
        for kind in broken {
            let register = register.to_string();
            let ns = self.now;
            self.violations.add(Violation {
                ns,
                cpu,
                socket,
                register,
                address,
                kind,
                value,
            });
        }
    }

    /// The rules that software broke, oldest first; at most 1000.
    pub fn violations(&self) -> &[Violation] {
        self.violations.kept()
    }
}
