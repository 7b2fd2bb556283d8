#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that what perf kvm unified export has for speedscope is the time of a report in JSON.

usage: speedscope.py FILE JSON

Both are of the same profile. Each vCPU has a profile, whose pieces add up to its time in the
report, as do those of each function that has a name, and those of each class that is one frame.
Pieces that follow each other are of different stacks. Prints what is not so, and exits with 1 then.
"""

import collections
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lab"))
from report import vcpus_of  # noqa: E402 # where it is, is said above

KERNEL = "_[k]"
STATES = {"lost": "[lost]", "halt-poll": "[halt-poll]"}


def fail(*what):
    print(*what)
    sys.exit(1)


def check_profile(profile, level, frames):
    name, samples, weights = profile["name"], profile["samples"], profile["weights"]
    if profile["type"] != "sampled" or profile["unit"] != "nanoseconds":
        fail(name, "is", profile["type"], profile["unit"])
    if len(samples) != len(weights) or min(weights) <= 0:
        fail(name, "has weights that do not fit")
    if not sum(weights) == profile["endValue"] == level["time_ns"]:
        fail(name, sum(weights), profile["endValue"], level["time_ns"])
    if any(a == b for a, b in zip(samples, samples[1:])):
        fail(name, "has pieces that go on in the next one")
    ours, report = collections.Counter(), collections.Counter()
    for sample, weight in zip(samples, weights):
        ours[frames[sample[-1]]["name"]] += weight
    for row in level["rows"]:
        if row["class"] in ("USER", "OS") and not row["function"].startswith("["):
            report[row["function"].replace(";", ":") + KERNEL * (row["class"] == "OS")] += row["time_ns"]
    for state, frame in STATES.items():
        report[frame] = level["classes_ns"].get(state, 0)
    if not report:
        fail(name, "has no functions in the report")
    for frame, ns in report.items():
        if ours[frame] != ns:
            fail("%s, %s: %d and not %d ns" % (name, frame, ours[frame], ns))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        scope = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        levels = {"%s vCPU %d" % (vm, vcpu): level
                  for vm, vcpu, level in vcpus_of(json.load(file)["levels"])}
    if {one["name"] for one in scope["profiles"]} != set(levels):
        fail([one["name"] for one in scope["profiles"]], "are not", sorted(levels))
    for profile in scope["profiles"]:
        check_profile(profile, levels[profile["name"]], scope["shared"]["frames"])


main()
