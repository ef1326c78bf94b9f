// SPDX-License-Identifier: GPL-2.0-only

//! One open file: its counters, rings and state.
//!
//! Lock order: a session's state, then hotplug, then the machine's book. User memory is never
//! touched with the state locked, since mmap() takes it under mmap_lock.

use crate::{
    atomic::Word,
    hw::core_pmu::Leaf0a,
    logic::{
        core_pmu, counter,
        event::{
            check_core,
            check_uncore,
            Refusal, //
        },
        output::Output,
        registers::{
            HwError,
            Reg, //
        },
        ring::{
            Memory,
            Producer, //
        },
        uncore::{
            self,
            Index,
            Slot, //
        },
    },
    machine::{
        self,
        Machine,
        POLL, //
    },
    percpu::{
        Attachment,
        AttachmentRef,
        Refused,
        Stats, //
    },
    sys::{
        cpu::{
            self,
            HotplugLock, //
        },
        msr::{
            now,
            since, //
        },
        pages::RingPages,
        waker::{
            Waker,
            WakerRef, //
        },
    },
    ticker::Ticker,
    uapi::*, //
};
use kernel::{
    mm::virt::VmaNew,
    new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    },
    time::hrtimer::ArcHrTimerHandle,
    uaccess::UserSlice, //
};

const CORE: u32 = pmon_unit::PMON_UNIT_CORE as u32;
const COUNTER_FLAGS: u32 =
    PMON_COUNTER_LEADER | PMON_COUNTER_EXCLUDE_USER | PMON_COUNTER_EXCLUDE_KERNEL;
const CORE_ONLY_FLAGS: u32 = PMON_COUNTER_EXCLUDE_USER | PMON_COUNTER_EXCLUDE_KERNEL;

/// A claim to give back.
enum Claim {
    Uncore {
        socket: usize,
        slot: Slot,
        filter: [u32; 4],
    },
    Core {
        cpu: usize,
        slot: core_pmu::Slot,
    },
}

/// One CPU's part.
struct Part {
    attachment: KBox<Attachment>,
    memory: Option<Memory<'static>>,
    woken_at: Arc<Word>,
    polls: bool,
    timer: Option<ArcHrTimerHandle<Ticker>>,
}

#[derive(Default)]
struct State {
    parts: KVec<Part>,
    claims: KVec<Claim>,
    leaders: KVec<u32>,
    has_core: bool,
    rings: Option<RingPages>,
    wake_bytes: u64,
    /// Late NMIs of the machine when the counting began.
    late_before: u64,
    samples: bool,
    stuck: bool,
    running: bool,
}

/// One open file.
#[pin_data(PinnedDrop)]
pub(crate) struct Session {
    #[pin]
    state: Mutex<State>,
    /// Who waits for records.
    #[pin]
    pub(crate) waker: Waker,
}

fn errno(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Reserved => EOPNOTSUPP,
        Refusal::Meaningless => EINVAL,
        Refusal::WrongCounter => EDOM,
        Refusal::NoCounter => ENXIO,
        Refusal::Busy => EBUSY,
        Refusal::Full => ENOSPC,
    }
}

fn hardware(error: HwError) -> Error {
    match error {
        HwError::Fault(Reg::Msr(msr)) => {
            pr_warn!("MSR {msr:#x} cannot be accessed\n");
            ENODEV
        }
        HwError::InUse(Reg::Msr(msr)) => {
            pr_warn!("MSR {msr:#x} is in use by somebody else: firmware, or another driver\n");
            EBUSY
        }
    }
}

fn machine() -> Result<&'static Machine> {
    machine::get().ok_or(ENODEV)
}

/// NMIs of ours that found nothing to do, on all CPUs.
fn late() -> Result<u64> {
    Ok(machine()?.cpus.iter().map(|c| c.late()).sum())
}

