// SPDX-License-Identifier: GPL-2.0-only

//! One logical CPU's part of the work: its own counters and, on one CPU of each socket, the
//! socket's. Everything here is touched on that CPU only, by its NMIs and by sections that run with
//! interrupts off ([`Cpu::section`]).
//!
//! An NMI may strike within a section. Then it leaves the registers alone, so that frozen counters
//! stay frozen, and the section does its work at the end. No lock is taken in NMI context.

use crate::{
    atomic::Word,
    hw::{
        core_pmu::{
            DEBUGCTL_UNCORE_PMI,
            IA32_DEBUGCTL,
            IA32_PERF_GLOBAL_OVF_CTRL,
            IA32_PERF_GLOBAL_STATUS,
            STATUS_COUNTERS,
            STATUS_OVF_UNCORE, //
        },
        ubox::U_MSR_PMON_GLOBAL_STATUS,
        uncore::GLOBAL_STATUS_MASK,
    },
    logic::{
        core_pmu::{
            self,
            CorePmu, //
        },
        output::Output,
        record::{
            Context,
            MISC_POLL,
            MISC_USER, //
        },
        registers::{
            HwError,
            Reg,
            Registers, //
        },
        uncore::{
            self,
            Socket, //
        },
    },
    sys::{
        msr::{
            now,
            since,
            LocalRegisters, //
        },
        nmi::{
            self,
            Interrupted, //
        },
        waker::WakerRef,
    },
};
use core::{
    cell::UnsafeCell,
    ptr::NonNull, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Full,
            Relaxed, //
        },
        Arc, //
    },
};

/// Sessions that can count on one CPU at once.
const MAX_SESSIONS: usize = 8;
/// How long after a look's unfreeze an overflow's status may still land, ns.
const THAW_NS: u64 = 100_000;
/// In place of a CPU.
const NO_CPU: u32 = u32::MAX;
/// How long after an overflow's service its NMI may still come, ns.
const LATE_NS: u64 = 1_000_000;

/// What a session does on one CPU.
pub(crate) struct Attachment {
    /// Logical CPU.
    pub(crate) cpu: u32,
    /// The socket's counters, on the CPU that takes its PMIs.
    pub(crate) uncore: KVec<uncore::Counter>,
    /// The CPU's own counters.
    pub(crate) core: KVec<core_pmu::Counter>,
    /// Where samples go.
    pub(crate) output: Output<'static>,
    /// Who waits for them.
    pub(crate) waker: WakerRef,
    /// Head of the ring when the reader was last woken.
    pub(crate) woken_at: Arc<Word>,
    /// One of its counters overflowed in the service that runs.
    pub(crate) hit: bool,
    /// What it costs.
    pub(crate) stats: Stats,
}

/// An attachment on its way to its CPU.
#[derive(Clone, Copy)]
pub(crate) struct AttachmentRef(NonNull<Attachment>);

// SAFETY: `Attachment` is `Send`, and only the CPU that gets it uses it.
unsafe impl Send for AttachmentRef {}
// SAFETY: a shared reference only hands out the pointer.
unsafe impl Sync for AttachmentRef {}

impl AttachmentRef {
    /// Names an attachment.
    pub(crate) fn new(attachment: &mut KBox<Attachment>) -> Self {
        Self(NonNull::from(&mut **attachment))
    }

    /// The pointer, for [`Cpu`]'s functions.
    pub(crate) fn get(self) -> NonNull<Attachment> {
        self.0
    }
}

/// Counts and times, ns, of one attachment.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stats {
    pub(crate) started: u64,
    pub(crate) enabled_ns: u64,
    pub(crate) frozen_ns: u64,
    pub(crate) halted_ns: u64,
    pub(crate) handler_ns: u64,
    pub(crate) interrupts: u64,
    pub(crate) deferred: u64,
    pub(crate) polls: u64,
}

/// State that NMIs and sections share; no more than one of them has it at a time.
pub(crate) struct Inner {
    core: CorePmu,
    socket: Option<Socket>,
    attachments: [Option<NonNull<Attachment>>; MAX_SESSIONS],
    lvtpc: u32,
    debugctl: Option<u64>,
    needs_debugctl: bool,
}

