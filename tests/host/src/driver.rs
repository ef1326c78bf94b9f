// SPDX-License-Identifier: GPL-2.0-only

//! What the module does on one CPU (`rust/percpu.rs`), without a kernel: attach, interrupt, look,
//! detach, as calls of `logic`.

mod session;

pub use session::{leaf, truth, Event, Place, Session};

use crate::{
    bus::{machine, ModelBus, TestBus, TOPOLOGY},
    hw::{
        core_pmu::{IA32_PERF_GLOBAL_OVF_CTRL, STATUS_OVF_UNCORE},
        UNCORE,
    },
    logic::{
        core_pmu::{self, CorePmu},
        record::{Context, MISC_POLL},
        registers::{HwError, Reg, Registers},
        selftest,
        uncore::{self, Socket},
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
pub fn try_box(bus: &mut TestBus, kind: usize, box_nr: u32) -> Result<selftest::Outcome, HwError> {
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

/// What became of some accesses.
type Outcome = Result<(), HwError>;

/// How long after a look the overflow's own freeze is not relied on, ns.
pub const THAW_NS: u64 = 100_000;

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
    /// When a look last unfroze the socket, ns.
    thawed_at: Option<u64>,
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
        let seen = bus.write(Reg::Msr(IA32_PERF_GLOBAL_OVF_CTRL), STATUS_OVF_UNCORE);
        // PANIC: documented.
        seen.unwrap_or_else(|e| panic!("{config}: {e:?}"));
        bus.log.clear();
        let works = outcomes.map(|o| o.overflowed && o.status && o.interrupt);
        let freezes = outcomes.iter().all(|o| o.froze || !o.status);
        let this = Self {
            bus,
            socket: Socket::new(SELECT, freezes),
            core: CorePmu::new(true),
            sessions: Vec::new(),
            thawed_at: None,
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

    /// Attaches a session and starts its counters. On an error nothing is changed.
    pub fn start(&mut self, mut session: Session) -> Result<(), HwError> {
        let mut result = Ok(());
        if !session.uncore.is_empty() {
            let mut started = false;
            result = self.with_frozen(false, |socket, bus, _| {
                socket.start(bus, &mut session.uncore)?;
                started = true;
                Ok(())
            });
            if started && result.is_err() {
                // The first error is the one to report.
                let _ = self.stop_uncore(&session);
            }
        }
        if result.is_ok() && !session.core.is_empty() {
            let mut started = false;
            result = self.with_halted(false, |core, bus, _| {
                core.start(bus, &mut session.core)?;
                started = true;
                Ok(())
            });
            if started && result.is_err() {
                let _ = self.stop_core(&session);
            }
            if result.is_err() && !session.uncore.is_empty() {
                let _ = self.stop_uncore(&session);
            }
        }
        if result.is_ok() {
            self.sessions.push(session);
        }
        result
    }

    fn stop_uncore(&mut self, session: &Session) -> Result<(), HwError> {
        self.with_frozen(true, |socket, bus, _| socket.stop(bus, &session.uncore))
    }

    fn stop_core(&mut self, session: &Session) -> Result<(), HwError> {
        self.with_halted(true, |core, bus, _| core.stop(bus, &session.core))
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
        let mut handled = 0;
        let mut result = Ok(());
        for service in [Self::service_socket, Self::service_core] {
            match service(self, &cx) {
                Ok(sources) => handled += sources,
                Err(e) => result = result.and(Err(e)),
            }
        }
        self.sessions.iter_mut().for_each(Session::drain);
        result.map(|()| handled)
    }

    fn service_socket(&mut self, cx: &Context) -> Result<u32, HwError> {
        if self.socket.users() == 0 {
            return Ok(0);
        }
        // Not where a look has just called the overflow's freeze off, nor where the interrupt may be
        // the core's own, which comes before that freeze has landed.
        let thawed = self.thawed_at.is_some_and(|at| cx.time - at <= THAW_NS);
        let Self { bus, socket, core, sessions, .. } = self;
        let found = socket.begin(bus, !thawed && core.users() == 0)?;
        if !found.any() {
            return Ok(0);
        }
        let mut result = Ok(());
        for s in sessions {
            if s.has_leader() {
                result = result.and(CorePmu::poll(bus, &mut s.core).map(drop));
            }
            let more = core_pmu::values(&s.core);
            let collected = socket.collect(bus, &found, &mut s.uncore, more, &mut s.output, cx);
            result = result.and(collected.map(drop));
        }
        let seen = bus.write(Reg::Msr(IA32_PERF_GLOBAL_OVF_CTRL), STATUS_OVF_UNCORE);
        result.and(seen).and(socket.end(bus, &found)).map(|()| found.sources())
    }

    fn service_core(&mut self, cx: &Context) -> Result<u32, HwError> {
        if self.core.users() == 0 {
            return Ok(0);
        }
        let Self { bus, core, sessions, .. } = self;
        let found = core.begin(bus)?;
        if !found.any() {
            return Ok(0);
        }
        let mut result = Ok(());
        for s in sessions {
            let collected = core.collect(bus, &found, &mut s.core, &mut s.output, cx);
            result = result.and(collected.map(drop));
        }
        result.and(core.end(bus, &found)).map(|()| found.sources())
    }

    /// Brings all totals up to date.
    pub fn look(&mut self) -> Result<(), HwError> {
        if self.socket.users() != 0 {
            self.with_frozen(true, |_, _, _| Ok(()))?;
        }
        if self.core.users() != 0 {
            self.with_halted(true, |_, _, _| Ok(()))?;
        }
        Ok(())
    }

    /// Stops session `index`, with its last totals, and detaches it.
    pub fn try_stop(&mut self, index: usize) -> (Session, Result<(), HwError>) {
        let session = &self.sessions[index];
        let (uncore, core) = (!session.uncore.is_empty(), !session.core.is_empty());
        let mut result = Ok(());
        if uncore {
            result =
                self.with_frozen(true, |socket, bus, all| socket.stop(bus, &all[index].uncore));
        }
        if core {
            let stopped = self.with_halted(true, |core, bus, all| core.stop(bus, &all[index].core));
            result = result.and(stopped);
        }
        (self.sessions.remove(index), result)
    }

    /// Stops session `index`, with its last totals, and detaches it.
    ///
    /// # Panics
    /// When there is no such session, or an access faults.
    pub fn stop(&mut self, index: usize) -> Session {
        let (session, result) = self.try_stop(index);
        // PANIC: documented.
        result.unwrap_or_else(|e| panic!("{e:?}"));
        session
    }

    /// Freezes the socket, takes in all its counters, runs `f`, and unfreezes, whatever fails.
    /// `always`: runs `f` after a failure too.
    fn with_frozen(
        &mut self,
        always: bool,
        f: impl FnOnce(&mut Socket, &mut TestBus, &[Session]) -> Outcome,
    ) -> Result<(), HwError> {
        let cx = self.context(MISC_POLL);
        let Self { bus, socket, sessions, .. } = self;
        let (found, mut result) = match socket.begin_frozen(bus) {
            Ok(found) => (found, Ok(())),
            Err(e) if !always => return Err(e),
            Err(e) => (uncore::Overflowed::nothing(), Err(e)),
        };
        for s in sessions.iter_mut() {
            if s.has_leader() {
                result = result.and(CorePmu::poll(bus, &mut s.core).map(drop));
            }
            let more = core_pmu::values(&s.core);
            let collected = socket.collect(bus, &found, &mut s.uncore, more, &mut s.output, &cx);
            result = result.and(collected.map(drop));
        }
        if always || result.is_ok() {
            result = result.and(f(socket, bus, sessions));
        }
        result = result.and(socket.end(bus, &found));
        self.thawed_at = Some(self.bus.now());
        self.sessions.iter_mut().for_each(Session::drain);
        result
    }

    /// The same for the CPU's own counters.
    fn with_halted(
        &mut self,
        always: bool,
        f: impl FnOnce(&mut CorePmu, &mut TestBus, &[Session]) -> Outcome,
    ) -> Result<(), HwError> {
        let cx = self.context(MISC_POLL);
        let Self { bus, core, sessions, .. } = self;
        let (found, mut result) = match core.begin_halted(bus) {
            Ok(found) => (found, Ok(())),
            Err(e) if !always => return Err(e),
            Err(e) => (core_pmu::Overflowed::nothing(), Err(e)),
        };
        for s in sessions.iter_mut() {
            let collected = core.collect(bus, &found, &mut s.core, &mut s.output, &cx);
            result = result.and(collected.map(drop));
        }
        if always || result.is_ok() {
            result = result.and(f(core, bus, sessions));
        }
        result = result.and(core.end(bus, &found));
        self.sessions.iter_mut().for_each(Session::drain);
        result
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