impl Session {
    /// A session without counters.
    pub(crate) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                state <- new_mutex!(State::default()),
                waker <- Waker::new(),
            }),
            GFP_KERNEL,
        )
    }

    /// PMON_IOC_INFO.
    pub(crate) fn info(&self, out: &mut pmon_info) -> Result {
        if out.flags != 0 {
            return Err(EINVAL);
        }
        let machine = machine()?;
        let model = cpu::model();
        let Leaf0a {
            version,
            counters,
            width,
            fixed,
            absent_events,
            ..
        } = machine.features.leaf;
        *out = pmon_info {
            size: out.size,
            flags: 0,
            abi_version: PMON_ABI_VERSION,
            nr_sockets: machine.sockets.len() as u32,
            nr_cpus: machine.cpus.len() as u32,
            cpu_family: model.family,
            cpu_model: model.model,
            cpu_stepping: model.stepping,
            core_version: version,
            core_counters: counters,
            core_fixed: fixed,
            core_width: width,
            core_absent_events: absent_events,
            poll_interval_us: machine.settings.poll_us,
            min_period: machine.settings.min_period,
            max_rate: machine.settings.max_rate,
        };
        Ok(())
    }

    /// PMON_IOC_UNIT.
    pub(crate) fn unit(&self, out: &mut pmon_unit_info) -> Result {
        let machine = machine()?;
        let asked = pmon_unit_info {
            size: out.size,
            unit: out.unit,
            socket: out.socket,
            box_: out.box_,
            ..Default::default()
        };
        if asked.unit == CORE {
            if asked.socket != 0 || asked.box_ as usize >= machine.cpus.len() {
                return Err(ENXIO);
            }
            let leaf = machine.features.leaf;
            let online = cpu::is_online(asked.box_);
            *out = pmon_unit_info {
                nr_boxes: machine.cpus.len() as u32,
                mode: if online {
                    machine.core_mode
                } else {
                    machine::ABSENT
                },
                counters: leaf.counters,
                fixed: leaf.fixed,
                width: leaf.width,
                fixed_width: leaf.fixed_width,
                pmi_cpu: asked.box_,
                config_mask: crate::hw::core_pmu::EVTSEL_CONFIG_MASK,
                ..asked
            };
            return Ok(());
        }
        let (kind, row) = machine::kind(asked.unit).ok_or(ENXIO)?;
        let socket = machine.sockets.get(asked.socket as usize).ok_or(ENXIO)?;
        if asked.box_ >= socket.boxes[kind] {
            return Err(ENXIO);
        }
        let book = machine.book.lock();
        let found = book.sockets.get(asked.socket as usize).ok_or(ENXIO)?;
        let in_use = socket.in_use[kind][asked.box_ as usize];
        *out = pmon_unit_info {
            nr_boxes: socket.boxes[kind],
            mode: found.kinds[kind].mode,
            flags: found.kinds[kind].flags | if in_use { PMON_UNIT_IN_USE } else { 0 },
            counters: row.counters,
            fixed: u32::from(row.fixed.is_some()),
            width: row.width,
            fixed_width: if row.fixed.is_some() {
                found.fixed_width
            } else {
                0
            },
            pmi_cpu: socket.cpu,
            config_mask: row.config_mask,
            filter_mask: row.filter_mask,
            ..asked
        };
        Ok(())
    }

    /// PMON_IOC_ADD.
    pub(crate) fn add(&self, c: &mut pmon_counter) -> Result {
        let machine = machine()?;
        let mut state = self.state.lock();
        if state.running || state.rings.is_some() {
            return Err(EINPROGRESS);
        }
        let leader = c.flags & PMON_COUNTER_LEADER != 0;
        if c.flags & !COUNTER_FLAGS != 0 || (leader && c.period == 0) {
            return Err(EINVAL);
        }
        if state.claims.len() >= PMON_MAX_COUNTERS as usize {
            return Err(EMFILE);
        }
        let id = state.claims.len() as u32;
        let added = if c.unit == CORE {
            state.add_core(machine, self, c, id)
        } else {
            state.add_uncore(machine, self, c, id)
        };
        if added.is_err() {
            state.parts.retain(|part| !part.is_empty());
            return added;
        }
        c.id = id;
        state.samples |= c.period != 0;
        Ok(())
    }

    /// PMON_IOC_RINGS.
    pub(crate) fn make_rings(&self, r: &mut pmon_rings) -> Result {
        let mut state = self.state.lock();
        if state.running {
            return Err(EINPROGRESS);
        }
        if state.rings.is_some() {
            return Err(EEXIST);
        }
        if r.flags & !PMON_RINGS_OVERWRITE != 0 || r.__reserved != 0 {
            return Err(EINVAL);
        }
        let limits = u64::from(PMON_RING_MIN_BYTES)..=u64::from(PMON_RING_MAX_BYTES);
        if !limits.contains(&r.bytes)
            || !r.bytes.is_power_of_two()
            || u64::from(r.wakeup_bytes) > r.bytes
        {
            return Err(ERANGE);
        }
        if state.parts.is_empty() {
            return Err(ENODATA);
        }
        let pages = RingPages::new(state.parts.len(), r.bytes as usize)?;
        let wake_bytes = match (r.wakeup_records, r.wakeup_bytes) {
            (0, 0) => (r.bytes / 2) as u32,
            (_, bytes) => bytes,
        };
        for (n, part) in state.parts.iter_mut().enumerate() {
            // SAFETY: the pages are dropped after the attachments, by `close`.
            let memory = unsafe { pages.ring(n) }.ok_or(ENOMEM)?;
            let cpu = part.attachment.cpu;
            let offset = PAGE_SIZE as u64;
            let producer =
                Producer::new(memory, cpu, r.flags, offset, r.wakeup_records, wake_bytes);
            part.attachment.output.attach_ring(producer, memory);
            part.memory = Some(memory);
        }
        state.wake_bytes = u64::from(wake_bytes);
        r.nr_rings = state.parts.len() as u32;
        r.map_size = pages.len() as u64;
        state.rings = Some(pages);
        Ok(())
    }

    /// mmap().
    pub(crate) fn map(&self, vma: &VmaNew) -> Result {
        self.state.lock().rings.as_mut().ok_or(ENOBUFS)?.map(vma)
    }

    /// PMON_IOC_START.
    pub(crate) fn start(&self) -> Result {
        let mut state = self.state.lock();
        if state.running {
            return Err(EALREADY);
        }
        if state.parts.is_empty() {
            return Err(ENODATA);
        }
        if state.samples && state.rings.is_none() {
            return Err(ENOBUFS);
        }
        if state.late_before == 0 {
            state.late_before = late()?;
        }
        let _online = HotplugLock::new();
        for n in 0..state.parts.len() {
            if let Err(e) = state.parts[n].start(machine()?) {
                for part in &mut state.parts[..n] {
                    let _ = part.stop();
                }
                return Err(e);
            }
        }
        state.running = true;
        Ok(())
    }

    /// PMON_IOC_STOP.
    pub(crate) fn stop(&self) -> Result {
        let mut state = self.state.lock();
        if !state.running {
            return Err(EALREADY);
        }
        let result = state.halt();
        drop(state);
        self.waker.wake();
        result
    }

    /// PMON_IOC_RESET.
    pub(crate) fn reset(&self) -> Result {
        let mut state = self.state.lock();
        if state.running {
            return Err(EINPROGRESS);
        }
        for part in &mut state.parts {
            let a = &mut *part.attachment;
            a.uncore.iter_mut().for_each(|c| c.account.reset());
            a.core.iter_mut().for_each(|c| c.account.reset());
            a.stats = Stats::default();
        }
        state.late_before = late()?;
        Ok(())
    }

    /// PMON_IOC_READ.
    pub(crate) fn read(&self, r: &mut pmon_read) -> Result {
        if r.flags != 0 || r.__reserved != 0 {
            return Err(EINVAL);
        }
        let mut state = self.state.lock();
        let running = state.running;
        let mut counts = KVec::from_elem(pmon_count::default(), state.claims.len(), GFP_KERNEL)?;
        for part in &mut state.parts {
            let read = |a: &Attachment| {
                let running = if running { since(a.stats.started) } else { 0 };
                let enabled_ns = a.stats.enabled_ns + running;
                let uncore = a.uncore.iter().map(|c| (&c.account, a.stats.frozen_ns));
                let core = a.core.iter().map(|c| (&c.account, a.stats.halted_ns));
                for (account, frozen_ns) in Iterator::chain(uncore, core) {
                    if let Some(out) = counts.get_mut(account.id() as usize) {
                        *out = pmon_count {
                            total: account.total(),
                            overflows: account.overflows(),
                            enabled_ns,
                            frozen_ns,
                        };
                    }
                }
            };
            part.look(running, read)?;
        }
        drop(state);
        let room = (r.nr as usize).min(counts.len());
        r.time = now();
        r.nr = counts.len() as u32;
        let len = room * size_of::<pmon_count>();
        let mut writer = UserSlice::new(UserPtr::from_addr(r.counts as usize), len).writer();
        counts.iter().take(room).try_for_each(|c| writer.write(c))
    }

    /// PMON_IOC_STATS.
    pub(crate) fn stats(&self, out: &mut pmon_stats) -> Result {
        if out.flags != 0 {
            return Err(EINVAL);
        }
        let mut state = self.state.lock();
        let running = state.running;
        let mut sum = pmon_stats {
            size: out.size,
            ..Default::default()
        };
        for part in &mut state.parts {
            let add = |a: &Attachment| {
                sum.samples += a.output.samples;
                sum.lost += a.output.ring().map_or(0, |(producer, _)| producer.lost());
                sum.throttled += a.output.throttled;
                sum.interrupts += a.stats.interrupts;
                sum.deferred += a.stats.deferred;
                sum.polls += a.stats.polls;
                sum.handler_ns += a.stats.handler_ns;
                sum.frozen_ns += a.stats.frozen_ns;
            };
            part.look(running, add)?;
        }
        sum.late = late()?.saturating_sub(state.late_before);
        *out = sum;
        Ok(())
    }

    /// Whether records are to be read, and whether none will come any more.
    pub(crate) fn readiness(&self) -> (bool, bool) {
        let state = self.state.lock();
        let unread = |part: &Part| part.unread().is_some_and(|n| n != 0);
        let any = state.parts.iter().any(unread);
        let readable = any && (!state.running || state.parts.iter().any(|p| p.is_ready(&state)));
        (readable, !state.running && !any)
    }

    /// The end: stops, and gives everything back.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        if state.running && state.halt().is_err() {
            pr_warn!("a register could not be restored at close\n");
        }
        state.give_back();
    }
}

