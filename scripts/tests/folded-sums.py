#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that stacks of perf kvm unified export have the time of a report in JSON.

usage: folded-sums.py FOLDED JSON

Both are of the same part of a profile. Each line is frames and one number, no stack is there
twice, and most time comes first. The host, each VM and each vCPU have the same ns in both, and so
have in these each function, each state that is no code, and each process. Prints
what is not so, and exits with 1 then.
"""

import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lab"))
from report import in_parts  # noqa: E402 # where it is, is said above

LINE = re.compile(r"([^;]+(?:;[^;]+)*) ([0-9]+)")
TWO_NUMBERS = re.compile(r" ([0-9][0-9.]*)$")
HOST = "[host]"
KERNEL = "_[k]"


def fail(*what):
    print(*what)
    sys.exit(1)


def read_folded(path):
    """Pairs of frames and ns"""
    lines = []
    with open(path, encoding="ascii") as file:
        for line in file.read().splitlines():
            match = LINE.fullmatch(line)
            if not match or TWO_NUMBERS.search(match[1]):
                fail("not frames and one number:", line)
            lines.append((tuple(match[1].split(";")), int(match[2])))
    if len({frames for frames, _ in lines}) != len(lines):
        fail("a stack is there twice")
    if lines != sorted(lines, key=lambda one: (-one[1], ";".join(one[0]))):
        fail("most time does not come first")
    return lines


def frame(name):
    return name.replace(";", ":")


def leaf_of_row(row):
    """The innermost frame, and that of the process or None"""
    name, module = row["function"], row["module"]
    process = None
    if "pid" in row:
        process = "%s-%d" % (row["comm"], row["pid"])
    if not module or module.startswith("("):
        # No code: what is known of a state is inside of it.
        return frame(name.partition("] ")[2] or name), process
    if name == "[unknown]" and module != name:
        name = "[unknown] (%s)" % module
    kernel = row["class"] in ("OS", "IDLE")
    return frame(name) + (KERNEL if kernel else ""), process


def compare(what, folded, report):
    """ns by name; those of the report may be of names that end with a number"""
    report = collections.Counter(
        {TWO_NUMBERS.sub(r"_\1", name): ns for name, ns in report.items()})
    if folded == report:
        return
    for name in sorted(folded | report):
        if folded[name] != report[name]:
            fail("%s, %s: %d and not %d ns" % (what, name, folded[name], report[name]))


def check_level(level, lines, total_only):
    """@lines: of its stacks alone"""
    what = " ".join(str(level[key]) for key in ("level", "vm", "vcpu") if key in level)
    total = sum(ns for _, ns in lines)
    if total != level["time_ns"] - level["hidden_ns"]:
        fail("%s: %d and not %d ns" % (what, total, level["time_ns"] - level["hidden_ns"]))
    if total_only:
        return
    folded, report, processes = collections.Counter(), collections.Counter(), set()
    for row in level["rows"]:
        leaf, process = leaf_of_row(row)
        report[leaf] += row["time_ns"]
        if process:
            report[process] += row["time_ns"]
            processes.add(process)
    for frames, ns in lines:
        folded[frames[-1]] += ns
        # After the host, the VM, or its vCPU
        folded.update({one: ns for one in frames[1:3] if one in processes})
    compare(what, folded, report)


def main():
    lines = read_folded(sys.argv[1])
    with open(sys.argv[2], encoding="ascii") as file:
        levels = json.load(file)["levels"]
    owners = collections.defaultdict(list)
    for frames, ns in lines:
        owners[frames[0]].append((frames, ns))
        if frames[1].startswith("vCPU "):
            owners[frames[0], int(frames[1].split()[1])].append((frames, ns))
    several = in_parts(levels)
    for level in levels:
        key = HOST if level["level"] == "host" else level["vm"]
        if level["level"] == "vcpu":
            key = key, level["vcpu"]
        # How tasks are called that had a CPU depends on how many there are in a table.
        total_only = key in several and any(frames[1].startswith("vCPU ") for frames, _ in owners[key])
        # vCPUs are not told apart by --level vm.
        if level["level"] != "vcpu" or key in owners:
            check_level(level, owners[key], total_only)
    unknown = {frames[0] for frames, _ in lines} - {HOST} - {one.get("vm") for one in levels}
    if unknown:
        fail("of no VM:", unknown)


main()
