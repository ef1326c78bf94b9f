// SPDX-License-Identifier: GPL-2.0-only
//! Registers and counting of UBox, CBo and PCU, against the tables of 329468-002.

mod common;

use common::*;
use pmon_model::{Access, Machine, Topology};

#[test]
fn global_ctl_stores_the_mask_and_the_wake_bit_only() {
    // Table 2-2: frz_all and unfrz_all are write-only; each write replaces the rest.
    let mut m = machine("");
    assert_eq!(rd(&mut m, 0, GLOBAL_CTL), 0);
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL | WK_ON_PMI | 0x7fff);
    assert_eq!(rd(&mut m, 0, GLOBAL_CTL), WK_ON_PMI | 0x7fff);
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
    assert_eq!(rd(&mut m, 0, GLOBAL_CTL), 0);
    clean(&m);
}

#[test]
fn each_socket_has_registers_of_its_own() {
    let mut m = machine("");
    wr(&mut m, 7, GLOBAL_CTL, 5);
    wr(&mut m, 8, GLOBAL_CTL, 3);
    assert_eq!(
        (rd(&mut m, 0, GLOBAL_CTL), rd(&mut m, 15, GLOBAL_CTL)),
        (5, 3)
    );
}

#[test]
fn ubox_clock_counts_uncore_cycles_while_enabled_and_not_frozen() {
    // Table 2-8: en is bit 22.
    let mut m = machine("uclk_hz=2500000000");
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 0);
    wr(&mut m, 0, FIXED_CTL, EN);
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 2500);
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 2500);
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
    m.advance(10);
    wr(&mut m, 0, FIXED_CTL, 0);
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 2525);
    clean(&m);
}

#[test]
fn ubox_counters_are_44_bits_wide_and_rst_clears_them() {
    // Tables 2-6 and 2-7.
    let mut m = machine("");
    ok(&mut m, "rate ubox 0x42 0x01 1000000000");
    wr(&mut m, 0, U_CTR0, (1 << 44) - 1);
    assert_eq!(rd(&mut m, 0, U_CTR0), (1 << 44) - 1);
    wr(&mut m, 0, U_CTL0, EN | 0x0142);
    m.advance(3);
    assert_eq!(rd(&mut m, 0, U_CTR0), 2);
    wr(&mut m, 0, U_CTL0, 0x0142);
    wr(&mut m, 0, U_CTL0, RST | 0x0142);
    assert_eq!((rd(&mut m, 0, U_CTR0), rd(&mut m, 0, U_CTL0)), (0, 0x0142));
    clean(&m);
}

#[test]
fn ubox_has_no_box_control() {
    // Its counters stop by the global freeze alone; a write of 0 resets them (329468-002 p16).
    let mut m = machine("");
    assert_eq!(m.rdmsr(0, 0xc04), Access::Fault);
    wr(&mut m, 0, FIXED_CTL, EN);
    m.advance(5);
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    wr(&mut m, 0, FIXED_CTR, 0);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 0);
}

#[test]
fn every_cbo_has_the_registers_of_table_2_12() {
    let mut m = machine("cbos=15");
    for n in 0..15 {
        let base = n * C_STRIDE;
        wr(&mut m, 0, base + C0_BOX_CTL, BOX_RUN | BOX_FRZ);
        for i in 0..4 {
            wr(&mut m, 0, base + C0_CTL0 + i, 0x0100 + u64::from(n));
            wr(&mut m, 0, base + C0_CTR0 + i, u64::from(1000 * n + i));
        }
        wr(&mut m, 0, base + C0_FILTER, 0x1f << 17);
        wr(&mut m, 0, base + C0_FILTER1, 0x1820_0000 | u64::from(n));
    }
    for n in 0..15 {
        let base = n * C_STRIDE;
        for i in 0..4 {
            assert_eq!(rd(&mut m, 3, base + C0_CTL0 + i), 0x0100 + u64::from(n));
            assert_eq!(rd(&mut m, 3, base + C0_CTR0 + i), u64::from(1000 * n + i));
        }
        assert_eq!(rd(&mut m, 3, base + C0_FILTER), 0x1f << 17);
        assert_eq!(rd(&mut m, 3, base + C0_FILTER1), 0x1820_0000 | u64::from(n));
    }
    clean(&m);
}

