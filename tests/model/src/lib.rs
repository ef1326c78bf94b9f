// SPDX-License-Identifier: GPL-2.0-only
//! The performance-monitoring hardware of Ivytown (Xeon E5/E7 v2, family 6 model 62) as software
//! sees it, for QEMU (`pmon_model.h`) and for tests in the same process.
//!
//! Written from the manuals alone: 329468-002 is Intel's uncore monitoring manual of this part, SDM
//! is the Software Developer's Manual. Where they leave two readings, `set` chooses one;
//! `docs/model-control.md` in the repository lists the settings and all other commands.
//!
//! # Time and events
//! An uncore event of HZ happened `floor(HZ * (t - t0) / 10^9)` times at the virtual time t in ns,
//! if its rate was set at t0; a counter that runs from a to b counts the difference. Core events
//! are fractions of the executed instructions, or of virtual time where they are not counted.
//! Counters are therefore exact to the last event, over any sequence of freezes, writes and wraps.
//!
//! # Example: an overflow of the uncore clock
//! ```
//! use pmon_model::{Machine, Topology};
//!
//! let topology = Topology { sockets: 2, cores: 4, threads: 2 };
//! let mut machine = Machine::new(topology, "freeze_delay_ns=100,pmi_delay_ns=300").unwrap();
//!
//! machine.wrmsr(0, 0xc00, 1 << 31); // U_MSR_PMON_GLOBAL_CTL.frz_all
//! machine.wrmsr(0, 0xc09, (1 << 48) - 2000); // U_MSR_PMON_FIXED_CTR: 2000 cycles, 1 µs
//! machine.wrmsr(0, 0xc08, 1 << 22 | 1 << 20); // U_MSR_PMON_FIXED_CTL.en, .ov_en
//! machine.wrmsr(0, 0xc00, 1 << 29 | 1 << 2); // unfrz_all, pmi_core_sel = core 2
//!
//! assert!(machine.advance_to_pmi(1_000_000));
//! let pmi = machine.take_pmi().unwrap();
//! assert_eq!((pmi.cpu, pmi.ns), (4, 1300)); // first thread of core 2
//! assert_eq!(machine.rdmsr(0, 0xc01).done(), Some(1)); // U_MSR_PMON_GLOBAL_STATUS.ov_u_fixed
//! assert_eq!(machine.rdmsr(0, 0xc09).done(), Some(0)); // its own box froze at once
//! assert_eq!(machine.json("truth")["sockets"][0]["ubox"]["fixed0"], "2000");
//! assert!(machine.violations().is_empty());
//! ```

mod access;
pub mod capi;
mod control;
mod core_pmu;
mod counter;
mod host;
mod machine;
mod model;
mod overflow;
mod pci;
mod rates;
mod record;
mod schedule;
mod settings;
mod stream;
mod time;
mod uncore;

pub use access::{claims_msr, Access};
pub use host::Host;
pub use machine::{Machine, Pmi, Topology};
pub use model::Model;
pub use record::{Kind, Violation};
