# SPDX-License-Identifier: GPL-2.0
"""A profile of perf kvm unified record, in memory: what is in its records, and how to write it.

Where things are is said in tools/perf/Documentation/perf.data-file-format.txt and
include/uapi/linux/perf_event.h of the kernel, and in perf-kvm-unified/format/records.h.
"""

import array
import collections
import os
import shutil
import struct

HEADER, SIZE_AT = struct.Struct("<IHH"), 6
MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2, NAMESPACES = 1, 3, 4, 7, 9, 10, 16
FINISHED_ROUND = 68
# The last record of the files beside the data
FINISHED_INIT = 82
# Records of the table of VMs: of a VM, and of a vCPU in it, from where these begin. Both have
# the VMM's pid first. The header of a stream
GUEST_VM, GUEST_VM_TSC = 96, 100
# struct perf_record_guest_vcpu_look, and its flag of a vCPU that is halted
VCPU_LOOK, LOOK, LOOK_HALTED = 106, struct.Struct("<IHHIIIIQ"), 1 << 3
# PERF_RECORD_TIME_CONV: the shift, the multiplier and the zero
TIME_CONV, TIME_CONV_AT = 79, struct.Struct("<QQq")
VM, VM_VCPU, PIPE_HEADER = struct.Struct("<IHHII64s"), struct.Struct("<IIII"), 16
VM_PID_AT = 8
# Where in records there are a pid and the tid of a thread of it
TASKS_AT = {MMAP: [(8, 12)], COMM: [(8, 12)], MMAP2: [(8, 12)], NAMESPACES: [(8, 12)],
            FORK: [(8, 16), (12, 20)], EXIT: [(8, 16), (12, 20)]}
# header.misc: what was interrupted
MODE, HOST_KERNEL, GUEST_KERNEL, GUEST_USER = 7, 1, 4, 5

# struct perf_file_header, struct perf_event_attr
ATTR_SIZE_AT, DATA_AT, FEATURES_AT, FEATURES = 16, 40, 72, 256
TYPE_AT, SAMPLE_TYPE_AT = 0, 24
TRACEPOINT = 2
FEATURE_NRCPUS, FEATURE_CPU_TOPOLOGY, FEATURE_SAMPLE_TIME, FEATURE_CPU_DOMAINS = 7, 13, 21, 32

# PERF_SAMPLE_*; what a sample begins with, in this order, what it has to have, and what other
# records end with. Each of them has 8 bytes.
IP, TID, TIME, ADDR, ID, CPU, PERIOD, STREAM_ID, RAW, IDENTIFIER, CGROUP, VCPU = (
    1 << bit for bit in (0, 1, 2, 3, 6, 7, 8, 9, 10, 16, 21, 25))
BEGIN = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD)
NEEDED = IDENTIFIER | IP | TID | TIME | CPU
END = (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER)
# struct perf_sample_vcpu
VCPU_LOADED, VCPU_ID_AT = 1 << 0, 16
# In the raw data of an event of kvm:kvm_vcpu_timeline, behind its size: what is where
COMMON_PID = (4, "<I")
TIMELINE = {"ns": (8, "<Q"), "wait": (16, "<Q"), "exit_reason": (24, "<Q"),
            "vcpu_id": (32, "<I"), "seq": (36, "<I"), "why": (40, "<i"), "next_pid": (44, "<i"),
            "cpu": (48, "<I"), "state": (52, "<B"), "isa": (53, "<B")}
# Copies are written in pieces of so many bytes at least.
PIECE = 1 << 24


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


class Event:
    """One that samples are of: where in them what is"""

    def __init__(self, attr):
        self.is_timeline = u32(attr, TYPE_AT) == TRACEPOINT
        self.sample_type = u64(attr, SAMPLE_TYPE_AT)
        known = sum(BEGIN) | RAW | CGROUP | VCPU
        if self.sample_type & ~known or self.sample_type & NEEDED != NEEDED:
            raise ValueError("samples are not as perf kvm unified record has them without options")
        begin = [field for field in BEGIN if self.sample_type & field]
        self.at = {field: HEADER.size + 8 * i for i, field in enumerate(begin)}
        self.end = HEADER.size + 8 * len(begin)
        # What a record of another kind has behind its own fields
        self.behind = sum(8 for field in END if self.sample_type & field)


