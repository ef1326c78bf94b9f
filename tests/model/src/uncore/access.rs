// SPDX-License-Identifier: GPL-2.0-only
//! Reads and writes of the uncore's registers: what each does.

use super::check;
use super::layout;
use super::socket::box_index;
use super::tables::{self, Place, Role, UNITS};
use crate::model::Model;
use crate::record::Kind;
use crate::schedule::Action;

impl Model {
    /// Counts and checks an access to the uncore register at `place`, and does it when a write.
    pub(crate) fn uncore_access(
        &mut self,
        cpu: usize,
        msr: u32,
        place: &Place,
        value: Option<u64>,
    ) {
        let socket = self.cpus[cpu].socket;
        self.accesses
            .uncore(socket, place.register.name, value.is_some());
        let mut broken = Vec::new();
        if self.only_socket.is_some_and(|only| only != socket) {
            broken.push(Kind::WrongSocket);
        }
        if let Some(value) = value {
            broken.extend(self.write_uncore(socket, place, value).0);
        }
        if !broken.is_empty() {
            let name = place.name();
            self.blame(
                broken,
                (cpu, socket),
                (name.as_str(), msr),
                value.unwrap_or(0),
            );
        }
    }

    /// Value of the register at `place`, settled to now.
    pub(crate) fn read_uncore(&mut self, socket: usize, place: &Place) -> u64 {
        let cbos = self.cbos(socket);
        let state = &mut self.sockets[socket];
        let index = box_index(place.unit, place.number);
        let pmon_box = &mut state.boxes[index];
        match place.register.role {
            Role::GlobalCtl => state.global_ctl.into(),
            Role::GlobalStatus => state.global_status.into(),
            // Only num_c is known of this register, and not where it lies.
            Role::GlobalConfig => cbos as u64,
            Role::BoxCtl => match (self.settings.frz_stored, self.settings.freeze_separate) {
                (true, true) => pmon_box.ctl.into(),
                (true, false) if pmon_box.frozen() => (pmon_box.ctl | layout::FRZ).into(),
                _ => (pmon_box.ctl & !layout::FRZ).into(),
            },
            Role::BoxStatus => pmon_box.status.into(),
            Role::Filter(i) => pmon_box.filter[i].into(),
            Role::Ctl(i) => pmon_box.counters[i].ctl.into(),
            Role::Ctr(i) => {
                // No carry is lost here: one that has an effect has had it before now.
                pmon_box.settle(i, self.now, &self.settings);
                pmon_box.counters[i].count.value()
            }
        }
    }

    /// Writes the register at `place`. Returns the rules that this breaks.
    fn write_uncore(&mut self, socket: usize, place: &Place, value: u64) -> check::Broken {
        let index = box_index(place.unit, place.number);
        // CAST: all uncore registers but the counters have 32 bits.
        let low = value as u32;
        let state = &mut self.sockets[socket];
        match place.register.role {
            Role::GlobalCtl => return self.write_global_ctl(socket, value),
            Role::GlobalStatus => {
                state.global_status &= !low;
                if !self.settings.status_latched {
                    state.global_status |= state.pending();
                }
                return check::defined(value, layout::GLOBAL_STATUS);
            }
            Role::GlobalConfig => return check::Broken(vec![Kind::ReadOnly]),
            _ => {}
        }

        let pmon_box = &mut state.boxes[index];
        pmon_box.settle_all(self.now, &self.settings);
        let broken = match place.register.role {
            Role::BoxCtl => {
                let broken = check::box_ctl(pmon_box, value);
                pmon_box.write_ctl(low, &self.settings);
                broken
            }
            Role::BoxStatus => {
                pmon_box.status &= !low;
                check::box_status(pmon_box, value)
            }
            Role::Filter(i) => {
                let broken = check::filter(pmon_box, i, value, &self.settings);
                pmon_box.filter[i] = low & check::filter_bits(pmon_box, i, &self.settings);
                broken
            }
            Role::Ctl(i) => {
                let broken = check::control(pmon_box, i, value);
                pmon_box.write_control(i, low);
                broken
            }
            Role::Ctr(i) => {
                let broken = check::counter(pmon_box, i, value);
                let width = pmon_box.width(i, &self.settings);
                pmon_box.counters[i].count.set(value, width);
                broken
            }
            Role::GlobalCtl | Role::GlobalStatus | Role::GlobalConfig => check::Broken::default(),
        };
        pmon_box.select(socket, &self.rates);
        state.touch();
        broken
    }

    /// Writes GLOBAL_CTL (table 2-2). The commands are not stored; the rest is replaced.
    fn write_global_ctl(&mut self, socket: usize, value: u64) -> check::Broken {
        // CAST: the high half is reserved, and reported.
        let low = value as u32;
        let state = &mut self.sockets[socket];
        state.global_ctl = low & (layout::PMI_CORE_SEL | layout::WK_ON_PMI);
        if low & (layout::FRZ_ALL | layout::UNFRZ_ALL) != 0 {
            state.settle_all(self.now, &self.settings);
        }
        // With both commands the manual is silent; the model lets the freeze win.
        if low & layout::FRZ_ALL != 0 {
            if state.begin_freeze(self.now) {
                state.consequences.commanded += 1;
            }
            state.land_freeze();
        } else if low & layout::UNFRZ_ALL != 0 {
            state.end_freeze(self.now);
            if !self.settings.freeze_separate {
                state.boxes.iter_mut().for_each(|b| b.ctl &= !layout::FRZ);
            }
            // A freeze on its way to the other boxes is called off.
            self.schedule
                .retain(|action| *action != Action::Freeze { socket });
        }
        check::global_ctl(value)
    }
}

/// Every register of every box that a socket with `cbos` CBos has.
pub(crate) fn places(cbos: usize) -> impl Iterator<Item = Place> {
    UNITS.iter().enumerate().flat_map(move |(unit, row)| {
        let present = if unit == tables::CBOX {
            cbos
        } else {
            row.boxes
        };
        (0..present).flat_map(move |number| {
            row.registers.iter().map(move |register| Place {
                unit,
                number,
                register,
            })
        })
    })
}
