// SPDX-License-Identifier: GPL-2.0-only

//! The ABI has one layout: in C with 64 and 32 bits, in bindgen's types, and in the words that the
//! ring and the records are made of.

use pmon_host_tests::{
    abi::*,
    hw::UNCORE,
    logic::{
        record::{self, write_sample, write_throttle, Context, Overflow},
        ring::{Memory, Producer, RingPage, HEADER_WORDS},
    },
    memory::RingMemory,
};
use std::{
    fs,
    mem::offset_of,
    path::{Path, PathBuf},
    process::Command,
};

fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/uapi/linux/pmon.h")
}

/// Structs of the header with their members.
fn structs() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(header()).expect("the header");
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("struct ").and_then(|l| l.strip_suffix(" {")) {
            all.push((name.to_string(), Vec::new()));
            open = true;
        } else if line.starts_with('}') {
            open = false;
        } else if let (true, Some(member)) = (open, line.strip_suffix(';')) {
            let name = member.rsplit([' ', '\t']).next().unwrap_or_default();
            let name = name.split('[').next().unwrap_or_default();
            all.last_mut().expect("a struct").1.push(name.to_string());
        }
    }
    all
}

/// A program that prints `name offset` of each member and `struct size` of each struct.
fn program() -> String {
    let mut text = String::from(
        "#include <linux/types.h>\n#include <stddef.h>\n#include <stdio.h>\n#include \"pmon.h\"\n\nint main(void)\n{\n",
    );
    for (name, members) in structs() {
        text += &format!("\tprintf(\"{name} %zu\\n\", sizeof(struct {name}));\n");
        for member in members {
            text += &format!(
                "\tprintf(\"{name}.{member} %zu\\n\", offsetof(struct {name}, {member}));\n"
            );
        }
    }
    text + "\treturn 0;\n}\n"
}

/// What a C compiler makes of the header.
fn layout_in_c(bits: u32) -> Vec<(String, usize)> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (dir.join(format!("layout{bits}.c")), dir.join(format!("layout{bits}")));
    fs::write(&source, program()).expect("the program");
    let compiler = Command::new("gcc")
        .args([&format!("-m{bits}"), "-Wall", "-Werror", "-iquote"])
        .arg(header().parent().expect("a folder"))
        .args(["-o".as_ref(), binary.as_os_str(), source.as_os_str()])
        .output()
        .expect("gcc (Debian: gcc-multilib)");
    assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
    let output = Command::new(&binary).output().expect("the program").stdout;
    let text = String::from_utf8(output).expect("text");
    text.lines()
        .map(|line| {
            let (name, number) = line.split_once(' ').expect("a name");
            (name.to_string(), number.parse().expect("a number"))
        })
        .collect()
}

/// `name offset` of each member, of each struct with its size; bindgen gives names that are words
/// of Rust a `_`.
macro_rules! layout {
    ($($name:ident { $($member:ident),* $(,)? })*) => {
        vec![$(
            (stringify!($name).to_string(), size_of::<$name>()),
            $((
                format!("{}.{}", stringify!($name), stringify!($member).trim_end_matches('_')),
                offset_of!($name, $member),
            ),)*
        )*]
    };
}

fn layout_in_rust() -> Vec<(String, usize)> {
    layout! {
        pmon_info {
            size, flags, abi_version, nr_sockets, nr_cpus, cpu_family, cpu_model, cpu_stepping,
            core_version, core_counters, core_fixed, core_width, core_absent_events,
            poll_interval_us, min_period, max_rate,
        }
        pmon_unit_info {
            size, unit, socket, box_, nr_boxes, mode, flags, counters, fixed, width, fixed_width,
            pmi_cpu, config_mask, filter_mask,
        }
        pmon_counter {
            size, unit, socket, box_, counter, flags, config, filter, period, id, width,
        }
        pmon_rings {
            size, flags, bytes, wakeup_records, wakeup_bytes, nr_rings, __reserved, map_size,
        }
        pmon_count { total, overflows, enabled_ns, frozen_ns }
        pmon_read { size, flags, nr, __reserved, counts, time }
        pmon_stats {
            size, flags, samples, lost, interrupts, late, deferred, polls, throttled, handler_ns,
            frozen_ns,
        }
        pmon_map_page { version, nr_rings, ring_offset, ring_stride }
        pmon_ring_page {
            cpu, flags, data_offset, data_size, __reserved0, head, oldest, produced, lost,
            __reserved1, tail, __reserved2,
        }
        pmon_record { type_, misc, size, time, seq }
        pmon_value { id, __reserved, total }
        pmon_sample {
            record, ip, pid, tid, cpu, socket, id, nr, periods, overshoot, values,
        }
        pmon_lost { record, lost }
        pmon_throttle { record, id, __reserved, period }
    }
}

#[test]
fn c_of_64_and_of_32_bits_and_rust_agree() {
    let (wide, narrow, rust) = (layout_in_c(64), layout_in_c(32), layout_in_rust());
    assert_eq!(wide, narrow);
    assert_eq!(wide, rust);
    assert!(wide.len() > 100);
}

