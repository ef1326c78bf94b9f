# SPDX-License-Identifier: GPL-2.0-only
"""Host part of `fidelity`: compares what the stock drivers read with what the model says happened.

usage: fidelity.py RESULTS    prints KTAP; the exit status is 1 when a comparison failed
"""

import json
import re
import sys
from pathlib import Path

# An event of guest/fidelity: where the model's truth has its counters.
UNCORE = {
    "uncore_ubox/event=0xff/": lambda s: s["ubox"]["fixed0"],
    "uncore_ubox/event=0x42,umask=0x08/": lambda s: s["ubox"]["0"],
    "uncore_cbox_0/event=0x13,umask=0x01/": lambda s: s["cbox"][0]["0"],
    "uncore_cbox_0/event=0x00/": lambda s: s["cbox"][0]["1"],
    "uncore_pcu/event=0x00/": lambda s: s["pcu"]["0"],
}
CORE = {
    "instructions": lambda c: c["fixed0"],
    "cycles": lambda c: c["fixed1"],
    "ref-cycles": lambda c: c["fixed2"],
    # Linux keeps the threads of a core on different counters for this event (erratum BV98).
    "cpu/event=0xd0,umask=0x81/": lambda c: sum(int(c[n]) for n in "0123"),
}


def driver_rows(results):
    """The lines of the kernel's log and the devices that only a complete model brings about."""
    log = (results / "dmesg").read_text()
    for words in (
        "IvyBridge events, .*full-width counters, Intel PMU driver",
        "version: +3",
        "bit width: +48",
        "generic counters: +4",
        "fixed-purpose counters: +3",
    ):
        yield f"kernel log: {words}", re.search(words, log) is not None, "no such line"
    devices = (results / "devices").read_text().split()
    for device in ("uncore_ubox", "uncore_cbox_0", "uncore_cbox_1", "uncore_pcu"):
        yield f"intel_uncore has {device}", device in devices, "no such device"


def count_rows(results, name, where, events, units):
    """perf stat's count of each event in each unit, and the truth of the same span."""
    truth = json.loads((results / f"{name}.truth").read_text())[units]
    seen = 0
    for line in (results / f"{name}.perf").read_text().splitlines():
        row = json.loads(line)
        unit = int(row[where].lstrip("S"))
        got = int(float(row["counter-value"]))
        want = int(events[row["event"]](truth[unit]))
        yield f"{row['event']} {where} {unit}", got == want > 0, f"perf {got}, model {want}"
        seen += 1
    expected = len(events) * len(truth)
    yield f"perf counted all {expected} of {name}", seen == expected, f"{seen} lines"


def sampling_rows(results):
    """Each delivered PMI of a CPU is one sample of perf record there."""
    samples = re.findall(r"\[(\d+)\]", (results / "sampling.samples").read_text())
    cpus = json.loads((results / "sampling.overflows").read_text())["cpus"]
    for cpu in cpus:
        got = sum(int(sample) == cpu["cpu"] for sample in samples)
        want = cpu["pmis"]["delivered"]
        yield f"samples on cpu {cpu['cpu']}", got == want, f"perf {got}, model {want}"
    yield "there are samples", len(samples) > 10, f"{len(samples)}"


def main():
    """Run all comparisons."""
    results = Path(sys.argv[1])
    rows = [
        *driver_rows(results),
        *count_rows(results, "uncore", "socket", UNCORE, "sockets"),
        *count_rows(results, "core", "cpu", CORE, "cpus"),
        *sampling_rows(results),
    ]
    print("KTAP version 1")
    print(f"1..{len(rows)}")
    for number, (name, good, words) in enumerate(rows, 1):
        print(f"ok {number} {name}" if good else f"not ok {number} {name}\n# {words}")
    failed = sum(not good for _, good, _ in rows)
    print(f"# Totals: pass:{len(rows) - failed} fail:{failed}")
    return failed > 0


sys.exit(main())
