#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Hold the names that a profile gives to short-lived processes against a guest's log.

usage: guest-names.py SCRIPT LOG PREFIX BINARY

SCRIPT is what "perf script -F comm,pid,time,ip,vcpu_ctx" printed, LOG what a workload
says that there was (scripts/lab/workload/lib/workload.h), and PREFIX that of its
programs ("storm" for storm-alpha and so on) and of the function that each is busy in
(storm_alpha). All of them are BINARY, at its own addresses: so the address alone says
which function it was, whatever the profile makes of it. Prints, a line each:

  busy SAMPLES     in such a function, which proves which program it was
  right SAMPLES    of them under the name and a pid of that program
  wrong SAMPLES    of them under another name, or a pid that the log has for another
  unnamed SAMPLES  of them under no name
  standin SAMPLES  of them under that name, and a number in place of a pid, as what is known
                   of that pid may be of another process
  rate PROCESSES   of the log a second, of the time that the samples are of
  lasting PERCENT  of them for 20 to 200 ms
  programs NUMBER  of different programs in the samples
  reused PERCENT   of the processes in the samples that had a CR3 which another
                   program's process had before
  strangers SAMPLES of the right ones that are outside of their process's life in the
                   log, by the difference of the two clocks that suits most samples
"""

import bisect
import itertools
import re
import subprocess
import sys

LINE = re.compile(r"^\s*(?:VM:\s*\d+\s+)?(?:VCPU:\d+)?\s*(\S.*?)\s+(\d+)\s+(\d+\.\d+):\s+"
                  r"([0-9a-f]+)\s.*guest cr3 (0x[0-9a-f]+)")


# KVM_GUEST_PSEUDO_PID of guests/guest.h
FIRST_STANDIN = 0x40000000


def read_log(path):
    """By pid: program, start and end in s of the guest's clock."""
    log = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            pid, program, _, start, end = line.split()[:5]
            log[int(pid)] = (program, int(start) / 1e9, int(end) / 1e9)
    return log


def read_samples(path):
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            match = LINE.match(line)
            if match:
                comm, pid, time, ip, cr3 = match.groups()
                yield comm, int(pid), float(time), int(ip, 16), int(cr3, 16) & ~0xfff


class Functions:
    """Of a binary that is not moved, those that are called PREFIX_something."""

    def __init__(self, binary, prefix):
        lines = subprocess.check_output(["nm", "-S", binary], text=True).splitlines()
        found = [line.split() for line in lines if len(line.split()) == 4]
        self.all = sorted((int(start, 16), int(start, 16) + int(size, 16), name)
                          for start, size, _, name in found if name.startswith(prefix + "_"))
        if not self.all:
            sys.exit("%s has no %s_..." % (binary, prefix))

    def at(self, ip):
        i = bisect.bisect(self.all, (ip, 1 << 64)) - 1
        return self.all[i][2] if i >= 0 and ip < self.all[i][1] else None


def main():
    script, log_path, prefix, binary = sys.argv[1:]
    log = read_log(log_path)
    functions = Functions(binary, prefix)
    count = {"busy": 0, "right": 0, "wrong": 0, "unnamed": 0, "standin": 0}
    seen, users, reused, times = {}, {}, set(), []
    for comm, pid, time, ip, cr3 in read_samples(script):
        sym = functions.at(ip)
        if not sym:
            continue
        program = sym.replace("_", "-")
        count["busy"] += 1
        if comm.startswith("[cr3"):
            count["unnamed"] += 1
        elif comm == program and pid >= FIRST_STANDIN:
            count["standin"] += 1
        elif comm == program and log.get(pid, ("",))[0] == program:
            count["right"] += 1
            seen[pid] = program
            times.append((time, pid))
            if users.setdefault(cr3, program) != program:
                reused.add(pid)
            users[cr3] = program
        else:
            count["wrong"] += 1
            print("wrong: %s (%d) in %s at %f" % (comm, pid, sym, time), file=sys.stderr)
    for name, samples in count.items():
        print(name, samples)
    if not seen:
        return
    # Those that began within the time of the samples, by the guest's clock.
    first = min(log[pid][1] for pid in seen)
    last = max(log[pid][1] for pid in seen)
    lives = [end - start for _, start, end in log.values() if first <= start <= last]
    print("rate %.1f" % (len(lives) / (last - first)))
    print("lasting %.1f" % (100 * sum(0.02 <= life <= 0.2 for life in lives) / len(lives)))
    print("programs", len(set(seen.values())))
    print("reused %.1f" % (100 * len(reused) / len(seen)))
    print("strangers %d" % strangers(log, times))


def strangers(log, times):
    """The clocks differ by more than start - time, and less than end - time, of each."""
    edges = sorted([(log[pid][1] - time, -1) for time, pid in times] +
                   [(log[pid][2] - time, 1) for time, pid in times])
    return len(times) + min(itertools.accumulate(step for _, step in edges))


main()