/// One logical CPU.
#[repr(align(64))]
pub(crate) struct Cpu {
    /// A section runs.
    busy: Atomic<bool>,
    /// An NMI of ours came within the section.
    pending: Atomic<bool>,
    pending_ip: Atomic<u64>,
    pending_user: Atomic<bool>,
    /// Until when an NMI of ours may come that finds nothing to do; 0: never.
    late_until: Atomic<u64>,
    late: Atomic<u64>,
    uncore_users: Atomic<u32>,
    core_users: Atomic<u32>,
    /// Services of the socket, for the CPUs that get the same PMIs.
    services: Atomic<u64>,
    serviced_at: Atomic<u64>,
    /// Services of `copies` that this CPU has seen.
    seen: Atomic<u64>,
    /// An uncore PMI sets IA32_PERF_GLOBAL_STATUS bit 61.
    sets_ovf_uncore: Atomic<bool>,
    in_selftest: Atomic<bool>,
    selftest_nmis: Atomic<u32>,
    /// Logical CPU.
    pub(crate) id: u32,
    /// Its socket.
    pub(crate) socket: u32,
    /// The CPU whose PMIs come here too.
    copies: Atomic<u32>,
    /// When a look last unfroze the socket.
    thawed_at: Atomic<u64>,
    inner: UnsafeCell<Inner>,
}

// SAFETY: `inner` is only touched on this CPU, by a section or, outside of sections, by an NMI; see
// `section` and `on_nmi`. The rest is atomic or constant.
unsafe impl Sync for Cpu {}
// SAFETY: the pointers in `inner` are to attachments, which may change threads.
unsafe impl Send for Cpu {}

impl Cpu {
    /// A CPU on which nothing counts.
    pub(crate) fn new(id: u32, socket: u32, full_width: bool) -> Self {
        Self {
            busy: Atomic::new(false),
            pending: Atomic::new(false),
            pending_ip: Atomic::new(0),
            pending_user: Atomic::new(false),
            late_until: Atomic::new(0),
            late: Atomic::new(0),
            uncore_users: Atomic::new(0),
            core_users: Atomic::new(0),
            services: Atomic::new(0),
            serviced_at: Atomic::new(0),
            seen: Atomic::new(0),
            sets_ovf_uncore: Atomic::new(false),
            in_selftest: Atomic::new(false),
            selftest_nmis: Atomic::new(0),
            id,
            socket,
            copies: Atomic::new(NO_CPU),
            thawed_at: Atomic::new(0),
            inner: UnsafeCell::new(Inner {
                core: CorePmu::new(full_width),
                socket: None,
                attachments: [None; MAX_SESSIONS],
                lvtpc: 0,
                debugctl: None,
                needs_debugctl: false,
            }),
        }
    }

    /// Makes this the CPU that takes its socket's PMIs.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`].
    pub(crate) unsafe fn own_socket(&self, socket: Socket, needs_debugctl: bool) {
        // SAFETY: by this function's requirements.
        unsafe {
            self.section(|inner| {
                inner.socket = Some(socket);
                inner.needs_debugctl = needs_debugctl;
            });
        }
    }

    /// Before the socket's self-test: its PMIs may come here too.
    pub(crate) fn begin_selftest(&self) {
        self.selftest_nmis.store(0, Relaxed);
        self.in_selftest.xchg(true, Full);
    }

    /// After the socket's self-test, whose PMIs went to `owner`.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`].
    pub(crate) unsafe fn end_selftest(&self, owner: u32, ovf_uncore: bool) {
        self.sets_ovf_uncore.store(ovf_uncore, Relaxed);
        self.clear_ovf_uncore();
        if self.id != owner && self.selftest_nmis.load(Relaxed) != 0 {
            self.copies.store(owner, Relaxed);
        }
        self.in_selftest.xchg(false, Full);
    }

    /// Whether a session counts here.
    pub(crate) fn is_active(&self) -> bool {
        self.uncore_users.load(Relaxed) != 0 || self.core_users.load(Relaxed) != 0
    }