#[test]
fn no_struct_has_a_hole() {
    // The kernel copies them whole: a hole would show its memory.
    for (name, members) in structs() {
        let all = layout_in_rust();
        let value = |key: &str| all.iter().find(|(n, _)| n == key).expect("there").1;
        let starts: Vec<_> = members.iter().map(|m| value(&format!("{name}.{m}"))).collect();
        assert_eq!(starts.first(), Some(&0));
        assert!(starts.windows(2).all(|w| w[0] < w[1]), "{name}");
        assert_eq!(value(&name) % 8, 0, "{name}");
    }
}

#[test]
fn the_rings_page_is_the_modules() {
    for (ours, theirs) in [
        (offset_of!(RingPage, cpu_flags), offset_of!(pmon_ring_page, cpu)),
        (offset_of!(RingPage, cpu_flags) + 4, offset_of!(pmon_ring_page, flags)),
        (offset_of!(RingPage, data_offset), offset_of!(pmon_ring_page, data_offset)),
        (offset_of!(RingPage, data_size), offset_of!(pmon_ring_page, data_size)),
        (offset_of!(RingPage, head), offset_of!(pmon_ring_page, head)),
        (offset_of!(RingPage, oldest), offset_of!(pmon_ring_page, oldest)),
        (offset_of!(RingPage, produced), offset_of!(pmon_ring_page, produced)),
        (offset_of!(RingPage, lost), offset_of!(pmon_ring_page, lost)),
        (offset_of!(RingPage, tail), offset_of!(pmon_ring_page, tail)),
        (size_of::<RingPage>(), size_of::<pmon_ring_page>()),
    ] {
        assert_eq!(ours, theirs);
    }
}

#[test]
fn the_tail_is_in_a_cache_line_of_its_own() {
    // What the program writes is not what the kernel writes.
    let line = |offset| offset / 64;
    let tail = line(offset_of!(pmon_ring_page, tail));
    for other in [
        offset_of!(pmon_ring_page, head),
        offset_of!(pmon_ring_page, oldest),
        offset_of!(pmon_ring_page, produced),
        offset_of!(pmon_ring_page, lost),
    ] {
        assert_ne!(line(other), tail);
    }
}

/// A record as the bytes that a program in C sees.
fn bytes(mem: Memory<'_>) -> Vec<u8> {
    mem.data.iter().flat_map(|word| word.relaxed().to_le_bytes()).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[test]
fn a_sample_is_the_headers() {
    let memory = RingMemory::new(64);
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0x0102, 1, 4096, 0, 0);
    let cx = Context {
        time: 0x1112_1314_1516_1718,
        misc: record::MISC_USER | record::MISC_POLL,
        ip: 0x2122_2324_2526_2728,
        pid: 0x31,
        tid: 0x32,
        cpu: 0x33,
        socket: 0x34,
    };
    let overflow = Overflow { id: 0x41, leader: true, periods: 0x42, overshoot: 0x43 };
    let values = [(0x51, 0x61), (0x52, 0x62), (0x53, u64::MAX)];
    write_sample(&mut producer, mem, &cx, &overflow, values.into_iter());
    let b = bytes(mem);

    let size = size_of::<pmon_sample>() + 3 * size_of::<pmon_value>();
    assert_eq!(u32_at(&b, offset_of!(pmon_record, type_)), PMON_RECORD_SAMPLE);
    let misc = PMON_SAMPLE_USER | PMON_SAMPLE_POLL | PMON_SAMPLE_LEADER;
    assert_eq!(u32_at(&b, offset_of!(pmon_record, misc)), misc | ((size as u32) << 16));
    assert_eq!(offset_of!(pmon_record, size), offset_of!(pmon_record, misc) + 2);
    assert_eq!(u64_at(&b, offset_of!(pmon_record, time)), cx.time);
    assert_eq!(u64_at(&b, offset_of!(pmon_record, seq)), 0);
    assert_eq!(u64_at(&b, offset_of!(pmon_sample, ip)), cx.ip);
    assert_eq!(u32_at(&b, offset_of!(pmon_sample, pid)), 0x31);
    assert_eq!(u32_at(&b, offset_of!(pmon_sample, tid)), 0x32);
    assert_eq!(u32_at(&b, offset_of!(pmon_sample, cpu)), 0x33);
    assert_eq!(u32_at(&b, offset_of!(pmon_sample, socket)), 0x34);
    assert_eq!(u32_at(&b, offset_of!(pmon_sample, id)), 0x41);
    assert_eq!(u32_at(&b, offset_of!(pmon_sample, nr)), 3);
    assert_eq!(u64_at(&b, offset_of!(pmon_sample, periods)), 0x42);
    assert_eq!(u64_at(&b, offset_of!(pmon_sample, overshoot)), 0x43);
    for (i, (id, total)) in values.into_iter().enumerate() {
        let at = offset_of!(pmon_sample, values) + i * size_of::<pmon_value>();
        assert_eq!(u32_at(&b, at + offset_of!(pmon_value, id)), id);
        assert_eq!(u32_at(&b, at + offset_of!(pmon_value, __reserved)), 0);
        assert_eq!(u64_at(&b, at + offset_of!(pmon_value, total)), total);
    }
    assert_eq!(mem.page.head.relaxed(), size as u64);
    assert_eq!(mem.page.cpu_flags.relaxed(), 0x0102 | (1 << 32));
    assert_eq!(size_of::<pmon_sample>(), record::SAMPLE_WORDS * 8);
    assert_eq!(size_of::<pmon_record>(), HEADER_WORDS * 8);
}

