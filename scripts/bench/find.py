#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Hold what run.py has measured against what it should be, and write that down.

usage: find.py ROWS.json [--versions TEXT] [--quick] --output BENCH.json

BENCH.json is for `properties` of scripts/evaluation/evaluate.py and for scripts/evaluation/document.py.
TEXT: what was run, on what, a line each. Prints which properties are not looked at, as nothing is
measured that they are about.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../evaluation"))
from experiment import Finding, write_findings  # noqa: E402 # where it is, is said above

NAME = "large_profiles"
TITLE = "Reading large profiles"
OF = "by `make bench`, on a real clock"
ABOUT = """\
How long `perf kvm unified report --stdio` takes, and how much memory of its own, beside `perf \
report --stdio`. The profiles are made of the demo's (`make demo`): its samples are repeated on \
the clock, and then there are more vCPUs, tasks or events of the vCPU's time line in them. Both \
read the same file, in turns; figures are medians of as many runs as is said. Where it is said how much a \
record's CPU time grows, the larger and the smaller profile were read in turns, too. The clock is a real one here, and so the figures are of one machine, and \
differ a little from run to run. Memory is private memory, without files that are mapped, such as \
the profile. The first screen is that of the report in a terminal, from the command's start to the \
menu of its tables."""

MILLION = 1000000
SECOND = 1000000000
COLUMNS = ["file, MB", "report, s", "perf report, s", "times as long", "report, MiB",
           "perf report, MiB", "first screen, s", "runs"]


def cells(row):
    ours, other = row["unified"], row["report"]
    return [row["bytes"] / MILLION, ours["s"], other["s"], ours["ratio"], ours["mib"],
            other["mib"], row["first_screen"], row["times"]]


def sample_ns(row):
    return SECOND * row["unified"]["cpu_s"] / row["samples"]


def describe(finding, found):
    clock, shapes = found["clock"], found["shapes"]
    finding.table("Samples of two CPUs, one of which has a VM's vCPU",
                  ["million samples"] + COLUMNS + ["report, CPU ns a sample"],
                  [["%g" % row["millions"]] + cells(row) + [sample_ns(row)] for row in clock])
    if shapes:
        finding.table("More of something else", ["", "million samples", "million events"] + COLUMNS,
                      [[row["shape"], row["samples"] / MILLION, row["events"] / MILLION] +
                       cells(row) for row in shapes])
    finding.bars("Time of a report, by million samples", "s",
                 ["%g" % row["millions"] for row in clock],
                 {"perf kvm unified report": [row["unified"]["s"] for row in clock],
                  "perf report": [row["report"]["s"] for row in clock]}, log=True)


# What has to hold: of profiles of so many million samples, at most how much, of what, and what it
# is of their rows
LIMITS = [
    ([16], 0.7, "16 million samples: time, by that of perf report (the aim: 0.5)", "times",
     lambda row: row["unified"]["ratio"]),
    ([0.1, 16], 64, "16 million samples: private memory, more than for 0.1 million", "MiB",
     lambda small, large: large["unified"]["mib"] - small["unified"]["mib"]),
    ([4, 64], 10, "64 million samples: CPU time of a record, more than that of one of 4 million", "%",
     lambda _, large: 100 * (large["growth"]["unified"] - 1)),
    ([4], 3, "4 million samples: the first screen", "s", lambda row: row["first_screen"]),
]
# The same of profiles of so many CPUs. Records are samples and events. What one costs also perf report
# grows with what there is of memory: its caches are the machine's.
FIXED_MIB, MIB_OF_CPU = 64, 2
WIDE_LIMITS = [
    ([64], 1.5, "64 CPUs: time, by that of perf report (the aim: 1)", "times",
     lambda row: row["unified"]["ratio"]),
    ([256], 1.5, "256 CPUs: time, by that of perf report (the aim: 1)", "times",
     lambda row: row["unified"]["ratio"]),
    ([64, 256], 10, "256 CPUs: CPU time of a record by that of one of 64 CPUs, more than with perf report",
     "%", lambda _, wide: 100 * (wide["growth"]["by_report"] - 1)),
    ([256], FIXED_MIB + 256 * MIB_OF_CPU,
     "256 CPUs: private memory (the aim: 128)", "MiB", lambda row: row["unified"]["mib"]),
]
SWITCHES = "200,000 switches among 20,000 tasks, by the unit test"
MOST_SWITCHES_S = 0.5


def hold_limits(finding, limits, rows):
    for sizes, limit, what, unit, figure in limits:
        if all(size in rows for size in sizes):
            finding.at_most(limit, what, figure(*(rows[size] for size in sizes)), unit)
        else:
            yield what


def hold(finding, found):
    """Yields what is not looked at."""
    rows = {row["millions"]: row for row in found["clock"]}
    yield from hold_limits(finding, LIMITS, rows)
    wide = {row["cpus"]: row for row in found["shapes"] if row.get("cpus")}
    yield from hold_limits(finding, WIDE_LIMITS, wide)
    if "switches_s" in found:
        finding.at_most(MOST_SWITCHES_S, SWITCHES, found["switches_s"], "s")
    else:
        yield SWITCHES


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("rows")
    parser.add_argument("--versions", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()

    with open(args.rows, encoding="ascii") as file:
        found = json.load(file)
    finding = Finding(TITLE, OF, ABOUT)
    describe(finding, found)
    for what in hold(finding, found):
        print("not looked at: " + what)
    write_findings(args.output, {NAME: finding}, args.versions, args.quick)


main()