    /// Runs `f` on the shared state, apart from NMIs, then does what NMIs left over.
    ///
    /// # Safety
    ///
    /// Runs on this CPU, with interrupts off, and not within another section.
    unsafe fn section<R>(&self, f: impl FnOnce(&mut Inner) -> R) -> R {
        self.busy.xchg(true, Full);
        // SAFETY: on this CPU only NMIs can interrupt us, and they see `busy`.
        let result = f(unsafe { &mut *self.inner.get() });
        loop {
            while self.pending.xchg(false, Full) {
                let at = Interrupted {
                    ip: self.pending_ip.load(Relaxed),
                    user: self.pending_user.load(Relaxed),
                };
                // SAFETY: as above; the reference is a new one, since NMIs may have had the state.
                self.service(unsafe { &mut *self.inner.get() }, at, true);
            }
            self.busy.xchg(false, Full);
            // An NMI between the two exchanges has seen `busy`.
            if !self.pending.load(Relaxed) {
                return result;
            }
            self.busy.xchg(true, Full);
        }
    }

    /// Attaches a session and starts its counters.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`]. `attachment` stays where it is, and nobody else touches it, until it
    /// is detached.
    pub(crate) unsafe fn attach(&self, attachment: NonNull<Attachment>) -> Result<(), Refused> {
        // SAFETY: by this function's requirements.
        unsafe {
            self.section(|inner| {
                let Some(free) = inner.attachments.iter().position(Option::is_none) else {
                    return Err(Refused::TooManySessions);
                };
                inner.enter(self);
                let result = self.start(inner, attachment);
                match result {
                    Ok(()) => inner.attachments[free] = Some(attachment),
                    Err(_) => inner.leave(self),
                }
                result.map_err(Refused::Hardware)
            })
        }
    }

    fn start(&self, inner: &mut Inner, attachment: NonNull<Attachment>) -> Result<(), HwError> {
        let (has_uncore, has_core) = kinds(attachment);
        if has_uncore {
            let mut counts = false;
            self.uncore_users.fetch_add(1, Relaxed);
            let started = self.with_frozen(inner, false, |socket, bus| {
                let started = socket.start(bus, uncore_of(attachment));
                counts = started.is_ok();
                started
            });
            if started.is_err() {
                let _ = self.stop_uncore(inner, attachment, counts);
                return started;
            }
        }
        if has_core {
            let mut counts = false;
            self.core_users.fetch_add(1, Relaxed);
            let started = self.with_halted(inner, false, |core, bus| {
                let started = core.start(bus, core_of(attachment));
                counts = started.is_ok();
                started
            });
            if started.is_err() {
                // The first error is the one to report.
                let _ = self.stop_core(inner, attachment, counts);
                if has_uncore {
                    let _ = self.stop_uncore(inner, attachment, true);
                }
                return started;
            }
        }
        stats_of(attachment).started = now();
        Ok(())
    }

    /// Stops a session's counters, with their last totals, restores the registers, and detaches it.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`]; the session is attached.
    pub(crate) unsafe fn detach(&self, attachment: NonNull<Attachment>) -> Result<(), HwError> {
        // SAFETY: by this function's requirements.
        unsafe {
            self.section(|inner| {
                let (has_uncore, has_core) = kinds(attachment);
                let mut result = Ok(());
                if has_uncore {
                    result = result.and(self.stop_uncore(inner, attachment, true));
                }
                if has_core {
                    result = result.and(self.stop_core(inner, attachment, true));
                }
                let stats = stats_of(attachment);
                stats.enabled_ns += since(stats.started);
                for slot in &mut inner.attachments {
                    slot.take_if(|a| *a == attachment);
                }
                inner.leave(self);
                result
            })
        }
    }

    /// Stops the socket's counters of a session, if they count.
    fn stop_uncore(
        &self,
        inner: &mut Inner,
        attachment: NonNull<Attachment>,
        counts: bool,
    ) -> Result<(), HwError> {
        let result = match counts {
            true => self.with_frozen(inner, true, |socket, bus| {
                socket.stop(bus, uncore_of(attachment))
            }),
            false => Ok(()),
        };
        self.uncore_users.fetch_sub(1, Relaxed);
        result
    }

    /// Stops the CPU's counters of a session, if they count.
    fn stop_core(
        &self,
        inner: &mut Inner,
        attachment: NonNull<Attachment>,
        counts: bool,
    ) -> Result<(), HwError> {
        let result = match counts {
            true => self.with_halted(inner, true, |core, bus| core.stop(bus, core_of(attachment))),
            false => Ok(()),
        };
        self.core_users.fetch_sub(1, Relaxed);
        result
    }

