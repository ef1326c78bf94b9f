// SPDX-License-Identifier: GPL-2.0-only
//! The C interface, called as QEMU calls it. One test, since the interface has one model.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::SeqCst};

use pmon_model::capi::*;

static NOW: AtomicI64 = AtomicI64::new(0);
static ARMED: AtomicI64 = AtomicI64::new(-1);
static PMIS: AtomicU32 = AtomicU32::new(0);

extern "C" fn now_ns() -> i64 {
    NOW.load(SeqCst)
}
extern "C" fn insns(_cpu: u32) -> i64 {
    -1
}
extern "C" fn insns_to_ns(n: i64) -> i64 {
    n
}
extern "C" fn halted(_cpu: u32) -> bool {
    false
}
extern "C" fn arm(ns: i64) {
    ARMED.store(ns, SeqCst);
}
extern "C" fn pmi(cpu: u32) -> bool {
    PMIS.fetch_or(1 << cpu, SeqCst);
    true
}

/// Starts the model and returns its complaint.
fn init(config: &str) -> Option<String> {
    let host = PmonHost {
        now_ns,
        insns,
        insns_to_ns,
        halted,
        arm,
        pmi,
    };
    let config = CString::new(config).unwrap();
    // SAFETY: both pointers are valid during the call; the answer is NULL or a C string for good.
    unsafe {
        let error = pmon_model_init(&host, config.as_ptr());
        (!error.is_null()).then(|| CStr::from_ptr(error).to_string_lossy().into_owned())
    }
}

fn rdmsr(cpu: u32, msr: u32) -> (i32, u64) {
    let mut value = 0;
    // SAFETY: the pointer is valid during the call.
    let result = unsafe { pmon_model_rdmsr(cpu, msr, &mut value) };
    (result, value)
}

fn command(line: &str) -> String {
    for byte in line.bytes().chain([b'\n']) {
        pmon_model_ctl_write(byte);
    }
    let bytes = std::iter::from_fn(|| u8::try_from(pmon_model_ctl_read()).ok());
    String::from_utf8(bytes.collect()).unwrap()
}

#[test]
fn qemu_can_use_it() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (plan, out) = (folder.join("plan"), folder.join("out.json"));
    assert!(pmon_model_claims_msr(0xc00) && !pmon_model_claims_msr(0x10));
    assert_eq!(rdmsr(0, 0xc00).0, 0, "not mine before the model is there");

    assert_eq!(init("cbos=99").as_deref(), Some("cbos cannot be 99"));
    assert!(init("plan=/nonexistent/plan").is_some());
    std::fs::write(&plan, "# comment\nrate nobox 0 0 1\n").unwrap();
    assert!(init(&format!("plan={}", plan.display()))
        .unwrap()
        .ends_with(":2: no unit nobox"));

    std::fs::write(&plan, "# comment\n\nset uclk_hz 1000000000\nmark planned\n").unwrap();
    let config = format!(
        "plan={},out={},pmi_delay_ns=300",
        plan.display(),
        out.display()
    );
    assert_eq!(init(&config), None);
    for cpu in 0..8 {
        pmon_model_add_cpu(cpu, cpu / 4, cpu / 2 % 2, cpu % 2);
    }
    let mut leaf = [0; 4];
    // SAFETY: the pointer is valid during the call.
    unsafe { pmon_model_cpuid_0a(&mut leaf) };
    assert_eq!(leaf, [0x0730_0403, 0, 0, 0x603]);
    pmon_model_reset();

    assert_eq!(pmon_model_wrmsr(4, 0xc09, (1 << 48) - 100), 1);
    assert_eq!(pmon_model_wrmsr(4, 0xc08, 5 << 20), 1);
    assert_eq!(pmon_model_wrmsr(4, 0xc00, 1 << 29 | 2), 1);
    assert_eq!(pmon_model_wrmsr(4, 0xc02, 0), -1);
    assert_eq!(ARMED.load(SeqCst), 100);
    for moment in [100, 300, 400] {
        assert_eq!(ARMED.load(SeqCst), moment);
        ARMED.store(-1, SeqCst);
        NOW.store(moment, SeqCst);
        pmon_model_timer();
    }
    assert_eq!(ARMED.load(SeqCst), -1);
    assert_eq!(
        PMIS.load(SeqCst),
        0b1100_0000,
        "both threads of core 1 of socket 1"
    );
    assert_eq!(rdmsr(5, 0xc01), (1, 1));

    let mut value = 0;
    // SAFETY: the pointers are valid during the calls.
    unsafe {
        assert_eq!(pmon_model_pci_read(1, 0x0e1e, 0x40, 4, &mut value), 1);
        assert_eq!(pmon_model_pci_read(1, 0x0e30, 0x40, 4, &mut value), 0);
    }
    assert_eq!((value, pmon_model_pci_write(1, 0x0e1e, 0x40, 4, 0)), (1, 1));
    let mut counter = 0;
    // SAFETY: the pointer is valid during the call.
    assert_eq!(unsafe { pmon_model_rdpmc(0, 9, &mut counter) }, -1);

    assert_eq!(command("mark end"), "ok\n");
    assert_eq!(command("nonsense"), "error: no command nonsense\n");
    pmon_model_finish();
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(report["marks"][0]["text"], "planned");
    assert_eq!(report["violations"]["total"], 2);
}
