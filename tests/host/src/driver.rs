// SPDX-License-Identifier: GPL-2.0-only

//! What the module does on one CPU (`rust/percpu.rs`), without a kernel: attach, interrupt, look,
//! detach, as calls of `logic`.

mod session;

pub use session::{leaf, truth, Event, Place, Session};

use crate::{
    bus::{machine, ModelBus, TestBus, TOPOLOGY},
    hw::UNCORE,
    logic::{
        core_pmu::{self, CorePmu},
        record::{Context, MISC_POLL},
        registers::{HwError, Registers},
        selftest::{self, Outcome},
        uncore::Socket,
    },
};
use pmon_model::Machine;
use std::cell::RefMut;

/// First thread of core 1 of socket 1: nothing may depend on a 0.
pub const CPU: usize = 10;
/// Its socket.
pub const SOCKET: usize = CPU / (TOPOLOGY.cores * TOPOLOGY.threads);
/// `pmi_core_sel` with its core.
pub const SELECT: u64 = 1 << (CPU / TOPOLOGY.threads % TOPOLOGY.cores);

/// The CPU of the oldest interrupt that waits; it may have the next one.
fn next_pmi(bus: &ModelBus) -> Option<usize> {
    let mut machine = bus.machine();
    let cpu = machine.take_pmi()?.cpu;
    machine.set_masked(cpu, false);
    Some(cpu)
}

/// Runs the self-test of a box on [`CPU`]; a look at the clock takes 100 ns meanwhile.
pub fn try_box(bus: &mut TestBus, kind: usize, box_nr: u32) -> Result<Outcome, HwError> {
    let before = std::mem::replace(&mut bus.inner.clock_ns, 100);
    let waiting = bus.inner.clone();
    let mut came = false;
    let outcome = selftest::run(bus, kind, box_nr, SELECT, || {
        while let Some(cpu) = next_pmi(&waiting) {
            came |= cpu == CPU;
        }
        came
    });
    bus.inner.clock_ns = before;
    // One that the test did not wait for.
    while next_pmi(&waiting).is_some() {}
    outcome
}

/// One CPU, which takes its socket's interrupts.
pub struct Driver {
    /// Its registers.
    pub bus: TestBus,
    /// Its socket.
    pub socket: Socket,
    /// Its own counters.
    pub core: CorePmu,
    /// What counts.
    pub sessions: Vec<Session>,
    /// Interrupts that found nothing to do.
    pub late: u64,
    /// By row of the box types: the self-test saw the overflow's status and its interrupt.
    pub works: [bool; UNCORE.len()],
    /// Bits of the uncore clock's counter.
    pub fixed_width: u32,
}

impl Driver {
    /// A driver that has tested its socket, on a machine with the model's settings `config`.
    ///
    /// # Panics
    /// When the self-test cannot run.
    pub fn new(config: &str) -> Self {
        let mut bus = TestBus::new(ModelBus::new(machine(config), CPU));
        let outcomes = [0, 1, 2].map(|kind| {
            // PANIC: documented.
            try_box(&mut bus, kind, 0).unwrap_or_else(|e| panic!("{config}: {e:?}"))
        });
        bus.log.clear();
        let works = outcomes.map(|o| o.overflowed && o.status && o.interrupt);
        let freezes = outcomes.iter().zip(works).all(|(o, works)| o.froze || !works);
        let this = Self {
            bus,
            socket: Socket::new(SELECT, freezes),
            core: CorePmu::new(true),
            sessions: Vec::new(),
            late: 0,
            works,
            fixed_width: outcomes[0].width,
        };
        for line in ["truth clear", "overflows clear", "accesses clear"] {
            this.tell(line);
        }
        this.tell(&format!("only-socket {SOCKET}"));
        this
    }

