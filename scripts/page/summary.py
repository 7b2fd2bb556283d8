# SPDX-License-Identifier: GPL-2.0
"""Where the time went, out of perf kvm unified report --format json, and what was measured, out of
its --header-only: what the first screen of a page has."""

import collections
import json

from names import cut

SCHEMA = "perf-kvm-unified-report"
# How many of those who have stolen most from a VM are named, and characters of a name: fewer where
# that has more than so many bytes of JSON
AMOUNTS = ((5, 200), (3, 50), (1, 20))
LIMIT = 900000
NAME = AMOUNTS[0][1]
# VMs with a bar: those of the report's overview that are first, which are those that waited most
MOST_VMS = 1000
MEASUREMENT = ("start_ns", "duration_ns", "zero_ns", "event", "cpus", "kernel", "mode",
               "mode_reason", "idle_known", "attribution", "selection", "lost", "lost_records",
               "timeline_lost")
HEADER = {"hostname": "host", "captured on": "date"}


def of_header(lines):
    """{what: value} of the lines that the page has"""
    found = {}
    for line in lines:
        name, colon, value = line.lstrip("# ").partition(":")
        if colon and name.strip() in HEADER:
            found[HEADER[name.strip()]] = cut(value.strip(), NAME)
    return found


def bar(level, name):
    classes = collections.Counter()
    for what, ns in level["classes_ns"].items():
        if ns:
            classes[cut(what, name)] += ns
    return {"vm": cut(level.get("vm", ""), name), "host": level["level"] == "host",
            "time_ns": level["time_ns"], "classes_ns": classes}


def thief(function):
    """"[steal] (on task perf, pid 7)" is what perf calls a row of steal: who it is"""
    if function.startswith("[steal] (") and function.endswith(")"):
        return function[len("[steal] ("):-1].removeprefix("on ")
    return function


def thieves(level, most, name):
    """[[name, ns]] of those who have stolen most, and the ns of all others"""
    rows = [(thief(row["function"]), row["time_ns"]) for row in level["rows"]
            if row["class"] == "steal"]
    rows.sort(key=lambda row: -row[1])
    return [[cut(who, name), ns] for who, ns in rows[:most]], sum(ns for _, ns in rows[most:])


def bars_of(levels, vcpus, most, name):
    """vcpus: how many a VM has"""
    bars = []
    for level in levels:
        one = bar(level, name)
        if level["level"] == "vm":
            one["vcpus"] = vcpus.get(level["vm"])
            one["thieves"], one["other_thieves_ns"] = thieves(level, most, name)
        bars.append(one)
    return bars


def of_report(report):
    if report.get("schema") != SCHEMA:
        raise ValueError("not a report of perf kvm unified")
    measurement = report["measurement"]
    facts = {name: measurement[name] for name in MEASUREMENT if name in measurement}
    vcpus = {vm["vm"]: vm["vcpus"] for vm in report["overview"]}
    order = {name: number for number, name in enumerate(vcpus)}
    levels = [level for level in report["levels"] if level["level"] in ("host", "vm")]
    levels.sort(key=lambda level: (level["level"] != "host", order.get(level.get("vm"), len(order))))
    for amounts in AMOUNTS:
        bars = bars_of(levels[:MOST_VMS + 1], vcpus, *amounts)
        if len(json.dumps(bars)) <= LIMIT:
            break
    return {"measurement": {name: cut(value, NAME) if isinstance(value, str) else value
                            for name, value in facts.items()},
            "bars": bars, "left_out": len(levels[MOST_VMS + 1:])}