#[pinned_drop]
impl PinnedDrop for Session {
    fn drop(self: Pin<&mut Self>) {
        self.close();
    }
}

impl State {
    fn halt(&mut self) -> Result {
        self.running = false;
        let mut result = Ok(());
        for part in &mut self.parts {
            match part.stop() {
                Ok(stopped) => result = result.and(stopped),
                Err(e) => {
                    self.stuck = true;
                    result = Err(e);
                }
            }
        }
        result
    }

    fn give_back(&mut self) {
        if self.stuck {
            // Hotplug keeps the CPUs of sessions online, so this does not happen; if it did, the CPU
            // would go on with memory that must not be freed.
            pr_warn!("a session's CPU could not be reached: its memory and counters are lost\n");
            core::mem::forget(core::mem::take(&mut self.parts));
            core::mem::forget(self.rings.take());
            return;
        }
        // The attachments' rings point into the pages.
        self.parts.clear();
        self.rings = None;
        if let Ok(machine) = machine() {
            let mut book = machine.book.lock();
            if core::mem::take(&mut self.has_core) {
                book.leave_core_pmu();
            }
            for claim in &self.claims {
                match *claim {
                    Claim::Uncore {
                        socket,
                        slot,
                        ref filter,
                    } => {
                        let Some(book) = book.sockets.get_mut(socket) else {
                            continue;
                        };
                        let claims = &mut book.claims[slot.kind][slot.box_nr as usize];
                        match slot.index {
                            Index::General(i) => claims.give(i, filter),
                            Index::Fixed => claims.give_fixed(0),
                        }
                    }
                    Claim::Core { cpu, slot } => book.give_core(cpu, slot),
                }
            }
        }
        self.claims.clear();
    }