    /// Brings the totals of all sessions up to date, all of one moment.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`]; the session is attached.
    pub(crate) unsafe fn refresh<R>(
        &self,
        attachment: NonNull<Attachment>,
        f: impl FnOnce(&Attachment) -> R,
    ) -> Result<R, HwError> {
        // SAFETY: by this function's requirements; the attachment is attached here, so that only
        // this section touches it.
        unsafe {
            self.section(|inner| {
                self.look(inner)?;
                Ok(f(attachment.as_ref()))
            })
        }
    }

    /// One look of a session's poll timer: takes the samples that it owes.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`]; the session is attached.
    pub(crate) unsafe fn poll(&self, attachment: NonNull<Attachment>) {
        // SAFETY: by this function's requirements.
        unsafe {
            self.section(|inner| {
                let bus = &mut LocalRegisters;
                stats_of(attachment).polls += 1;
                let due = Socket::poll(bus, uncore_of(attachment)).unwrap_or(false)
                    | CorePmu::poll(bus, core_of(attachment)).unwrap_or(false);
                if due {
                    // A fault would have come at the start.
                    let _ = self.look(inner);
                }
            });
        }
    }

    /// Takes in all counters, each socket's and each CPU's of one moment.
    fn look(&self, inner: &mut Inner) -> Result<(), HwError> {
        let mut result = Ok(());
        if self.uncore_users.load(Relaxed) != 0 {
            result = result.and(self.with_frozen(inner, false, |_, _| Ok(())));
        }
        if self.core_users.load(Relaxed) != 0 {
            result = result.and(self.with_halted(inner, false, |_, _| Ok(())));
        }
        result
    }

    /// Freezes the socket, takes in all its counters, runs `f`, and unfreezes, whatever fails. `always`:
    /// runs `f` after a failure too.
    fn with_frozen(
        &self,
        inner: &mut Inner,
        always: bool,
        f: impl FnOnce(&mut Socket, &mut LocalRegisters) -> Result<(), HwError>,
    ) -> Result<(), HwError> {
        let cx = self.context(Interrupted::default(), MISC_POLL);
        let bus = &mut LocalRegisters;
        let Some(socket) = &mut inner.socket else {
            return Ok(());
        };
        let (found, mut result) = match socket.begin_frozen(bus) {
            Ok(found) => (found, Ok(())),
            Err(e) if !always => return Err(e),
            Err(e) => (uncore::Overflowed::nothing(), Err(e)),
        };
        // Where the part tells that an NMI was the uncore's, a guess is not needed.
        if found.any() || !self.sets_ovf_uncore.load(Relaxed) {
            self.expect_late();
        }
        for a in attached(&inner.attachments) {
            if a.has_leader() {
                result = result.and(CorePmu::poll(bus, &mut a.core).map(drop));
            }
            let more = core_pmu::values(&a.core);
            let (uncore, output) = (&mut a.uncore, &mut a.output);
            let collected = socket.collect(bus, &found, uncore, more, output, &cx);
            result = result.and(collected.map(drop));
        }
        if always || result.is_ok() {
            result = result.and(f(socket, bus));
        }
        result = result.and(socket.end(bus, &found));
        self.thawed_at.store(now(), Relaxed);
        if found.any() {
            self.note_service();
        }
        let spent = since(cx.time);
        for a in attached(&inner.attachments) {
            a.stats.frozen_ns += spent;
        }
        inner.wake();
        result
    }

    /// The same for this CPU's own counters.
    fn with_halted(
        &self,
        inner: &mut Inner,
        always: bool,
        f: impl FnOnce(&mut CorePmu, &mut LocalRegisters) -> Result<(), HwError>,
    ) -> Result<(), HwError> {
        let cx = self.context(Interrupted::default(), MISC_POLL);
        let bus = &mut LocalRegisters;
        let core = &mut inner.core;
        let (found, mut result) = match core.begin_halted(bus) {
            Ok(found) => (found, Ok(())),
            Err(e) if !always => return Err(e),
            Err(e) => (core_pmu::Overflowed::nothing(), Err(e)),
        };
        if found.any() {
            self.expect_late();
        }
        for a in attached(&inner.attachments) {
            let collected = core.collect(bus, &found, &mut a.core, &mut a.output, &cx);
            result = result.and(collected.map(drop));
        }
        if always || result.is_ok() {
            result = result.and(f(core, bus));
        }
        result = result.and(core.end(bus, &found));
        let spent = since(cx.time);
        for a in attached(&inner.attachments) {
            a.stats.halted_ns += spent;
        }
        inner.wake();
        result
    }

