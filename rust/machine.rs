// SPDX-License-Identifier: GPL-2.0-only

//! The machine: its sockets and boxes, what the self-test found, and who has which counter.

use crate::{
    hw::{
        core_pmu::*,
        ubox::*,
        uncore::BoxType,
        UNCORE, //
    },
    logic::{
        claims::Claims,
        core_pmu::{
            self,
            Features, //
        },
        registers::{
            HwError,
            Reg,
            Registers, //
        },
        selftest::{
            self,
            Outcome, //
        },
        uncore::{
            find_in_use,
            Socket,
            MAX_BOXES, //
        },
    },
    percpu::Cpu,
    sys::{
        cpu,
        msr::LocalRegisters,
        reserve::CorePmuReservation, //
    },
    uapi, //
};
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Release, //
        },
        Mutex, //
    },
};

/// CPUID family and model of Xeon E5/E7 v2.
const IVYTOWN: (u32, u32) = (6, 62);

/// `PMON_MODE_*`.
pub(crate) const ABSENT: u32 = uapi::pmon_mode::PMON_MODE_ABSENT as u32;
/// `PMON_MODE_*`.
pub(crate) const PMI: u32 = uapi::pmon_mode::PMON_MODE_PMI as u32;
/// `PMON_MODE_*`.
pub(crate) const POLL: u32 = uapi::pmon_mode::PMON_MODE_POLL as u32;

/// The module's parameters.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// 0: as the self-test finds; else a `PMON_MODE_*` that is forced.
    pub(crate) mode: u32,
    /// Interval of the poll timer, microseconds.
    pub(crate) poll_us: u32,
    /// Samples per second and CPU.
    pub(crate) max_rate: u64,
    /// Smallest period, events.
    pub(crate) min_period: u64,
}

/// What is known of a kind of box on one socket.
#[derive(Clone, Copy, Default)]
pub(crate) struct KindInfo {
    /// `PMON_MODE_*`.
    pub(crate) mode: u32,
    /// `PMON_UNIT_*` flags.
    pub(crate) flags: u32,
}

/// One socket, as it was at load.
pub(crate) struct SocketInfo {
    /// The CPU that takes its PMIs and accesses its registers.
    pub(crate) cpu: u32,
    /// Boxes by row of [`UNCORE`].
    pub(crate) boxes: [u32; UNCORE.len()],
    /// Boxes that were in use at load.
    pub(crate) in_use: [[bool; MAX_BOXES]; UNCORE.len()],
}

/// What the self-test found on a socket, and who has its counters.
pub(crate) struct SocketBook {
    /// By row of [`UNCORE`].
    pub(crate) kinds: [KindInfo; UNCORE.len()],
    /// Bits of the uncore clock's counter.
    pub(crate) fixed_width: u32,
    /// By row of [`UNCORE`] and box.
    pub(crate) claims: [[Claims; MAX_BOXES]; UNCORE.len()],
}

/// What changes while the module lives.
pub(crate) struct Book {
    /// By socket.
    pub(crate) sockets: KVec<SocketBook>,
    /// By logical CPU.
    pub(crate) core: KVec<Claims>,
    /// Sessions with core counters; they share the reservation.
    core_sessions: u32,
    /// perf and the NMI watchdog keep away from the core PMU.
    reservation: Option<CorePmuReservation>,
}

impl Book {
    /// One more session with core counters: the first one reserves the core PMU.
    pub(crate) fn share_core_pmu(&mut self, counters: u32) -> Result {
        if self.reservation.is_none() {
            self.reservation = Some(CorePmuReservation::new(counters)?);
        }
        self.core_sessions += 1;
        Ok(())
    }

    /// One session less.
    pub(crate) fn leave_core_pmu(&mut self) {
        self.core_sessions -= 1;
        if self.core_sessions == 0 {
            self.reservation = None;
        }
    }