#[test]
fn box_control_freezes_and_resets_its_box_only() {
    // Table 2-13.
    let mut m = machine("");
    ok(&mut m, "rate cbox 0x35 0x03 1000000000");
    start_cbo(&mut m, 0, 1, EN | 0x0335, 0);
    start_cbo(&mut m, 1, 1, EN | 0x0335, 0);
    m.advance(100);
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN | BOX_FRZ);
    m.advance(50);
    assert_eq!(rd(&mut m, 0, C0_CTR0 + 1), 100);
    assert_eq!(rd(&mut m, 0, C0_CTR0 + C_STRIDE + 1), 150);
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN | BOX_FRZ | BOX_RST_CTRS);
    assert_eq!(rd(&mut m, 0, C0_CTR0 + 1), 0);
    assert_eq!(rd(&mut m, 0, C0_CTL0 + 1), EN | 0x0335);
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN | BOX_FRZ | BOX_RST_CTRL);
    assert_eq!(rd(&mut m, 0, C0_CTL0 + 1), 0);
    // The resets are write-only; frz is found to read back, against the table's attribute.
    assert_eq!(rd(&mut m, 0, C0_BOX_CTL), BOX_RUN | BOX_FRZ);
    clean(&m);
}

#[test]
fn bit_16_of_box_control_decides_on_the_global_freeze() {
    // The E5/E7 datasheets' names: 16 is Freeze Enable, 17 Overflow Enable.
    let mut m = machine("");
    start_pcu(&mut m, 0, EN, 0);
    wr(&mut m, 0, PCU_BOX_CTL, 1 << 17);
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    m.advance(100);
    assert_eq!(rd(&mut m, 0, PCU_CTR0), 200);
    wr(&mut m, 0, PCU_BOX_CTL, BOX_RUN);
    m.advance(100);
    assert_eq!(rd(&mut m, 0, PCU_CTR0), 200);
}

#[test]
fn cbo_counters_are_restricted_to_their_events() {
    // Section on CBo counters, p26: occupancy on counter 0 alone, its re-export on 1 to 3.
    let mut m = machine("");
    ok(&mut m, "storm cbox 1000000000");
    let allowed = |m: &mut Machine, event: u64| {
        let mut counters = 0;
        for i in 0..4 {
            start_cbo(m, 2, i, EN | event, 0);
            m.advance(10);
            counters |= u32::from(rd(m, 0, 2 * C_STRIDE + C0_CTR0 + i) == 10) << i;
            wr(m, 0, 2 * C_STRIDE + C0_CTL0 + i, 0);
        }
        counters
    };
    wr(&mut m, 0, 2 * C_STRIDE + C0_FILTER, 1 << 17);
    for (event, counters) in [
        (0x00, 0b1111),
        (0x11, 0b0001),
        (0x36, 0b0001),
        (0x1f, 0b1110),
        (0x34, 0b0011),
        (0x35, 0b0011),
        (0x02, 0b0011),
        (0x1b, 0b1100),
        (0x1e, 0b1100),
        (0x3c, 0b0011),
    ] {
        assert_eq!(allowed(&mut m, event), counters, "event {event:#x}");
    }
}

#[test]
fn llc_lookup_counts_nothing_without_a_state() {
    // Table 2-16: state is 22:17.
    let mut m = machine("");
    ok(&mut m, "rate cbox 0x34 0x11 1000000000");
    start_cbo(&mut m, 0, 0, EN | 0x1134, 0);
    m.advance(10);
    assert_eq!(rd(&mut m, 0, C0_CTR0), 0);
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN | BOX_FRZ);
    wr(&mut m, 0, C0_FILTER, 1 << 18);
    wr(&mut m, 0, C0_BOX_CTL, BOX_RUN);
    m.advance(10);
    assert_eq!(rd(&mut m, 0, C0_CTR0), 10);
    clean(&m);
}

