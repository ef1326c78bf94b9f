// SPDX-License-Identifier: GPL-2.0-only

//! Is an event one that a unit can count, and with which counters? Every bit that a manual reserves
//! is refused.

use super::core_pmu::Features;
use crate::hw::{
    cbo,
    core_pmu::{CONSTRAINTS, EVTSEL_ANY, EVTSEL_CMASK, EVTSEL_CONFIG_MASK, EVTSEL_INV},
    pcu,
    uncore::{BoxType, CTL_EDGE_DET, CTL_EV_SEL},
};

/// Why a counter is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The event or a filter sets bits that the unit reserves.
    Reserved,
    /// The bits are the unit's, but not in this combination.
    Meaningless,
    /// The named counter cannot count the event, or no counter can.
    WrongCounter,
    /// There is no such counter.
    NoCounter,
    /// Taken by somebody else.
    Busy,
    /// All counters that could count it are taken.
    Full,
}

/// Checks an event and its filters for an uncore box. Returns the counters that can count it.
pub fn check_uncore(row: &BoxType, config: u64, filter: &[u32; 4]) -> Result<u32, Refusal> {
    let reserved_filter = filter
        .iter()
        .zip(&row.filter_mask)
        .any(|(f, mask)| f & !mask != 0);
    if config & !row.config_mask != 0 || reserved_filter {
        return Err(Refusal::Reserved);
    }
    let thresh = config & row.thresh_mask != 0;
    // Edge detection comes after the threshold comparison (329468 section 1.5).
    if config & CTL_EDGE_DET != 0 && !thresh {
        return Err(Refusal::Meaningless);
    }
    if row.unit == cbo::CBO.unit {
        let by_thread = config & cbo::CTL_TID_EN != 0;
        let tid = filter[0] & cbo::FILTER0_TID != 0;
        let state = filter[0] & !cbo::FILTER0_TID != 0;
        // "Only one of these filtering criteria may be applied at a time" (table 2-16).
        if (tid && !by_thread) || (state && by_thread) {
            return Err(Refusal::Meaningless);
        }
    }
    if row.unit == pcu::PCU.unit {
        let occupancy = config & pcu::CTL_USE_OCC != 0;
        let invert_or_edge = config & (pcu::CTL_OCC_INVERT | pcu::CTL_OCC_EDGE_DET) != 0;
        // Both follow the threshold and act on occupancy counters only (table 2-121).
        if invert_or_edge && !(occupancy && thresh) {
            return Err(Refusal::Meaningless);
        }
    }
    // CAST: eight bits.
    let event = (config & CTL_EV_SEL) as u8;
    let all = (1 << row.counters) - 1;
    let allowed = row
        .constraints
        .iter()
        .find(|c| (c.first..=c.last).contains(&event));
    Ok(allowed.map_or(all, |c| c.counters & all))
}