    /// The part on `cpu`, made if there is none yet, with room for one more counter everywhere: what
    /// comes after a claim cannot fail.
    fn part(&mut self, machine: &Machine, session: &Session, cpu: u32) -> Result<&mut Part> {
        let n = match self.parts.iter().position(|p| p.attachment.cpu == cpu) {
            Some(n) => n,
            None => {
                let woken_at = Arc::new(Word::new(0), GFP_KERNEL)?;
                let attachment = Attachment {
                    cpu,
                    uncore: KVec::new(),
                    core: KVec::new(),
                    output: Output::new(machine.settings.max_rate),
                    // SAFETY: the session drops its attachments before its waker.
                    waker: unsafe { WakerRef::new(&session.waker) },
                    woken_at: woken_at.clone(),
                    hit: false,
                    stats: Stats::default(),
                };
                let attachment = KBox::new(attachment, GFP_KERNEL)?;
                let part = Part {
                    attachment,
                    memory: None,
                    woken_at,
                    polls: false,
                    timer: None,
                };
                self.parts.push(part, GFP_KERNEL)?;
                self.parts.len() - 1
            }
        };
        self.claims.reserve(1, GFP_KERNEL)?;
        self.leaders.reserve(1, GFP_KERNEL)?;
        let part = self.parts.get_mut(n).ok_or(ENOMEM)?;
        part.attachment.uncore.reserve(1, GFP_KERNEL)?;
        part.attachment.core.reserve(1, GFP_KERNEL)?;
        Ok(part)
    }