    /// Gives a core counter back.
    pub(crate) fn give_core(&mut self, cpu: usize, slot: core_pmu::Slot) {
        if let Some(claims) = self.core.get_mut(cpu) {
            match slot {
                core_pmu::Slot::General(i) => claims.give(i, &[0; 4]),
                core_pmu::Slot::Fixed(i) => claims.give_fixed(i),
            }
        }
    }
}

/// The machine.
#[pin_data]
pub(crate) struct Machine {
    pub(crate) settings: Settings,
    pub(crate) features: Features,
    pub(crate) sockets: KVec<SocketInfo>,
    pub(crate) cpus: KVec<Cpu>,
    /// `PMON_MODE_*` of the core counters.
    pub(crate) core_mode: u32,
    #[pin]
    pub(crate) book: Mutex<Book>,
}

/// The one machine, for NMIs and open files; null when the module is not ready.
static MACHINE: Atomic<usize> = Atomic::new(0);

/// The machine.
pub(crate) fn get() -> Option<&'static Machine> {
    let machine = MACHINE.load(Acquire) as *const Machine;
    // SAFETY: set by `Published`, which outlives the device, its open files, and the NMI handler.
    unsafe { machine.as_ref() }
}

/// A CPU by its number.
pub(crate) fn cpu(id: u32) -> Option<&'static Cpu> {
    get()?.cpus.get(id as usize)
}

/// The CPU this runs on; does not stay so unless the caller cannot migrate.
pub(crate) fn this_cpu() -> Option<&'static Cpu> {
    // SAFETY: reads a per-CPU variable.
    cpu(unsafe { kernel::bindings::raw_smp_processor_id() })
}

/// Whether a session counts on `cpu`.
pub(crate) fn is_busy(id: u32) -> bool {
    cpu(id).is_some_and(Cpu::is_active)
}

/// Makes the machine known to NMIs and files while it lives.
pub(crate) struct Published {
    _machine: Pin<KBox<Machine>>,
}

impl Published {
    /// Publishes it.
    pub(crate) fn new(machine: Pin<KBox<Machine>>) -> Self {
        MACHINE.store((&raw const *machine) as usize, Release);
        Self { _machine: machine }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        MACHINE.store(0, Release);
    }
}

/// Looks at the processor, its sockets and boxes. `ENODEV`, with one line in the log, where the
/// part is not one that the tables describe.
pub(crate) fn detect(settings: Settings) -> Result<Pin<KBox<Machine>>> {
    let model = cpu::model();
    if !model.intel || (model.family, model.model) != IVYTOWN {
        pr_err!(
            "not a Xeon E5/E7 v2 (family 6 model 62): this is family {} model {}\n",
            model.family,
            model.model
        );
        return Err(ENODEV);
    }
    let leaf = cpu::leaf_0a();
    let sound = leaf.version >= 2
        && (1..=8).contains(&leaf.counters)
        && (32..=48).contains(&leaf.width)
        && leaf.fixed <= 3
        && (leaf.fixed == 0 || (32..=48).contains(&leaf.fixed_width));
    if !sound {
        pr_err!("the processor shows no performance counters that are known (CPUID leaf 0AH)\n");
        return Err(ENODEV);
    }
    let full_width = cpu::has_perf_capabilities()
        && LocalRegisters
            .read(Reg::Msr(IA32_PERF_CAPABILITIES))
            .unwrap_or(0)
            & CAP_FULL_WIDTH_WRITE
            != 0;

    let mut sockets = KVec::new();
    let mut packages: KVec<u32> = KVec::new();
    let mut cpus = KVec::with_capacity(cpu::possible() as usize, GFP_KERNEL)?;
    for id in 0..cpu::possible() {
        let package = cpu::place(id).package;
        let known = packages.iter().position(|&p| p == package);
        let socket = known.unwrap_or(packages.len());
        if known.is_none() && cpu::is_online(id) {
            packages.push(package, GFP_KERNEL)?;
            let cores = cores_of(package);
            sockets.push(cpu::run_on(id, move || probe(id, cores))??, GFP_KERNEL)?;
        }
        cpus.push(Cpu::new(id, socket as u32, full_width), GFP_KERNEL)?;
    }
    let mut books = KVec::new();
    for _ in 0..sockets.len() {
        let book = SocketBook {
            kinds: [KindInfo::default(); UNCORE.len()],
            fixed_width: 0,
            claims: [[Claims::default(); MAX_BOXES]; UNCORE.len()],
        };
        books.push(book, GFP_KERNEL)?;
    }
    let core = KVec::from_elem(Claims::default(), cpus.len(), GFP_KERNEL)?;
    let core_mode = if settings.mode == POLL { POLL } else { PMI };
    KBox::pin_init(
        pin_init!(Machine {
            settings,
            features: Features { leaf, full_width },
            sockets,
            cpus,
            core_mode,
            book <- new_mutex!(Book {
                sockets: books,
                core,
                core_sessions: 0,
                reservation: None,
            }),
        }),
        GFP_KERNEL,
    )
}

