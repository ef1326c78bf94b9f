// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! A pmon device in memory, for tests: real rings, written by the module's own producer, and events
//! that come at a known rate. Time goes on only in [`Device::wait`].

mod device;
mod rings;
mod state;

pub use state::{Hook, Plan};

use pmon::{abi, Call, Device, Errno, Session};
use state::State;
use std::{cell::RefCell, rc::Rc};

/// The device. Clones are handles of the same one.
#[derive(Clone)]
pub struct Fake(Rc<RefCell<State>>);

impl Default for Fake {
    fn default() -> Self {
        Self::new(Plan::default())
    }
}

impl Fake {
    /// A machine to plan.
    pub fn new(plan: Plan) -> Self {
        Self(Rc::new(RefCell::new(State::new(plan))))
    }

    /// The device for a session.
    pub fn device(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }

    /// A session on the device.
    pub fn session(&self) -> Result<Session, pmon::Error> {
        Session::on(self.device())
    }

    /// Lets every `call` fail from now on.
    pub fn fail(&self, call: Call, errno: Errno) {
        self.0.borrow_mut().failures.push((call, errno));
    }

    /// Runs `hook` in each wait, with the number of the wait.
    pub fn on_wait(&self, hook: Hook) {
        self.0.borrow_mut().hook = Some(hook);
    }

    /// Overwrites the oldest unread record's header in ring `index`, after the next wait's records.
    pub fn damage(&self, index: usize) {
        self.0.borrow_mut().damage = Some(index);
    }

    /// Overwrites a word of ring 0: of its data, or (`Err`) of its positions.
    pub fn poke(&self, place: Result<usize, usize>, value: u64) {
        if let Some(rings) = &self.0.borrow().rings {
            rings.poke(place, value);
        }
    }

    /// Puts `value` into word `field` of the map page of rings that are made later.
    pub fn break_map_page(&self, field: usize, value: u64) {
        self.0.borrow_mut().broken_field = Some((field, value));
    }

    /// The counters as they were added.
    pub fn added(&self) -> Vec<abi::pmon_counter> {
        self.0.borrow().counters.iter().map(|c| c.arg).collect()
    }

    /// Whether the session runs.
    pub fn is_running(&self) -> bool {
        self.0.borrow().running
    }
}
