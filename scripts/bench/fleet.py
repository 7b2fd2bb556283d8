#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make the profile of a large host with many VMs from that of a small one with some.

usage: fleet.py PERF.DATA OUT-DIR

In OUT-DIR, what went on in PERF.DATA does so on 128 CPUs, in as many groups as are of the small
host's size, and for ten minutes: all takes some ten times as long there, and is repeated. A vCPU
of the small host is one in each group; the next time it is another one in each, while the first
are halted, and so on in turn. Each eight of these are a VM, which has the map of the one that it
is made of. Of the lab's scenario fleet, with 24 VMs and 25 vCPUs, that makes 200 VMs.

Prints how many samples there are, how many events of vCPUs among them, how many VMs, how many of
these have a map, and how many bytes of data there are.
"""

import array
import fractions
import os
import shutil
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from perf_data import (ATTR_SIZE_AT, COMM, FINISHED_INIT, FINISHED_ROUND, FORK,  # noqa: E402
                       GUEST_VM, GUEST_VM_TSC, HEADER, LOOK, LOOK_HALTED, MMAP, MMAP2, PERIOD,
                       PIPE_HEADER, Profile, TIME, TIME_CONV, TRACEPOINT, TYPE_AT, VCPU_LOOK, VM,
                       VM_VCPU, stream, u32, u64)

CPUS = 128
VCPUS_OF_A_VM = 8
# So many vCPUs take turns to be one of the small host, and so often each has its turn.
SETS = 2
PASSES = 4
LENGTH_NS = 600 * 1000000000
VM_NAME = b"vm-%03d"
# How many pids of threads a VM has room for, vCPUs' and others'; and those of one vCPU's group
VM_PIDS, GROUP_PIDS = 512, 60
# A task of none of the processes: of what the kernel has mapped
NO_TASK = (1 << 32) - 1

SAMPLE_PERIOD_AT = 16
# Of a vCPU in the table of VMs: there before and after, and halted before and after
VCPU_FLAGS = 0xf
# As in the kernel's enum kvm_vcpu_timeline_state
HALTED = 4
# Signs of a vCPU that are further apart than so many periods have a halt between them.
NEAR = 2
# Records that are kept, at the beginning, besides those of tasks: PERF_RECORD_CGROUP, _ID_INDEX
KEPT = (19, 69, TIME_CONV)
# record looks at a vCPU that has not run for so long, ns.
LOOK_AFTER = 1000000000
TASKS, MAPS = (COMM, FORK, MMAP, MMAP2), (MMAP, MMAP2)
# How often all CPUs' buffers are said to have been read, in a part of the small host's time
ROUNDS = 100


class Guest:
    """A VM of the small host. threads: of its vCPUs, the first of which has the number first among
    all; others: what else its VMM has, the main thread first"""

    def __init__(self, pid, threads, first):
        self.threads = threads
        self.others = [pid]
        self.first = first

    def add(self, tid):
        if tid not in self.threads and tid not in self.others:
            self.others.append(tid)


class Fleet:
    """Who of the small host is who in the large one"""

    def __init__(self, profile):
        self.cpus = profile.cpus
        self.groups = CPUS // profile.cpus
        if self.groups % VCPUS_OF_A_VM:
            raise ValueError("a host of %d CPUs is no part of the large one" % profile.cpus)
        self.guests = {}
        self.nr_vcpus = 0
        for pid, threads in profile.guests():
            self.guests[pid] = Guest(pid, threads, self.nr_vcpus)
            self.nr_vcpus += len(threads)
        most = 0
        for record in profile.records:
            for pid, tid in [record.task] if record.event else record.tasks:
                if pid in self.guests:
                    self.guests[pid].add(tid)
                if pid != NO_TASK:
                    most = max(most, pid, tid)
        self.step = 1 << most.bit_length()
        self.pids = {tid: pid for pid, guest in self.guests.items()
                     for tid in guest.threads + guest.others}
        self.seqs = [0] * (SETS * self.nr_vcpus * self.groups)

    def slot(self, vcpu, turn, group):
        """The number of a vCPU of the large host"""
        return (turn * self.nr_vcpus + vcpu) * self.groups + group

    def vm_pid(self, slot):
        return self.step * (self.groups + 1) + slot // VCPUS_OF_A_VM * VM_PIDS

    def task(self, pid, tid, turn, group):
        """(pid, tid) of what was that"""
        guest = self.guests.get(pid)
        if not guest:
            return (pid + group * self.step, tid + group * self.step) if tid else (pid, tid)
        if tid in guest.threads:
            slot = self.slot(guest.first + guest.threads.index(tid), turn, group)
            pid = self.vm_pid(slot)
            return pid, pid + 1 + slot % VCPUS_OF_A_VM
        slot = self.slot(guest.first, turn, group)
        pid, number = self.vm_pid(slot), guest.others.index(tid)
        if slot % VCPUS_OF_A_VM or number:
            number += 1 + VCPUS_OF_A_VM + slot % VCPUS_OF_A_VM * GROUP_PIDS
        return pid, pid + number

    def thread(self, tid, turn, group):
        return self.task(self.pids.get(tid, tid), tid, turn, group)[1]

    def vcpu(self, record):
        """The number of the small host's vCPU whose thread that is, or None"""
        pid, tid = record.task
        guest = self.guests.get(pid)
        return guest.first + guest.threads.index(tid) if guest and tid in guest.threads else None

    def vms(self):
        """(source's pid, first slot) of each VM, by number"""
        sources = {guest.first + i: pid for pid, guest in self.guests.items()
                   for i in range(len(guest.threads))}
        for slot in range(0, len(self.seqs), VCPUS_OF_A_VM):
            yield sources[slot // self.groups % self.nr_vcpus], slot


class Clock:
    """Times of the large host: the small host's ns since its start are scaled"""

    def __init__(self, samples, cpus, groups):
        times = [sample.time for sample in samples]
        self.start = min(times)
        self.length = max(times) - self.start
        self.length += self.length * cpus // len(times)
        self.scale = fractions.Fraction(LENGTH_NS, SETS * PASSES * self.length)
        self.groups = groups
        self.period = 0

    def scaled(self, ns):
        return ns * self.scale.numerator // self.scale.denominator

    def time(self, time, turn, group):
        """Groups are apart, so that not all CPUs take their samples at once."""
        return (self.start + self.scaled(time - self.start + turn * self.length) +
                group * self.period // self.groups)


def set_period(profile, clock):
    """All samples stand for a longer time."""
    head = bytearray(profile.head)
    attr_size, attrs, attrs_size = struct.unpack_from("<QQQ", head, ATTR_SIZE_AT)
    for at in range(attrs, attrs + attrs_size, attr_size):
        if u32(head, at + TYPE_AT) != TRACEPOINT:
            period = clock.scaled(u64(head, at + SAMPLE_PERIOD_AT))
            struct.pack_into("<Q", head, at + SAMPLE_PERIOD_AT, period)
            clock.period = max(clock.period, period)
    profile.head = bytes(head)


def add_halts(fleet, clock, samples):
    """Between its turns a vCPU is halted, and from when it was heard of last to when it is heard
    of first. Its first event tells so, one that is added if need be. Returns when each was heard of
    last."""
    first, last = {}, {}
    for i, sample in enumerate(samples):
        vcpu = fleet.vcpu(sample)
        if vcpu is not None:
            first.setdefault(vcpu, i)
            last[vcpu] = sample.time
    model = next(sample for sample in samples if sample.event.is_timeline)
    added = []
    for vcpu, i in first.items():
        event = samples[i]
        ns = event.time + SETS * clock.length - last[vcpu] - 1
        if ns < NEAR * clock.period / clock.scale:
            continue
        if not event.event.is_timeline:
            event = model.copy()
            event.time, event.cpu, event.task = samples[i].time, samples[i].cpu, samples[i].task
            added.append((i, event))
        event.set_timeline(state=HALTED, ns=ns, wait=0, why=0, next_pid=0, cpu=event.cpu)
    for i, event in sorted(added, key=lambda item: -item[0]):
        samples.insert(i, event)
    return last


def change(sample, fleet, clock, turn, group):
    """That sample in a turn of that group"""
    vcpu, new = fleet.vcpu(sample), sample.copy()
    new.time = clock.time(sample.time, turn, group)
    new.cpu = sample.cpu + group * fleet.cpus
    new.task = fleet.task(*sample.task, turn, group)
    if not sample.event.is_timeline:
        if PERIOD in sample.event.at:
            at = sample.event.at[PERIOD]
            struct.pack_into("<Q", new.data, at, clock.scaled(u64(new.data, at)))
        if vcpu is not None:
            new.set_vcpu(fleet.slot(vcpu, turn, group) % VCPUS_OF_A_VM)
        return new
    slot = fleet.slot(vcpu, turn, group)
    fleet.seqs[slot] += 1
    new.set_timeline(ns=clock.scaled(sample.timeline("ns")),
                     wait=clock.scaled(sample.timeline("wait")), seq=fleet.seqs[slot],
                     vcpu_id=slot % VCPUS_OF_A_VM,
                     cpu=sample.timeline("cpu") + group * fleet.cpus,
                     next_pid=fleet.thread(sample.timeline("next_pid"), turn, group))
    return new


def body(samples, fleet, clock):
    """All samples of all turns, as numbers of 64 bits; which of them are times; which are counts of
    a vCPU's events, and how many each vCPU has"""
    numbers, times, counts = array.array("Q"), [], []
    end_of_round = HEADER.pack(FINISHED_ROUND, 0, HEADER.size)
    for turn in range(SETS):
        for i, sample in enumerate(samples):
            for group in range(fleet.groups):
                new = change(sample, fleet, clock, turn, group)
                times.append(len(numbers) + new.event.at[TIME] // 8)
                if new.event.is_timeline:
                    counts.append((len(numbers) + new.timeline_at("seq") // 8,
                                   fleet.slot(fleet.vcpu(sample), turn, group)))
                numbers.frombytes(bytes(new.data))
            if i % (len(samples) // ROUNDS) == 0:
                numbers.frombytes(end_of_round)
    return numbers, times, [(i, fleet.seqs[slot]) for i, slot in counts]


def beginning(profile, fleet):
    """What is told of tasks, and what else is to be known, before the first sample"""
    for record in profile.records:
        if record.kind in KEPT or (record.kind in MAPS and record.tasks[0][0] == NO_TASK):
            yield record.data
        elif record.kind in TASKS:
            clear_time(record, profile.events)
            yield from tasks(record, fleet)


def clear_time(record, events):
    """It is of before the first sample. What perf record has made itself has no event, and is."""
    event = events.get(u64(record.data, len(record.data) - 8))
    if event:
        struct.pack_into("<Q", record.data, len(record.data) - event.behind + 8, 0)


def tasks(record, fleet):
    """The record for each task that was made of its own"""
    for turn in range(SETS if record.tasks[0][0] in fleet.guests else 1):
        for group in range(fleet.groups):
            new = record.copy()
            new.tasks = [fleet.task(*task, turn, group) for task in record.tasks]
            pid, tid = new.tasks[0]
            # What is mapped, the main thread says.
            if record.kind not in MAPS or pid == tid:
                yield new.data


def table_of_vms(profile, fleet):
    """The table, and the pids of the VMMs, each with that of whom it was made"""
    table = [record for kind, record in stream(profile.vms) if kind not in (GUEST_VM, GUEST_VM_TSC)]
    same = {}
    for number, (source, slot) in enumerate(fleet.vms()):
        pid = fleet.vm_pid(slot)
        same[pid] = source
        table.insert(-1, VM.pack(GUEST_VM, 0, VM.size + VCPUS_OF_A_VM * VM_VCPU.size, pid,
                                 VCPUS_OF_A_VM, VM_NAME % number) +
                     b"".join(VM_VCPU.pack(vcpu, pid + 1 + vcpu, VCPU_FLAGS, 0)
                              for vcpu in range(VCPUS_OF_A_VM)))
    return profile.vms[:PIPE_HEADER] + b"".join(table), same


def looks(profile, fleet, clock, last):
    """The looks at vCPUs that are halted at the end, and have no event that says so"""
    found = []
    before = clock.scaled((PASSES - 1) * SETS * clock.length)
    end = clock.time(clock.start + clock.length, SETS - 1, 0) + before
    for slot in range(len(fleet.seqs)):
        vcpu, group = slot // fleet.groups % fleet.nr_vcpus, slot % fleet.groups
        turn = slot // fleet.groups // fleet.nr_vcpus
        if vcpu in last:
            time = clock.time(last[vcpu], turn, group) + before + LOOK_AFTER
            found.append((time, LOOK.pack(VCPU_LOOK, 0, LOOK.size, fleet.vm_pid(slot),
                                          slot % VCPUS_OF_A_VM, LOOK_HALTED, 0,
                                          profile.tsc(time))))
    return (b"".join(look for time, look in sorted(found) if time < end) +
            HEADER.pack(FINISHED_INIT, 0, HEADER.size))


def write_guests(profile, out, same):
    """The maps of the VMs, each once, and otherwise by link. Returns how many VMs have one"""
    there, mapped = {}, 0
    for pid, source in same.items():
        for name in ("guest_map__%d", "kcore_dir__%d"):
            path, to = os.path.join(profile.path, name % source), os.path.join(out, name % pid)
            if not os.path.exists(path):
                continue
            mapped += name.startswith("guest_map")
            if path in there:
                os.symlink(there[path], to)
            elif os.path.isdir(path):
                shutil.copytree(path, to)
            else:
                shutil.copy(path, to)
            there.setdefault(path, name % pid)
    return mapped


def main():
    source, out = sys.argv[1:]
    profile = Profile(source)
    fleet = Fleet(profile)
    samples = sorted(profile.samples(), key=lambda sample: sample.time)
    clock = Clock(samples, profile.cpus, fleet.groups)
    set_period(profile, clock)
    last = add_halts(fleet, clock, samples)
    numbers, times, counts = body(samples, fleet, clock)
    vms, same = table_of_vms(profile, fleet)
    profile.set_cpus(CPUS)
    os.mkdir(out)
    mapped = write_guests(profile, out, same)
    with open(os.path.join(out, "vms"), "wb") as file:
        file.write(vms)
    with open(os.path.join(out, "vcpu_looks"), "wb") as file:
        file.write(vms[:PIPE_HEADER] + looks(profile, fleet, clock, last))
    profile.write_data(out, b"".join(beginning(profile, fleet)), (numbers, times, counts),
                       PASSES, clock.scaled(SETS * clock.length))
    print(PASSES * (len(times) - len(counts)), PASSES * len(counts), len(same), mapped,
          os.path.getsize(os.path.join(out, "data")))


try:
    main()
except (OSError, ValueError) as error:
    sys.exit("fleet.py: %s" % error)