    /// An NMI on this CPU. Returns the overflows handled; 0: it is somebody else's.
    ///
    /// # Safety
    ///
    /// Called on this CPU in NMI context.
    // NMI: no lock, no allocation, no message; MSRs and the local APIC only.
    pub(crate) unsafe fn on_nmi(&self, at: Interrupted) -> u32 {
        if self.in_selftest.load(Relaxed) {
            self.selftest_nmis.fetch_add(1, Relaxed);
            nmi::set_lvtpc(nmi::lvtpc_nmi());
            return 1;
        }
        if !self.is_active() {
            return self.not_ours();
        }
        // First of all: a PMI that comes from here on is held by the processor until we are done,
        // one that came before has left its status, which is read below.
        nmi::set_lvtpc(nmi::lvtpc_nmi());
        if self.busy.load(Relaxed) {
            if !self.has_overflowed() {
                return self.not_ours();
            }
            self.clear_ovf_uncore();
            self.pending_ip.store(at.ip, Relaxed);
            self.pending_user.store(at.user, Relaxed);
            self.pending.store(true, Relaxed);
            // Its NMI has come.
            self.late_until.store(0, Relaxed);
            return 1;
        }
        // SAFETY: on this CPU, and no section runs.
        let inner = unsafe { &mut *self.inner.get() };
        match self.service(inner, at, false) {
            0 => self.not_ours(),
            n => n,
        }
    }

    /// Whether a status register names a source, without a look at the shared state.
    fn has_overflowed(&self) -> bool {
        let read = |address| LocalRegisters.read(Reg::Msr(address)).unwrap_or(0);
        (self.uncore_users.load(Relaxed) != 0
            && read(U_MSR_PMON_GLOBAL_STATUS) & GLOBAL_STATUS_MASK != 0)
            || (self.core_users.load(Relaxed) != 0
                && read(IA32_PERF_GLOBAL_STATUS) & STATUS_COUNTERS != 0)
    }

    /// An NMI that found no overflow: a late one of ours, or one that went to the socket's other
    /// CPUs too, or foreign.
    fn not_ours(&self) -> u32 {
        let until = self.late_until.load(Relaxed);
        let late = until != 0 && now() <= until;
        if until != 0 {
            self.late_until.store(0, Relaxed);
        }
        if !(late || self.has_ovf_uncore() || self.is_copy()) {
            return 0;
        }
        nmi::set_lvtpc(nmi::lvtpc_nmi());
        self.clear_ovf_uncore();
        self.late.fetch_add(1, Relaxed);
        1
    }

    /// Whether this CPU got an uncore PMI, where the part tells so.
    fn has_ovf_uncore(&self) -> bool {
        self.sets_ovf_uncore.load(Relaxed)
            && LocalRegisters
                .read(Reg::Msr(IA32_PERF_GLOBAL_STATUS))
                .is_ok_and(|status| status & STATUS_OVF_UNCORE != 0)
    }

    /// Whether this is the copy of a PMI that another CPU services: the threads of a core get the
    /// same ones.
    fn is_copy(&self) -> bool {
        let owner = crate::machine::cpu(self.copies.load(Relaxed));
        let Some(owner) = owner.filter(|o| o.uncore_users.load(Relaxed) != 0) else {
            return false;
        };
        let services = owner.services.load(Relaxed);
        let status = LocalRegisters
            .read(Reg::Msr(U_MSR_PMON_GLOBAL_STATUS))
            .unwrap_or(0);
        let done = services != self.seen.load(Relaxed)
            && since(owner.serviced_at.load(Relaxed)) <= LATE_NS;
        self.seen.store(services, Relaxed);
        done || status & GLOBAL_STATUS_MASK != 0
    }

    /// Clears what an uncore PMI sets in this CPU's own PMU, before perf sees it.
    fn clear_ovf_uncore(&self) {
        if self.sets_ovf_uncore.load(Relaxed) {
            // The self-test has written it before.
            let _ = LocalRegisters.write(Reg::Msr(IA32_PERF_GLOBAL_OVF_CTRL), STATUS_OVF_UNCORE);
        }
    }

    fn expect_late(&self) {
        self.late_until.store(now() + LATE_NS, Relaxed);
    }

    fn note_service(&self) {
        self.serviced_at.store(now(), Relaxed);
        self.services.fetch_add(1, Full);
    }

