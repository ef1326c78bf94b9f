// SPDX-License-Identifier: GPL-2.0-only
//! From a carry to the interrupt: 329468-002 §2.1.1 to §2.1.4.

mod common;

use common::*;
use pmon_model::{Machine, Pmi};

/// All interrupts so far.
fn pmis(m: &mut Machine) -> Vec<Pmi> {
    std::iter::from_fn(|| m.take_pmi()).collect()
}

#[test]
fn the_own_box_freezes_first_and_the_others_later() {
    // "The box containing the overflowing counter will be frozen first" with the others delayed.
    let mut m = machine("freeze_delay_ns=200,pmi_delay_ns=500,uclk_hz=1000000000");
    start_pcu(&mut m, 0, EN, 0);
    start_cbo(&mut m, 1, 2, EN, 0);
    wr(&mut m, 0, U_CTL0, EN);
    ok(&mut m, "rate ubox 0 * 1000000000");
    arm_clock(&mut m, 1000, 1);
    m.advance(10_000);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 0);
    assert_eq!(rd(&mut m, 0, U_CTR0), 1000, "the own box");
    assert_eq!(rd(&mut m, 0, PCU_CTR0), 1200);
    assert_eq!(rd(&mut m, 0, C0_CTR0 + C_STRIDE + 2), 1200);
    assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), 1);
    assert_eq!(
        pmis(&mut m),
        [Pmi { ns: 1500, cpu: 0 }, Pmi { ns: 1500, cpu: 1 }]
    );
    clean(&m);
}

#[test]
fn counters_go_on_past_the_wrap_until_the_freeze() {
    // p26: after an overflow a counter wraps and goes on; in one step of time many events can come.
    let mut m = machine("uclk_hz=5000000000");
    arm_clock(&mut m, 7, 1);
    m.advance(10_000);
    // 7 cycles at 5 GHz are over within 2 ns, in which 10 happen.
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 3);
    assert_eq!(pmis(&mut m)[0].ns, 502);
}

#[test]
fn each_source_sets_its_own_bits() {
    // Tables 2-3, 2-5: fixed is GLOBAL_STATUS 0 without a box status; UBox 1, PCU 2, CBo n 3 + n.
    let cases: [(&str, u32, u64, u32, u64); 6] = [
        ("overflow 10 ubox counter=fixed0", U_STATUS, 0, 0, 1 << 0),
        ("overflow 10 ubox counter=0", U_STATUS, 1, 0, 1 << 1),
        ("overflow 10 ubox counter=1", U_STATUS, 2, 0, 1 << 1),
        ("overflow 10 pcu counter=3", PCU_STATUS, 8, 0, 1 << 2),
        ("overflow 10 cbox counter=1", U_STATUS, 0, 0, 1 << 3),
        ("overflow 10 cbox box=3 counter=0", U_STATUS, 0, 0, 1 << 6),
    ];
    for (command, status, bits, cpu, global) in cases {
        let mut m = machine("");
        wr(&mut m, 0, FIXED_CTL, EN | OV_EN);
        wr(&mut m, 0, U_CTL0, EN | OV_EN | 0x42);
        wr(&mut m, 0, U_CTL1, EN | OV_EN | 0x42);
        start_pcu(&mut m, 3, EN | OV_EN, 0);
        start_cbo(&mut m, 0, 1, EN | 0x0335, 0);
        start_cbo(&mut m, 3, 0, EN | 0x0335, 0);
        wr(&mut m, 0, GLOBAL_CTL, 1);
        ok(&mut m, command);
        m.advance(5_000);
        assert_eq!(rd(&mut m, 0, status), bits, "{command}");
        assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), global, "{command}");
        assert_eq!(
            pmis(&mut m)[0],
            Pmi {
                ns: 510,
                cpu: cpu as usize
            },
            "{command}"
        );
        clean(&m);
    }
}

#[test]
fn without_ov_en_a_counter_just_wraps() {
    // Table 2-6: ov_en decides on the box's status, the global one, and the message.
    let mut m = machine("");
    wr(&mut m, 0, GLOBAL_CTL, 1);
    wr(&mut m, 0, FIXED_CTR, (1 << 48) - 1);
    wr(&mut m, 0, FIXED_CTL, EN);
    start_pcu(&mut m, 0, EN, (1 << 48) - 1);
    m.advance(10_000);
    assert_eq!(
        (rd(&mut m, 0, GLOBAL_STATUS), rd(&mut m, 0, PCU_STATUS)),
        (0, 0)
    );
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 20_000 - 1);
    assert!(pmis(&mut m).is_empty());
    assert_eq!(
        m.json("overflows")["sockets"][0]["carries"]["pcu"]["0"],
        "1"
    );
}

