#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Read a profile of pprof's format.

usage: pprof.py FILE sums JSON [LEVEL...]
       pprof.py FILE stacks|cgroups

sums: its samples have the time of a report in JSON, of the same part of a profile: all tables of
these levels (host vcpu), and of each the time in code, idle, stolen, and the rest, to the ns. Prints what is not so, and exits
with 1 then. stacks: a line for each sample, "level vm vcpu comm pid value: frames ns", the
outermost frame first. cgroups: those that samples have.
"""

import collections
import gzip
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lab"))
from report import in_parts  # noqa: E402 # where it is, is said above

SAMPLE_TYPE, SAMPLE, LOCATION, FUNCTION, STRING, DURATION, PERIOD = 1, 2, 4, 5, 6, 10, 12
VALUES = ("cpu", "idle", "steal", "other")
LABELS = ("level", "vm", "vcpu", "comm", "pid")
VALUE_OF_CLASS = dict.fromkeys(("OS", "USER", "VM", "HOST"), "cpu") | {
    "IDLE": "idle", "halt-poll": "idle", "steal": "steal"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Pairs of a field's number, and its number or bytes"""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                sys.exit("a field is cut off")
        else:
            sys.exit("a field of a kind that there is not: %d" % (key & 7))
        yield key >> 3, value


def message(data):
    """Lists of values, by field"""
    found = collections.defaultdict(list)
    for field, value in fields(data):
        found[field].append(value)
    return found


class Pprof:
    def __init__(self, path):
        with gzip.open(path) as file:
            top = message(file.read())
        self.strings = [one.decode("ascii") for one in top[STRING]]
        if self.strings[0] or len(set(self.strings)) != len(self.strings):
            sys.exit("strings: the first is not empty, or one is there twice")
        functions = {m[1][0]: self.strings[m[2][0]] for m in map(message, top[FUNCTION])}
        self.locations = {}
        for location in map(message, top[LOCATION]):
            line, = map(message, location[4])
            self.locations[location[1][0]] = functions[line[1][0]]
        types = [tuple(self.strings[m[i][0]] for i in (1, 2)) for m in map(message, top[SAMPLE_TYPE])]
        if types != [(value, "nanoseconds") for value in VALUES]:
            sys.exit("sample types: %s" % types)
        self.period, = top[PERIOD]
        self.duration, = top[DURATION]
        self.samples = [self.sample(message(one)) for one in top[SAMPLE]]

    def sample(self, sample):
        """Labels, frames, which value it has, and that"""
        labels = {}
        for label in map(message, sample[3]):
            labels[self.strings[label[1][0]]] = self.strings[label[2][0]]
        values = dict(zip(VALUES, sample[2], strict=True))
        (value, ns), = ((value, ns) for value, ns in values.items() if ns) if any(sample[2]) else [("cpu", 0)]
        return labels, [self.locations[one] for one in reversed(sample[1])], value, ns


def sums(pprof, path, levels):
    with open(path, encoding="ascii") as file:
        report = json.load(file)
    measurement = report["measurement"]
    for what, found in ("duration_ns", pprof.duration), ("period_ns", pprof.period):
        if measurement[what] != found:
            sys.exit("%s: %d and not %d" % (what, found, measurement[what]))
    several = in_parts(report["levels"])
    found, wanted = collections.Counter(), collections.Counter()
    for labels, _, value, ns in pprof.samples:
        found[labels["level"], labels.get("vm"), labels.get("vcpu"), value] += ns
    for table in report["levels"]:
        level, vm, vcpu = table["level"], table.get("vm"), table.get("vcpu")
        if level == "vm" and vm not in several and "vcpu" in levels:
            level, vcpu = "vcpu", 0
        if level not in levels:
            continue
        for row in table["rows"]:
            wanted[level, vm, None if vcpu is None else str(vcpu),
                   VALUE_OF_CLASS.get(row["class"], "other")] += row["time_ns"]
    if {key[0] for key in wanted} != set(levels):
        sys.exit("not all of these levels are in the report: %s" % levels)
    for key in sorted(found | wanted, key=str):
        if found[key] != wanted[key]:
            print("%s: %d and not %d ns" % (key, found[key], wanted[key]))
    return found != wanted


def main():
    pprof = Pprof(sys.argv[1])
    if sys.argv[2] == "sums":
        return sums(pprof, sys.argv[3], sys.argv[4:] or ["host", "vcpu"])
    if sys.argv[2] == "cgroups":
        print("\n".join(sorted({labels["cgroup"] for labels, *_ in pprof.samples if "cgroup" in labels})))
        return 0
    for labels, frames, value, ns in pprof.samples:
        print("%s %s: %s %d" % (" ".join(labels.get(one, "-") for one in LABELS), value,
                                ";".join(frames), ns))
    return 0


sys.exit(main())
