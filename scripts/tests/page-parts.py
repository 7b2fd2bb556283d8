#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the parts of scripts/page that work on data, by literal input and by chance. Prints TAP.

usage: page-parts.py
"""

import collections
import json
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "page")
sys.path.insert(0, PAGE)
import assemble  # noqa: E402 # where it is, is said above
import names  # noqa: E402
import stacks  # noqa: E402
import summary  # noqa: E402
import timeline  # noqa: E402

checks = 0


def ok(what, passed, *detail):
    global checks
    checks += 1
    print("%sok %d %s" % ("" if passed else "not ", checks, what))
    if not passed:
        print("#", *("%.300r" % (one,) for one in detail))


def raises(kind, call, *args):
    try:
        call(*args)
    except kind:
        return True
    return False


TRACE = '''{"displayTimeUnit":"ns","traceEvents":[
{"ph":"X","pid":2,"tid":1,"ts":1.000,"dur":0.300,"name":"running","args":{"cpu":1}},
{"ph":"X","pid":2,"tid":1,"ts":1.300,"dur":0.050,"name":"steal","args":{"cpu":1,"by": "task a}\\u0022"}},
{"ph":"s","id":0,"cat":"steal","name":"steal","pid":2,"tid":1,"ts":1.325},
{"ph":"X","pid":2,"tid":1,"ts":1.400,"dur":0.600,"name":"idle"},
{"ph":"X","pid":1,"tid":2,"ts":1.000,"dur":0.300,"name":"vm1 vCPU 0"},
{"ph":"X","pid":1,"tid":2,"ts":1.300,"dur":0.100,"name":"vm1 vCPU 0-77"},
{"ph":"X","pid":1,"tid":2,"ts":1.400,"dur":0.600,"name":"swapper"},
{"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"host"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name": "CPU 1"}},
{"ph":"M","pid":2,"tid":0,"name":"process_name","args":{"name": "vm1"}},
{"ph":"M","pid":2,"tid":1,"name":"thread_name","args":{"name": "vCPU 0"}}
]}
'''


def spelled(data, track):
    """[(ns, state, CPU, name)] of a track of the page; of a bin, a list of these"""
    found, items, i = [], track["items"], 0

    def one(at):
        state, cpu, name = data["keys"][items[at]]
        return (items[at + 1], data["states"][state], cpu, None if name < 0 else data["names"][name])

    while i < len(items):
        if items[i] < 0:
            end = i + 1 - 2 * items[i]
            found.append([one(at) for at in range(i + 1, end, 2)])
            i = end
        else:
            found.append(one(i))
            i += 2
    return found


def literal_timeline():
    line = timeline.Timeline()
    line.read(TRACE.splitlines(True))
    data = line.fitted()
    ok("time line: span", line.span() == (1000, 2000), line.span())
    ok("time line: nothing is merged where there is room", data["bin_ns"] == 0, data["bin_ns"])
    host, vcpu = data["tracks"]
    ok("time line: tracks have names", (host["host"], host["name"], host["id"], vcpu["vm"], vcpu["name"]) ==
       (True, "CPU 1", 1, "vm1", "vCPU 0"), data["tracks"])
    ok("time line: a vCPU's slices, a gap too", spelled(data, vcpu) == [
        (300, "running", 1, None), (50, "steal", 1, 'task a}"'), (50, "none", -1, None), (600, "idle", -1, None)],
       spelled(data, vcpu))
    ok("time line: a CPU's slices; a task that is called like a vCPU is a task", spelled(data, host) == [
        (300, "guest", -1, "vm1 vCPU 0"), (100, "task", -1, "vm1 vCPU 0-77"), (600, "idle", -1, None)],
       spelled(data, host))
    other = timeline.Timeline()
    other.read(line.replace('"ph":"X","pid":2', '"pid": 2, "ph":"X"') for line in TRACE.splitlines(True))
    ok("time line: events in another order of members", other.fitted() == data, other.data())
    overlap = ['{"ph":"X","pid":1,"tid":1,"ts":%s,"dur":1.000,"name":"a"},' % at for at in ("1.000", "1.999")]
    ok("time line: an overlap is refused", raises(ValueError, timeline.Timeline().read, overlap))
    ok("time line: none at all", timeline.Timeline().fitted()["tracks"] == [])


def bins():
    chance = random.Random(1)
    line, wanted, longest = timeline.Timeline(), collections.Counter(), collections.Counter()
    for tid in (1, 2):
        at = 5000
        for i in range(7000):
            ns = chance.choice((1, 30, 500, 4000, 70000)) * chance.randrange(1, 9)
            state = chance.choice(("running", "steal", "exit", "idle"))
            text = '"%s","args":{"cpu":%d,"by":"task %d"}' % (state, i % 64, chance.randrange(300))
            line.add(2, tid, at, ns, text)
            wanted[tid, state] += ns
            at += ns
    exact = len(json.dumps(line.data()))
    for limit in (200000, 20000, 3000):
        data = line.fitted(limit)
        found = collections.Counter()
        for tid, track in enumerate(data["tracks"], 1):
            pieces = spelled(data, track)
            for piece in pieces:
                for ns, state, _, _ in piece if isinstance(piece, list) else [piece]:
                    found[tid, state] += ns
            lengths = [sum(one[0] for one in piece) if isinstance(piece, list) else piece[0] for piece in pieces]
            longest[limit] += sum(a < data["bin_ns"] and b < data["bin_ns"] for a, b in zip(lengths, lengths[1:]))
            merged = [sum(one[0] for one in piece) for piece in pieces if isinstance(piece, list)]
            longest[limit] += sum(ns >= 2 * data["bin_ns"] for ns in merged)
        size = len(json.dumps(data, separators=(",", ":")))
        ok("bins: at most %d bytes of %d" % (limit, exact), size <= limit < exact, size)
        ok("... with the ns of each state of each track", found == wanted, found - wanted, wanted - found)
        ok("... no bin is longer than it has to be, and no two short ones follow each other",
           data["bin_ns"] > 0 and not longest[limit], longest)
    thieves = [one for track in data["tracks"] for piece in spelled(data, track) if isinstance(piece, list)
               for one in piece if one[1] == "steal" and one[3]]
    ok("bins: who has stolen most in one stays known", thieves and all(cpu >= 0 for _, _, cpu, _ in thieves), thieves)
    before, timeline.MOST_NUMBERS = timeline.MOST_NUMBERS, 1000
    line = timeline.Timeline()
    at, most = 0, 0
    for i in range(20000):
        line.add(1, 1, at, 10 + i % 7, '"task-%d"' % i)
        at += 10 + i % 7
        if i % 100 == 0:
            most = max(most, sum(track.numbers() for track in line.tracks.values()))
    timeline.MOST_NUMBERS = before
    ok("bins: what is kept while a trace is read is bounded", most < 2000, most)
    ok("... and has all of its time", sum(sum(one[0] for one in piece) if isinstance(piece, list) else piece[0]
                                          for piece in spelled(line.data(), line.data()["tracks"][0])) == at)


def sums(found):
    """ns by stack, of each window"""
    totals = []
    for times in found.times:
        total = collections.Counter()
        for node, ns in times.items():
            path = []
            while node:
                path.insert(0, found.names.list[found.nodes[node][1]])
                node = found.nodes[node][0]
            total[";".join(path)] += ns
        totals.append(total)
    return totals


def tree():
    found = stacks.Stacks()
    found.read(["a;b;c d 5\n", "a;b 7\n", "\n", "e 1\n"])
    found.read(["a;b;c d 2\n"])
    ok("stacks: as they were written", sums(found) == [{"a;b;c d": 5, "a;b": 7, "e": 1}, {"a;b;c d": 2}], sums(found))
    ok("stacks: of the page", found.fitted() == {
        "names": ["all", "a", "b", "c d", "e"], "nodes": [0, 0, 0, 1, 1, 2, 2, 3, 0, 4],
        "times": [[3, 5, 2, 7, 4, 1], [3, 2]], "smaller": 0}, found.fitted())
    for line in ("a;b", "a;b x", "5", " 5", "a;b -5", "a;b 1.5", "a;b ²"):
        ok("stacks: %r is refused" % line, raises(ValueError, stacks.Stacks().read, [line]))
    found = stacks.Stacks()
    found.read([";".join("f%d" % i for i in range(100000)) + " 5\n"])
    ok("stacks: of a very deep one the outer frames", len(found.nodes) == 1001 and found.times == [{1000: 5}],
       len(found.nodes))
    chance = random.Random(2)
    found = stacks.Stacks()
    for _ in range(3):
        found.read("vm%d;%s %d" % (chance.randrange(3), ";".join("f%d" % chance.randrange(30) for _ in range(
            chance.randrange(1, 9))), chance.randrange(10**12)) for _ in range(3000))
    wanted = [sum(times.values()) for times in found.times]
    for limit in (300000, 20000):
        data = found.fitted(limit)
        ok("stacks: at most %d bytes" % limit, len(json.dumps(data, separators=(",", ":"))) <= limit)
        ok("... with all of the ns of each window", [sum(times[1::2]) for times in data["times"]] == wanted)
        ok("... who calls comes first", all(data["nodes"][2 * i] < i for i in range(1, len(data["nodes"]) // 2)))
        tops = collections.Counter()
        for times in found.fitted(limit)["times"]:
            for node, ns in zip(times[::2], times[1::2]):
                while data["nodes"][2 * node]:
                    node = data["nodes"][2 * node]
                tops[data["names"][data["nodes"][2 * node + 1]]] += ns
        whole = collections.Counter()
        for total in sums(found):
            for path, ns in total.items():
                whole[path.split(";")[0]] += ns
        ok("... and of each VM", tops == whole, tops, whole)


def first_screen():
    level = {"level": "vm", "vm": "v", "time_ns": 10, "classes_ns": {"USER": 7, "steal": 3, "IDLE": 0}, "rows": [
        {"class": "steal", "function": "[steal] (on task %d)" % i, "time_ns": i} for i in range(8)]
        + [{"class": "USER", "function": "f", "time_ns": 99}]}
    report = {"schema": summary.SCHEMA, "measurement": {"cpus": 2, "other": 1}, "levels": [level],
              "overview": [{"vm": "v", "vcpus": 3}]}
    ok("bars: literally", summary.of_report(report) == {
        "measurement": {"cpus": 2}, "left_out": 0, "bars": [
            {"vm": "v", "host": False, "time_ns": 10, "classes_ns": {"USER": 7, "steal": 3}, "vcpus": 3,
             "thieves": [["task 7", 7], ["task 6", 6], ["task 5", 5], ["task 4", 4], ["task 3", 3]],
             "other_thieves_ns": 3}]}, summary.of_report(report))
    ok("bars: another schema is refused", raises(ValueError, summary.of_report, {"schema": "x"}))
    host = dict(level, level="host")
    del host["vm"]
    report["levels"] = [level, dict(level, vm="w"), dict(level, level="vcpu", vcpu=0), host]
    report["overview"].insert(0, {"vm": "w", "vcpus": 1})
    ok("bars: the host, and VMs in the order of the overview",
       [one["vm"] for one in summary.of_report(report)["bars"]] == ["", "w", "v"], summary.of_report(report))
    for row in level["rows"]:
        row["function"] = "\x01" * 100000 + str(row["time_ns"])
    report["levels"] = [dict(level, vm="\x01" * 1000 + str(i)) for i in range(1500)]
    found = summary.of_report(report)
    ok("bars: bounded", len(json.dumps(found)) < 2 * summary.LIMIT, len(json.dumps(found)))
    ok("... all of steal is somebody's", all(sum(ns for _, ns in one["thieves"]) + one["other_thieves_ns"] == 28
                                             for one in found["bars"]))
    ok("... and what has no bar is counted", len(found["bars"]) + found["left_out"] == 1500)
    ok("header", summary.of_header(["# ====\n", "# hostname : a:b\n", "# captured on    : Mon 1\n", "# arch : x\n"]) ==
       {"host": "a:b", "date": "Mon 1"})


def text():
    long = "y" * 5000
    ok("names: cut", names.cut(long) == "y" * 1000 + "…" and names.cut("short") == "short")
    found = names.fit(["x" * 900] * 100, 30000)
    ok("names: shorter where there are many", len(json.dumps(found)) <= 30000
       and found[0] == "x" * 200 + "…", found[0])
    hostile = {"</script><!--": "<b>&\u202e\u2028\x00\ud800"}
    written = assemble.as_json(hostile)
    ok("data: no character that means something in HTML", not re.search("[<>&\u202e\u2028\x00]", written), written)
    ok("... and it stays what it was", json.loads(written) == hostile, written)
    ok("a comment does not end early", assemble.comment("a --> b --!> <!-- c").count("--") == 2)
    ok("a program that ends a script is refused", raises(assemble.PageError, assemble.script, "x</SCRIPT >", "name"))
    with tempfile.TemporaryDirectory() as lib:
        ok("without a library there is no page", raises(assemble.PageError, assemble.assemble, {}, lib))
        for name, file in assemble.LIBRARIES:
            for path in (file, name + ".LICENSE"):
                with open(os.path.join(lib, path), "w", encoding="utf-8") as out:
                    out.write("library(); // @@DATA@@ \\1 %s" % name)
        page = assemble.assemble({"a": "@@STYLE@@"}, lib)
        ok("what is put in is not looked at again", page.count("@@STYLE@@") == 1 and page.count("@@DATA@@") == 4,
           page.count("@@DATA@@"))
        ok("the page loads nothing", not re.search(r"<link|\ssrc=|@import|url\(\s*['\"]?(?!#)[a-z]+:", page) and
           "default-src 'none'" in page)
        ok("a page that is too large is refused", raises(assemble.PageError, assemble.assemble, "x" * 10**7, lib))


def main():
    for part in (literal_timeline, bins, tree, first_screen, text):
        part()
    print("1..%d" % checks)


main()
