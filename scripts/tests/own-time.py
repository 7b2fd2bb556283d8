#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Is a report of the part of the time that is a profile's own?

usage: own-time.py FROM UNTIL <REPORT.JSON

FROM, UNTIL: of the profile's data.window, 0 where it has an open end. A line for the host and for each
VM: its level; whether its time is that of the part, to the ns; that, ns; how much of it is lost or not known.
"""

import json
import sys


def main():
    from_, until = map(int, sys.argv[1:])
    report = json.load(sys.stdin)
    measured = report["measurement"]
    own = min(until or measured["end_ns"], measured["end_ns"]) - max(from_, measured["start_ns"])
    vcpus = {guest["name"]: guest["vcpus"] for guest in report["guests"]}
    for level in report["levels"]:
        if level["level"] in ("host", "vm"):
            times = vcpus.get(level.get("vm"), measured["cpus"])
            classes = level["classes_ns"]
            print(level["level"], level["time_ns"] == own * times, own,
                  classes["lost"] + classes["unknown"])


main()