    /// NMIs of ours on this CPU that found nothing to do.
    pub(crate) fn late(&self) -> u64 {
        self.late.load(Relaxed)
    }

    fn context(&self, at: Interrupted, misc: u16) -> Context {
        let task = kernel::current!();
        Context {
            time: now(),
            misc: misc | if at.user { MISC_USER } else { 0 },
            ip: at.ip,
            // CAST: process ids are positive.
            pid: task.tgid() as u32,
            tid: task.pid() as u32,
            cpu: self.id,
            socket: self.socket,
        }
    }

    /// Services what the status registers name: the straight path of a sample. `deferred`: its NMI
    /// came within a section, which is over now. Returns the sources.
    fn service(&self, inner: &mut Inner, at: Interrupted, deferred: bool) -> u32 {
        let cx = self.context(at, 0);
        let mut sources = 0;
        // A fault cannot come here: the same registers were accessed at the start.
        if self.uncore_users.load(Relaxed) != 0 {
            sources += self.service_socket(inner, &cx, deferred).unwrap_or(0);
        }
        if self.core_users.load(Relaxed) != 0 {
            sources += self.service_core(inner, &cx).unwrap_or(0);
        }
        if sources == 0 {
            return 0;
        }
        let spent = since(cx.time);
        for a in attached(&inner.attachments) {
            if core::mem::take(&mut a.hit) {
                a.stats.handler_ns += spent;
                a.stats.interrupts += 1;
                a.stats.deferred += u64::from(deferred);
                a.output.spent(spent);
            }
        }
        inner.wake();
        sources
    }

    fn service_socket(
        &self,
        inner: &mut Inner,
        cx: &Context,
        deferred: bool,
    ) -> Result<u32, HwError> {
        let bus = &mut LocalRegisters;
        let Some(socket) = &inner.socket else {
            return Ok(0);
        };
        // The overflow's own freeze has landed when its PMI comes. It may not have where the NMI can be
        // another's, and a look that has just unfrozen the socket may have undone it.
        let frozen = !deferred
            && self.core_users.load(Relaxed) == 0
            && since(self.thawed_at.load(Relaxed)) > THAW_NS;
        let found = socket.begin(bus, frozen)?;
        if !found.any() {
            return Ok(0);
        }
        let mut result = Ok(());
        for a in attached(&inner.attachments) {
            if a.has_leader() {
                // The leader's sample has this CPU's own counters too.
                result = result.and(CorePmu::poll(bus, &mut a.core).map(drop));
            }
            let more = core_pmu::values(&a.core);
            let (uncore, output) = (&mut a.uncore, &mut a.output);
            let collected = socket.collect(bus, &found, uncore, more, output, cx);
            a.hit |= collected.is_ok_and(|overflows| overflows != 0);
            result = result.and(collected.map(drop));
        }
        self.clear_ovf_uncore();
        result = result.and(socket.end(bus, &found));
        self.note_service();
        let spent = since(cx.time);
        for a in attached(&inner.attachments) {
            a.stats.frozen_ns += if a.uncore.is_empty() { 0 } else { spent };
        }
        result.map(|()| found.sources())
    }

    fn service_core(&self, inner: &mut Inner, cx: &Context) -> Result<u32, HwError> {
        let bus = &mut LocalRegisters;
        let start = now();
        let found = inner.core.begin(bus)?;
        if !found.any() {
            return Ok(0);
        }
        let mut result = Ok(());
        for a in attached(&inner.attachments) {
            let (counters, output) = (&mut a.core, &mut a.output);
            let collected = inner.core.collect(bus, &found, counters, output, cx);
            a.hit |= collected.is_ok_and(|overflows| overflows != 0);
            result = result.and(collected.map(drop));
        }
        result = result.and(inner.core.end(bus, &found));
        let spent = since(start);
        for a in attached(&inner.attachments) {
            a.stats.halted_ns += spent;
        }
        result.map(|()| found.sources())
    }