#[test]
fn a_throttle_and_a_loss_are_the_headers() {
    let memory = RingMemory::new(32);
    let mem = memory.memory();
    let mut producer = Producer::new(mem, 0, 0, 4096, 0, 0);
    write_throttle(&mut producer, mem, 9, 0x71, 0x72);
    let b = bytes(mem);
    assert_eq!(u32_at(&b, 0), PMON_RECORD_THROTTLE);
    assert_eq!(
        u32_at(&b, offset_of!(pmon_record, misc)),
        (size_of::<pmon_throttle>() as u32) << 16
    );
    assert_eq!(u32_at(&b, offset_of!(pmon_throttle, id)), 0x71);
    assert_eq!(u64_at(&b, offset_of!(pmon_throttle, period)), 0x72);

    // 32 words hold six of five; three more are lost, and the next but one begins at word 30.
    for _ in 0..8 {
        write_throttle(&mut producer, mem, 9, 0x71, 0x72);
    }
    assert_eq!(producer.lost(), 3);
    mem.page.tail.set_relaxed(mem.page.head.relaxed());
    write_throttle(&mut producer, mem, 10, 0x71, 0x72);
    let mut b = bytes(mem);
    b.rotate_left(30 * 8);
    assert_eq!(u32_at(&b, 0), PMON_RECORD_LOST);
    assert_eq!(u32_at(&b, offset_of!(pmon_record, misc)), (size_of::<pmon_lost>() as u32) << 16);
    assert_eq!(u64_at(&b, offset_of!(pmon_record, seq)), 9);
    assert_eq!(u64_at(&b, offset_of!(pmon_lost, lost)), 3);
    assert_eq!(u32_at(&b, size_of::<pmon_lost>()), PMON_RECORD_THROTTLE);
}

#[test]
fn the_modules_constants_are_the_headers() {
    assert_eq!(UNCORE.map(|row| row.unit), [PMON_UNIT_UBOX, PMON_UNIT_CBOX, PMON_UNIT_PCU]);
    assert_eq!(record::TYPE_SAMPLE, PMON_RECORD_SAMPLE);
    assert_eq!(record::TYPE_LOST, PMON_RECORD_LOST);
    assert_eq!(record::TYPE_THROTTLE, PMON_RECORD_THROTTLE);
    assert_eq!(u32::from(record::MISC_USER), PMON_SAMPLE_USER);
    assert_eq!(u32::from(record::MISC_POLL), PMON_SAMPLE_POLL);
    assert_eq!(u32::from(record::MISC_LEADER), PMON_SAMPLE_LEADER);
    // 512 values fit a record.
    let longest = record::SAMPLE_WORDS + PMON_MAX_COUNTERS as usize * record::VALUE_WORDS;
    assert!(longest <= pmon_host_tests::logic::ring::MAX_RECORD_WORDS);
    let filters = |row: &pmon_host_tests::hw::BoxType| row.filters.len() <= row.filter_mask.len();
    assert!(UNCORE.iter().all(filters));
}

/// The first version's sizes, by adding up the header's members: programs are built on them.
#[test]
fn sizes_of_the_first_version_stay() {
    let sizes = [
        ("pmon_info", size_of::<pmon_info>(), 14 * 4 + 2 * 8),
        ("pmon_unit_info", size_of::<pmon_unit_info>(), 12 * 4 + 8 + 4 * 4),
        ("pmon_counter", size_of::<pmon_counter>(), 6 * 4 + 8 + 4 * 4 + 8 + 2 * 4),
        ("pmon_rings", size_of::<pmon_rings>(), 2 * 4 + 8 + 4 * 4 + 8),
        ("pmon_count", size_of::<pmon_count>(), 4 * 8),
        ("pmon_read", size_of::<pmon_read>(), 4 * 4 + 2 * 8),
        ("pmon_stats", size_of::<pmon_stats>(), 2 * 4 + 9 * 8),
        ("pmon_map_page", size_of::<pmon_map_page>(), 2 * 4 + 2 * 8),
        ("pmon_ring_page", size_of::<pmon_ring_page>(), 24 * 8),
        ("pmon_record", size_of::<pmon_record>(), 8 + 2 * 8),
        ("pmon_value", size_of::<pmon_value>(), 2 * 4 + 8),
        ("pmon_sample", size_of::<pmon_sample>(), 24 + 8 + 6 * 4 + 2 * 8),
        ("pmon_lost", size_of::<pmon_lost>(), 24 + 8),
        ("pmon_throttle", size_of::<pmon_throttle>(), 24 + 2 * 4 + 8),
    ];
    for (name, size, wanted) in sizes {
        assert_eq!(size, wanted, "{name}");
    }
}