/// Cores of a package.
fn cores_of(package: u32) -> u32 {
    let here = |&id: &u32| cpu::is_online(id) && cpu::place(id).package == package;
    let first = |&id: &u32| cpu::place(id).first_sibling == id;
    (0..cpu::possible()).filter(here).filter(first).count() as u32
}

fn missing(error: HwError) -> Error {
    let (HwError::Fault(Reg::Msr(msr)) | HwError::InUse(Reg::Msr(msr))) = error;
    pr_err!("no uncore counters here: MSR {msr:#x} is missing (a virtual machine has none)\n");
    ENODEV
}

/// Finds the boxes of this CPU's socket.
fn probe(cpu: u32, cores: u32) -> Result<SocketInfo> {
    let bus = &mut LocalRegisters;
    bus.read(Reg::Msr(U_MSR_PMON_GLOBAL_CTL)).map_err(missing)?;
    bus.read(Reg::Msr(U_MSR_PMON_GLOBAL_STATUS))
        .map_err(missing)?;
    let mut info = SocketInfo {
        cpu,
        boxes: [0; UNCORE.len()],
        in_use: [[false; MAX_BOXES]; UNCORE.len()],
    };
    for (kind, row) in UNCORE.iter().enumerate() {
        let most = if row.per_core {
            row.max_boxes.min(cores)
        } else {
            row.max_boxes
        };
        for nr in 0..most {
            match find_in_use(bus, kind, nr) {
                Err(_) => break,
                Ok(in_use) => {
                    info.boxes[kind] += 1;
                    if let Some(Reg::Msr(msr)) = in_use {
                        info.in_use[kind][nr as usize] = true;
                        pr_warn!("{} {nr} is in use (MSR {msr:#x}): not ours\n", row.name);
                    }
                }
            }
        }
    }
    Ok(info)
}

