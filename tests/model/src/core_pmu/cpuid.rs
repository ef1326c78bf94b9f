// SPDX-License-Identifier: GPL-2.0-only
//! CPUID leaf 0AH: what the core's performance monitoring offers.

/// Architectural version (SDM §18.2: Nehalem to Broadwell report 3).
const VERSION: u32 = 3;
/// Width of all core counters, bits.
pub(crate) const WIDTH: u32 = 48;
/// Fixed counters per logical CPU.
pub(crate) const FIXED: usize = 3;
/// Architectural events (SDM table 18-1), all of them available.
const EVENTS: u32 = 7;

/// General counters per logical CPU: half of the core's eight when threads share it (SDM §18.9.2).
pub(crate) const fn general(threads_share: bool) -> usize {
    if threads_share {
        4
    } else {
        8
    }
}

/// EAX, EBX, ECX and EDX of leaf 0AH for `general` general counters.
pub(crate) const fn leaf_0a(general: usize) -> [u32; 4] {
    // CAST: small constants.
    let eax = VERSION | ((general as u32) << 8) | (WIDTH << 16) | (EVENTS << 24);
    [eax, 0, 0, FIXED as u32 | (WIDTH << 5)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaf_is_that_of_sdm_volume_2() {
        assert_eq!(leaf_0a(general(true)), [0x0730_0403, 0, 0, 0x603]);
        assert_eq!(leaf_0a(general(false)), [0x0730_0803, 0, 0, 0x603]);
    }
}
