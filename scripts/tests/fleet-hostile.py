#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Names that want to be more than names, through scripts/fleet's load and query.

usage: fleet-hostile.py write >ROWS
       fleet-hostile.py check

check: asks the server that CLICKHOUSE_URL names, which has these rows, and prints TAP.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
FLEET = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "fleet")
sys.path.insert(0, FLEET)
import clickhouse  # noqa: E402
import rows  # noqa: E402

NAMES = ["'", "\"", "\\", "\\'", "''", "'; DROP TABLE kvm_fleet.rows; --", "a\nb\tc\rd", "\\N",
         "NULL", "nul\0nul", "{limit:UInt64}", "%s%n", "/* ", "-- ", "`x`", "$(reboot)",
         "\x1b[2J", "é€\U0001f600", "x: y) (on VM z: vcpu1", "0", " ", "l" * 1000000 + "'"]
# In a day that has nothing else
START, DURATION = 1600000000 * rows.SECOND, 100
WHEN = {"from": "2020-09-13", "until": "2020-09-14"}
STEAL = "[steal] (on VM %s: vcpu7)"
checks = []


def ok(what, passed, said=""):
    checks.append(passed)
    print("%s %d %s" % ("ok" if passed else "not ok", len(checks), what))
    if not passed:
        print("# %s" % ascii(said)[:500])


def all_rows():
    """A host of each name, which has a VM, a function and so on of that name"""
    for name in NAMES:
        row = dict(host=name, start=START, duration=DURATION, level="vcpu", vm=name, vcpu=0)
        row.update({"class": "USER", "function": name, "module": name, "process": name, "pid": -1,
                    "cgroup": name, "build_id": "ab", "ns": 60, "samples": 1, "stack": "0" * 16})
        yield row
        yield dict(row, function=STEAL % name, module="", process="", cgroup="", build_id="",
                   ns=40, stack="", **{"class": "steal"})


def query(name, **values):
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        json.dump({**WHEN, "limit": "1000", **values}, file)
        file.flush()
        answer = subprocess.run([os.path.join(FLEET, "query"), "--format", "JSONEachRow",
                                 "--values", file.name, name], check=False, capture_output=True)
    if answer.returncode:
        return answer.stderr.decode()
    return [json.loads(line) for line in answer.stdout.splitlines()]


def column(answer, *names):
    if isinstance(answer, str):
        return answer
    return sorted(tuple(row[name] for name in names) for row in answer)


def same(what, found, wanted):
    ok(what, found == sorted(wanted), found)


def check():
    there = clickhouse.run(
        "SELECT %s FROM kvm_fleet.rows WHERE day = '2020-09-13' FORMAT JSONEachRow" %
        ", ".join(rows.MEMBERS), output_format_json_quote_64bit_integers=0)
    key = json.dumps
    ok("what comes out is what went in",
       sorted(map(key, map(json.loads, there.splitlines()))) == sorted(map(key, all_rows())))
    same("functions", column(query("dearest-functions"), "module", "function"),
         [(name, name) for name in NAMES])
    same("thieves", column(query("thieves"), "vm", "thief"),
         [(name, "VM " + name) for name in NAMES])
    same("containers", column(query("containers"), "cgroup"), [(name,) for name in NAMES])
    same("hosts", column(query("waiting-hosts"), "host", "worst_vm"),
         [(name, name) for name in NAMES])
    same("halts: these have none", column(query("halts-to-steal", old_from="2020-09-12",
                                                old_until="2020-09-13")), [])
    for name in NAMES:
        short = ascii(name[:30])
        same("as a module: %s" % short, column(query("dearest-functions", module=name), "function"),
             [(name,)])
        same("as a VM: %s" % short, column(query("thieves", vm=name), "thief"), [("VM " + name,)])
    for name in "'; DROP TABLE kvm_fleet.rows; --", "x' OR '1' = '1":
        same("as a build-id: %s" % name, column(query("build-ids", old=name, new=name)), [])
    print("1..%d" % len(checks))


if sys.argv[1:] == ["write"]:
    for one in all_rows():
        print(json.dumps(one))
else:
    check()
