// SPDX-License-Identifier: GPL-2.0-only
//! What all tests of the model share: machines, addresses and bits, as the manuals have them.
#![allow(dead_code, reason = "each test program uses its part")]

use pmon_model::{Machine, Topology};

/// 329468-002 table 2-1.
pub(crate) const GLOBAL_CTL: u32 = 0xc00;
pub(crate) const GLOBAL_STATUS: u32 = 0xc01;
pub(crate) const GLOBAL_CONFIG: u32 = 0xc06;
pub(crate) const FIXED_CTL: u32 = 0xc08;
pub(crate) const FIXED_CTR: u32 = 0xc09;
pub(crate) const U_CTL0: u32 = 0xc10;
pub(crate) const U_CTL1: u32 = 0xc11;
pub(crate) const U_STATUS: u32 = 0xc15;
pub(crate) const U_CTR0: u32 = 0xc16;
pub(crate) const U_CTR1: u32 = 0xc17;

/// Table 2-2.
pub(crate) const FRZ_ALL: u64 = 1 << 31;
pub(crate) const WK_ON_PMI: u64 = 1 << 30;
pub(crate) const UNFRZ_ALL: u64 = 1 << 29;

/// Bits of the counter controls: tables 2-6, 2-14, 2-121.
pub(crate) const EN: u64 = 1 << 22;
pub(crate) const OV_EN: u64 = 1 << 20;
pub(crate) const RST: u64 = 1 << 17;
pub(crate) const EDGE: u64 = 1 << 18;

/// Table 2-13: BOX_CTL with the bits that must be one; freeze; resets.
pub(crate) const BOX_RUN: u64 = 0x3_0000;
pub(crate) const BOX_FRZ: u64 = 0x100;
pub(crate) const BOX_RST_CTRS: u64 = 2;
pub(crate) const BOX_RST_CTRL: u64 = 1;

/// Table 2-12: registers of CBo 0; the next CBo's are 20H further.
pub(crate) const C0_BOX_CTL: u32 = 0xd04;
pub(crate) const C0_CTL0: u32 = 0xd10;
pub(crate) const C0_FILTER: u32 = 0xd14;
pub(crate) const C0_CTR0: u32 = 0xd16;
pub(crate) const C0_FILTER1: u32 = 0xd1a;
pub(crate) const C_STRIDE: u32 = 0x20;

/// SDM tables 35-22 and 35-26.
pub(crate) const PCU_BOX_CTL: u32 = 0xc24;
pub(crate) const PCU_CTL0: u32 = 0xc30;
pub(crate) const PCU_FILTER: u32 = 0xc34;
pub(crate) const PCU_STATUS: u32 = 0xc35;
pub(crate) const PCU_CTR0: u32 = 0xc36;

/// SDM §18.2: the core's registers.
pub(crate) const PMC0: u32 = 0xc1;
pub(crate) const A_PMC0: u32 = 0x4c1;
pub(crate) const EVTSEL0: u32 = 0x186;
pub(crate) const FIXED0: u32 = 0x309;
pub(crate) const FIXED_CTRL: u32 = 0x38d;
pub(crate) const PERF_STATUS: u32 = 0x38e;
pub(crate) const PERF_CTRL: u32 = 0x38f;
pub(crate) const PERF_OVF_CTRL: u32 = 0x390;
pub(crate) const DEBUGCTL: u32 = 0x1d9;
pub(crate) const CAPABILITIES: u32 = 0x345;

/// IA32_PERFEVTSEL that counts instructions in all rings, with and without interrupt.
pub(crate) const INSTRUCTIONS: u64 = 0x43_00c0;
pub(crate) const INSTRUCTIONS_INT: u64 = 0x53_00c0;

/// 2 sockets of 4 cores of 2 threads: CPUs 0 to 7 and 8 to 15, core n is CPUs 2n and 2n + 1.
pub(crate) fn machine(config: &str) -> Machine {
    Machine::new(
        Topology {
            sockets: 2,
            cores: 4,
            threads: 2,
        },
        config,
    )
    .unwrap()
}

/// Reads an MSR that must exist.
pub(crate) fn rd(m: &mut Machine, cpu: usize, msr: u32) -> u64 {
    let read = m.rdmsr(cpu, msr);
    read.done()
        .unwrap_or_else(|| panic!("reading {msr:#x}: {read:?}"))
}

/// Writes an MSR that must take it.
pub(crate) fn wr(m: &mut Machine, cpu: usize, msr: u32, value: u64) {
    let written = m.wrmsr(cpu, msr, value);
    written
        .done()
        .unwrap_or_else(|| panic!("writing {msr:#x} = {value:#x}: {written:?}"));
}

/// Runs a command that must be answered with `ok`.
pub(crate) fn ok(m: &mut Machine, line: &str) {
    assert_eq!(m.control(line), "ok", "{line}");
}

/// The words of all violations, oldest first.
pub(crate) fn kinds(m: &Machine) -> Vec<&'static str> {
    m.violations()
        .iter()
        .map(|violation| violation.kind.word())
        .collect()
}

/// Fails when software broke a rule.
pub(crate) fn clean(m: &Machine) {
    assert!(m.violations().is_empty(), "{:?}", m.violations());
}

/// Arms the uncore clock of CPU 0's socket to overflow after `cycles`, and PMIs for `cores`.
pub(crate) fn arm_clock(m: &mut Machine, cycles: u64, cores: u64) {
    wr(m, 0, GLOBAL_CTL, FRZ_ALL);
    wr(m, 0, FIXED_CTR, (1 << 48) - cycles);
    wr(m, 0, FIXED_CTL, EN | OV_EN);
    wr(m, 0, GLOBAL_CTL, UNFRZ_ALL | cores);
}

/// Starts counter `i` of CBo `n` of CPU 0's socket, frozen meanwhile.
pub(crate) fn start_cbo(m: &mut Machine, n: u32, i: u32, ctl: u64, value: u64) {
    let base = n * C_STRIDE;
    wr(m, 0, base + C0_BOX_CTL, BOX_RUN | BOX_FRZ);
    wr(m, 0, base + C0_CTR0 + i, value);
    wr(m, 0, base + C0_CTL0 + i, ctl);
    wr(m, 0, base + C0_BOX_CTL, BOX_RUN);
}

/// Starts counter `i` of the PCU of CPU 0's socket, frozen meanwhile.
pub(crate) fn start_pcu(m: &mut Machine, i: u32, ctl: u64, value: u64) {
    wr(m, 0, PCU_BOX_CTL, BOX_RUN | BOX_FRZ);
    wr(m, 0, PCU_CTR0 + i, value);
    wr(m, 0, PCU_CTL0 + i, ctl);
    wr(m, 0, PCU_BOX_CTL, BOX_RUN);
}
