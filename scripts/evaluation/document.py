#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write down what `evaluate.py find` has found: a document, and a directory of plots beside it.

usage: document.py FIGURES.json DOCUMENT.md [BENCH.json]

The plots go to the directory of the document's name without .md, and so do figures.json and
bench.json, which they and the tables are made from. BENCH.json is what `make bench` has found;
without it, the section of that is what it was: of the bench.json that is there, if one is.
"""

import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import plot  # noqa: E402 # where it is, is said above

ABOUT = """\
Written by `make evaluation`, from runs in the lab, which emulates a host and its guests: no
figure here is of hardware. The lab has a virtual clock: while a CPU is busy, an instruction of
host or guest takes 1 ns (overhead, database server) or 4 ns (all else), and nothing else takes
any time; while it is idle, the clock follows the real one. So what is measured of busy CPUs does
not depend on the machine that emulates. The paper is Yamamoto et al., "Unified
Performance Profiling of an Entire Virtualized Environment" (IJNC 6(1), 2016); its figures are
of one machine of 2009, and what is to be compared are the properties. Unless something else is
said, a sample is taken every 0.997 ms (packets: 0.4985 ms), so that samples are not in step with
the ticks. The emulator is QEMU with a correction of this project's to how it delivers interrupts
(scripts/lab/emulator-fix.c); a lab in which a guest hangs is booted again, and that is counted."""

ABOUT_BENCH = """\
The last section is by `make bench`: without the lab, on a real clock, and of one machine."""


def cell(value):
    if value is None:
        return "–"
    if isinstance(value, float):
        digits = 0 if abs(value) >= 1000 else 3 if abs(value) < 1 else 2
        return "%.*f" % (digits, round(value, digits) or 0)
    return str(value).replace("|", "\\|")


def table(one):
    lines = ["", one["caption"] + ":", "",
             "| " + " | ".join(cell(column) for column in one["columns"]) + " |",
             "|" + "|".join(" --- " if i == 0 else " ---: "
                            for i in range(len(one["columns"]))) + "|"]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in one["rows"]]
    return lines


def figure(prop, what):
    value = prop[what]
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, float):
        return "%.3f" % value
    return str(value)


def properties(experiment):
    lines = ["", "| property | figure | limit | holds |", "| --- | ---: | ---: | :---: |"]
    for prop in experiment["properties"]:
        lines.append("| %s | %s | %s %s | %s |" % (
            cell(prop["what"]), (figure(prop, "figure") + " " + prop["unit"]).strip(),
            prop["relation"], figure(prop, "limit"), "yes" if prop["holds"] else "**no**"))
    return lines


def verdict(experiment):
    """What the properties say, whatever the experiment was expected to find."""
    bad = [prop["what"] for prop in experiment["properties"] if not prop["holds"]]
    if not bad:
        return "**Holds.**"
    return "**Does not hold:** %s. What follows was written of runs in which it does." % \
        "; ".join(bad)


def pictures(experiment, directory, name_of_it):
    lines = []
    for i, one in enumerate(experiment["plots"]):
        name = "%s-%d.svg" % (experiment["name"].replace("_", "-"), i + 1)
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(plot.bars(one))
        lines += ["", "![%s](%s/%s)" % (one["title"], name_of_it, name)]
    return lines


def summary(experiments):
    held = [prop["holds"] for one in experiments for prop in one["properties"]]
    lines = ["%d of %d properties hold." % (sum(held), len(held)), "",
             "| what | after | properties | hold |", "| --- | --- | ---: | ---: |"]
    for one in experiments:
        lines.append("| %s | %s | %d | %d |" % (
            cell(one["title"]), cell(one["paper"]), len(one["properties"]),
            sum(prop["holds"] for prop in one["properties"])))
    return lines


def section(one, directory, name_of_it, versions=None):
    lines = ["", "## %s (%s)" % (one["title"], one["paper"]), "", one["about"]]
    if versions:
        lines += ["", "Of: %s." % "; ".join(versions)]
    for item in one["tables"]:
        lines += table(item)
    lines += pictures(one, directory, name_of_it)
    lines += properties(one)
    lines += ["", verdict(one)]
    for remark in one["remarks"]:
        lines += ["", remark]
    return lines


def document(found, bench, directory, name_of_it):
    lines = ["# Evaluation", "", ABOUT, ""]
    if bench["experiments"]:
        lines += [ABOUT_BENCH, ""]
    lines += ["Versions: %s." % "; ".join(found["versions"]), ""]
    lines += summary(found["experiments"] + bench["experiments"])
    for one in found["experiments"]:
        lines += section(one, directory, name_of_it)
    for one in bench["experiments"]:
        lines += section(one, directory, name_of_it, bench["versions"])
    return lines


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    path = sys.argv[2]
    directory = path[:-len(".md")]
    new = directory + ".new"
    kept = {"figures.json": read(sys.argv[1])}
    bench = sys.argv[3] if len(sys.argv) > 3 else os.path.join(directory, "bench.json")
    if len(sys.argv) > 3 or os.path.exists(bench):
        kept["bench.json"] = read(bench)
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)

    for name, text in kept.items():
        with open(os.path.join(new, name), "w", encoding="ascii") as file:
            file.write(text)
    lines = document(json.loads(kept["figures.json"]),
                     json.loads(kept.get("bench.json", '{"experiments": []}')),
                     new, os.path.basename(directory))
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    # Only now, when there is all of it.
    shutil.rmtree(directory, ignore_errors=True)
    os.replace(new, directory)
    os.replace(path + ".new", path)


main()
