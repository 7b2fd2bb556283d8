#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What scripts/fleet/rows.py makes of lines, good and bad ones. Prints TAP."""

import json
import os
import sys

sys.dont_write_bytecode = True
FLEET = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "fleet")
sys.path.insert(0, FLEET)
import clickhouse  # noqa: E402
import rows  # noqa: E402

with open(os.path.join(FLEET, "sample.rows"), "rb") as file:
    LINES = file.read().splitlines()
VCPU = next(json.loads(line) for line in LINES if b'"vcpu": 0' in line)
HOST = json.loads(LINES[0])
checks = []


def ok(what, passed, said=""):
    checks.append(passed)
    print("%s %d %s" % ("ok" if passed else "not ok", len(checks), what))
    if not passed:
        print("# %s" % said)


def said_of(line):
    try:
        rows.parse(line)
    except rows.BadRow as error:
        return str(error)
    return ""


def line(row, **changes):
    return json.dumps({**row, **changes}).encode()


def bad(what, message, text):
    said = said_of(text)
    ok("refused: %s" % what, message in said and len(said) < 200, said or "it was taken")


ok("each line of the sample is a row", not any(map(said_of, LINES)))
ok("... with the members in their order", all(tuple(json.loads(one)) == rows.MEMBERS
                                               for one in LINES))
for name in "", "'; DROP TABLE", "\\", "\n\0", "\U0001f600", "x" * 1000000:
    ok("a name is what it is: %s" % ascii(name[:20]),
       rows.parse(line(VCPU, function=name))["function"] == name)
ok("numbers at their limits", not said_of(line(VCPU, ns=(1 << 63) - 1, pid=-1,
                                               vcpu=(1 << 31) - 1)))
bad("an empty line", "not JSON", b"")
bad("half a line", "not JSON", line(VCPU)[:-9])
bad("two objects", "not JSON", line(VCPU) + line(VCPU))
bad("an array", "not an object", b"[1]")
bad("brackets without an end", "not JSON", b"[" * 100000)
bad("a member too few", "no member stack",
    json.dumps({k: v for k, v in VCPU.items() if k != "stack"}).encode())
bad("a member too many", "no such member: 'more'", line(VCPU, more=1))
bad("a member twice", "twice", line(VCPU)[:-1] + b', "ns": 1}')
bad("a number as a string", "ns is not a whole number", line(VCPU, ns="1"))
bad("a number with a point", "ns is not a whole number", line(VCPU, ns=1.0))
bad("true as a number", "samples is not a whole number", line(VCPU, samples=True))
bad("no number", "NaN is no number", line(VCPU, ns=float("nan")))
bad("null as a name", "function is not a string", line(VCPU, function=None))
bad("less than nothing", "ns is out of range", line(VCPU, ns=-1))
bad("more than 63 bits", "ns is out of range", line(VCPU, ns=1 << 63))
bad("a day of more than 16 bits", "start is out of range", line(VCPU, start=(1 << 63) - 1))
bad("a pid of more than 32 bits", "pid is out of range", line(VCPU, pid=1 << 31))
bad("no host", "host has no name", line(VCPU, host=""))
bad("no time at all", "duration is 0", line(VCPU, duration=0))
bad("an unknown level", "level is neither", line(VCPU, level="vm"))
bad("an unknown class", "no class 'STEAL'", line(VCPU, **{"class": "STEAL"}))
bad("a host's row with a vCPU", "level host has a vCPU", line(HOST, vcpu=0))
bad("a vCPU's row without one", "has no vCPU", line(VCPU, vcpu=-1))
bad("a vCPU's row without a VM", "or no VM", line(VCPU, vm=""))
bad("a build-id that is not hex", "build_id is not hex", line(VCPU, build_id="xy"))
bad("half a byte of a build-id", "build_id is not hex", line(VCPU, build_id="abc"))
bad("a stack of 15 digits", "stack is neither", line(VCPU, stack="0" * 15))
bad("a name that is not UTF-8", "not UTF-8", line(VCPU).replace(b'"vm": "', b'"vm": "\xff'))
bad("half a surrogate pair", "not UTF-8", line(VCPU, vm="\ud800"))
bad("a long name, in few words", "there is no class", line(VCPU, **{"class": "x" * 1000000}))
bad("a name for a terminal, in other words", "\\x1b", line(VCPU, **{"class": "\x1b[2J"}))

sums = rows.Sums()
for one in LINES:
    sums.add(rows.parse(one))
ok("each vCPU of the sample has the window's time",
   set(sums.ns.values()) == {VCPU["duration"]} and len(sums.ns) == 4)
ok("... and the CPUs four times that",
   sum(json.loads(one)["ns"] for one in LINES if b'"level": "host"' in one) == 4 * VCPU["duration"])
for what, change in ("a ns more", {"ns": 1}), ("another duration", {"duration": 1, "ns": 0}):
    try:
        sums.add({**VCPU, **change})
        ok("refused: %s" % what, False)
    except rows.BadRow:
        ok("refused: %s" % what, True)
sums.add({**VCPU, "start": VCPU["start"] + 1})
ok("... but not in the next window", True)
ok("times are of UTC", rows.start_of("2026-11-30T10:00:00") == 1796032800 * rows.SECOND and
   rows.start_of("2026-11-30T10:00:00+02:00") == 1796025600 * rows.SECOND)
ok("nothing in a literal ends it", clickhouse.literal("a'b\\'c\n\0") == "'a\\'b\\\\\\'c\\n\\0'")
print("1..%d" % len(checks))
