#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Hold a report's times of vCPUs against what the scheduler's events alone say.

usage: sched-states.py TRACE-DATA FORMATS PERF.DATA REPORT.JSON START END

TRACE-DATA is what perf record -a has recorded of sched:sched_switch and sched:sched_wakeup
from before START until after END, ns of perf's clock, FORMATS a directory with a file for each
of them, the event's "format" in tracefs, PERF.DATA the profile that REPORT.JSON is a report of,
from START to END.

Prints a line for each vCPU, in percent of that time: VM, vCPU; of the time that its
thread ran, what the scheduler says and what the report does; the same of the time that it
waited for a CPU, and that it slept; and what the report has of the VMM otherwise, which may
have been either. Then the longest wait after a wake-up, by both, in ms.

perf script is not asked: it leaves out events whose interrupt has hit a guest.
"""

import json
import os
import re
import struct
import sys

# Nothing is to be left in the checkout.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../bench"))
from perf_data import (ATTR_SIZE_AT, DATA_AT, Event, GUEST_VM, HEADER, Record, SAMPLE, VM,  # noqa: E402
                     VM_VCPU, stream, u64)

LOST, LOST_SAMPLES = 2, 13
CONFIG_AT = 8
FIELD = re.compile(r"\tfield:.*?(\w+)(?:\[\w*\])?;\toffset:(\d+);\tsize:(\d+);")
# prev_state without what says that the task was preempted; 0: it could go on
STATE = 0xff
RUNS, WAITS, SLEEPS = range(3)
NS_PER_MS = 1000000
# The report's rows, by what a function begins with. What is none of them is time that the
# thread ran; in "[steal] (switching)" it has the CPU, too.
ROWS = ((WAITS, "[steal] (on "), (WAITS, "[steal] (waking up)"), (WAITS, "[throttled]"),
        (SLEEPS, "[idle] (halt_exit)"), (SLEEPS, "[stopped]"), (SLEEPS, "[blocked]"))
VMM = "[vmm]"


class Format:
    """Where the fields of a tracepoint are in its raw data"""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            text = file.read()
        self.number = int(re.search(r"^ID: (\d+)$", text, re.M).group(1))
        self.fields = {name: (int(offset), int(size))
                       for name, offset, size in FIELD.findall(text)}

    def value(self, raw, name):
        offset, size = self.fields[name]
        return int.from_bytes(raw[offset:offset + size], "little")


class Thread:
    """A thread of a vCPU: how long it was in which state, from start to end"""

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.state, self.since = None, start
        self.sums = [0, 0, 0]
        self.woken, self.longest = None, 0

    def change(self, time, before, after):
        """It is in another state. before: what it was in, if that is not known yet"""
        if self.state is None:
            self.state = before
        self.sums[self.state] += max(0, min(time, self.end) - max(self.since, self.start))
        if self.woken is not None and self.start <= self.woken and time <= self.end:
            self.longest = max(self.longest, time - self.woken)
        self.woken = None
        self.state, self.since = after, time

    def wake(self, time):
        # One that is about to sleep may be woken up before it does.
        if self.state in (None, SLEEPS):
            self.change(time, SLEEPS, WAITS)
            self.woken = time

    def finish(self):
        """One without any event has slept all the time."""
        self.change(self.end, SLEEPS, SLEEPS)


def samples(path, formats):
    """(time, name of the event, raw data) of each sample, by time"""
    with open(path, "rb") as file:
        data = file.read()
    attr_size, attrs, attrs_size = struct.unpack_from("<QQQ", data, ATTR_SIZE_AT)
    names = {tracepoint.number: name for name, tracepoint in formats.items()}
    events, found = {}, []
    for at in range(attrs, attrs + attrs_size, attr_size):
        event = Event(data[at:at + attr_size]), names.get(u64(data, at + CONFIG_AT))
        ids, ids_size = struct.unpack_from("<QQ", data, at + attr_size - 16)
        for number in struct.unpack_from("<%dQ" % (ids_size // 8), data, ids):
            events[number] = event
    at, size = struct.unpack_from("<QQ", data, DATA_AT)
    end = at + size
    while at + HEADER.size <= end:
        kind, _, size = HEADER.unpack_from(data, at)
        if kind in (LOST, LOST_SAMPLES):
            sys.exit("sched-states: events were lost")
        if kind == SAMPLE:
            event, name = events[u64(data, at + HEADER.size)]
            record = Record(data[at:at + size], event)
            if name:
                found.append((record.time, name, record.data[event.end + 4:]))
        at += size
    found.sort(key=lambda sample: sample[0])
    return found


def scheduled(trace, formats, tids, start, end):
    """What the scheduler says of these threads, each a Thread"""
    threads = {tid: Thread(start, end) for tid in tids}
    for time, name, raw in samples(trace, formats):
        tracepoint = formats[name]
        if name == "sched_wakeup":
            woken = threads.get(tracepoint.value(raw, "pid"))
            if woken:
                woken.wake(time)
            continue
        off = threads.get(tracepoint.value(raw, "prev_pid"))
        on = threads.get(tracepoint.value(raw, "next_pid"))
        if off:
            runnable = not tracepoint.value(raw, "prev_state") & STATE
            off.change(time, RUNS, WAITS if runnable else SLEEPS)
        if on:
            on.change(time, WAITS, RUNS)
    for thread in threads.values():
        thread.finish()
    return threads


def reported(level):
    """What a level of the report says: by state; and of the VMM"""
    sums, vmm = [0, 0, 0], 0
    for row in level["rows"]:
        function = row["function"]
        state = next((state for state, begin in ROWS if function.startswith(begin)), RUNS)
        sums[state] += row["time_ns"]
        if state == RUNS and function.startswith(VMM):
            vmm += row["time_ns"]
    return sums, vmm


def vcpus(path):
    """(VM, vCPU, its thread)"""
    with open(os.path.join(path, "vms"), "rb") as file:
        table = file.read()
    for kind, record in stream(table):
        if kind == GUEST_VM:
            name = VM.unpack_from(record)[-1].rstrip(b"\0").decode()
            for vcpu, tid, _, _ in VM_VCPU.iter_unpack(record[VM.size:]):
                yield name, vcpu, tid


def main():
    trace, formats, profile, report = sys.argv[1:5]
    start, end = map(int, sys.argv[5:])
    formats = {name: Format(os.path.join(formats, name)) for name in os.listdir(formats)}
    with open(report, encoding="ascii") as file:
        report = json.load(file)
    # A VM with one vCPU has no level of the vCPU's own; that of one with several comes before.
    levels = {(level["vm"], level.get("vcpu", 0)): level for level in report["levels"]
              if level["level"] != "host"}
    # The same for stalls, but there that of the vCPU comes after.
    longest_reported = {(line["vm"], line.get("vcpu", 0)): line.get("longest_ns", 0)
                        for line in report["stalls"] if line["waits"] == "wake-up"}
    table = list(vcpus(profile))
    threads = scheduled(trace, formats, [tid for _, _, tid in table], start, end)
    for vm, vcpu, tid in table:
        sums, vmm = reported(levels[vm, vcpu])
        if sum(sums) != end - start:
            sys.exit("sched-states: the report of %s is not of that time" % vm)
        states = [part for pair in zip(threads[tid].sums, sums) for part in pair]
        longest = threads[tid].longest, longest_reported.get((vm, vcpu), 0)
        print(vm, vcpu, *("%.3f" % (100 * time / (end - start)) for time in states + [vmm]),
              *("%.3f" % (time / NS_PER_MS) for time in longest))


main()