/// Checks an event for a logical CPU's general counters. Returns those that can count it.
pub fn check_core(features: &Features, config: u64) -> Result<u32, Refusal> {
    let any = if features.leaf.version >= 3 {
        0
    } else {
        EVTSEL_ANY
    };
    if config & !(EVTSEL_CONFIG_MASK & !any) != 0 {
        return Err(Refusal::Reserved);
    }
    if config & EVTSEL_INV != 0 && config & EVTSEL_CMASK == 0 {
        return Err(Refusal::Meaningless);
    }
    // CAST: eight bits each.
    let (event, umask) = (config as u8, (config >> 8) as u8);
    let all = ((1u64 << features.leaf.counters) - 1) as u32;
    let allowed = CONSTRAINTS.iter().find(|c| {
        (c.first..=c.last).contains(&event) && c.umask.is_none_or(|wanted| wanted == umask)
    });
    Ok(allowed.map_or(all, |c| c.counters & all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hw::{core_pmu::Leaf0a, ubox::UBOX};

    #[test]
    fn every_bit_outside_the_tables_is_reserved() {
        // Event, umask, edge and threshold fields of tables 2-6, 2-14 and 2-121.
        let rows = [
            (UBOX, 0x1f04_ffff),
            (cbo::CBO, 0xff0c_ffff),
            (pcu::PCU, 0xdf24_c0ffu64),
        ];
        for (row, legal) in rows {
            for bit in (0..64).filter(|b| (legal >> b) & 1 == 0) {
                let config = 1 << bit;
                assert_eq!(
                    check_uncore(&row, config, &[0; 4]),
                    Err(Refusal::Reserved),
                    "{} bit {bit}",
                    row.name
                );
            }
        }
    }

    #[test]
    fn filter_bits_of_tables_2_16_and_2_17() {
        let with = |config, filter| check_uncore(&cbo::CBO, config | 0x34, &filter);
        for bit in 0..32 {
            let (state, tid) = ((17..=22).contains(&bit), bit <= 4);
            let filter = [1 << bit, 0, 0, 0];
            assert_eq!(with(0, filter).is_ok(), state, "filter 0 bit {bit}");
            assert_eq!(
                with(cbo::CTL_TID_EN, filter).is_ok(),
                tid,
                "filter 0 bit {bit}"
            );
            let legal = bit <= 15 || (20..=28).contains(&bit) || bit >= 30;
            assert_eq!(
                with(0, [0, 1 << bit, 0, 0]).is_ok(),
                legal,
                "filter 1 bit {bit}"
            );
            assert_eq!(with(0, [0, 0, 1 << bit, 0]), Err(Refusal::Reserved));
        }
    }

    #[test]
    fn combinations_that_mean_nothing() {
        assert_eq!(
            check_uncore(&UBOX, 0x0004_0042, &[0; 4]),
            Err(Refusal::Meaningless)
        );
        assert!(check_uncore(&UBOX, 0x0104_0042, &[0; 4]).is_ok());
        assert_eq!(
            check_uncore(&cbo::CBO, 0x34, &[1, 0, 0, 0]),
            Err(Refusal::Meaningless)
        );
        assert_eq!(
            check_uncore(&pcu::PCU, 0x4000_0080, &[0; 4]),
            Err(Refusal::Meaningless)
        );
        assert!(check_uncore(&pcu::PCU, 0x4100_4080, &[0; 4]).is_ok());
    }

    #[test]
    fn occupancy_is_for_counter_0_and_its_export_for_the_others() {
        // 329468 section 2.3; event 0x11 RxR_OCCUPANCY, 0x1f COUNTER0_OCCUPANCY.
        assert_eq!(check_uncore(&cbo::CBO, 0x11, &[0; 4]), Ok(0b0001));
        assert_eq!(check_uncore(&cbo::CBO, 0x1f, &[0; 4]), Ok(0b1110));
        assert_eq!(check_uncore(&cbo::CBO, 0x00, &[0; 4]), Ok(0b1111));
    }

    #[test]
    fn core_events() {
        let leaf = Leaf0a {
            version: 3,
            counters: 4,
            width: 48,
            ..Leaf0a::default()
        };
        let features = Features {
            leaf,
            full_width: true,
        };
        assert_eq!(check_core(&features, 0x00c0), Ok(0b1111));
        assert_eq!(check_core(&features, 0x01c0), Ok(0b0010));
        assert_eq!(check_core(&features, 0x0148), Ok(0b0100));
        // USR, OS, PC, INT and EN are not the user's; nothing above bit 31 exists.
        for bit in [16, 17, 19, 20, 22, 32, 33, 63] {
            assert_eq!(
                check_core(&features, 1 << bit),
                Err(Refusal::Reserved),
                "bit {bit}"
            );
        }
        assert_eq!(
            check_core(&features, EVTSEL_INV | 0xc0),
            Err(Refusal::Meaningless)
        );
        let old = Features {
            leaf: Leaf0a { version: 2, ..leaf },
            full_width: true,
        };
        assert_eq!(check_core(&old, EVTSEL_ANY | 0x3c), Err(Refusal::Reserved));
    }
}
