#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a page has found when it tried itself (#check in its address), out of what a browser dumps of it.

usage: page-figures.py DOM                              prints its checks, as TAP
       page-figures.py DOM REPORT TRACE FOLDED WINDOW...   compares its figures

REPORT is the JSON of perf kvm unified report, TRACE and FOLDED are what export has written, and each
WINDOW is FOLDED of a part of the time. Prints what is not the same, and exits with 1 then.
"""

import collections
import decimal
import html
import json
import re
import sys

# As the time line calls what a CPU did
HOST_STATES = {"swapper": "idle", "lost": "lost", "unknown": "unknown"}


def written(path):
    """Lines of the check"""
    with open(path, encoding="utf-8") as file:
        found = re.search(r'<pre id="check"[^>]*>(.*?)</pre>', file.read(), re.DOTALL)
    if not found or not found[1]:
        sys.exit("%s: the page has not checked itself" % path)
    return html.unescape(found[1]).split("\n")


def figures(lines):
    """{name: [fields]} of lines of JSON with tabs between them"""
    found = collections.defaultdict(list)
    for line in lines:
        if line.startswith('"'):
            name, *fields = [json.loads(field) for field in line.split("\t")]
            found[name].append(fields)
    return found


def bars_of(report):
    """{(VM, class): ns}"""
    return {(level.get("vm", ""), name): ns for level in report["levels"] if level["level"] != "vcpu"
            for name, ns in level["classes_ns"].items() if ns}


def line_of(trace):
    """{(VM, track, state): ns}"""
    processes, threads, found = {}, {}, collections.Counter()
    for event in trace["traceEvents"]:
        if event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        if event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
    for event in trace["traceEvents"]:
        if event["ph"] != "X":
            continue
        vm, state = processes[event["pid"]], event["name"]
        if vm == "host" and event["pid"] == 1:
            vm = ""
            vcpu = re.fullmatch(r".* vCPU \d+", state)
            state = HOST_STATES.get(state, "guest" if vcpu else "task")
        found[vm, threads[event["pid"], event["tid"]], state] += int(event["dur"] * 1000)
    return dict(found)


def stacks_of(path):
    """[(frames, ns)]"""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").rpartition(" ") for line in file if line.strip()]
    return [(stack.split(";"), int(ns)) for stack, _, ns in lines]


def flames_of(stacks):
    """{what: ns}, as the page calls them"""
    found = collections.Counter()
    for frames, ns in stacks:
        found["all: the CPUs of the host, and the vCPUs"] += ns
        if frames[0] == "[host]":
            found["host"] += ns
        else:
            found[frames[0]] += ns
            found["%s, %s" % (frames[0], frames[1])] += ns
    return dict(found)


def functions_of(stacks):
    """{function: (own ns, ns with callees)}"""
    own, total = collections.Counter(), collections.Counter()
    for frames, ns in stacks:
        # VM, vCPU and process, or host and process, are no functions.
        names = frames[2 if frames[0] == "[host]" else 3:] or frames[-1:]
        if names[-1].startswith("("):
            names[-1] = "%s %s" % (frames[-2], names[-1])
        own[names[-1]] += ns
        for name in set(names):
            total[name] += ns
    return {name: (own[name], total[name]) for name in total}


def differences(what, found, wanted):
    for key in sorted(set(found) | set(wanted), key=str):
        if found.get(key) != wanted.get(key):
            yield "%s: %s: %s and not %s" % (what, key, found.get(key), wanted.get(key))


def compare(found, report, trace, folded, windows):
    with open(report, encoding="utf-8") as file:
        yield from differences("bar", {(vm, name): ns for vm, name, ns in found["bar"]}, bars_of(json.load(file)))
    with open(trace, encoding="utf-8") as file:
        wanted = line_of(json.load(file, parse_float=decimal.Decimal))
    yield from differences("time line", {tuple(key): ns for *key, ns in found["line"]}, wanted)
    stacks = stacks_of(folded)
    yield from differences("flame graph", dict(found["flame"]), flames_of(stacks))
    wanted, shown = functions_of(stacks), {name: (own, total) for name, own, total in found["function"]}
    yield from differences("function", shown, {name: wanted.get(name) for name in shown})
    yield from differences("window", dict(found["window"]),
                           {i: sum(ns for _, ns in stacks_of(path)) for i, path in enumerate(windows)})
    for name in ("bar", "line", "flame", "function", "window"):
        if not found[name]:
            yield "no figures of %s" % name


def main():
    lines = written(sys.argv[1])
    if len(sys.argv) == 2:
        print("\n".join(line for line in lines if not line.startswith('"')))
        return
    wrong = list(compare(figures(lines), *sys.argv[2:5], sys.argv[5:]))
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