#[test]
fn bit_17_of_box_control_decides_on_the_message() {
    let mut m = machine("");
    wr(&mut m, 0, GLOBAL_CTL, 1);
    start_pcu(&mut m, 0, EN | OV_EN, 0);
    wr(&mut m, 0, PCU_BOX_CTL, 1 << 16);
    start_cbo(&mut m, 0, 0, EN, 0);
    wr(&mut m, 0, C0_BOX_CTL, 1 << 16);
    ok(&mut m, "overflow 10 pcu counter=0");
    ok(&mut m, "overflow 20 cbox counter=0");
    m.advance(10_000);
    assert_eq!(rd(&mut m, 0, PCU_STATUS), 1);
    assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), 0);
    assert!(pmis(&mut m).is_empty());
}

#[test]
fn status_bits_are_cleared_by_writing_ones() {
    let mut m = machine("");
    arm_clock(&mut m, 10, 1);
    start_pcu(&mut m, 2, EN | OV_EN, 0);
    ok(&mut m, "overflow 5 pcu counter=2");
    m.advance(1000);
    assert_eq!(
        (rd(&mut m, 0, GLOBAL_STATUS), rd(&mut m, 0, PCU_STATUS)),
        (0b101, 0b100)
    );
    wr(&mut m, 0, GLOBAL_STATUS, 0);
    wr(&mut m, 0, PCU_STATUS, 0b011);
    assert_eq!(
        (rd(&mut m, 0, GLOBAL_STATUS), rd(&mut m, 0, PCU_STATUS)),
        (0b101, 0b100)
    );
    wr(&mut m, 0, PCU_STATUS, 0b100);
    wr(&mut m, 0, GLOBAL_STATUS, 0b100);
    assert_eq!(
        (rd(&mut m, 0, GLOBAL_STATUS), rd(&mut m, 0, PCU_STATUS)),
        (0b001, 0)
    );
}

/// Lets PCU counter 0 overflow after `clear` cleared some status, and returns whether that led to a
/// new freeze and interrupt.
fn second(clear: &[(u32, u64)]) -> bool {
    let mut m = machine("");
    start_pcu(&mut m, 0, EN | OV_EN, 0);
    wr(&mut m, 0, GLOBAL_CTL, 1);
    ok(&mut m, "overflow 10 pcu counter=0");
    assert!(m.advance_to_pmi(10_000));
    m.advance(10);
    assert_eq!(pmis(&mut m).len(), 2);
    for (msr, value) in clear {
        wr(&mut m, 0, *msr, *value);
    }
    (0..2).for_each(|cpu| m.set_masked(cpu, false));
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL | 1);
    ok(&mut m, "overflow 10 pcu counter=0");
    m.advance(10_000);
    let interrupts = pmis(&mut m).len();
    let freezes = m.json("overflows")["sockets"][0]["freezes"]
        .as_u64()
        .unwrap();
    assert_eq!(
        rd(&mut m, 0, PCU_STATUS),
        1,
        "the box's own status is set in any case"
    );
    match (interrupts, freezes) {
        (2, 2) => true,
        (0, 1) => false,
        other => panic!("half a reaction: {other:?}"),
    }
}

#[test]
fn no_new_freeze_until_both_status_bits_are_cleared() {
    // §2.1.4 step b.
    assert!(!second(&[]));
    assert!(!second(&[(GLOBAL_STATUS, 1 << 2)]));
    assert!(!second(&[(PCU_STATUS, 1)]));
    assert!(second(&[(PCU_STATUS, 1), (GLOBAL_STATUS, 1 << 2)]));
}

#[test]
fn another_source_signals_while_the_first_is_not_cleared() {
    let mut m = machine("freeze_delay_ns=200,pmi_delay_ns=500");
    arm_clock(&mut m, 20, 2);
    start_pcu(&mut m, 1, EN | OV_EN, 0);
    // Within the window in which the PCU does not know of the freeze yet.
    ok(&mut m, "overflow 110 pcu counter=1");
    m.advance_to_pmi(1000);
    assert_eq!(
        pmis(&mut m),
        [Pmi { ns: 510, cpu: 2 }, Pmi { ns: 510, cpu: 3 }]
    );
    m.set_masked(2, false);
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), 0b101);
    // CPU 3 did not unmask its LVTPC and loses the second interrupt.
    assert_eq!(pmis(&mut m), [Pmi { ns: 610, cpu: 2 }]);
    let cpus = &m.json("overflows")["cpus"];
    assert_eq!(cpus[3]["pmis"]["dropped_masked"], 1);
    assert_eq!(cpus[2]["pmis"]["delivered"], 2);
}

#[test]
fn two_counters_of_one_box_can_overflow_together() {
    let mut m = machine("");
    wr(&mut m, 0, U_CTL0, EN | OV_EN | 0x42);
    wr(&mut m, 0, U_CTL1, EN | OV_EN | 0x42);
    wr(&mut m, 0, GLOBAL_CTL, 1);
    ok(&mut m, "overflow 10 ubox counter=0");
    ok(&mut m, "overflow 10 ubox counter=1");
    m.advance(1000);
    assert_eq!(
        (rd(&mut m, 0, U_STATUS), rd(&mut m, 0, GLOBAL_STATUS)),
        (0b11, 0b10)
    );
    assert_eq!(m.json("overflows")["sockets"][0]["pmis_sent"], 1);
}

