#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make the profile of a wide host from that of a narrow one: all that went on, side by side.

usage: widen.py [--same-cpus] [--old-header] [--in-order] PERF.DATA OUT-DIR COPIES

Each copy in OUT-DIR has CPUs, tasks and VMs of its own, and did at the same time what there is in
PERF.DATA, a directory. The first copy has the names and numbers of PERF.DATA. Prints how many
samples there are, how many events of vCPUs among them, and how many bytes of data.

--same-cpus: the copies share the CPUs. --old-header: the header says that there are as many CPUs
as in PERF.DATA. --in-order: the records of all copies are in the order of PERF.DATA; else those of
a CPU follow each other until the end of a round, as perf record reads one buffer after the other.
"""

import argparse
import array
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from perf_data import (CPU, GUEST_VM, GUEST_VM_TSC, IDENTIFIER, LOOK, PIPE_HEADER, TID,  # noqa: E402
                     VCPU_LOOK, VM, VM_PID_AT, VM_VCPU, Profile, stream, u32)

# PERF_RECORD_LOST, _THROTTLE, _UNTHROTTLE, _LOST_SAMPLES: are of a CPU, which they end with
OF_CPU = (2, 5, 6, 13)
# A task of none of the processes: of what the kernel has mapped
NO_TASK = (1 << 32) - 1
IDLE_TASK = 0
WORD = 4
# Where the pid is in a look at a vCPU's thread
LOOK_PID_AT = 8


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--same-cpus", action="store_true")
    parser.add_argument("--old-header", action="store_true")
    parser.add_argument("--in-order", action="store_true")
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("copies", type=int)
    args = parser.parse_args()
    if args.copies < 1:
        parser.error("one copy at least")
    return args


def is_own(pid):
    """Is it a task that each copy has one of?"""
    return pid not in (IDLE_TASK, NO_TASK)


def pid_step(profile):
    """More than any pid"""
    pids = [pid for record in profile.records
            for task in ([record.task] if record.event else record.tasks) for pid in task]
    return 1 << max(filter(is_own, pids)).bit_length()


def places(record):
    """Where in a record there is a task, and where a CPU"""
    event = record.event
    if event:
        tasks = [event.at[TID], event.at[TID] + WORD]
        cpus = [event.at[CPU]]
        if event.is_timeline:
            tasks += [record.timeline_at("common_pid"), record.timeline_at("next_pid")]
            cpus.append(record.timeline_at("cpu"))
        return tasks, cpus
    if record.kind in OF_CPU:
        # CPU and identifier are the last two, of 8 bytes each.
        return [], [len(record.data) - 16]
    return record.tasks_at, []


class Batch:
    """Records that follow each other, and what of them differs from copy to copy"""

    def __init__(self):
        self.words = array.array("I")
        self.tasks, self.cpus = [], []

    def add(self, record, tasks, cpus):
        start = len(self.words)
        self.tasks += [start + at // WORD for at in tasks if is_own(u32(record.data, at))]
        self.cpus += [start + at // WORD for at in cpus]
        self.words.frombytes(bytes(record.data))

    def write(self, file, copies, pid_distance, cpu_distance):
        words = self.words[:]
        for copy in range(copies):
            words.tofile(file)
            if copy + 1 == copies:
                break
            for i in self.tasks:
                words[i] += pid_distance
            for i in self.cpus:
                words[i] += cpu_distance


def write_records(profile, file, args, pid_distance, cpu_distance):
    """Copies of what is between two ends of rounds are in the same round."""
    batch = Batch()
    for record in profile.records:
        tasks, cpus = places(record)
        is_copied = cpus or any(is_own(u32(record.data, at)) for at in tasks)
        if args.in_order or not is_copied:
            batch.write(file, args.copies, pid_distance, cpu_distance)
            batch = Batch()
        if is_copied:
            batch.add(record, tasks, cpus)
        else:
            file.write(record.data)
    batch.write(file, args.copies, pid_distance, cpu_distance)


def copy_of_vm(record, copy, step):
    """A VM of the table, for that copy"""
    name = VM.unpack_from(record)[-1].rstrip(b"\0")
    if copy:
        name += b"-%d" % copy
    fields = list(VM.unpack_from(record))
    fields[3] += copy * step
    fields[-1] = name
    vcpus = [VM_VCPU.pack(vcpu, tid + copy * step if tid else tid, flags, reserved)
             for vcpu, tid, flags, reserved in VM_VCPU.iter_unpack(record[VM.size:])]
    return VM.pack(*fields) + b"".join(vcpus)


def copy_of_pid(record, at, copy, step):
    record = bytearray(record)
    struct.pack_into("<I", record, at, u32(record, at) + copy * step)
    return record


def table_of_vms(profile, copies, step):
    """Each VM's record once for each copy, behind the one that there is"""
    table = bytearray(profile.vms[:PIPE_HEADER])
    for kind, record in stream(profile.vms):
        for copy in range(copies if kind in (GUEST_VM, GUEST_VM_TSC) else 1):
            table += copy_of_vm(record, copy, step) if kind == GUEST_VM else (
                copy_of_pid(record, VM_PID_AT, copy, step) if copy else record)
    return table


def write_looks(profile, out, copies, step):
    try:
        with open(os.path.join(profile.path, "vcpu_looks"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return
    with open(os.path.join(out, "vcpu_looks"), "wb") as file:
        file.write(data[:PIPE_HEADER])
        for kind, record in stream(data):
            for copy in range(copies if kind == VCPU_LOOK else 1):
                file.write(copy_of_pid(record, LOOK_PID_AT, copy, step) if copy else record)


def widen(args):
    profile = Profile(args.source)
    step = pid_step(profile)
    if step * args.copies > NO_TASK:
        raise ValueError("so many copies have no pids")
    cpus = profile.cpus
    profile.vms = table_of_vms(profile, args.copies, step)
    profile.same_guests = {pid + copy * step: pid for pid, _ in Profile(args.source).guests()
                           for copy in range(1, args.copies)}
    if not args.same_cpus and not args.old_header:
        profile.set_cpus(cpus * args.copies)
    profile.write_with(args.out, lambda file: write_records(
        profile, file, args, step, 0 if args.same_cpus else cpus))
    write_looks(profile, args.out, args.copies, step)
    samples = profile.samples()
    events = sum(sample.event.is_timeline for sample in samples)
    print((len(samples) - events) * args.copies, events * args.copies,
          os.path.getsize(os.path.join(args.out, "data")))


def main():
    args = arguments()
    try:
        widen(args)
    except (OSError, ValueError) as error:
        sys.exit("widen.py: %s" % error)


main()
