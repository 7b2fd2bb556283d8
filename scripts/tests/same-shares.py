#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""same-shares.py ONE TWO VM: hold two reports in JSON against each other.

Prints for each function of that VM its share of all that the guest executed in both, percent, and how
far these are apart, the farthest first: those of a percent at least in one of them. How much of a
VM's time the host takes for exits, and for recording them, differs from kernel to kernel.
"""

import collections
import json
import sys

LEAST = 1
# What the guest executes
CODE = ("USER", "OS")


def shares_of(path, name):
    """By class and function"""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    level = next(level for level in report["levels"]
                 if level["level"] == "vm" and level["vm"] == name)
    found = collections.Counter()
    for row in level["rows"]:
        if row["class"] in CODE:
            found[row["class"] + " " + row["function"]] += row["time_ns"]
    total = sum(found.values())
    return {what: 100 * ns / total for what, ns in found.items()}


def main(one, two, name):
    """Prints the lines."""
    shares = shares_of(one, name), shares_of(two, name)
    lines = [(abs(shares[0].get(what, 0) - shares[1].get(what, 0)), shares[0].get(what, 0),
              shares[1].get(what, 0), what) for what in set(shares[0]) | set(shares[1])]
    for line in sorted(lines, reverse=True):
        if max(line[1:3]) >= LEAST:
            print("%.2f %.2f %.2f %s" % line)


main(*sys.argv[1:])
