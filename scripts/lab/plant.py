#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Do things at set times, and write down when that was on the clock of perf's samples.

usage: plant.py STEPS OUT

Each line of STEPS is one step, in the order of time: seconds since the start, what to call it,
and what is done then:

  write FILE TEXT
  signal SIGNAL PID      such as STOP
  nothing

OUT gets a line for each step: what it is called, and when it was, ns. A step is done here and by
no other process, which would take some ms to start.
"""

import os
import shlex
import signal
import sys
import time

NS_PER_SECOND = 1000000000
# What the scheduler says of both clocks in one line each, ms: perf's and CLOCK_MONOTONIC
CLOCKS_FILE = "/sys/kernel/debug/sched/debug"
PERF_CLOCK, MONOTONIC = "cpu_clk", "ktime"
CLOCKS_LINES = 8
# ns by which their difference may change in a measurement
DRIFT = 1000000


def clock_offset():
    """What is to be added to CLOCK_MONOTONIC for perf's clock, ns"""
    clocks = {}
    with open(CLOCKS_FILE) as file:
        for _ in range(CLOCKS_LINES):
            name, _, value = file.readline().partition(":")
            clocks[name.strip()] = value
    return round((float(clocks[PERF_CLOCK]) - float(clocks[MONOTONIC])) * NS_PER_SECOND / 1000)


def do(verb, *args):
    if verb == "write":
        path, text = args
        file = os.open(path, os.O_WRONLY)
        os.write(file, text.encode())
        os.close(file)
    elif verb == "signal":
        name, pid = args
        os.kill(int(pid), getattr(signal, "SIG" + name))
    elif verb != "nothing":
        sys.exit("plant.py: what is '%s'?" % verb)


def main():
    with open(sys.argv[1]) as file:
        steps = [shlex.split(line) for line in file]
    start, offset, done = time.monotonic(), clock_offset(), []
    for seconds, name, *what in steps:
        time.sleep(max(0, start + float(seconds) - time.monotonic()))
        done.append((name, time.monotonic_ns() + offset))
        do(*what)
    if abs(clock_offset() - offset) > DRIFT:
        sys.exit("plant.py: the clocks drift: %d and %d ns apart" % (offset, clock_offset()))
    with open(sys.argv[2], "w") as file:
        for step in done:
            file.write("%s %d\n" % step)


main()
