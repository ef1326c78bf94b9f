// SPDX-License-Identifier: GPL-2.0-only
//! Writes to the core's registers: effect, rules, and when the part raises #GP.

use super::cpu::Cpu;
use super::cpuid::{FIXED, WIDTH};
use super::registers::{
    Role, DEBUGCTL, EN, EVTSEL, FIXED_CTRL, FIXED_ENABLE, OVF_TOP, PIN_CONTROL,
};
use crate::counter::mask;
use crate::record::Kind;

/// What a write led to.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Rules that it broke.
    pub(crate) broken: Vec<Kind>,
    /// Whether the part raises #GP; then nothing changed.
    pub(crate) fault: bool,
}

impl Written {
    fn fault(kind: Kind) -> Self {
        Self {
            broken: vec![kind],
            fault: true,
        }
    }

    fn when(broken: bool, kind: Kind) -> Self {
        Self {
            broken: if broken { vec![kind] } else { Vec::new() },
            fault: false,
        }
    }
}

/// Writes `value` to the register `role` at address `msr`. The CPU's counters are settled before.
pub(crate) fn write(cpu: &mut Cpu, msr: u32, role: Role, value: u64) -> Written {
    let legal = match role {
        Role::Counter(_) | Role::Residency(_) => u64::MAX,
        Role::FullCounter(_) | Role::Fixed(_) => mask(WIDTH),
        Role::Select(_) => EVTSEL,
        Role::FixedCtrl => FIXED_CTRL,
        Role::GlobalCtrl => cpu.bits(),
        Role::OvfCtrl => cpu.bits() | OVF_TOP,
        Role::DebugCtl => DEBUGCTL,
        Role::Storage(bits) => bits,
        Role::GlobalStatus | Role::Capabilities => return Written::fault(Kind::ReadOnly),
    };
    if value & !legal != 0 {
        return Written::fault(Kind::ReservedBit);
    }
    match role {
        // CAST: WRMSR takes 32 bits and extends their sign to the counter's width (SDM §18.2.5).
        Role::Counter(i) => return load(cpu, i, i64::from(value as u32 as i32) as u64),
        Role::FullCounter(i) => return load(cpu, i, value),
        Role::Fixed(i) => return load(cpu, cpu.fixed(i), value),
        Role::Select(i) => return select(cpu, i, value),
        Role::FixedCtrl => return fixed_ctrl(cpu, value),
        Role::GlobalCtrl => cpu.global_ctrl = value,
        Role::OvfCtrl => cpu.global_status &= !value,
        Role::DebugCtl => cpu.debugctl = value,
        Role::Storage(_) => {
            cpu.storage.insert(msr, value);
        }
        Role::Residency(_) | Role::GlobalStatus | Role::Capabilities => {
            return Written::fault(Kind::ReadOnly);
        }
    }
    Written::default()
}

/// Loads a counter. It must not run (SDM §18.2.1.1).
fn load(cpu: &mut Cpu, i: usize, value: u64) -> Written {
    let runs = cpu.runs(i);
    cpu.counters[i].count.set(value, WIDTH);
    Written::when(runs, Kind::RunningCounter)
}

/// Writes IA32_PERFEVTSEL of a general counter.
fn select(cpu: &mut Cpu, i: usize, value: u64) -> Written {
    let (runs, old) = (cpu.runs(i), cpu.counters[i].select);
    let new = value & !PIN_CONTROL;
    cpu.counters[i].select = new;
    let mut written = Written::when(value & PIN_CONTROL != 0, Kind::ReservedBit);
    if runs && new & EN != 0 && new != old {
        written.broken.push(Kind::RunningControl);
    }
    written
}

/// Writes IA32_FIXED_CTR_CTRL.
fn fixed_ctrl(cpu: &mut Cpu, value: u64) -> Written {
    let changes = |i: usize| {
        let (old, new) = ((cpu.fixed_ctrl >> (4 * i)) & 0xf, (value >> (4 * i)) & 0xf);
        cpu.runs(cpu.fixed(i)) && new & FIXED_ENABLE != 0 && new != old
    };
    let running = (0..FIXED).any(changes);
    cpu.fixed_ctrl = value;
    Written::when(running, Kind::RunningControl)
}
