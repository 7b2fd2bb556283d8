#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Have the experiments find what is in the lab's results, and write it as JSON.

usage: evaluate.py scenarios [--quick] [EXPERIMENT...]
       evaluate.py find [--quick] [EXPERIMENT...] --results DIR --tree DIR --vmlinux FILE
                     --output FILE [--versions TEXT]
       evaluate.py properties --output FILE
       evaluate.py compare --output FILE OTHER-FILE

scenarios prints the lab's scenarios whose results the experiments want, a line each; --quick:
of the experiments that have a short form. --tree: where perf and the guests are; --vmlinux: the
host's kernel. TEXT: what was run, a line each. find looks at those
results, and properties prints what has been found: a line for each property, "holds" or "FAILS"
first, and ends with 1 if one fails. EXPERIMENT is a name of ORDER, all of them if there is none.
compare prints by how much the times of the virtual clock differ that two such files have, of which
programs they are if those are not the same, and ends with 1 if a time differs by more than
MOST_DIFFERENT percent.
"""

import argparse
import importlib
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from experiment import Lab, write_findings  # noqa: E402 # where it is, is said above

# The document's order.
ORDER = ["native_and_guest", "two_processes", "two_vcpus", "three_vms", "halt", "jvm",
         "overhead", "server", "packets"]

# Percent, of two runs on different machines
MOST_DIFFERENT = 0.1

# Versions that are not of a program that counts as the same or another
OF_THE_RUN = ["this project", "boots that were repeated:"]


def load(names, quick):
    experiments = {}
    for name in names or ORDER:
        if name not in ORDER:
            sys.exit("evaluate.py: there is no experiment %s (%s)" % (name, " ".join(ORDER)))
        module = importlib.import_module("experiments." + name)
        if not quick or hasattr(module, "QUICK_SCENARIOS"):
            experiments[name] = module
    if not experiments:
        sys.exit("evaluate.py: none of these has a short form: " + " ".join(names))
    return experiments


def scenarios(experiments, quick):
    wanted = []
    for module in experiments.values():
        for scenario in module.QUICK_SCENARIOS if quick else module.SCENARIOS:
            if scenario not in wanted:
                wanted.append(scenario)
    return wanted


def find(experiments, args):
    findings = {}
    with tempfile.TemporaryDirectory() as work:
        lab = Lab(args.results, args.tree, args.vmlinux, work, args.quick)
        for name, module in experiments.items():
            try:
                findings[name] = module.find(lab)
            except (ArithmeticError, LookupError, OSError, ValueError) as error:
                sys.exit("evaluation: %s: nothing can be made of what %s left: %s: %s" % (
                    name, ", ".join(scenarios({name: module}, args.quick)),
                    type(error).__name__, error))
    return findings


def say_properties(found):
    bad = 0
    for one in found["experiments"]:
        for prop in one["properties"]:
            bad += not prop["holds"]
            figure, limit = ("%.3f" % value if isinstance(value, float) else value
                             for value in (prop["figure"], prop["limit"]))
            print("%s %s: %s: %s %s, %s %s" % (
                "holds" if prop["holds"] else "FAILS", one["name"], prop["what"], figure,
                prop["unit"], prop["relation"], limit))
    print("%d properties do not hold" % bad)
    return bad


def programs(found):
    """What was run, but for this project: {name: its versions}"""
    versions = {}
    for line in found["versions"]:
        name, version = line.rsplit(" ", 1)
        if name not in OF_THE_RUN:
            versions.setdefault(name, set()).add(version)
    return versions


def compare(found, other):
    one, two = programs(found), programs(other)
    for name in sorted(one.keys() & two.keys()):
        # More of them may have been fetched, for other tests.
        if not (one[name] <= two[name] or two[name] <= one[name]):
            print("of other programs: %s %s, not %s" % (
                name, " ".join(sorted(one[name])), " ".join(sorted(two[name]))))
    one, two = ({(experiment["name"], what): ns for experiment in figures["experiments"]
                 for what, ns in experiment["virtual_ns"].items()} for figures in (found, other))
    differences = {key: 100 * abs(ns / two[key] - 1) for key, ns in one.items() if key in two}
    if not differences:
        sys.exit("evaluate.py: there are no times of the virtual clock to compare")
    for (name, what), percent in differences.items():
        print("%s: %s: %d and %d ns, %.4f %% apart" % (
            name, what, one[name, what], two[name, what], percent))
    largest = max(differences.values())
    print("%d times of the virtual clock, at most %.4f %% apart" % (len(differences), largest))
    return largest > MOST_DIFFERENT


def read(path):
    with open(path, encoding="ascii") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["scenarios", "find", "properties", "compare"])
    parser.add_argument("experiments", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results")
    parser.add_argument("--tree")
    parser.add_argument("--vmlinux")
    parser.add_argument("--output")
    parser.add_argument("--versions", default="")
    args = parser.parse_intermixed_args()

    if args.what == "properties":
        sys.exit(say_properties(read(args.output)) > 0)
    if args.what == "compare":
        if len(args.experiments) != 1:
            parser.error("compare what with what?")
        sys.exit(compare(read(args.output), read(args.experiments[0])))
    experiments = load(args.experiments, args.quick)
    if args.what == "scenarios":
        print("\n".join(scenarios(experiments, args.quick)))
        return
    write_findings(args.output, find(experiments, args), args.versions, args.quick)


main()
