// SPDX-License-Identifier: GPL-2.0-only
//! What the commands do.

use super::answers;
use super::parse::{Command, Options, Report, Unit};
use crate::host::Host;
use crate::model::Model;
use crate::schedule::{Action, Target, UncoreCounter};
use crate::uncore::socket::box_index;
use crate::uncore::tables::{CBOX, UNITS};

/// Most marks that are kept; older ones go.
const MARKS: usize = 1000;

impl Model {
    /// Runs one command of the control protocol now, and returns its answer without a newline.
    pub fn control(&mut self, host: &mut dyn Host, line: &str) -> String {
        self.enter(host);
        let answer = Command::parse(line).and_then(|command| self.run(host, command));
        self.leave(host);
        answer.unwrap_or_else(|error| format!("error: {error}"))
    }

    /// Runs one command. The state is up to now.
    fn run(&mut self, host: &mut dyn Host, command: Command) -> Result<String, String> {
        match command {
            Command::Nothing => {}
            Command::Rate(scope, hz) => {
                self.check_place(scope.unit, scope.socket, scope.number)?;
                self.change(host, |model, _| model.rates.set(scope, hz, model.now));
            }
            Command::Ratio(event, cpu, ratio) => {
                self.check_cpu(cpu)?;
                self.change(host, |model, epochs| {
                    model.ratios.set(event, cpu, ratio, epochs)
                });
            }
            Command::Burst(dt, unit, events, options) => {
                let target = self.target(unit, &options)?;
                let ns = self.now.checked_add(dt).ok_or("too late")?;
                self.schedule.add(ns, Action::Burst { target, events });
            }
            Command::Storm(Unit::Core, hz) => {
                self.change(host, |model, epochs| model.ratios.set_storm(hz, epochs));
            }
            Command::Storm(Unit::Uncore(unit), hz) => {
                self.change(host, |model, _| model.rates.set_storm(unit, hz, model.now));
            }
            Command::Show(report) => return Ok(self.show(host, report)),
            Command::Clear(report) => self.clear(host, report),
            Command::Regs => {
                self.settle_all(host);
                return Ok(answers::registers(self).to_string());
            }
            Command::OnlySocket(socket) => {
                if let Some(socket) = socket {
                    self.check_socket(socket)?;
                }
                self.only_socket = socket;
            }
            Command::Set(key, value) => {
                let mut settings = self.settings.clone();
                settings.set(&key, &value)?;
                self.change(host, |model, _| model.apply(settings));
            }
            Command::Settings => return Ok(self.settings.to_json().to_string()),
            Command::Everything => {
                self.settle_all(host);
                return Ok(answers::everything(self).to_string());
            }
            Command::Mark(text) => {
                if self.marks.len() == MARKS {
                    self.marks.pop_front();
                }
                self.marks.push_back((self.now, text));
            }
        }
        Ok("ok".into())
    }

    /// Changes what counters count. `change` gets the position of each CPU.
    fn change(&mut self, host: &mut dyn Host, change: impl FnOnce(&mut Self, Vec<u64>)) {
        self.settle_all(host);
        let epochs = self.positions(host);
        change(self, epochs);
        self.select_all();
        for cpu in 0..self.cpus.len() {
            self.plan_look(host, cpu);
        }
    }

    /// Puts new settings in force. All counters are settled before, and select anew afterwards.
    fn apply(&mut self, settings: crate::settings::Settings) {
        if settings.uclk_hz != self.settings.uclk_hz {
            self.rates.set_uclk(settings.uclk_hz, self.now);
        }
        self.settings = settings;
        for pmon_box in self.sockets.iter_mut().flat_map(|socket| &mut socket.boxes) {
            for i in 0..pmon_box.counters.len() {
                // A width that shrank takes the bits above it away.
                let width = pmon_box.width(i, &self.settings);
                let count = &mut pmon_box.counters[i].count;
                count.set(count.value(), width);
            }
        }
    }

    fn show(&mut self, host: &mut dyn Host, report: Report) -> String {
        self.settle_all(host);
        let answer = match report {
            Report::Truth => answers::truth(self),
            Report::Accesses => self.accesses.to_json(self.sockets.len()),
            Report::Violations => self.violations.to_json(),
            Report::Overflows => answers::overflows(self),
        };
        answer.to_string()
    }

    fn clear(&mut self, host: &mut dyn Host, report: Report) {
        self.settle_all(host);
        match report {
            Report::Truth => {
                let uncore = self.sockets.iter_mut().flat_map(|socket| &mut socket.boxes);
                for counter in uncore.flat_map(|pmon_box| &mut pmon_box.counters) {
                    counter.count.truth = 0;
                }
                for counter in self.cpus.iter_mut().flat_map(|cpu| &mut cpu.counters) {
                    counter.count.truth = 0;
                }
            }
            Report::Accesses => self.accesses.clear(),
            Report::Violations => self.violations = Default::default(),
            Report::Overflows => {
                for socket in &mut self.sockets {
                    socket.clear_consequences(self.now);
                }
                for cpu in &mut self.cpus {
                    cpu.interrupts = Default::default();
                    cpu.counters
                        .iter_mut()
                        .for_each(|counter| counter.count.carries = 0);
                }
            }
        }
    }

    /// The counter that a unit's word and options name.
    fn target(&self, unit: Unit, options: &Options) -> Result<Target, String> {
        let word = options.counter.as_deref().ok_or("which counter=?")?;
        match unit {
            Unit::Core => {
                let cpu = options.cpu.unwrap_or(0);
                self.check_cpu(Some(cpu))?;
                let words = answers::core_counters(&self.cpus[cpu]);
                let counter = words.iter().position(|w| w == word);
                Ok(Target::Core {
                    cpu,
                    counter: counter.ok_or(format!("no counter {word}"))?,
                })
            }
            Unit::Uncore(unit) => {
                let socket = options.socket.unwrap_or(0);
                let number = options.number.unwrap_or(0);
                self.check_place(unit, Some(socket), Some(number))?;
                let counter = UNITS[unit].counters.iter().position(|row| row.word == word);
                let counter = counter.ok_or(format!("no counter {word}"))?;
                let index = box_index(unit, number);
                Ok(Target::Uncore(UncoreCounter {
                    socket,
                    index,
                    counter,
                }))
            }
        }
    }

    fn check_cpu(&self, cpu: Option<usize>) -> Result<(), String> {
        match cpu {
            Some(cpu) if cpu >= self.cpus.len() => Err(format!("no cpu {cpu}")),
            _ => Ok(()),
        }
    }

    fn check_socket(&self, socket: usize) -> Result<(), String> {
        if socket >= self.sockets.len() {
            return Err(format!("no socket {socket}"));
        }
        Ok(())
    }

    fn check_place(
        &self,
        unit: usize,
        socket: Option<usize>,
        number: Option<usize>,
    ) -> Result<(), String> {
        if let Some(socket) = socket {
            self.check_socket(socket)?;
        }
        let present = if unit == CBOX {
            self.cbos(socket.unwrap_or(0))
        } else {
            UNITS[unit].boxes
        };
        match number {
            Some(number) if number >= present => Err(format!("no box {number}")),
            _ => Ok(()),
        }
    }
}
