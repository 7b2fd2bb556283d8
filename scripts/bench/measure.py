#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run commands in turn, several times each, and print what each took.

usage: measure.py TIMES NAME=COMMAND [NAME=COMMAND...]

A line for each run: the command's name; s of wall time, MiB of private memory (RssAnon, so without
files that are mapped), and s of CPU time. Commands take turns, so that what else the machine does
meets them all. A command's output is thrown away; one that fails ends this with its exit code.
"""

import os
import subprocess
import sys
import time

# How often the memory of a process is looked at, s
LOOK = 0.01


def private_kib(pid):
    try:
        with open("/proc/%d/status" % pid) as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except FileNotFoundError:
        pass
    # It has ended, but was not waited for yet.
    return 0


def run(command):
    """s, MiB, s of CPU time"""
    start, most, ended = time.monotonic(), 0, 0
    process = subprocess.Popen(["bash", "-c", "exec " + command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not ended:
        most = max(most, private_kib(process.pid))
        time.sleep(LOOK)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    took = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print("measure.py: exit code %d: %s" % (process.returncode, command), file=sys.stderr)
        sys.exit(1)
    return took, most / 1024, usage.ru_utime + usage.ru_stime


def main():
    times = int(sys.argv[1])
    commands = dict(arg.split("=", 1) for arg in sys.argv[2:])
    for _ in range(times):
        for name, command in commands.items():
            print("%s %.3f %.1f %.3f" % (name, *run(command)), flush=True)


main()
