// SPDX-License-Identifier: GPL-2.0-only
//! The C interface of `pmon_model.h`.
//!
//! QEMU makes all calls but `pmon_model_claims_msr` with its big lock held, and none from within a
//! callback, so the mutex here is never contended.

use std::ffi::{c_char, c_int, CStr, CString};
use std::path::PathBuf;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::access::{claims_msr, Access};
use super::control::{Channel, Command};
use super::host::Host;
use super::model::Model;

/// `PMON_NOT_MINE`, `PMON_OK`, `PMON_GP` of `enum pmon_access`.
const NOT_MINE: c_int = 0;
const OK: c_int = 1;
const GP: c_int = -1;

/// `struct pmon_host`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PmonHost {
    /// See `pmon_model.h`.
    pub now_ns: extern "C" fn() -> i64,
    /// See `pmon_model.h`.
    pub insns: extern "C" fn(u32) -> i64,
    /// See `pmon_model.h`.
    pub insns_to_ns: extern "C" fn(i64) -> i64,
    /// See `pmon_model.h`.
    pub halted: extern "C" fn(u32) -> bool,
    /// See `pmon_model.h`.
    pub arm: extern "C" fn(i64),
    /// See `pmon_model.h`.
    pub pmi: extern "C" fn(u32) -> bool,
}