class Record:
    """One record, to be changed. event: what it is a sample of, or None"""

    __slots__ = ("data", "event")

    def __init__(self, data, event):
        self.data = data
        self.event = event

    def copy(self):
        return Record(bytearray(self.data), self.event)

    @property
    def kind(self):
        return u32(self.data, 0)

    @property
    def is_round(self):
        return self.kind == FINISHED_ROUND

    @property
    def mode(self):
        return self.data[4] & MODE

    @property
    def in_guest(self):
        return self.mode in (GUEST_KERNEL, GUEST_USER)

    @property
    def time(self):
        return u64(self.data, self.event.at[TIME])

    @time.setter
    def time(self, time):
        struct.pack_into("<Q", self.data, self.event.at[TIME], time)

    @property
    def cpu(self):
        return u32(self.data, self.event.at[CPU])

    @cpu.setter
    def cpu(self, cpu):
        struct.pack_into("<I", self.data, self.event.at[CPU], cpu)

    @property
    def task(self):
        """(pid, tid)"""
        return struct.unpack_from("<II", self.data, self.event.at[TID])

    @task.setter
    def task(self, task):
        struct.pack_into("<II", self.data, self.event.at[TID], *task)

    @property
    def tasks_at(self):
        """Where they are, one after the other"""
        return [at for task in TASKS_AT.get(self.kind, ()) for at in task]

    @property
    def tasks(self):
        """(pid, tid) of whom a record speaks that is no sample"""
        return [(u32(self.data, pid), u32(self.data, tid))
                for pid, tid in TASKS_AT.get(self.kind, ())]

    @tasks.setter
    def tasks(self, tasks):
        for at, task in zip(TASKS_AT[self.kind], tasks):
            for where, number in zip(at, task):
                struct.pack_into("<I", self.data, where, number)

    def set_code(self, other):
        """What was interrupted is what it was in the other sample."""
        at = self.event.at[IP]
        self.data[4:6] = other.data[4:6]
        self.data[at:at + 8] = other.data[other.event.at[IP]:][:8]

    def timeline_at(self, field):
        """Where an event of the time line says that"""
        at, _ = TIMELINE[field] if field in TIMELINE else COMMON_PID
        return self.event.end + 4 + at

    def timeline(self, field):
        """What an event of the time line says"""
        _, kind = TIMELINE[field]
        return struct.unpack_from(kind, self.data, self.timeline_at(field))[0]

    def set_timeline(self, **fields):
        raw = self.event.end + 4
        for field, value in fields.items():
            at, kind = TIMELINE[field]
            struct.pack_into(kind, self.data, raw + at, value)
        at, kind = COMMON_PID
        struct.pack_into(kind, self.data, raw + at, self.task[1])

    def _vcpu_at(self):
        at = self.event.end
        if self.event.sample_type & RAW:
            at += 4 + u32(self.data, at)
        return at + 8 if self.event.sample_type & CGROUP else at

    def set_vcpu(self, vcpu):
        """The vCPU is another one, if there is one."""
        at = self._vcpu_at()
        if self.event.sample_type & VCPU and u64(self.data, at) & VCPU_LOADED:
            struct.pack_into("<I", self.data, at + VCPU_ID_AT, vcpu)

    def leave_vcpu(self):
        """There is none."""
        if self.event.sample_type & VCPU:
            self.data[self._vcpu_at():] = bytes(8)
            struct.pack_into("<H", self.data, SIZE_AT, len(self.data))