/// Tests the PMI of each kind of box on each socket, makes one CPU of each socket ready for its
/// PMIs, and prints one line a socket. NMIs reach the machine by now, sessions do not yet.
pub(crate) fn selftest() -> Result {
    let machine = get().ok_or(ENODEV)?;
    for (n, info) in machine.sockets.iter().enumerate() {
        let Some(cpu) = machine.cpus.get(info.cpu as usize) else {
            continue;
        };
        let place = cpu::place(info.cpu);
        let select = 1u64 << place.core.min(14);
        let (mut freezes, mut needs_debugctl, mut ovf_uncore) = (true, false, false);
        let mut kinds = [KindInfo::default(); UNCORE.len()];
        let mut fixed_width = 0;
        let on_socket = || {
            let here = |c: &&Cpu| c.socket as usize == n && cpu::is_online(c.id);
            machine.cpus.iter().filter(here)
        };
        on_socket().for_each(Cpu::begin_selftest);
        for (kind, row) in UNCORE.iter().enumerate() {
            let (outcome, debugctl) = try_kind(cpu, info, kind, select)?;
            let works = outcome.overflowed && outcome.status && outcome.interrupt;
            let entry = &mut kinds[kind];
            entry.mode = match (info.boxes[kind], machine.settings.mode) {
                (0, _) => ABSENT,
                (_, 0) if works => PMI,
                (_, 0) => POLL,
                (_, forced) => forced,
            };
            if outcome.status && !outcome.froze {
                freezes = false;
                entry.flags |= uapi::PMON_UNIT_NO_FREEZE;
            }
            if works && debugctl {
                needs_debugctl = true;
                entry.flags |= uapi::PMON_UNIT_NEEDS_DEBUGCTL;
            }
            if row.fixed.is_some() {
                fixed_width = if outcome.overflowed {
                    outcome.width
                } else {
                    row.width
                };
            }
            ovf_uncore |= works && takes_ovf_uncore(info.cpu)?;
        }
        pr_info!(
            "socket {n}: PMI on CPU {}, {} CBos; UBox {}, CBo {}, PCU {}{}{}\n",
            info.cpu,
            info.boxes[1],
            mode_name(kinds[0].mode),
            mode_name(kinds[1].mode),
            mode_name(kinds[2].mode),
            if needs_debugctl {
                ", needs IA32_DEBUGCTL bit 13"
            } else {
                ""
            },
            if freezes {
                ""
            } else {
                ", an overflow does not freeze"
            }
        );
        for other in on_socket() {
            cpu::run_on(other.id, || {
                // SAFETY: on this CPU, with interrupts off.
                unsafe { other.end_selftest(info.cpu, ovf_uncore) }
            })?;
        }
        cpu::run_on(info.cpu, || {
            // SAFETY: on this CPU, with interrupts off.
            unsafe { cpu.own_socket(Socket::new(select, freezes), needs_debugctl) }
        })?;
        if let Some(book) = machine.book.lock().sockets.get_mut(n) {
            book.kinds = kinds;
            book.fixed_width = fixed_width;
        }
    }
    Ok(())
}

/// Tries a kind's first free box, without IA32_DEBUGCTL bit 13 and, if the PMI does not come, with
/// it. The second result: it was needed.
fn try_kind(cpu: &Cpu, info: &SocketInfo, kind: usize, select: u64) -> Result<(Outcome, bool)> {
    let free = (0..info.boxes[kind]).find(|&nr| !info.in_use[kind][nr as usize]);
    // The uncore clock is the witness of the freeze.
    let (Some(nr), false) = (free, info.in_use[0][0]) else {
        return Ok((Outcome::default(), false));
    };
    let mut result = (Outcome::default(), false);
    // Several times: a virtual machine may stand still for longer than the test waits.
    for debugctl in [false, true, false, true, false, true] {
        let outcome = cpu::run_on(cpu.id, || {
            // SAFETY: on this CPU, interrupts off, and no session exists yet.
            unsafe {
                cpu.selftest(debugctl, |interrupted| {
                    selftest::run(&mut LocalRegisters, kind, nr, select, interrupted)
                })
            }
        })?;
        let outcome = outcome.and_then(|o| o).map_err(missing)?;
        result = (outcome, debugctl);
        if outcome.overflowed && (!outcome.status || outcome.interrupt) {
            break;
        }
    }
    Ok(result)
}

/// Whether an uncore PMI has set bit 61 of IA32_PERF_GLOBAL_STATUS on `cpu`; clears it.
fn takes_ovf_uncore(cpu: u32) -> Result<bool> {
    cpu::run_on(cpu, || {
        let bus = &mut LocalRegisters;
        let status = bus.read(Reg::Msr(IA32_PERF_GLOBAL_STATUS)).unwrap_or(0);
        status & STATUS_OVF_UNCORE != 0
            && bus
                .write(Reg::Msr(IA32_PERF_GLOBAL_OVF_CTRL), STATUS_OVF_UNCORE)
                .is_ok()
    })
}

fn mode_name(mode: u32) -> &'static str {
    match mode {
        PMI => "pmi",
        POLL => "poll",
        _ => "absent",
    }
}

/// An uncore kind by its `PMON_UNIT_*`.
pub(crate) fn kind(unit: u32) -> Option<(usize, &'static BoxType)> {
    UNCORE.iter().enumerate().find(|(_, row)| row.unit == unit)
}