/// A count or time as C has it; what does not fit is as far away as C can say.
fn to_c(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The number of a CPU as C has it.
fn cpu_to_c(cpu: usize) -> u32 {
    // CAST: the number came from C as 32 bits.
    cpu as u32
}

impl Host for PmonHost {
    fn now_ns(&mut self) -> u64 {
        u64::try_from((self.now_ns)()).unwrap_or(0)
    }

    fn insns(&mut self, cpu: usize) -> Option<u64> {
        u64::try_from((self.insns)(cpu_to_c(cpu))).ok()
    }

    fn insns_to_ns(&mut self, n: u64) -> u64 {
        u64::try_from((self.insns_to_ns)(to_c(n))).unwrap_or(u64::MAX)
    }

    fn halted(&mut self, cpu: usize) -> bool {
        (self.halted)(cpu_to_c(cpu))
    }

    fn arm(&mut self, ns: Option<u64>) {
        (self.arm)(ns.map_or(-1, to_c));
    }

    fn pmi(&mut self, cpu: usize) -> bool {
        (self.pmi)(cpu_to_c(cpu))
    }
}

/// All that lives between calls.
struct State {
    model: Model,
    host: PmonHost,
    channel: Channel,
    /// Lines of the plan file that are still to run.
    plan: Vec<String>,
    out: Option<PathBuf>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<State>> {
    // A panic aborts at the C boundary, so that nobody sees the state behind it.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `f` with the running model, or returns `absent` when there is none.
///
/// The plan runs before the first call: only then all CPUs are known.
fn with<T>(absent: T, f: impl FnOnce(&mut State) -> T) -> T {
    let mut guard = lock();
    let Some(state) = guard.as_mut() else {
        return absent;
    };
    for line in std::mem::take(&mut state.plan) {
        let answer = state.model.control(&mut state.host, &line);
        if answer.starts_with("error") {
            eprintln!("pmon-model: plan: {line}: {answer}");
        }
    }
    f(state)
}

/// Reads the plan file and checks that its lines are commands.
fn read_plan(path: &str) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    for (i, line) in text.lines().enumerate() {
        Command::parse(line).map_err(|error| format!("{path}:{}: {error}", i + 1))?;
    }
    Ok(text.lines().map(String::from).collect())
}

fn init(host: PmonHost, config: &str) -> Result<State, String> {
    let (mut plan, mut out, mut settings) = (Vec::new(), None, Vec::new());
    for pair in config.split(',') {
        match pair.split_once('=') {
            Some(("plan", path)) => plan = read_plan(path)?,
            Some(("out", path)) => out = Some(PathBuf::from(path)),
            _ => settings.push(pair),
        }
    }
    let model = Model::new(&settings.join(","))?;
    Ok(State {
        model,
        host,
        channel: Channel::default(),
        plan,
        out,
    })
}

/// See `pmon_model.h`.
///
/// # Safety
/// `host` points to a `struct pmon_host` with all functions set; `config` is NULL or a C string.
#[no_mangle]
pub unsafe extern "C" fn pmon_model_init(
    host: *const PmonHost,
    config: *const c_char,
) -> *const c_char {
    let config = if config.is_null() {
        String::new()
    } else {
        // SAFETY: the caller says that it is a C string.
        unsafe { CStr::from_ptr(config) }
            .to_string_lossy()
            .into_owned()
    };
    // SAFETY: the caller says that it points to a complete structure.
    let host = unsafe { *host };
    match init(host, &config) {
        Ok(state) => {
            *lock() = Some(state);
            ptr::null()
        }
        // The message stays valid for good: the caller may print it at any time.
        Err(error) => CString::new(error.replace('\0', "?"))
            .unwrap_or_default()
            .into_raw(),
    }
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_add_cpu(cpu: u32, socket: u32, core: u32, thread: u32) {
    if let Some(state) = lock().as_mut() {
        debug_assert_eq!(cpu as usize, state.model.cpus.len());
        state
            .model
            .add_cpu(socket as usize, core as usize, thread as usize);
    }
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_reset() {
    with((), |state| state.model.reset(&mut state.host));
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_finish() {
    with((), |state| {
        if let Some(out) = &state.out {
            let report = state.model.control(&mut state.host, "report");
            if let Err(error) = std::fs::write(out, report + "\n") {
                eprintln!("pmon-model: {}: {error}", out.display());
            }
        }
    });
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_claims_msr(msr: u32) -> bool {
    claims_msr(msr)
}

/// Hands the value of a read over to C.
///
/// # Safety
/// `value` can be written.
unsafe fn hand_over<T>(access: Access<T>, value: *mut T) -> c_int {
    match access {
        Access::NotMine => NOT_MINE,
        Access::Fault => GP,
        Access::Done(read) => {
            // SAFETY: the caller says that it can be written.
            unsafe { value.write(read) };
            OK
        }
    }
}

/// See `pmon_model.h`.
///
/// # Safety
/// `val` can be written.
#[no_mangle]
pub unsafe extern "C" fn pmon_model_rdmsr(cpu: u32, msr: u32, val: *mut u64) -> c_int {
    let access = with(Access::NotMine, |s| {
        s.model.rdmsr(&mut s.host, cpu as usize, msr)
    });
    // SAFETY: the caller says that it can be written.
    unsafe { hand_over(access, val) }
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_wrmsr(cpu: u32, msr: u32, val: u64) -> c_int {
    match with(Access::NotMine, |s| {
        s.model.wrmsr(&mut s.host, cpu as usize, msr, val)
    }) {
        Access::NotMine => NOT_MINE,
        Access::Fault => GP,
        Access::Done(()) => OK,
    }
}

/// See `pmon_model.h`.
///
/// # Safety
/// `val` can be written.
#[no_mangle]
pub unsafe extern "C" fn pmon_model_rdpmc(cpu: u32, index: u32, val: *mut u64) -> c_int {
    let access = with(Access::NotMine, |s| {
        s.model.rdpmc(&mut s.host, cpu as usize, index)
    });
    // SAFETY: the caller says that it can be written.
    unsafe { hand_over(access, val) }
}

/// See `pmon_model.h`.
///
/// # Safety
/// `regs` points to four 32-bit numbers.
#[no_mangle]
pub unsafe extern "C" fn pmon_model_cpuid_0a(regs: *mut [u32; 4]) {
    let leaf = lock()
        .as_ref()
        .map_or([0; 4], |state| state.model.cpuid_0a());
    // SAFETY: the caller says that it can be written.
    unsafe { regs.write(leaf) };
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_timer() {
    with((), |state| state.model.timer(&mut state.host));
}

/// See `pmon_model.h`.
///
/// # Safety
/// `val` can be written.
#[no_mangle]
pub unsafe extern "C" fn pmon_model_pci_read(
    socket: u32,
    device: u16,
    addr: u32,
    len: u32,
    val: *mut u32,
) -> c_int {
    let access = with(Access::NotMine, |s| {
        s.model.pci_read(socket as usize, device, addr, len)
    });
    // SAFETY: the caller says that it can be written.
    unsafe { hand_over(access, val) }
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_pci_write(
    socket: u32,
    device: u16,
    addr: u32,
    len: u32,
    _val: u32,
) -> c_int {
    match with(Access::NotMine, |s| {
        s.model.pci_write(socket as usize, device, addr, len)
    }) {
        Access::NotMine => NOT_MINE,
        Access::Fault => GP,
        Access::Done(()) => OK,
    }
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_ctl_write(byte: u8) {
    with((), |state| {
        if let Some(line) = state.channel.write(byte) {
            let answer = state.model.control(&mut state.host, &line);
            state.channel.answer(&answer);
        }
    });
}

/// See `pmon_model.h`.
#[no_mangle]
pub extern "C" fn pmon_model_ctl_read() -> c_int {
    with(-1, |state| state.channel.read().map_or(-1, c_int::from))
}
