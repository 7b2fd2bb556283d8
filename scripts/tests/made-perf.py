#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Stand in for perf where a page is made: print what perf kvm unified would, of a profile that was made up.

usage: made-perf.py KIND kvm unified report|export [OPTIONS]

KIND: small, of a few literal slices and stacks; hostile, with names that try to be more than text;
big, ten minutes of 64 vCPUs on 32 CPUs.
"""

import json
import random
import sys

WINDOWS = 12
# An event without a comma after it
TRACE_END = '{"ph":"M","pid":1,"tid":0,"name":"process_labels","args":{"labels":""}}\n]}'
HOSTILE = (
    "</script><script>window.hostile = 1</script>", "<img src=x onerror='window.hostile=1'>",
    "\"'`&amp;<!--", "--><b>bold</b>", "a\x00b\x07c\x1bd\te", "\u202egnp.exe\u2066\u200b", "\u05d0\u05d1\u05d2",
    "__proto__", "constructor", "@@DATA@@", "${7*7}{{7*7}}", "\U0001f600" * 50, "x" * 1000000,
)


def row(kind, function, ns, comm=""):
    return {"class": kind, "function": function, "module": "", "comm": comm, "time_ns": ns,
            "samples": 1, "percent": 0.0}


def level(name, classes, rows=(), vm=None):
    found = {"level": name, "time_ns": sum(classes.values()), "classes_ns": classes, "rows": list(rows)}
    if vm is not None:
        found["vm"] = vm
    return found


def report(duration, cpus, levels, kernel="7.3.0", event="cycles"):
    return {"schema": "perf-kvm-unified-report", "version": 4,
            "measurement": {"start_ns": 1000, "end_ns": 1000 + duration, "duration_ns": duration, "zero_ns": 1000,
                            "event": event, "period_ns": 1000000, "cpus": cpus, "kernel": kernel,
                            "mode": "timeline", "mode_reason": "", "idle_known": True, "attribution": "cpu-switch",
                            "selection": "", "lost": 0, "lost_records": 0, "timeline_lost": 0},
            "overview": [{"vm": one["vm"], "vcpus": 1, "thieves": []} for one in levels if "vm" in one],
            "levels": levels}


def us(ns):
    return "%d.%03d" % divmod(ns, 1000)


def print_slice(pid, tid, start, length, name, args=None):
    print('{"ph":"X","pid":%d,"tid":%d,"ts":%s,"dur":%s,"name":%s%s},' %
          (pid, tid, us(start), us(length), json.dumps(name),
           ',"args":' + json.dumps(args) if args else ""))


def print_name(what, pid, tid, name):
    print('{"ph":"M","pid":%d,"tid":%d,"name":"%s","args":{"name": %s}},' % (pid, tid, what, json.dumps(name)))


class Small:
    header = "# captured on    : Mon Nov 30 16:39:11 2026\n# hostname : a-host\n# arch : x86_64\n"
    # Of a window; all the time has twelve times as much.
    stacks = (("[host];[vm1]", 200), ("[host];swapper-0;idle_[k]", 300), ("vm1;vCPU 0;work-7;main;f", 120),
              ("vm1;vCPU 0;work-7;main;f;f", 30), ("vm1;vCPU 0;[steal];(on task thief)", 100))

    def report(self):
        return report(6000, 1, [
            level("host", {"VM": 2400, "IDLE": 3600, "steal": 0}),
            level("vm", {"USER": 1800, "IDLE": 3000, "steal": 1200},
                  [row("steal", "[steal] (on task thief)", 1200)], "vm1")])

    def print_trace(self):
        print('{"displayTimeUnit":"ns","traceEvents":[')
        print_slice(2, 1, 1000, 1800, "running", {"cpu": 0})
        print_slice(2, 1, 2800, 1200, "steal", {"cpu": 0, "by": "task thief"})
        print_slice(2, 1, 4000, 3000, "idle")
        print_slice(1, 1, 1000, 2400, "vm1 vCPU 0")
        print_slice(1, 1, 3400, 3600, "swapper")
        print_name("process_name", 1, 0, "host")
        print_name("thread_name", 1, 1, "CPU 0")
        print_name("process_name", 2, 0, "vm1")
        print_name("thread_name", 2, 1, "vCPU 0")
        print(TRACE_END)

    def folded(self, times):
        for stack, ns in self.stacks:
            print(stack, ns * times)


class Hostile(Small):
    header = "# hostname : %s\n# captured on : %s\n" % (HOSTILE[0], HOSTILE[4].replace("\x00", ""))
    stacks = tuple((";".join((name, "vCPU 0", name, name)), 100 + i) for i, name in enumerate(HOSTILE))

    def report(self):
        levels = [level("host", {"VM": 6000})]
        for i, name in enumerate(HOSTILE):
            levels.append(level("vm", {"USER": 5000, "steal": 900, name: 100},
                                [row("steal", "[steal] (on task %s)" % name, 900 + i)], name))
        return report(6000, 1, levels, HOSTILE[1], HOSTILE[5])

    def print_trace(self):
        print('{"displayTimeUnit":"ns","traceEvents":[')
        print_slice(1, 1, 1000, 6000, HOSTILE[0])
        print_name("process_name", 1, 0, "host")
        print_name("thread_name", 1, 1, HOSTILE[1])
        for i, name in enumerate(HOSTILE):
            print_slice(2 + i, 1, 1000, 5000, "running", {"cpu": 0})
            print_slice(2 + i, 1, 6000, 900, "steal", {"cpu": 0, "by": "task " + name})
            print_slice(2 + i, 1, 6900, 100, name)
            print_name("process_name", 2 + i, 0, name)
            print_name("thread_name", 2 + i, 1, name)
        print(TRACE_END)


class Big(Small):
    VMS, VCPUS, CPUS, SECONDS = 16, 4, 32, 600
    # Slices of a track: so many, of random lengths
    SLICES = 25000
    VCPU_STATES = (("running", None), ("idle", None), ("exit", None), ("steal", "task backup"),
                   ("steal", "VM vm3"), ("vmm", None), ("halt-poll", None))

    def __init__(self):
        chance = random.Random(7)
        self.stacks = tuple(
            ("vm%d;vCPU %d;worker-%d;main;" % (i % 16, i % 4, i % 50) +
             ";".join("function_%d" % chance.randrange(4000) for _ in range(12)), chance.randrange(10**6))
            for i in range(20000))

    def report(self):
        ns = self.SECONDS * 10**9
        return report(ns, self.CPUS, [level("host", {"VM": ns * self.CPUS})] + [
            level("vm", {"USER": ns * self.VCPUS}, (), "vm%d" % vm) for vm in range(self.VMS)])

    def print_track(self, chance, pid, tid, slices):
        """slices: texts of names and what they have"""
        end, mean = self.SECONDS * 10**9, self.SECONDS * 10**9 // self.SLICES
        at, lines = 0, []
        for i in range(self.SLICES):
            # All tracks end together.
            length = max(1, int(min(chance.expovariate(1 / mean), end - at - self.SLICES)))
            if i == self.SLICES - 1:
                length = end - at
            lines.append('{"ph":"X","pid":%d,"tid":%d,"ts":%s,"dur":%s,"name":%s},' %
                         (pid, tid, us(at), us(length), slices[int(chance.random() * len(slices))]))
            at += length
        print("\n".join(lines))

    def print_trace(self):
        chance = random.Random(11)
        print('{"displayTimeUnit":"ns","traceEvents":[')
        for cpu in range(self.CPUS):
            self.print_track(chance, 1, cpu + 1, ['"vm%d vCPU 0"' % (i % 16) for i in range(16)] +
                             ['"task-%d"' % i for i in range(1000)] + ['"swapper"'] * 500)
            print_name("thread_name", 1, cpu + 1, "CPU %d" % cpu)
        for vm in range(self.VMS):
            for vcpu in range(self.VCPUS):
                slices = ['"%s","args":{"cpu":%d%s}' % (name, cpu, ',"by": "%s"' % by if by else "")
                          for name, by in self.VCPU_STATES for cpu in range(self.CPUS)]
                self.print_track(chance, 2 + vm, 1 + vcpu, slices)
                print_name("thread_name", 2 + vm, 1 + vcpu, "vCPU %d" % vcpu)
            print_name("process_name", 2 + vm, 0, "vm%d" % vm)
        print(TRACE_END)


KINDS = {"small": Small, "hostile": Hostile, "big": Big}


def main():
    kind, args = KINDS[sys.argv[1]](), sys.argv[2:]
    if "--header-only" in args:
        print(kind.header, end="")
    elif "json" in args:
        json.dump(kind.report(), sys.stdout)
    elif "trace" in args:
        kind.print_trace()
    else:
        # Of a window, or of all of them
        kind.folded(1 if any(arg.startswith("--time") for arg in args) else WINDOWS)


main()