#[test]
fn a_threshold_above_one_lets_no_single_event_pass() {
    // Table 2-14: thresh is 31:24; edge_det comes after it (p10).
    let mut m = machine("");
    ok(&mut m, "rate cbox 0x35 0x03 1000000000");
    for (bits, count) in [(1 << 24, 10), ((1 << 24) | EDGE, 10), (2 << 24, 0)] {
        start_cbo(&mut m, 0, 0, EN | bits | 0x0335, 0);
        m.advance(10);
        assert_eq!(rd(&mut m, 0, C0_CTR0), count);
        wr(&mut m, 0, C0_CTL0, 0);
    }
    clean(&m);
}

#[test]
fn pcu_events_have_an_extension_and_an_occupancy_selection() {
    // Table 2-121: ev_sel_ext is 21, occ_sel 15:14, occ_invert 30, thresh 28:24.
    let mut m = machine("uclk_hz=1000000000");
    ok(&mut m, "rate pcu 0x104 * 300000000");
    ok(&mut m, "rate pcu 0x04 * 200000000");
    ok(&mut m, "rate pcu 0x80 0x40 400000000");
    ok(&mut m, "rate pcu 0x80 0xc0 600000000");
    let invert = (1 << 30) | (1 << 24);
    for (ctl, count) in [
        ((1 << 21) | 0x04, 300),
        (0x04, 200),
        (0x4080, 400),
        (0xc080, 600),
        (0xc080 | invert, 400),
        (0x8080, 0),
    ] {
        start_pcu(&mut m, 3, EN | ctl, 0);
        m.advance(1000);
        assert_eq!(rd(&mut m, 0, PCU_CTR0 + 3), count, "control {ctl:#x}");
        wr(&mut m, 0, PCU_CTL0 + 3, 0);
    }
    clean(&m);
}

#[test]
fn pcu_counters_are_48_bits_wide() {
    // Table 2-122; its filter is four bands of 8 bits (table 2-123).
    let mut m = machine("");
    wr(&mut m, 0, PCU_CTR0, (1 << 48) - 1);
    wr(&mut m, 0, PCU_FILTER, 0xffff_ffff);
    assert_eq!(rd(&mut m, 0, PCU_CTR0), (1 << 48) - 1);
    assert_eq!(rd(&mut m, 0, PCU_FILTER), 0xffff_ffff);
    clean(&m);
}

#[test]
fn reset_values_are_zero() {
    // Tables 2-2, 2-13, 2-14, 2-119, 2-121: all fields reset to 0; reset does not touch the truth.
    let mut m = machine("");
    arm_clock(&mut m, 10, 1);
    start_cbo(&mut m, 0, 0, EN, 5);
    m.advance(10_000);
    let truth = m.json("truth")["sockets"].clone();
    m.reset();
    m.advance(10_000);
    assert_eq!(m.json("truth")["sockets"], truth);
    for msr in [
        GLOBAL_CTL,
        GLOBAL_STATUS,
        FIXED_CTL,
        FIXED_CTR,
        C0_BOX_CTL,
        C0_CTL0,
        C0_CTR0,
    ] {
        assert_eq!(rd(&mut m, 0, msr), 0, "{msr:#x}");
    }
}

#[test]
fn the_ubox_function_tells_the_sockets_apart() {
    // Node id at 40H, three bits a socket at 54H.
    let m = Machine::new(
        Topology {
            sockets: 4,
            cores: 1,
            threads: 1,
        },
        "",
    )
    .unwrap();
    for socket in 0..4 {
        let node = m.pci_read(socket, 0x0e1e, 0x40, 4).done().unwrap();
        let map = m.pci_read(socket, 0x0e1e, 0x54, 4).done().unwrap();
        let die = (0..8).find(|i| (map >> (3 * i)) & 7 == node);
        assert_eq!(die, Some(socket as u32));
    }
    assert_eq!(m.pci_read(0, 0x0e1e, 0x40, 1).done(), Some(0));
    assert_eq!(m.pci_read(0, 0x0e1e, 0x44, 4), Access::NotMine);
    assert_eq!(m.pci_read(4, 0x0e1e, 0x40, 4), Access::NotMine);
    assert_eq!(m.pci_read(0, 0x0e30, 0xf4, 4), Access::NotMine);
}