class Profile:
    """records, in their order; features: what the header has besides; vms: the table of VMs"""

    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "data"), "rb") as file:
            data = file.read()
        start, size = struct.unpack_from("<QQ", data, DATA_AT)
        self.head = data[:start]
        self.events = dict(self._events(data))
        self.records = list(self._records(data, start, start + size))
        self.features = dict(self._features(data, start + size))
        with open(os.path.join(path, "vms"), "rb") as file:
            self.vms = file.read()
        self.cpus = u32(self.features[FEATURE_NRCPUS], 0)
        # Guests that have the files of another one: their VMMs' pids
        self.same_guests = {}

    @staticmethod
    def _events(data):
        attr_size, attrs, attrs_size = struct.unpack_from("<QQQ", data, ATTR_SIZE_AT)
        for at in range(attrs, attrs + attrs_size, attr_size):
            event = Event(data[at:at + attr_size])
            ids, ids_size = struct.unpack_from("<QQ", data, at + attr_size - 16)
            for number in struct.unpack_from("<%dQ" % (ids_size // 8), data, ids):
                yield number, event

    def _records(self, data, at, end):
        while at + HEADER.size <= end:
            kind, _, size = HEADER.unpack_from(data, at)
            event = self.events[u64(data, at + HEADER.size)] if kind == SAMPLE else None
            yield Record(bytearray(data[at:at + size]), event)
            at += size

    @staticmethod
    def _features(data, at):
        bits = int.from_bytes(data[FEATURES_AT:FEATURES_AT + FEATURES // 8], "little")
        for feature in range(FEATURES):
            if bits >> feature & 1:
                offset, size = struct.unpack_from("<QQ", data, at)
                yield feature, bytearray(data[offset:offset + size])
                at += 16

    def samples(self):
        return [record for record in self.records if record.event]

    def guests(self):
        """(VMM's pid, threads of vCPUs) of each VM"""
        for kind, record in stream(self.vms):
            if kind == GUEST_VM:
                vcpus = VM_VCPU.iter_unpack(record[VM.size:])
                yield u32(record, VM_PID_AT), [vcpu[1] for vcpu in vcpus]

    def tsc(self, time):
        """The host's TSC at that time"""
        conversion = next(record for record in self.records if record.kind == TIME_CONV)
        shift, mult, zero = TIME_CONV_AT.unpack_from(conversion.data, HEADER.size)
        return ((time - zero) << shift) // mult + 1

    def set_cpus(self, number):
        """So many, of which it is not known how they lie together"""
        self.cpus = number
        self.features[FEATURE_NRCPUS] = struct.pack("<II", number, number)
        for feature in (FEATURE_CPU_TOPOLOGY, FEATURE_CPU_DOMAINS):
            self.features.pop(feature, None)

    def timeline_events(self):
        """How many events of its time line each vCPU has, by its task"""
        return collections.Counter(sample.task for sample in self.samples()
                                   if sample.event.is_timeline)

    def write(self, out, copies, shift):
        """A directory with the samples and ends of rounds so many times, each time later by
        shift ns. Anything else is there once."""
        self._write_files(out)
        first = bytearray().join(record.data for record in self.records)
        numbers, times, counts = array.array("Q"), [], []
        events = self.timeline_events()
        for record in self.records:
            if record.event:
                times.append(len(numbers) + record.event.at[TIME] // 8)
            if record.event and record.event.is_timeline:
                counts.append((len(numbers) + record.timeline_at("seq") // 8,
                               events[record.task]))
            if record.event or record.is_round:
                numbers.frombytes(bytes(record.data))
        for i in times:
            numbers[i] += shift
        for i, step in counts:
            numbers[i] += step
        self.write_data(out, first, (numbers, times, counts), copies - 1, shift)

    def write_data(self, out, first, again, copies, shift):
        """The file of the data: the records of first, and then so many times those of again, its
        numbers and which of these are times, each time later by shift ns, and which are counts of
        events, each with how much later by."""
        numbers, times, counts = again
        last = max(numbers[i] for i in times) + shift * (copies - 1)

        def write_records(file):
            file.write(first)
            write_copies(file, numbers, [(i, shift) for i in times] + counts, copies)
        self._write_file(out, write_records, last)

    def write_with(self, out, write_records):
        """A directory with the records that write_records() writes into a file: of the same
        time"""
        self._write_files(out)
        self._write_file(out, write_records, max(sample.time for sample in self.samples()))

    def _write_file(self, out, write_records, last):
        """The file of the data, with what write_records() writes; last: time of its last sample"""
        head = bytearray(self.head)
        bits = sum(1 << feature for feature in self.features)
        head[FEATURES_AT:FEATURES_AT + FEATURES // 8] = bits.to_bytes(FEATURES // 8, "little")
        with open(os.path.join(out, "data"), "wb") as file:
            file.write(head)
            write_records(file)
            end = file.tell()
            file.write(self._tail(end, last))
            struct.pack_into("<Q", head, DATA_AT + 8, end - len(head))
            file.seek(0)
            file.write(head)

    def _write_files(self, out):
        os.mkdir(out)
        for name in os.listdir(self.path):
            path = os.path.join(self.path, name)
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(out, name))
            elif name not in ("data", "vms"):
                shutil.copy(path, out)
        with open(os.path.join(out, "vms"), "wb") as file:
            file.write(self.vms)
        for new, old in self.same_guests.items():
            for name in ("guest_map__%d", "kcore_dir__%d"):
                if os.path.exists(os.path.join(out, name % old)):
                    os.symlink(name % old, os.path.join(out, name % new))

    def _tail(self, at, last):
        """What the header has besides, for a file in which it begins there"""
        features = dict(self.features)
        times = features.get(FEATURE_SAMPLE_TIME, b"")
        if len(times) >= 16:
            features[FEATURE_SAMPLE_TIME] = times[:8] + struct.pack("<Q", last) + times[16:]
        table, content = b"", b""
        at += 16 * len(features)
        for _, value in sorted(features.items()):
            table += struct.pack("<QQ", at + len(content), len(value))
            content += value
        return table + content


def write_copies(file, numbers, steps, copies):
    """numbers again and again, and of steps, a number's place and by how much it is more each
    time"""
    at_once = max(1, PIECE // (8 * len(numbers)))
    piece = array.array("Q")
    for copy in range(1, copies + 1):
        piece.extend(numbers)
        for i, step in steps:
            numbers[i] += step
        if copy % at_once == 0 or copy == copies:
            piece.tofile(file)
            piece = array.array("Q")


def stream(data):
    """Each record of a file in the pipe's format: its kind, and all of it"""
    at = PIPE_HEADER
    while at + HEADER.size <= len(data):
        kind, _, size = HEADER.unpack_from(data, at)
        yield kind, bytearray(data[at:at + size])
        at += size
