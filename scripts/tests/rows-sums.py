#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that rows of perf kvm unified export have the time of a report in JSON.

usage: rows-sums.py ROWS JSON

Both are of the same profile. Each line is a row such as scripts/fleet/load.py takes, its members in
their order there. The host and each vCPU have the same ns in both, and so has in these each class,
and all code of each function, module and process. Prints what is not so, and exits with 1 then.
"""

import collections
import json
import os
import sys

sys.dont_write_bytecode = True
for folder in "fleet", "lab":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", folder))
import rows as fleet_rows  # noqa: E402 # where they are, is said above
from report import vcpus_of  # noqa: E402

# Others are named after who had the CPU, and that by how many of a name there are in a table.
CODE = ("USER", "OS", "IDLE")


def fail(*what):
    print(*what)
    sys.exit(1)


def read_rows(path):
    rows = []
    with open(path, "rb") as file:
        for line in file:
            try:
                row = fleet_rows.parse(line)
            except fleet_rows.BadRow as error:
                fail("%s:" % error, line)
            if tuple(row) != fleet_rows.MEMBERS:
                fail("not in this order:", line)
            if not row["ns"]:
                fail("no time:", line)
            rows.append(row)
    return rows


def code_of(row, process):
    return row["class"], row["function"], row["module"], row.get(process, ""), row.get("pid", -1)


def compare(what, ours, report):
    for key in sorted(ours | report, key=str):
        if ours[key] != report[key]:
            fail("%s, %s: %d and not %d ns" % (what, key, ours[key], report[key]))


def check_level(level, rows):
    what = " ".join(str(level[key]) for key in ("level", "vm", "vcpu") if key in level)
    classes, ours, report = collections.Counter(), collections.Counter(), collections.Counter()
    for row in rows:
        classes[row["class"]] += row["ns"]
        if row["class"] in CODE and row["build_id"]:
            ours[code_of(row, "process")] += row["ns"]
    if sum(classes.values()) != level["time_ns"]:
        fail("%s: %d and not %d ns" % (what, sum(classes.values()), level["time_ns"]))
    compare(what, classes, collections.Counter(
        {name: ns for name, ns in level["classes_ns"].items() if ns}))
    for row in level["rows"]:
        report[code_of(row, "comm")] += row["time_ns"]
    compare(what, ours, collections.Counter({key: report[key] for key in ours}))
    return len(ours)


def main():
    rows = read_rows(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        levels = json.load(file)["levels"]
    seen = 0
    hosts = [("", -1, level) for level in levels if level["level"] == "host"]
    for vm, vcpu, level in hosts + list(vcpus_of(levels)):
        of_level = [row for row in rows if (row["vm"], row["vcpu"]) == (vm, vcpu)]
        seen += len(of_level)
        if not check_level(level, of_level):
            fail("no code in", level["level"])
    if seen != len(rows):
        fail("%d of %d rows are of no level" % (len(rows) - seen, len(rows)))


main()
