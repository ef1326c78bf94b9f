#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the demo's samples say, beside what the hardware model knows. Fails where they differ."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

folder = Path(sys.argv[1])
lines = [json.loads(line) for line in (folder / "samples.json").read_text().splitlines()]
model = json.loads((folder / "self.json").read_text())
header, trailer = lines[0], lines[-1]
samples = [line for line in lines if line["type"] == "sample"]
counters = header["counters"]
faults = []


def check(holds, what):
    """Notes what does not hold."""
    if not holds:
        faults.append(what)


def truth(counter):
    """The model's exact count of a counter."""
    unit, index, name = counter["unit"], counter["box"], counter["counter"]
    if unit == "core":
        return int(model["truth"]["cpus"][index][name])
    socket = model["truth"]["sockets"][counter["socket"]]
    box = socket[unit][index] if unit == "cbox" else socket[unit]
    return int(box[name])


print(f"samples                {len(samples):>12,}")
lost = sum(ring["lost"] for ring in trailer["rings"])
produced = sum(ring["produced"] for ring in trailer["rings"])
read = sum(ring["read"] for ring in trailer["rings"])
print(f"records lost           {lost:>12,}")
print(f"rule violations        {model['violations']['total']:>12,}   (writes that the manual forbids)")
modes = sorted({counter["mode"] for counter in counters})
print(f"overflows noticed by   {', '.join(modes):>12}")
accesses = model["accesses"]
total = sum(s["total"] for s in accesses["sockets"]) + accesses["core"]["total"]
print(f"register accesses      {total / len(samples):>12.1f}   a sample, set-up and end included")
sockets = model["overflows"]["sockets"]
frozen = sum(s["frozen_ns"] for s in sockets)
freezes = sum(s["freezes"] + s["freezes_commanded"] for s in sockets)
print(f"frozen                 {frozen / freezes / 1000:>12.1f}   us a freeze (the machine's time, "
      "which all its CPUs share)")
check(len(samples) >= 1000, "fewer than 1,000 samples")
check(lost == 0, "records were lost")
check(produced == read + lost, "produced is not read + lost")
check(model["violations"]["total"] == 0, "the driver broke a rule of the manual")
check(modes == ["pmi"], "an overflow was not noticed by its PMI")

print()
print(f"{'counter':<50} {'samples':>8} {'total':>14} {'truth':>14}")
periods, last = defaultdict(int), {}
count = Counter(sample["id"] for sample in samples)
for sample in samples:
    counter = counters[sample["id"]]
    periods[sample["id"]] += sample["periods"]
    values = {value["id"]: value["total"] for value in sample["values"]}
    expected = periods[sample["id"]] * counter["period"] + sample["overshoot"]
    check(values[sample["id"]] == expected, f"a sample of {counter['label']} is off its period")
    for number, value in values.items():
        check(value >= last.get(number, 0), f"{counters[number]['label']} went backwards")
        last[number] = value
for counter, totals in zip(counters, trailer["totals"]):
    number = counter["id"]
    place = f"core{counter['box']}" if counter["unit"] == "core" else f"socket {counter['socket']}"
    print(f"{counter["label"]:<40} {place:<9} {count[number]:>8,} {totals['total']:>14,} "
          f"{truth(counter):>14,}")
    check(totals["total"] == truth(counter), f"{counter['label']} is not the truth")
    check(periods[number] == totals["total"] // counter["period"],
          f"{counter['label']} has not one sample a period")

print()
print("register accesses                        read     write   (all of the session)")
kinds = defaultdict(lambda: [0, 0])
for part in [*accesses["sockets"], accesses["core"]]:
    for kind, numbers in part["by_kind"].items():
        kinds[kind][0] += numbers["read"]
        kinds[kind][1] += numbers["write"]
for kind, (reads, writes) in sorted(kinds.items(), key=lambda item: -sum(item[1])):
    if reads + writes >= len(samples) // 20:
        print(f"  {kind:<34} {reads:>8,}  {writes:>8,}")

print()
for fault in sorted(set(faults)):
    print(f"FAULT: {fault}")
print("the samples do not agree with the machine" if faults else
      "all totals equal the model's truth; each record is accounted for")
sys.exit(bool(faults))