#[test]
fn neighbours_in_the_own_box_stop_at_the_same_moment() {
    let mut m = machine("");
    ok(&mut m, "rate ubox 0x42 * 1000000000");
    wr(&mut m, 0, U_CTL0, EN | OV_EN);
    wr(&mut m, 0, U_CTL1, EN | 0x42);
    ok(&mut m, "overflow 10 ubox counter=0");
    m.advance(1000);
    assert_eq!((rd(&mut m, 0, U_CTR0), rd(&mut m, 0, U_CTR1)), (0, 10));
}

#[test]
fn the_mask_selects_cores_of_the_own_socket() {
    // Table 2-2: bit n of pmi_core_sel is core n; several bits may be set; 0 is nobody.
    for (mask, cpus) in [
        (0b0000, vec![]),
        (0b0100, vec![4, 5]),
        (0b1001, vec![0, 1, 6, 7]),
    ] {
        let mut m = machine("");
        arm_clock(&mut m, 10, mask);
        m.advance(1000);
        let got: Vec<usize> = pmis(&mut m).iter().map(|pmi| pmi.cpu).collect();
        assert_eq!(got, cpus, "mask {mask:#b}");
        assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), 1);
        assert_eq!(rd(&mut m, 0, FIXED_CTR), 0, "frozen all the same");
    }
}

#[test]
fn a_sleeping_core_needs_the_wake_bit() {
    // Table 2-2: wk_on_pmi.
    for (wake, taken) in [(0, vec![1]), (WK_ON_PMI, vec![0, 1])] {
        let mut m = machine("");
        m.set_halted(0, true);
        arm_clock(&mut m, 10, 1 | wake);
        m.advance(1000);
        let got: Vec<usize> = pmis(&mut m).iter().map(|pmi| pmi.cpu).collect();
        assert_eq!(got, taken);
        let asleep = &m.json("overflows")["cpus"][0]["pmis"]["dropped_asleep"];
        assert_eq!(*asleep, u64::from(wake == 0));
        // Bit 61 tells a core that was reached of the uncore.
        assert_eq!((rd(&mut m, 0, PERF_STATUS) >> 61) & 1, u64::from(wake != 0));
        assert_eq!((rd(&mut m, 1, PERF_STATUS) >> 61) & 1, 1);
    }
}

#[test]
fn unfreezing_calls_a_freeze_on_its_way_off() {
    let mut m = machine("freeze_delay_ns=200,uclk_hz=1000000000");
    start_pcu(&mut m, 0, EN, 0);
    arm_clock(&mut m, 100, 0);
    m.advance(150);
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL);
    m.advance(1000);
    assert_eq!(rd(&mut m, 0, PCU_CTR0), 1150);
    assert_eq!(rd(&mut m, 0, FIXED_CTR), 1000);
    assert_eq!(m.json("overflows")["sockets"][0]["longest_frozen_ns"], 50);
}

#[test]
fn sampling_loop_of_the_manual() {
    // §2.1.2 to §2.1.4 with the PCU: each sample after exactly the interval plus the skid.
    let mut m = machine("uclk_hz=1000000000,freeze_delay_ns=200,pmi_delay_ns=500");
    let period = 10_000;
    wr(&mut m, 0, GLOBAL_CTL, FRZ_ALL);
    wr(
        &mut m,
        0,
        PCU_BOX_CTL,
        BOX_RUN | BOX_RST_CTRS | BOX_RST_CTRL,
    );
    wr(&mut m, 0, PCU_CTL0, EN | OV_EN);
    wr(&mut m, 0, PCU_CTR0, (1 << 48) - period);
    start_cbo(&mut m, 0, 3, EN, 0);
    wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL | 1);
    for sample in 1..=5 {
        assert!(m.advance_to_pmi(1_000_000));
        assert_eq!(pmis(&mut m).len(), 2);
        assert_eq!(rd(&mut m, 0, GLOBAL_STATUS), 1 << 2);
        assert_eq!(rd(&mut m, 0, PCU_STATUS), 1);
        assert_eq!(rd(&mut m, 0, C0_CTR0 + 3), sample * (period + 200));
        wr(&mut m, 0, PCU_STATUS, 1);
        wr(&mut m, 0, GLOBAL_STATUS, 1 << 2);
        wr(&mut m, 0, PCU_CTR0, (1 << 48) - period);
        wr(&mut m, 0, PERF_OVF_CTRL, 1 << 61);
        (0..2).for_each(|cpu| m.set_masked(cpu, false));
        m.advance(777);
        wr(&mut m, 0, GLOBAL_CTL, UNFRZ_ALL | 1);
    }
    assert_eq!(
        m.json("truth")["sockets"][0]["pcu"]["0"],
        (5 * period).to_string()
    );
    assert_eq!(m.json("overflows")["sockets"][0]["freezes"], 5);
    clean(&m);
}
