#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that the copies of a profile side by side (scripts/bench/widen.py) have the one's tables.

usage: same-copies.py ONE.json WIDE.json COPIES

Each VM of ONE is in WIDE so many times, and all of its levels are the same to the ns, but for pids
of the host, as are those of its vCPUs; the host has so many times the time of each class. Prints
what is not so, and exits with 1 then.
"""

import json
import re
import sys


def levels(report):
    return {(level["vm"], level.get("vcpu")): level for level in report["levels"]
            if level["level"] != "host"}


def rows_by_name(level):
    """The level, its lists in an order that does not depend on names"""
    return {key: sorted(json.dumps(row, sort_keys=True) for row in value)
            if isinstance(value, list) else value for key, value in level.items()}


def as_first(level, names, copy):
    """As the first copy has it"""
    text = re.sub(r"\bpid [0-9]+", "pid", json.dumps(level))
    for name in names if copy else ():
        text = text.replace("%s-%d" % (name, copy), name)
    return rows_by_name(json.loads(text))


def host_classes(report):
    return next(level["classes_ns"] for level in report["levels"] if level["level"] == "host")


def problems(one, wide, copies):
    names = {guest["name"] for guest in one["guests"]}
    of_one, of_wide = levels(one), levels(wide)
    if len(of_wide) != copies * len(of_one):
        yield "%d levels, and not %d" % (len(of_wide), copies * len(of_one))
    for (name, vcpu), level in of_one.items():
        for copy in range(copies):
            found = of_wide.get(("%s-%d" % (name, copy) if copy else name, vcpu))
            if not found or as_first(found, names, copy) != as_first(level, names, 0):
                yield "copy %d of %s, vCPU %s is not as the first" % (copy, name, vcpu)
    all_classes = host_classes(wide)
    for name, time in host_classes(one).items():
        if all_classes[name] != copies * time:
            yield "host, %s: %d ns, and not %d times %d" % (name, all_classes[name], copies, time)


def main():
    reports = []
    for path in sys.argv[1:3]:
        with open(path, encoding="ascii") as file:
            reports.append(json.load(file))
    found = list(problems(*reports, int(sys.argv[3])))
    print("\n".join(found))
    sys.exit(bool(found))


main()