    fn add_uncore(
        &mut self,
        machine: &Machine,
        session: &Session,
        c: &mut pmon_counter,
        id: u32,
    ) -> Result {
        let (kind, row) = machine::kind(c.unit).ok_or(ENXIO)?;
        let socket = machine.sockets.get(c.socket as usize).ok_or(ENXIO)?;
        if c.box_ >= socket.boxes[kind] {
            return Err(ENXIO);
        }
        if c.flags & CORE_ONLY_FLAGS != 0 {
            return Err(EINVAL);
        }
        let leader = c.flags & PMON_COUNTER_LEADER != 0;
        if leader && self.leaders.contains(&c.socket) {
            return Err(EEXIST);
        }
        if socket.in_use[kind][c.box_ as usize] {
            pr_warn!("{} {} was in use at load\n", row.name, c.box_);
            return Err(EBUSY);
        }
        self.part(machine, session, socket.cpu)?;
        let mut book = machine.book.lock();
        let book = book.sockets.get_mut(c.socket as usize).ok_or(ENXIO)?;
        let claims = &mut book.claims[kind][c.box_ as usize];
        let fixed = c.counter >= PMON_COUNTER_FIXED && c.counter != PMON_COUNTER_ANY;
        let width = if fixed { book.fixed_width } else { row.width };
        check_period(machine, c.period, (1 << width.max(1)) - 1)?;
        let index = if fixed {
            if c.config != 0 || c.filter != [0; 4] {
                return Err(EOPNOTSUPP);
            }
            let nr = u32::from(row.fixed.is_some());
            claims
                .take_fixed(nr, c.counter - PMON_COUNTER_FIXED)
                .map_err(errno)?;
            Index::Fixed
        } else {
            let allowed = check_uncore(row, c.config, &c.filter).map_err(errno)?;
            let wanted = (c.counter != PMON_COUNTER_ANY).then_some(c.counter);
            Index::General(
                claims
                    .take(row.counters, allowed, wanted, &c.filter)
                    .map_err(errno)?,
            )
        };
        let slot = Slot {
            kind,
            box_nr: c.box_,
            index,
        };
        let claim = Claim::Uncore {
            socket: c.socket as usize,
            slot,
            filter: c.filter,
        };
        let polls = book.kinds[kind].mode == POLL;
        self.claims.push(claim, GFP_KERNEL)?;
        let account = counter::Counter::new(id, width, c.period, leader).polled(polls);
        let counter = uncore::Counter::new(slot, c.config, c.filter, !polls, account);
        let part = self.part(machine, session, socket.cpu)?;
        part.attachment.uncore.push(counter, GFP_KERNEL)?;
        part.polls |= polls;
        if leader {
            self.leaders.push(c.socket, GFP_KERNEL)?;
        }
        c.width = width;
        if let Index::General(i) = index {
            c.counter = i;
        }
        Ok(())
    }

    fn add_core(
        &mut self,
        machine: &Machine,
        session: &Session,
        c: &mut pmon_counter,
        id: u32,
    ) -> Result {
        if c.socket != 0 || c.box_ as usize >= machine.cpus.len() {
            return Err(ENXIO);
        }
        if !cpu::is_online(c.box_) {
            return Err(ENODEV);
        }
        let user = c.flags & PMON_COUNTER_EXCLUDE_USER == 0;
        let kernel = c.flags & PMON_COUNTER_EXCLUDE_KERNEL == 0;
        if c.flags & PMON_COUNTER_LEADER != 0 || !(user || kernel) {
            return Err(EINVAL);
        }
        if c.filter != [0; 4] {
            return Err(EOPNOTSUPP);
        }
        let leaf = machine.features.leaf;
        let fixed = c.counter >= PMON_COUNTER_FIXED && c.counter != PMON_COUNTER_ANY;
        let (width, reach) = if fixed {
            (leaf.fixed_width, u64::MAX)
        } else {
            (leaf.width, machine.features.reach())
        };
        check_period(machine, c.period, (1 << width.max(1)) - 1)?;
        let allowed = if fixed {
            Ok(0)
        } else {
            check_core(&machine.features, c.config)
        };
        let allowed = allowed.map_err(errno)?;
        if fixed && c.config != 0 {
            return Err(EOPNOTSUPP);
        }
        self.part(machine, session, c.box_)?;
        let mut book = machine.book.lock();
        let wanted = (c.counter != PMON_COUNTER_ANY).then_some(c.counter);
        let claims = book.core.get_mut(c.box_ as usize).ok_or(ENXIO)?;
        let slot = if fixed {
            let i = c.counter - PMON_COUNTER_FIXED;
            claims.take_fixed(leaf.fixed, i).map_err(errno)?;
            core_pmu::Slot::Fixed(i)
        } else {
            let taken = claims.take(leaf.counters, allowed, wanted, &[0; 4]);
            core_pmu::Slot::General(taken.map_err(errno)?)
        };
        if !self.has_core {
            if let Err(e) = book.share_core_pmu(leaf.counters) {
                book.give_core(c.box_ as usize, slot);
                return Err(e);
            }
            self.has_core = true;
        }
        if let core_pmu::Slot::General(i) = slot {
            c.counter = i;
        }
        self.claims.push(
            Claim::Core {
                cpu: c.box_ as usize,
                slot,
            },
            GFP_KERNEL,
        )?;
        drop(book);
        let polls = machine.core_mode == POLL;
        let account = counter::Counter::new(id, width, c.period, false)
            .within(reach)
            .polled(polls);
        let counter = core_pmu::Counter::new(slot, c.config, user, kernel, !polls, account);
        let part = self.part(machine, session, c.box_)?;
        part.attachment.core.push(counter, GFP_KERNEL)?;
        part.polls |= polls;
        c.width = width;
        Ok(())
    }
}

