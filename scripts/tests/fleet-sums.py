#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Whether each window of rows adds up: each vCPU has its time, and the host that of its CPUs.

usage: fleet-sums.py CPUS <ROWS
"""

import collections
import json
import sys

sums, hosts, durations = collections.Counter(), collections.Counter(), {}
for line in sys.stdin:
    row = json.loads(line)
    window = row["host"], row["start"]
    durations[window] = row["duration"]
    if row["level"] == "vcpu":
        sums[window + (row["vm"], row["vcpu"])] += row["ns"]
    else:
        hosts[window] += row["ns"]
wrong = ["%s: %d" % (vcpu, ns) for vcpu, ns in sums.items() if ns != durations[vcpu[:2]]]
wrong += ["%s: %d" % (window, hosts[window]) for window, duration in durations.items()
          if hosts[window] != int(sys.argv[1]) * duration]
print("%d windows, %d vCPUs of them" % (len(durations), len(sums)), *wrong[:5], sep="\n")
sys.exit(bool(wrong) or not sums)
