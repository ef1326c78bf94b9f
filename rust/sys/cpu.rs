// SPDX-License-Identifier: GPL-2.0-only

//! Logical CPUs: what they are, running code on one of them, and hotplug.

use super::bindings as b;
use crate::hw::core_pmu::Leaf0a;
use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

/// Place of a logical CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Logical number of the physical package.
    pub(crate) package: u32,
    /// Core of the package, by APIC id.
    pub(crate) core: u32,
    /// First logical CPU of the same core.
    pub(crate) first_sibling: u32,
}

/// Place of `cpu`.
pub(crate) fn place(cpu: u32) -> Place {
    let mut out = b::pmon_shim_cpu::default();
    // SAFETY: `out` is valid; callers name possible CPUs.
    unsafe { b::pmon_shim_cpu(cpu, &mut out) };
    Place {
        package: out.package,
        core: out.core,
        first_sibling: out.first_sibling,
    }
}

/// Logical CPUs that can ever exist: numbers below this.
pub(crate) fn possible() -> u32 {
    kernel::cpu::nr_cpu_ids()
}

/// Whether `cpu` is online now.
pub(crate) fn is_online(cpu: u32) -> bool {
    // SAFETY: takes any number.
    unsafe { b::pmon_shim_cpu_online(cpu) }
}

/// The processor's model.
pub(crate) fn model() -> b::pmon_shim_model {
    let mut out = b::pmon_shim_model::default();
    // SAFETY: `out` is valid.
    unsafe { b::pmon_shim_model(&mut out) };
    out
}

/// CPUID leaf 0AH.
pub(crate) fn leaf_0a() -> Leaf0a {
    let mut regs = [0u32; 4];
    // SAFETY: room for four registers.
    unsafe { b::pmon_shim_cpuid(0xa, regs.as_mut_ptr()) };
    Leaf0a::decode(regs[0], regs[1], regs[3])
}

/// Whether IA32_PERF_CAPABILITIES exists.
pub(crate) fn has_perf_capabilities() -> bool {
    // SAFETY: reads a CPU feature bit.
    unsafe { b::pmon_shim_has_pdcm() }
}

/// Whether the caller may measure the machine: CAP_PERFMON or CAP_SYS_ADMIN.
pub(crate) fn perfmon_capable() -> bool {
    // SAFETY: looks at the current task.
    unsafe { b::pmon_shim_perfmon_capable() }
}

struct Call<F, R> {
    function: Option<F>,
    result: Option<R>,
}

unsafe extern "C" fn trampoline<F: FnOnce() -> R, R>(info: *mut c_void) {
    // SAFETY: `info` is the `Call` of `run_on`, which waits for us.
    let call = unsafe { &mut *info.cast::<Call<F, R>>() };
    call.result = call.function.take().map(|f| f());
}

/// Runs `function` on `cpu` with interrupts off and waits for its result; `ENODEV` if the CPU is
/// offline.
pub(crate) fn run_on<F: FnOnce() -> R + Send, R: Send>(cpu: u32, function: F) -> Result<R> {
    let mut call = Call {
        function: Some(function),
        result: None,
    };
    // SAFETY: `call` outlives the call, since `wait` is true; `F` and `R` may change threads.
    let ret = unsafe {
        bindings::smp_call_function_single(
            cpu as c_int,
            Some(trampoline::<F, R>),
            (&raw mut call).cast(),
            true,
        )
    };
    to_result(ret).map_err(|_| ENODEV)?;
    call.result.ok_or(ENODEV)
}

/// No CPU comes or goes while this lives.
pub(crate) struct HotplugLock(());

impl HotplugLock {
    /// Waits for hotplug that is under way.
    pub(crate) fn new() -> Self {
        // SAFETY: called from process context.
        unsafe { b::cpus_read_lock() };
        Self(())
    }
}

impl Drop for HotplugLock {
    fn drop(&mut self) {
        // SAFETY: locked in `new`.
        unsafe { b::cpus_read_unlock() };
    }
}

unsafe extern "C" fn offline(cpu: c_uint) -> c_int {
    if crate::machine::is_busy(cpu) {
        pr_warn!("CPU {cpu} takes part in a session: it stays online\n");
        return EBUSY.to_errno();
    }
    0
}

/// Keeps the CPUs of running sessions online.
pub(crate) struct HotplugGuard(c_int);

impl HotplugGuard {
    /// Registers it.
    pub(crate) fn new() -> Result<Self> {
        // SAFETY: the callback lives as long as the module, and is removed in `drop`.
        let state = unsafe {
            bindings::__cpuhp_setup_state(
                bindings::cpuhp_state_CPUHP_AP_ONLINE_DYN,
                c"pmon:online".as_char_ptr(),
                false,
                None,
                Some(offline),
                false,
            )
        };
        if state < 0 {
            return Err(Error::from_errno(state));
        }
        Ok(Self(state))
    }
}

impl Drop for HotplugGuard {
    fn drop(&mut self) {
        // SAFETY: the state is from `__cpuhp_setup_state`.
        unsafe { bindings::__cpuhp_remove_state(self.0, false) };
    }
}
