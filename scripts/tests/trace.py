#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the time line of perf kvm unified export against a report in JSON.

usage: trace.py TRACE JSON

Both are of the same profile. The slices of a track follow each other without a gap and without an
overlap; each VM and vCPU has the report's time of each class, and a guest's name has on the
host's CPUs the time that its VM has there. A flow leads from each slice of steal with a culprit to the
CPU that was stolen. Prints what is not so, and exits with 1 then.
"""

import collections
import decimal
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lab"))
from report import vcpus_of  # noqa: E402 # where it is, is said above

# Of whom a slice says that he had the CPU, where that was a VM or a task
CULPRITS = ("VM ", "task ", "its ")
RUNNING = ("OS", "USER", "VM")
OTHER_NAMES = {"IDLE": "idle", "HOST": "HOST"}


def fail(*what):
    print(*what)
    sys.exit(1)


def ns(us):
    value = us * 1000
    if value != int(value):
        fail("not a number of ns:", us)
    return int(value)


def check_flows(events, tracks):
    """tracks: slices by process and thread, in order"""
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    stolen = [(track, *one) for track, slices in tracks.items() for one in slices
              if one[2].get("args", {}).get("by", "").startswith(CULPRITS)]
    if set(starts) != set(ends) or len(starts) != len(stolen):
        fail("flows and slices of steal:", len(starts), len(ends), len(stolen))
    begun = {(e["pid"], e["tid"], ns(e["ts"])): e["id"] for e in starts.values()}
    for (pid, tid), start, end, event in stolen:
        at = start + (end - start) // 2
        flow = ends.get(begun.get((pid, tid, at)))
        if not flow or ns(flow["ts"]) != at:
            fail("no flow from the middle of a slice, to the same time:", event)
        if (flow["pid"], flow["tid"]) not in tracks or flow["tid"] != 1 + event["args"]["cpu"]:
            fail("a flow to another CPU:", event, flow)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
    with open(sys.argv[2], encoding="ascii") as file:
        report = json.load(file)
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start, length = ns(event["ts"]), ns(event["dur"])
            if length <= 0:
                fail("a slice of no length:", event)
            tracks[event["pid"], event["tid"]].append((start, start + length, event))
    if set(tracks) != set(threads):
        fail("tracks without a name, or names without a track:", set(tracks) ^ set(threads))

    found, ends = collections.Counter(), set()
    for (pid, tid), slices in tracks.items():
        slices.sort(key=lambda one: one[0])
        ends.add((slices[0][0], slices[-1][1]))
        for (_, end, _), (start, _, event) in zip(slices, slices[1:]):
            if start != end:
                fail("a gap, or an overlap:", processes[pid], threads[pid, tid], event)
        for start, end, event in slices:
            stolen = event["name"] == "steal"
            if stolen != ("by" in event.get("args", {})):
                fail("by whom, and not stolen, or the other way round:", event)
            found[processes[pid], threads[pid, tid], event["name"]] += end - start
    check_flows(events, tracks)
    if len(ends) != 1:
        fail("tracks of different lengths:", ends)

    wanted = collections.Counter()
    for vm, vcpu, level in vcpus_of(report["levels"]):
        for row in level["rows"]:
            name = "running" if row["class"] in RUNNING else OTHER_NAMES.get(row["class"], row["class"])
            wanted[vm, "vCPU %d" % vcpu, name] += row["time_ns"]
    of_vcpus = collections.Counter({key: value for key, value in found.items() if key[0] != "host"})
    if of_vcpus != wanted:
        for key in sorted(of_vcpus | wanted):
            if of_vcpus[key] != wanted[key]:
                print("%s: %d and not %d ns" % (key, of_vcpus[key], wanted[key]))
        sys.exit(1)

    host, = (level for level in report["levels"] if level["level"] == "host")
    for row in host["rows"]:
        if row["class"] != "VM":
            continue
        vm = row["function"].strip("[]")
        ran = sum(value for (process, _, name), value in found.items()
                  if process == "host" and name.rpartition(" vCPU ")[0] == vm)
        if ran != row["time_ns"]:
            fail("%s on the host's CPUs: %d and not %d ns" % (vm, ran, row["time_ns"]))


main()
