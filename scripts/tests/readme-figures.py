#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Look for the evaluation's figures in the text that speaks of them.

usage: readme-figures.py README FIGURES

Print each sentence that the figures make and the text does not have; exit with 1 if there is one.
"""

import json
import math
import sys

# Of an experiment's first table: what a row is "with" at a sample each ms, and the column that
# has its figure
PERIOD_MS = 1
FIGURE_COLUMNS = {"overhead": "ours, %", "server": "loss, %"}


def figure(experiment, name):
    table = experiment["tables"][0]
    column = table["columns"].index(FIGURE_COLUMNS[experiment["name"]])
    row, = (row for row in table["rows"] if row[:2] == [name, PERIOD_MS])
    return row[column]


def sentences(experiments):
    overhead = experiments["overhead"]
    host, unified, guest = (figure(overhead, name) for name in (
        "perf record -a on the host", "perf kvm unified record", "perf record -a in the guest"))
    yield (f"a guest's work takes {unified:.2f} % more instructions while the host records a "
           f"sample each ms, {host:.2f} % with `perf record -a` alone, and {guest:.2f} % with "
           "`perf record -a` in the guest")
    server = experiments["server"]
    unified, host = (figure(server, name) for name in ("perf kvm unified record", "perf record -a"))
    yield f"loses {unified:.1f} % of its throughput, and {host:.1f} % with `perf record -a`;"
    without = math.ceil(server["properties"][0]["figure"] * 10) / 10
    yield f"runs without either are within {without:.1f} % of their mean"


def main():
    readme, figures = sys.argv[1:]
    with open(figures, encoding="utf-8") as file:
        experiments = {e["name"]: e for e in json.load(file)["experiments"]}
    with open(readme, encoding="utf-8") as file:
        text = " ".join(file.read().split())
    missing = [s for s in sentences(experiments) if s not in text]
    for sentence in missing:
        print(f"{readme} does not say: {sentence}")
    return 1 if missing else 0


sys.exit(main())