    /// Runs the self-test `f` here; it gets a function that tells whether an NMI has come. The
    /// second result: IA32_DEBUGCTL bit 13 was set, as `debugctl` says.
    ///
    /// # Safety
    ///
    /// As [`Cpu::section`]; nothing counts here.
    pub(crate) unsafe fn selftest<R>(
        &self,
        debugctl: bool,
        f: impl FnOnce(&mut dyn FnMut() -> bool) -> R,
    ) -> Result<R, HwError> {
        let bus = &mut LocalRegisters;
        let lvtpc = nmi::lvtpc();
        let before = bus.read(Reg::Msr(IA32_DEBUGCTL))?;
        if debugctl {
            bus.write(Reg::Msr(IA32_DEBUGCTL), before | DEBUGCTL_UNCORE_PMI)?;
        }
        self.begin_selftest();
        nmi::set_lvtpc(nmi::lvtpc_nmi());
        let result = f(&mut || self.selftest_nmis.load(Relaxed) != 0);
        nmi::set_lvtpc(lvtpc);
        self.in_selftest.xchg(false, Full);
        if debugctl {
            bus.write(Reg::Msr(IA32_DEBUGCTL), before)?;
        }
        Ok(result)
    }
}

/// The attached sessions' parts.
fn attached(
    attachments: &[Option<NonNull<Attachment>>],
) -> impl Iterator<Item = &mut Attachment> + '_ {
    attachments.iter().flatten().map(|a| {
        // SAFETY: each is attached, so that only this CPU's sections and NMIs touch it; there is
        // one of them at a time, and each attachment stands in the array once. No other reference
        // lives while these are used.
        unsafe { &mut *a.as_ptr() }
    })
}

/// The socket's counters of an attachment.
fn uncore_of<'a>(attachment: NonNull<Attachment>) -> &'a mut [uncore::Counter] {
    // SAFETY: as in `attached`; the reference is used before the next one is made.
    unsafe { &mut (*attachment.as_ptr()).uncore }
}

/// The CPU's counters of an attachment.
fn core_of<'a>(attachment: NonNull<Attachment>) -> &'a mut [core_pmu::Counter] {
    // SAFETY: as in `uncore_of`.
    unsafe { &mut (*attachment.as_ptr()).core }
}

fn stats_of<'a>(attachment: NonNull<Attachment>) -> &'a mut Stats {
    // SAFETY: as in `uncore_of`.
    unsafe { &mut (*attachment.as_ptr()).stats }
}

/// Whether an attachment has counters of the socket, and of the CPU.
fn kinds(attachment: NonNull<Attachment>) -> (bool, bool) {
    (
        !uncore_of(attachment).is_empty(),
        !core_of(attachment).is_empty(),
    )
}

impl Attachment {
    fn has_leader(&self) -> bool {
        self.uncore.iter().any(|c| c.account.is_leader())
    }
}

impl Inner {
    fn wake(&self) {
        for a in attached(&self.attachments) {
            if core::mem::take(&mut a.output.wake) {
                let head = a.output.ring().map_or(0, |(producer, _)| producer.head());
                a.woken_at.set_relaxed(head);
                a.waker.wake();
            }
        }
    }

    /// Before the first session counts here.
    fn enter(&mut self, cpu: &Cpu) {
        if self.attachments.iter().any(Option::is_some) {
            return;
        }
        self.lvtpc = nmi::lvtpc();
        nmi::set_lvtpc(nmi::lvtpc_nmi());
        cpu.late_until.store(0, Relaxed);
        if self.needs_debugctl {
            let reg = Reg::Msr(IA32_DEBUGCTL);
            self.debugctl = LocalRegisters.read(reg).ok();
            if let Some(value) = self.debugctl {
                // The self-test has written it before.
                let _ = LocalRegisters.write(reg, value | DEBUGCTL_UNCORE_PMI);
            }
        }
    }

    /// After the last session counted here.
    fn leave(&mut self, cpu: &Cpu) {
        if cpu.is_active() || self.attachments.iter().any(Option::is_some) {
            return;
        }
        if let Some(before) = self.debugctl.take() {
            let reg = Reg::Msr(IA32_DEBUGCTL);
            if let Ok(value) = LocalRegisters.read(reg) {
                let bit = before & DEBUGCTL_UNCORE_PMI;
                let _ = LocalRegisters.write(reg, (value & !DEBUGCTL_UNCORE_PMI) | bit);
            }
        }
        nmi::set_lvtpc(self.lvtpc);
    }
}

/// Why a session cannot count here.
pub(crate) enum Refused {
    /// [`MAX_SESSIONS`] do already.
    TooManySessions,
    /// The hardware says no.
    Hardware(HwError),
}