fn check_period(machine: &Machine, period: u64, longest: u64) -> Result {
    if period != 0 && !(machine.settings.min_period..=longest).contains(&period) {
        return Err(ERANGE);
    }
    Ok(())
}

impl Part {
    fn start(&mut self, machine: &'static Machine) -> Result {
        let id = self.attachment.cpu;
        let cpu = machine.cpus.get(id as usize).ok_or(ENXIO)?;
        let attachment = AttachmentRef::new(&mut self.attachment);
        let timer = match self.polls {
            true => Some(Ticker::new(id, attachment, machine.settings.poll_us)?),
            false => None,
        };
        let started = cpu::run_on(id, move || {
            // SAFETY: on this CPU, interrupts off; the box stays where it is, and is not touched
            // until `stop`.
            unsafe { cpu.attach(attachment.get()) }.map(|()| timer.map(Ticker::start))
        })?;
        self.timer = started.map_err(|refused| match refused {
            Refused::TooManySessions => EBUSY,
            Refused::Hardware(e) => hardware(e),
        })?;
        Ok(())
    }

    /// Stops it; the outer error: its CPU cannot be reached.
    fn stop(&mut self) -> Result<Result> {
        // Waits for the timer's last look.
        self.timer = None;
        let id = self.attachment.cpu;
        let cpu = machine::cpu(id).ok_or(ENODEV)?;
        let attachment = AttachmentRef::new(&mut self.attachment);
        let stopped = cpu::run_on(id, move || {
            // SAFETY: on this CPU, interrupts off; attached by `start`.
            unsafe { cpu.detach(attachment.get()) }
        })?;
        Ok(stopped.map_err(hardware))
    }

    /// Calls `f` with totals that are up to date.
    fn look(&mut self, running: bool, mut f: impl FnMut(&Attachment) + Send) -> Result {
        if !running {
            f(&self.attachment);
            return Ok(());
        }
        let id = self.attachment.cpu;
        let cpu = machine::cpu(id).ok_or(ENODEV)?;
        let attachment = AttachmentRef::new(&mut self.attachment);
        let looked = cpu::run_on(id, move || {
            // SAFETY: on this CPU, interrupts off; attached by `start`.
            unsafe { cpu.refresh(attachment.get(), &mut f) }
        })?;
        looked.map_err(hardware)
    }

    /// Whether no counter was added after all.
    fn is_empty(&self) -> bool {
        self.attachment.uncore.is_empty() && self.attachment.core.is_empty()
    }

    /// Bytes in the ring that were not read. The producer's own state is the other CPU's; the page
    /// says the same to a program that keeps to the rules.
    fn unread(&self) -> Option<u64> {
        let memory = self.memory?;
        Some(
            memory
                .page
                .head
                .acquire()
                .wrapping_sub(memory.page.tail.acquire()),
        )
    }

    /// Whether a condition to wake the reader holds.
    fn is_ready(&self, state: &State) -> bool {
        let (Some(memory), Some(unread)) = (self.memory, self.unread()) else {
            return false;
        };
        let full = state.wake_bytes != 0 && unread >= state.wake_bytes;
        // Records from before the last wake-up are still there.
        full || memory.page.tail.relaxed() < self.woken_at.relaxed()
    }
}
