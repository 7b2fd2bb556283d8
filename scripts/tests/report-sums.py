#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that a report in JSON adds up.

usage: report-sums.py FILE

In each level, the rows are all of the time, in ns and in samples, and so are the
classes; a VM has what its vCPUs have; and a level's time is the measurement's, for
each CPU or vCPU once. The overview has what the VMs' levels have, and what VMs cost the
host is the host's time. Intervals, and waits for a CPU, have what the overview has, and no thief
has more than was stolen, and one that is several tasks has what these have; one of all VMs has what
he has of each. Prints what is not
so, and exits with 1 then.
"""

import collections
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lab"))
from report import GROUPS  # noqa: E402 # where it is, is said above

# What stands still, by how it is told in stalls, and the class that it is
WAITS = {("stolen", "wake-up"): "steal", ("throttled",): "throttled", ("stopped",): "stopped"}


def check(what, left, right):
    if left != right:
        print("%s: %s is not %s" % (what, left, right))
        sys.exit(1)


def check_level(name, level, period):
    rows = level["rows"]
    check(name + ", ns of the rows", sum(r["time_ns"] for r in rows) + level["hidden_ns"],
          level["time_ns"])
    if not level["hidden_ns"]:
        check(name + ", samples of the rows", sum(r["samples"] for r in rows),
              level["samples"])
    check(name + ", classes", sum(level["classes_ns"].values()), level["time_ns"])
    check(name + ", samples", level["samples"],
          (level["time_ns"] + period // 2) // period)
    if "taken_ns" in level:
        check(name + ", taken", sum(level["classes_ns"][one] for one in GROUPS["taken"]),
              level["taken_ns"])
    if "steal_by_exit_reason" in level:
        check(name + ", exit reasons",
              sum(r["time_ns"] for r in level["steal_by_exit_reason"]),
              level["taken_ns"])


def check_tasks(name, thief):
    """A thief that is several tasks of one name has what these have, most first"""
    tasks = thief.get("tasks")
    if tasks is None:
        return
    check(name + ", its tasks", sum(one["time_ns"] for one in tasks) +
          thief.get("more_tasks_ns", 0), thief["time_ns"])
    check(name + ", most first", sorted(tasks, key=lambda one: -one["time_ns"]), tasks)
    check(name + ", tasks", len(tasks) + thief.get("more_tasks", 0) > 1, True)
    check(name + ", at most", len(tasks) <= 8, True)
    check(name + ", more", "more_tasks" in thief and len(tasks) < 8, False)
    check(name + ", is no task", "pid" in thief, False)


def check_all_thieves(report):
    """Who has stolen from all VMs has what he has of each, most first"""
    sums, vms = collections.Counter(), collections.Counter()
    for line in report["overview"]:
        own = {"its other vCPUs": "own vCPUs of VM " + line["vm"],
               "its VMM": "own VMM of VM " + line["vm"]}
        for one in line["thieves"]:
            name = own.get(one["name"], one["name"])
            sums[name] += one["time_ns"]
            vms[name] += 1
    thieves = report["thieves"]
    check("thieves of all", {one["name"]: one["time_ns"] for one in thieves}, dict(sums))
    check("from so many VMs", {one["name"]: one["vms"] for one in thieves}, dict(vms))
    check("most first", sorted(thieves, key=lambda one: -one["time_ns"]), thieves)
    for one in thieves:
        check("%s, one task or several" % one["name"], ("pid" in one) != ("tasks" in one),
              one["name"].startswith("task "))
        check_tasks("%s of all" % one["name"], one)


def check_moments(report, line):
    """The time of a VM by interval, if that was asked for, and how long its vCPUs have waited"""
    name = line["vm"]
    parts = [one for one in report.get("intervals", ()) if one["vm"] == name]
    for kind, time_ns in line["classes_ns"].items():
        if parts:
            check("intervals of %s, %s" % (name, kind),
                  sum(one["classes_ns"][kind] for one in parts), time_ns)
    for one in parts:
        what = "interval of %s at %s" % (name, one["from_s"])
        check(what, sum(one["classes_ns"].values()), one["time_ns"])
        check(what + ", thief", one.get("thief_ns", 0) <= one["classes_ns"]["steal"], True)
        check(what + ", has one", "thief" in one, one["classes_ns"]["steal"] > 0)
    for of_vcpus in (False, True):
        waits = [one for one in report["stalls"]
                 if one["vm"] == name and ("vcpu" in one) == of_vcpus]
        for kinds in WAITS:
            check("%s of %s" % (", ".join(kinds), name),
                  sum(one["time_ns"] for one in waits if one["waits"] in kinds),
                  line["classes_ns"][WAITS[kinds]])
        check("nothing else of " + name, [one for one in waits if
              one["waits"] not in sum(WAITS, ())], [])
        for one in waits:
            check("the longest of " + name, one.get("longest_ns", 0) <= one["time_ns"], True)
            check("its thief", one.get("thief_ns", 0) <= one.get("longest_ns", 0), True)
            check("quantiles of " + name, one["p50_ns"] <= one["p99_ns"] <=
                  one.get("longest_ns", 0), True)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        report = json.load(file)
    check("schema", (report["schema"], report["version"]), ("perf-kvm-unified-report", 4))
    duration = report["measurement"]["duration_ns"]
    period = report["measurement"]["period_ns"]
    levels = report["levels"]
    check("events by state", sum(report["measurement"]["timeline_states"].values())
          <= report["measurement"]["timeline_events"], True)

    for level in levels:
        name = " ".join(str(level[k]) for k in ("level", "vm", "vcpu") if k in level)
        check_level(name, level, period)
        if level["level"] == "host":
            check(name, level["time_ns"], duration * report["measurement"]["cpus"])
        if level["level"] == "vcpu":
            check(name, level["time_ns"], duration)
        if level["level"] == "vm":
            vcpus = [l for l in levels if l["level"] == "vcpu" and l["vm"] == level["vm"]]
            guest = [g for g in report["guests"] if g["name"] == level["vm"]][0]
            check(name, level["time_ns"], duration * guest["vcpus"])
            if vcpus:
                check(name + ", its vCPUs", sum(v["time_ns"] for v in vcpus),
                      level["time_ns"])
    by_vm = {level["vm"]: level for level in levels if level["level"] == "vm"}
    for level in levels:
        if level["level"] == "guests":
            for kind, time_ns in level["classes_ns"].items():
                check("all guests, " + kind, time_ns,
                      sum(line["classes_ns"][kind] for line in report["overview"]))
    for line in report["overview"]:
        level = by_vm.get(line["vm"])
        if level:
            check("overview of " + line["vm"], line["classes_ns"], level["classes_ns"])
        check("thieves of " + line["vm"], sum(one["time_ns"] for one in line["thieves"]),
              line["classes_ns"]["steal"])
        for one in line["thieves"]:
            check("%s of %s, one task or several" % (one["name"], line["vm"]),
                  ("pid" in one) != ("tasks" in one), one["name"].startswith("task "))
            check_tasks("%s of %s" % (one["name"], line["vm"]), one)
        check_moments(report, line)
    check_all_thieves(report)
    costs = report["costs"]
    for line in costs["vms"]:
        check("costs of " + line["vm"], sum(ns for what, ns in line.items()
              if what not in ("vm", "sum_ns")), line["sum_ns"])
    for level in levels:
        if level["level"] == "host":
            check("costs", sum(line["sum_ns"] for line in costs["vms"]) +
                  sum(costs["host"].values()), level["time_ns"])
    print("%d levels" % len(levels))


main()
