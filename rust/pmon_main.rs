// SPDX-License-Identifier: GPL-2.0-only

//! pmon: performance monitoring of Xeon E5/E7 v2 hosts, sampling on the uncore's own overflow
//! interrupt.
//!
//! One sample, from the PMI to the user:
//!
//! | step | where |
//! | --- | --- |
//! | NMI: is it ours? | `pmi.rs`, `percpu.rs` |
//! | which boxes, which counter | `logic/uncore.rs`, with `hw/` |
//! | raw value to total, next reload | `logic/counter.rs` |
//! | record | `logic/output.rs`, `logic/record.rs` |
//! | ring | `logic/ring.rs` |
//! | wake the reader | `sys/waker.rs`, `device.rs` |
//! | read it | `userspace/pmon` |

pub mod atomic;
pub mod hw;
pub mod logic;

mod abi;
mod device;
mod machine;
mod percpu;
mod pmi;
mod session;
mod sys;
mod ticker;
mod uapi;

use kernel::prelude::*;

module! {
    type: Pmon,
    name: "pmon",
    authors: ["The pmon developers"],
    description: "Performance monitoring of Xeon E5/E7 v2",
    license: "GPL",
    params: {
        mode: u32 {
            default: 0,
            description: "How overflows are noticed: 0 as the self-test finds, 1 PMI, 2 poll",
        },
        poll_us: u32 {
            default: 1000,
            description: "Interval of the timer in mode poll, microseconds (100 to 1000000)",
        },
        max_rate: u64 {
            default: 100000,
            description: "Samples per second and CPU above which sampling is throttled",
        },
        min_period: u64 {
            default: 100,
            description: "Smallest sampling period, events",
        },
    },
}

/// The loaded module; parts go in the order of these fields.
#[pin_data]
struct Pmon {
    #[pin]
    device: sys::misc::Registration,
    hotplug: sys::cpu::HotplugGuard,
    #[pin]
    nmi: sys::nmi::Registration,
    machine: machine::Published,
}

fn settings() -> Result<machine::Settings> {
    let settings = machine::Settings {
        mode: module_parameters::mode.value(),
        poll_us: module_parameters::poll_us.value(),
        max_rate: module_parameters::max_rate.value(),
        min_period: module_parameters::min_period.value(),
    };
    let fits = settings.mode <= 2
        && (100..=1_000_000).contains(&settings.poll_us)
        && settings.max_rate > 0
        && settings.min_period > 0;
    if !fits {
        pr_err!("a parameter is outside its limits: see modinfo pmon\n");
        return Err(EINVAL);
    }
    Ok(settings)
}

/// Tests the PMIs, which needs the NMI handler, and keeps CPUs online from then on.
fn ready() -> Result<sys::cpu::HotplugGuard> {
    machine::selftest()?;
    sys::cpu::HotplugGuard::new()
}

impl kernel::InPlaceModule for Pmon {
    fn init(_module: &'static ThisModule) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            machine: machine::Published::new(machine::detect(settings()?)?),
            nmi <- sys::nmi::Registration::new(),
            hotplug: ready()?,
            device <- sys::misc::Registration::new::<session::Session>(device::OPTIONS),
        })
    }
}
