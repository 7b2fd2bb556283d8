#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""call-tree.py FILE PROGRAM [kernel]: hold the stacks of a program against its tree of calls.

FILE is of perf kvm unified export --format folded, PROGRAM that of scripts/lab/workload/calls.c,
whatever it is called. A stack is right if it is whole and there is such a path in the tree; short if
there is, but it does not begin at the outermost function; wrong if it has a call that is not in the
tree. Where a handler has returned, and libc's code ends the signal, there is no call of that code in
what it has interrupted: such a stack is right if the rest of it is. Prints shares of the time of all
stacks that end in a function of the program's or of libc's, or, with kernel, of those that end in the
kernel, of which the program's part counts:

    chains NS, right PERCENT, short PERCENT, wrong PERCENT, broken PERCENT

broken: perf tells that there are callers which are not known.
"""

import collections
import sys

# Who calls whom
CALLS = {
    "main": {"work"},
    "in_thread": {"work"},
    "on_signal": {"leaf"},
    "work": {"first", "recurse", "many", "fill", "through_pointer", "in_kernel", "jitted"},
    "first": {"second"},
    "second": {"third", "framed", "leaf"},
    "third": {"leaf"},
    "recurse": {"recurse", "framed"},
    "many": {"tiny"},
    "fill": {"[libc]"},
    "through_pointer": {"leaf"},
    # Of calls-jit
    "jitted": {"leaf", "framed"},
}
OUTERMOST = {"main", "in_thread", "on_signal"}
# By a signal, wherever the program was: libc's code to return to is in between.
HANDLER = "on_signal"
KERNEL = "_[k]"
BROKEN = "[broken]"
FUNCTIONS = set(CALLS) | {called for calls in CALLS.values() for called in calls}


def name_of(frame):
    """What is outside of the program: libc, which has names for a part of it."""
    return frame if frame in FUNCTIONS else "[libc]"


def returns_of(stacks):
    """The names of the code of libc's that ends a signal: it is below each handler."""
    return {stack[at - 1] for stack in stacks for at, frame in enumerate(stack)
            if at and frame == HANDLER}


def kind_of(frames):
    """Right, short, or wrong, of what begins in the program."""
    if HANDLER in frames[1:]:
        at = frames.index(HANDLER, 1)
        interrupted, handler = frames[:at], frames[at:]
        if interrupted.pop() != "[libc]" or kind_of(handler) != "right":
            return "wrong"
        return kind_of(interrupted) if interrupted else "right"
    while len(frames) > 1 and frames[0] == "[libc]":
        frames = frames[1:]
    if any(called not in CALLS.get(caller, ()) for caller, called in zip(frames, frames[1:])):
        return "wrong"
    return "right" if frames[0] in OUTERMOST else "short"


def main(path, program, ends_in=None):
    """Reads the file, and prints the line."""
    kinds, of_kind = collections.Counter(), collections.defaultdict(collections.Counter)
    times, broken = collections.Counter(), 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, ns = line.rpartition(" ")
            frames = stack.split(";")
            # VM, vCPU, process
            if len(frames) < 4 or frames[2].rpartition("-")[0] != program:
                continue
            code = tuple(frame for frame in frames[3:] if not frame.endswith(KERNEL))
            if (len(code) < len(frames) - 3) != (ends_in == "kernel"):
                continue
            if code[0] == BROKEN:
                broken += int(ns)
                code = code[1:]
            times[code] += int(ns)
    returns = returns_of(times)
    for frames, ns in times.items():
        called = frames[:-1] if len(frames) > 1 and frames[-1] in returns else frames
        kind = kind_of([name_of(frame) for frame in called])
        kinds[kind] += ns
        of_kind[kind][";".join(frames)] += ns
    total = sum(kinds.values())
    shares = ", ".join("%s %.2f" % (kind, 100 * kinds[kind] / total if total else 0)
                       for kind in ("right", "short", "wrong"))
    print("chains %d, %s, broken %.2f" % (total, shares, 100 * broken / total if total else 0))
    for kind in ("wrong", "short"):
        for stack, ns in of_kind[kind].most_common(10):
            print("%s %d %s" % (kind, ns, stack), file=sys.stderr)


main(*sys.argv[1:])