    /// The machine.
    pub fn machine(&self) -> RefMut<'_, Machine> {
        self.bus.inner.machine()
    }

    /// Gives the model a command.
    ///
    /// # Panics
    /// When the answer is not `ok`.
    pub fn tell(&self, line: &str) {
        let answer = self.machine().control(line);
        // PANIC: documented, a mistake of the test.
        assert_eq!(answer, "ok", "{line}");
    }

    /// Attaches a session and starts its counters.
    pub fn start(&mut self, mut session: Session) -> Result<(), HwError> {
        if !session.core.is_empty() {
            self.core.start(&mut self.bus, &mut session.core)?;
        }
        if !session.uncore.is_empty() {
            if let Err(e) = self.socket.start(&mut self.bus, &mut session.uncore) {
                if !session.core.is_empty() {
                    let found = self.core.begin_halted(&mut self.bus)?;
                    self.core.stop(&mut self.bus, &session.core, &found)?;
                }
                return Err(e);
            }
        }
        self.sessions.push(session);
        Ok(())
    }

    fn context(&mut self, misc: u16) -> Context {
        // CAST: small constants.
        let (cpu, socket) = (CPU as u32, SOCKET as u32);
        Context { time: self.bus.now(), misc, ip: 0xdead_beef, pid: 1, tid: 2, cpu, socket }
    }

    /// The interrupts that wait, those of other CPUs too.
    ///
    /// # Panics
    /// When an access faults.
    pub fn take_pmis(&mut self) {
        while let Some(cpu) = next_pmi(&self.bus.inner) {
            if cpu == CPU {
                // PANIC: documented.
                let handled = self.nmi().unwrap_or_else(|e| panic!("{e:?}"));
                self.late += u64::from(handled == 0);
            }
        }
    }

    /// One interrupt. Returns the sources handled.
    pub fn nmi(&mut self) -> Result<u32, HwError> {
        let cx = self.context(0);
        let bus = &mut self.bus;
        let mut handled = 0;
        if self.socket.users() != 0 {
            let found = self.socket.begin(bus)?;
            if found.any() {
                for s in &mut self.sessions {
                    if s.uncore.iter().any(|c| c.account.is_leader()) {
                        CorePmu::poll(bus, &mut s.core)?;
                    }
                    let more = core_pmu::values(&s.core);
                    self.socket.collect(bus, &found, &mut s.uncore, more, &mut s.output, &cx)?;
                }
                self.socket.end(bus, &found)?;
                handled += found.sources();
            }
        }
        if self.core.users() != 0 {
            let found = self.core.begin(bus)?;
            if found.any() {
                for s in &mut self.sessions {
                    self.core.collect(bus, &found, &mut s.core, &mut s.output, &cx)?;
                }
                self.core.end(bus, &found)?;
                handled += found.sources();
            }
        }
        self.sessions.iter_mut().for_each(Session::drain);
        Ok(handled)
    }

    /// Brings all totals up to date.
    pub fn look(&mut self) -> Result<(), HwError> {
        self.look_or_stop(None).map(|_| ())
    }

    /// Stops session `index`, and detaches it with its last totals.
    ///
    /// # Panics
    /// When there is no such session, or an access faults.
    pub fn stop(&mut self, index: usize) -> Session {
        // PANIC: documented.
        let session = self.look_or_stop(Some(index)).unwrap_or_else(|e| panic!("{e:?}"));
        // PANIC: a stop returns what it stopped.
        session.expect("a session")
    }

    fn look_or_stop(&mut self, stop: Option<usize>) -> Result<Option<Session>, HwError> {
        let cx = self.context(MISC_POLL);
        let bus = &mut self.bus;
        let (uncore, core) = stop
            .map(|n| &self.sessions[n])
            .map_or((true, true), |s| (!s.uncore.is_empty(), !s.core.is_empty()));
        if uncore && self.socket.users() != 0 {
            let found = self.socket.begin_frozen(bus)?;
            for s in &mut self.sessions {
                let more = core_pmu::values(&s.core);
                self.socket.collect(bus, &found, &mut s.uncore, more, &mut s.output, &cx)?;
            }
            match stop {
                Some(n) => self.socket.stop(bus, &self.sessions[n].uncore, &found)?,
                None => self.socket.end(bus, &found)?,
            }
        }
        if core && self.core.users() != 0 {
            let found = self.core.begin_halted(bus)?;
            for s in &mut self.sessions {
                self.core.collect(bus, &found, &mut s.core, &mut s.output, &cx)?;
            }
            match stop {
                Some(n) => self.core.stop(bus, &self.sessions[n].core, &found)?,
                None => self.core.end(bus, &found)?,
            }
        }
        self.sessions.iter_mut().for_each(Session::drain);
        Ok(stop.map(|n| self.sessions.remove(n)))
    }

    /// One look of the poll timer.
    ///
    /// # Panics
    /// When an access faults.
    pub fn poll(&mut self) {
        let mut due = false;
        for s in &mut self.sessions {
            for looked in [
                Socket::poll(&mut self.bus, &mut s.uncore),
                CorePmu::poll(&mut self.bus, &mut s.core),
            ] {
                // PANIC: documented.
                due |= looked.unwrap_or_else(|e| panic!("{e:?}"));
            }
        }
        if due {
            // PANIC: documented.
            self.look().unwrap_or_else(|e| panic!("{e:?}"));
        }
    }

    /// Lets `ns` pass, and serves the interrupts.
    pub fn run(&mut self, ns: u64) {
        self.go(ns, Machine::advance_to_pmi);
    }

    /// Lets the CPU execute for `ns`, one instruction each, and serves the interrupts.
    pub fn execute(&mut self, ns: u64) {
        self.go(ns, |machine, ns| machine.execute_to_pmi(CPU, ns));
    }

    fn go(&mut self, ns: u64, step: impl Fn(&mut Machine, u64) -> bool) {
        let end = self.machine().now_ns() + ns;
        loop {
            let left = end.saturating_sub(self.machine().now_ns());
            let interrupted = step(&mut self.machine(), left);
            self.take_pmis();
            if !interrupted {
                return;
            }
        }
    }

    /// Lets `ns` pass, serves the interrupts, and polls every `interval` ns.
    pub fn run_polling(&mut self, ns: u64, interval: u64) {
        let end = self.machine().now_ns() + ns;
        loop {
            let left = end.saturating_sub(self.machine().now_ns());
            if left == 0 {
                return;
            }
            self.run(left.min(interval));
            self.poll();
        }
    }
}
