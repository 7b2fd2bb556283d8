#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a large profile from a real one: its samples again and again, each time later.

usage: enlarge.py [--vcpus N] [--tasks N] [--exits N | --switches N] PERF.DATA OUT-DIR SAMPLES

OUT-DIR gets the files of PERF.DATA, a directory with one VM that has one vCPU, and in its data
SAMPLES samples, but for a few. What is no sample, such as mmaps, is there once. Prints how many
samples there are, how many events of vCPUs among them, and how many bytes of data.

--vcpus: so many vCPUs, on as many times the CPUs. --tasks: the host's idle time is that of so
many tasks. --exits: so many stays in the VMM in each second of a vCPU; --switches: so many
switches to the tasks.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from perf_data import Profile  # noqa: E402 # where it is, is said above
import shapes  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--vcpus", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=0)
    parser.add_argument("--exits", type=int, default=0)
    parser.add_argument("--switches", type=int, default=0)
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("samples", type=int)
    args = parser.parse_args()
    if args.switches and not args.tasks:
        parser.error("switches to which tasks?")
    if args.switches and args.exits:
        parser.error("exits or switches, not both")
    return args


def enlarge(args):
    profile = Profile(args.source)
    # As many as there are before, so that each task has a sample, and all are the same then.
    unit = len(shapes.samples_of_time(profile))
    if args.tasks:
        unit = unit * -(-args.tasks // len(shapes.idle_samples(profile)))
    wanted = -(-args.samples // args.vcpus)
    copies = max(1, wanted // unit)
    shift = shapes.resize(profile, -(-wanted // copies))
    if args.tasks:
        tasks = shapes.add_tasks(profile, args.tasks)
    if args.exits:
        shapes.add_exits(profile, args.exits)
    if args.switches:
        shapes.add_switches(profile, args.switches, tasks)
    if args.vcpus > 1:
        shapes.add_vcpus(profile, args.vcpus)
    profile.write(args.out, copies, shift)
    samples = profile.samples()
    events = sum(sample.event.is_timeline for sample in samples)
    print((len(samples) - events) * copies, events * copies,
          os.path.getsize(os.path.join(args.out, "data")))


def main():
    try:
        enlarge(arguments())
    except (OSError, ValueError) as error:
        sys.exit("enlarge.py: %s" % error)


main()
