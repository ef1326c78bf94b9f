// SPDX-License-Identifier: GPL-2.0-only

//! The timer of mode poll: it looks at the overflow state on its CPU.

use crate::{
    machine,
    percpu::AttachmentRef, //
};
use kernel::{
    impl_has_hr_timer,
    prelude::*,
    sync::{
        Arc,
        ArcBorrow, //
    },
    time::{
        hrtimer::{
            ArcHrTimerHandle,
            HrTimer,
            HrTimerCallback,
            HrTimerCallbackContext,
            HrTimerPointer,
            HrTimerRestart,
            RelativePinnedHardMode, //
        },
        Delta,
        Monotonic, //
    },
};

/// One CPU's timer.
#[pin_data]
pub(crate) struct Ticker {
    #[pin]
    timer: HrTimer<Self>,
    cpu: u32,
    attachment: AttachmentRef,
    interval: Delta,
}

impl Ticker {
    /// A timer for a session's attachment on `cpu`, which looks every `interval_us` microseconds.
    pub(crate) fn new(cpu: u32, attachment: AttachmentRef, interval_us: u32) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                timer <- HrTimer::new(),
                cpu,
                attachment,
                interval: Delta::from_micros(i64::from(interval_us)),
            }),
            GFP_KERNEL,
        )
    }

    /// Starts it. Called on its CPU, where it stays; it ends when the result is dropped.
    pub(crate) fn start(self: Arc<Self>) -> ArcHrTimerHandle<Self> {
        let interval = self.interval;
        HrTimerPointer::start(self, interval)
    }
}

impl HrTimerCallback for Ticker {
    type Pointer<'a> = Arc<Self>;

    fn run(this: ArcBorrow<'_, Self>, mut cx: HrTimerCallbackContext<'_, Self>) -> HrTimerRestart {
        if let Some(cpu) = machine::this_cpu().filter(|c| c.id == this.cpu) {
            // SAFETY: on this CPU, in a hard interrupt: with interrupts off and outside of any
            // section, since sections have them off. The timer ends before its session is detached.
            unsafe { cpu.poll(this.attachment.get()) };
        }
        cx.forward_now(this.interval);
        HrTimerRestart::Restart
    }
}

impl_has_hr_timer! {
    impl HasHrTimer<Self> for Ticker {
        mode: RelativePinnedHardMode<Monotonic>, field: self.timer
    }
}
