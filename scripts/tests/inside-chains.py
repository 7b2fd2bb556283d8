#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""inside-chains.py FOLDED SCRIPT PROGRAM PERIOD: hold a guest's callchains against those of its own perf.

FOLDED is of perf kvm unified export --format folded, SCRIPT of perf script -F comm,ip,sym on what
perf record -g has recorded in the guest meanwhile or after, PROGRAM one of
scripts/lab/workload/calls.c; PERIOD is that of the former, ns. Prints for each stack of the program's
user mode how far its shares of all in both are apart, the shares, percent, the stack, and how many
standard deviations that is of what so many samples tell; the most of these first.

perf record in the guest follows the frame pointer alone, and so leaves out who has called a function
without a frame: that caller is left out of both here. So a handler is not in its stacks: what it
calls, libc's code that ends the signal seems to have called. These stacks are left out. A recursion
is one, however deep.
"""

import collections
import sys

OUTERMOST = ("main", "in_thread")
HANDLER = "on_signal"
RECURSION = "recurse"
# Without a frame, or often without; whose caller is not in the guest's own chains, or may not be
FRAMELESS = {"leaf", "in_kernel", "[libc]"}
SHORT = {"tiny": "many"}
OWN = {"work", "first", "second", "third", "recurse", "framed", "many", "tiny", "fill",
       "through_pointer", "in_kernel", "leaf"}
KERNEL = "_[k]"
HALF = 1 << 63


def key_of(frames, has_all):
    """The stack by which it is counted, outermost first, or None; has_all: with each caller"""
    if HANDLER in frames:
        return None
    begin = next((i for i, frame in enumerate(frames) if frame in OUTERMOST), None)
    if begin is None:
        return None
    own = [frame if frame in OWN else "[libc]" for frame in frames[begin + 1:]]
    if own[-2:] == ["[libc]", "leaf"]:
        return None
    if len(own) > 1 and (SHORT.get(own[-1]) == own[-2] or (has_all and own[-1] in FRAMELESS)):
        del own[-2]
    return tuple(frame for i, frame in enumerate(own)
                 if i == 0 or frame != RECURSION or own[i - 1] != RECURSION)


def of_folded(path, program):
    """Time by stack"""
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, ns = line.rpartition(" ")
            # VM, vCPU, process
            names = stack.split(";")
            if len(names) > 3 and names[2].rpartition("-")[0] == program and \
                    not names[-1].endswith(KERNEL):
                found[key_of(names[3:], True)] += int(ns)
    return found


def of_script(path, program):
    """Samples by stack"""
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for sample in file.read().split("\n\n"):
            lines = sample.strip("\n").split("\n")
            frames = [line.split() for line in lines[1:]]
            if lines[0].strip() == program and frames and int(frames[0][0], 16) < HALF:
                found[key_of([frame[1] for frame in reversed(frames)], False)] += 1
    return found


def deviation(first, second, samples):
    """Of the difference of two shares, percent, by as many samples each: binomial"""
    share = (first + second) / 200
    return 100 * (share * (1 - share) * sum(1 / n for n in samples)) ** 0.5


def main(folded, script, program, period):
    """Prints the lines."""
    both = of_folded(folded, program), of_script(script, program)
    for found in both:
        found.pop(None, None)
    samples = sum(both[0].values()) / int(period), sum(both[1].values())
    shares = [{key: 100 * value / sum(found.values()) for key, value in found.items()}
              for found in both]
    lines = []
    for key in set(shares[0]) | set(shares[1]):
        first, second = (found.get(key, 0) for found in shares)
        lines.append((abs(first - second) / deviation(first, second, samples),
                      first, second, ";".join(key)))
    for far, first, second, stack in sorted(lines, reverse=True):
        print("%.2f %.2f %.2f %s %.2f" % (abs(first - second), first, second, stack, far))
    print("samples %d" % samples[1], file=sys.stderr)


main(*sys.argv[1:])
