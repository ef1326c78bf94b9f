// SPDX-License-Identifier: GPL-2.0-only

//! Waking poll() from NMI context, by an irq_work.

use super::bindings as b;
use core::ptr::NonNull;
use kernel::{
    bindings,
    container_of,
    fs::File,
    new_poll_condvar,
    prelude::*,
    sync::poll::{
        PollCondVar,
        PollTable, //
    },
    types::Opaque, //
};

/// A session's waiters.
#[pin_data(PinnedDrop)]
pub(crate) struct Waker {
    #[pin]
    waiters: PollCondVar,
    #[pin]
    work: Opaque<bindings::irq_work>,
}

// SAFETY: the irq_work is only used through the kernel's functions, from any CPU.
unsafe impl Send for Waker {}
// SAFETY: as above.
unsafe impl Sync for Waker {}

unsafe extern "C" fn notify(work: *mut bindings::irq_work) {
    // SAFETY: `work` is the field of a `Waker`, which waits for its work before it goes.
    let waker = unsafe { &*container_of!(Opaque::cast_from(work), Waker, work) };
    waker.waiters.notify_all();
}

impl Waker {
    /// A waker that nobody waits for.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            waiters <- new_poll_condvar!("pmon:waiters"),
            work <- Opaque::ffi_init(|slot| {
                // SAFETY: `slot` is valid for writes.
                unsafe { b::pmon_shim_init_irq_work(slot, Some(notify)) }
            }),
        })
    }

    /// Wakes the waiters soon.
    // NMI: irq_work_queue() is made for it.
    pub(crate) fn wake(&self) {
        // SAFETY: the work is initialised and pinned.
        unsafe { bindings::irq_work_queue(self.work.get()) };
    }

    /// Has `table` woken by [`Waker::wake`].
    pub(crate) fn register(&self, table: &PollTable<'_>, file: &File) {
        table.register_wait(file, &self.waiters);
    }
}

/// A reference to a pinned waker, without its lifetime.
pub(crate) struct WakerRef(NonNull<Waker>);

// SAFETY: a shared reference, in effect, and `Waker` is `Sync`.
unsafe impl Send for WakerRef {}
// SAFETY: as above.
unsafe impl Sync for WakerRef {}

impl WakerRef {
    /// A reference to `waker`.
    ///
    /// # Safety
    ///
    /// `waker` outlives the result.
    pub(crate) unsafe fn new(waker: &Waker) -> Self {
        Self(NonNull::from(waker))
    }

    /// [`Waker::wake`].
    pub(crate) fn wake(&self) {
        // SAFETY: it lives, by the contract of `new`.
        unsafe { self.0.as_ref() }.wake();
    }
}

#[pinned_drop]
impl PinnedDrop for Waker {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: the work is initialised; nobody queues it any more.
        unsafe { bindings::irq_work_sync(self.work.get()) };
    }
}
