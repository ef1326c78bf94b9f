// SPDX-License-Identifier: GPL-2.0-only

//! NMIs and the local APIC's performance-counter entry (LVTPC).

use super::bindings as b;
use kernel::{
    bindings,
    error::to_result,
    prelude::*,
    types::Opaque, //
};

const NAME: &CStr = c"pmon";

/// What an NMI interrupted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Interrupted {
    /// Instruction pointer.
    pub(crate) ip: u64,
    /// In user mode.
    pub(crate) user: bool,
}

unsafe extern "C" fn handler(_kind: c_uint, regs: *mut bindings::pt_regs) -> c_int {
    let mut user = false;
    // SAFETY: the NMI core passes the interrupted registers.
    let ip = unsafe { b::pmon_shim_regs_ip(regs, &mut user) };
    crate::pmi::handle(Interrupted { ip, user }) as c_int
}

/// Our handler in the NMI core's list, before perf's: the uncore's overflow must be cleared before
/// perf looks at IA32_PERF_GLOBAL_STATUS bit 61.
#[pin_data(PinnedDrop)]
pub(crate) struct Registration {
    #[pin]
    action: Opaque<b::nmiaction>,
}

// SAFETY: only the NMI core touches the action once it is registered.
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers it.
    pub(crate) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            action <- Opaque::try_ffi_init(|slot: *mut b::nmiaction| {
                // SAFETY: `slot` is valid for writes and stays where it is; a list head that is in
                // no list points at itself.
                unsafe {
                    slot.write(b::nmiaction::default());
                    let list = &raw mut (*slot).list;
                    (*list).next = list;
                    (*list).prev = list;
                    (*slot).handler = Some(handler);
                    (*slot).flags = b::NMI_FLAG_FIRST as usize;
                    (*slot).name = NAME.as_char_ptr();
                    to_result(b::__register_nmi_handler(b::NMI_LOCAL as c_uint, slot))
                }
            }),
        }? Error)
    }
}

#[pinned_drop]
impl PinnedDrop for Registration {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: registered in `new`; returns when no CPU runs the handler any more.
        unsafe { b::unregister_nmi_handler(b::NMI_LOCAL as c_uint, NAME.as_char_ptr()) };
    }
}

/// LVTPC of the local CPU.
pub(crate) fn lvtpc() -> u32 {
    // SAFETY: a read of the local APIC.
    unsafe { b::pmon_shim_lvtpc_read() }
}

/// Writes LVTPC of the local CPU.
pub(crate) fn set_lvtpc(value: u32) {
    // SAFETY: the values are those read before, or `lvtpc_nmi`.
    unsafe { b::pmon_shim_lvtpc_write(value) };
}

/// LVTPC for an NMI, not masked. The APIC masks the entry when it delivers; only this unmasks it.
pub(crate) fn lvtpc_nmi() -> u32 {
    // SAFETY: a constant of the kernel's headers.
    unsafe { b::pmon_shim_lvtpc_nmi() }
}
