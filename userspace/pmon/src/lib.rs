// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Counts and samples from the performance-monitoring units of Xeon E5/E7 v2 hosts, by way of the
//! `pmon` kernel module.
//!
//! The straight way: [`event::parse`] what to count, [`Session::open`] the device, add the events,
//! make rings, start, and take records from a [`Reader`] in the order of time.
//!
//! ```no_run
//! use pmon::{event, Selection, Session};
//!
//! let mut session = Session::open()?;
//! session.add(event::parse("cbox/event=0x34,umask=0x11,state=0x3f/")?, &Selection::default())?;
//! session.start()?;
//! std::thread::sleep(std::time::Duration::from_secs(1));
//! session.stop()?;
//! println!("{} lookups", session.totals()?.counts.iter().map(|c| c.total).sum::<u64>());
//! # Ok::<(), pmon::Error>(())
//! ```
//!
//! Layers, from below: [`abi`] (the header), [`Device`] (one method a call; [`DevPmon`] is the
//! kernel's), [`Machine`] (what is there), [`event`] (what to count), [`Session`] and [`Reader`].
//! [`recording`] keeps all of it in a file.

pub mod abi;
pub mod atomic;
pub mod event;
pub mod recording;
pub mod wire;

mod device;
mod errno;
mod error;
mod ioctl;
mod kernel;
mod list;
mod machine;
mod mapping;
mod merge;
mod place;
mod reader;
mod session;
mod unit;

pub use device::{Device, RingMemory};
pub use errno::{Call, CallError};
pub use error::Error;
pub use kernel::{DevPmon, PATH};
pub use list::{List, ListError};
pub use machine::{BoxInfo, Machine};
pub use mapping::{Mapping, MappingError};
pub use merge::Merged;
pub use place::{Place, PlaceError, Placement, Selection};
pub use reader::{ReadError, Reader, RingCount};
pub use rustix::io::Errno;
pub use session::{Counter, CounterNr, RingOptions, Session, Total, Totals};
pub use unit::{Mode, Unit};
