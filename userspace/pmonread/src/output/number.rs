// SPDX-License-Identifier: GPL-2.0-only OR MIT

//! Numbers for people.

/// With a comma between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i != 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Nanoseconds as seconds with all digits.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Events per second over a time in ns; nothing when no time passed.
pub(crate) fn rate(events: u64, ns: u64) -> Option<String> {
    if ns == 0 {
        return None;
    }
    let rate = events as f64 * 1e9 / ns as f64;
    let (scale, unit) = match rate {
        r if r >= 1e9 => (1e9, "G/s"),
        r if r >= 1e6 => (1e6, "M/s"),
        r if r >= 1e3 => (1e3, "k/s"),
        _ => (1.0, "/s"),
    };
    Some(format!("{:.3} {unit:>3}", rate / scale))
}

/// Bytes in KiB, MiB or GiB.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|(scale, _)| bytes >= *scale);
    match unit {
        Some((scale, unit)) => format!("{:.1} {unit}", bytes as f64 / scale as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let pairs = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in pairs {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn units_fit() {
        assert_eq!(seconds(1_000_000_042), "1.000000042");
        assert_eq!(rate(3_000_000, 2_000_000_000).unwrap(), "1.500 M/s");
        assert_eq!(rate(5, 1_000_000_000).unwrap(), "5.000  /s");
        assert_eq!(rate(5, 0), None);
        assert_eq!(
            (bytes(100), bytes(1536)),
            ("100 bytes".into(), "1.5 KiB".into())
        );
    }
}
