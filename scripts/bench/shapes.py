# SPDX-License-Identifier: GPL-2.0
"""What a profile can be made into: of another length, with more tasks, events or vCPUs.

Each function changes a perf_data.Profile, of one VM with one vCPU.
"""

import struct

from perf_data import (COMM, GUEST_VM, GUEST_VM_TSC, HEADER, HOST_KERNEL, PIPE_HEADER, Record, VM,
                     VM_PID_AT, VM_VCPU, stream)

# A VM has so many vCPUs, and the next ones are another VM's.
VCPUS_OF_A_VM = 8
# CPUs do not take their samples at once, but one after the other within so many ns: less than
# what the records of two rounds of perf record are apart in the demo's profile.
SPREAD_NS = 500000
TASK_NAME = b"task-%05d"

# States that are made, as in the kernel's enum kvm_vcpu_timeline_state, and how long one lasts at
# most, ns; why KVM_RUN has returned
USER, PREEMPTED = 1, 2
EXIT_NS, SWITCH_NS = 20000, 8000
KVM_EXIT_IO = 2
# The CPU's exit for an instruction that accesses a port: VMX, SVM
PORT_IO = {1: 30, 2: 0x7b}
# Samples of a CPU that are further apart than so many times the usual have something between.
NEAR = 1.5
SECOND = 1000000000
# Linux has no pids from here on.
PID_MAX = 1 << 22


def the_vcpu(profile):
    """Of which VM, by its VMM's pid, and which thread its one vCPU is"""
    guests = list(profile.guests())
    if len(guests) != 1 or len(guests[0][1]) != 1:
        raise ValueError("this is not a profile of one VM with one vCPU")
    vmm, [thread] = guests[0]
    return vmm, thread


def samples_of_time(profile):
    """Without the events of vCPUs, of which there are as many as the scheduler has made"""
    return [sample for sample in profile.samples() if not sample.event.is_timeline]


def span(profile):
    """First and last time of samples, and how far apart those of a CPU are"""
    samples = samples_of_time(profile)
    times = [sample.time for sample in samples]
    cpus = len({sample.cpu for sample in samples})
    return min(times), max(times), (max(times) - min(times)) * cpus // len(times)


def resize(profile, wanted):
    """So many samples: without the last ones, or with all of them again, later. Returns how many
    ns later the whole can be repeated."""
    first, last, distance = span(profile)
    number = len(samples_of_time(profile))
    events = profile.timeline_events()
    again = [record for record in profile.records if record.event or record.is_round]
    for i in range(1, -(-wanted // number)):
        for record in again:
            later = record.copy()
            if later.event:
                later.time += i * (last - first + distance)
            if later.event and later.event.is_timeline:
                later.set_timeline(seq=later.timeline("seq") + i * events[later.task])
            profile.records.append(later)
    end = sorted(sample.time for sample in samples_of_time(profile))[wanted - 1]
    profile.records = [record for record in profile.records
                       if not record.event or record.time <= end]
    return end - first + distance


def pid_step(profile):
    """More than any pid of a task that there is"""
    pids = [pid for record in profile.records
            for task in ([record.task] if record.event else record.tasks) for pid in task]
    return 1 << max(pid for pid in pids if pid < PID_MAX).bit_length()


def comm(profile, task, name):
    """What perf record makes for a task that was there before"""
    name += b"\0" * (8 - len(name) % 8)
    behind = max(event.behind for event in profile.events.values())
    size = HEADER.size + 8 + len(name) + behind
    return Record(bytearray(HEADER.pack(COMM, 0, size) + struct.pack("<II", task, task) + name +
                            bytes(behind)), None)


def idle_samples(profile):
    return [sample for sample in profile.samples() if sample.task == (0, 0)]


def host_code(profile, is_of):
    """Samples in the host's kernel of tasks for which is_of() is true: where others may be, too"""
    return [sample for sample in profile.samples() if not sample.event.is_timeline and
            sample.mode == HOST_KERNEL and is_of(sample.task[0])]


def other_code(profile):
    vmm, _ = the_vcpu(profile)
    code = host_code(profile, lambda pid: pid not in (0, vmm))
    if not code:
        raise ValueError("this profile has no samples of other tasks of the host")
    return code


def vmm_code(profile):
    """Where the VMM was, or, as it may be too short in the kernel for a sample, other tasks"""
    vmm, _ = the_vcpu(profile)
    return host_code(profile, lambda pid: pid == vmm) or other_code(profile)


def add_tasks(profile, number):
    """The host's idle time is that of so many tasks in turn. Returns their pids."""
    code = other_code(profile)
    step = pid_step(profile)
    idle = idle_samples(profile)
    tasks = range(step, step + min(number, len(idle)))
    for i, sample in enumerate(idle):
        which = i % len(tasks)
        sample.task = tasks[which], tasks[which]
        sample.set_code(code[which % len(code)])
    at = next(i for i, record in enumerate(profile.records) if record.event)
    profile.records[at:at] = [comm(profile, task, TASK_NAME % i) for i, task in enumerate(tasks)]
    return tasks


def add_exits(profile, a_second):
    """So many stays in the VMM, as for port I/O"""
    code = vmm_code(profile)

    def leave(event):
        event.set_timeline(state=USER, why=KVM_EXIT_IO, wait=0, next_pid=0,
                           exit_reason=PORT_IO[event.timeline("isa")])

    def hit(sample, event):
        sample.set_code(code[event.timeline("seq") % len(code)])
    add_events(profile, a_second, EXIT_NS, leave, hit)


def add_switches(profile, a_second, tasks):
    """So many times one of the tasks has the CPU for a short time, in turn"""
    code = other_code(profile)

    def switch(event):
        event.set_timeline(state=PREEMPTED, why=0, wait=event.timeline("ns"),
                           next_pid=tasks[event.timeline("seq") % len(tasks)])

    def hit(sample, event):
        task = event.timeline("next_pid")
        sample.task = task, task
        sample.set_code(code[task % len(code)])
    add_events(profile, a_second, SWITCH_NS, switch, hit)


def add_events(profile, a_second, most_ns, change, hit):
    """So many events of the time line, where two samples of the vCPU in the guest follow each
    other, and as many samples in the states as these last. change() gets an event, with its
    number, hit() a sample and the event of its state."""
    model = next((record for record in profile.samples() if record.event.is_timeline), None)
    if not model:
        raise ValueError("this profile has no events of its vCPU's time line")
    before, due, due_hits, number = {}, 0, 0, 0
    near = NEAR * span(profile)[2]
    records = []
    for record in profile.records:
        start, in_guest = before.get(record.cpu, (0, False)) if record.event else (0, False)
        if record.event:
            before[record.cpu] = record.time, record.in_guest
        records.append(record)
        if not in_guest or not record.in_guest or record.time > start + near:
            continue
        due += a_second * (record.time - start) / SECOND
        events = between(model, record, start, int(due), most_ns)
        due -= len(events)
        for event in events:
            event.set_timeline(seq=number)
            change(event)
            number += 1
            due_hits += event.timeline("ns") / (record.time - start)
        # The last of the states ends behind the sample then.
        if events and due_hits >= 1:
            due_hits -= 1
            record.time = events[-1].time - events[-1].timeline("ns") // 2
            record.leave_vcpu()
            hit(record, events[-1])
            records[-1:] = events[:-1] + [record, events[-1]]
        else:
            records[-1:] = events + [record]
    profile.records = records
    number_events(profile)


def between(model, sample, start, number, most_ns):
    """So many events like the model, of the sample's vCPU, from the start to it"""
    distance = (sample.time - start) // (number + 1)
    events = []
    for i in range(number):
        event = model.copy()
        event.time = start + (i + 1) * distance
        event.cpu = sample.cpu
        event.task = sample.task
        event.set_timeline(ns=min(most_ns, distance // 2), cpu=sample.cpu)
        events.append(event)
    return events


def number_events(profile):
    """The events of the vCPU's time line have their numbers in the order of time."""
    events = [record for record in profile.samples() if record.event.is_timeline]
    for number, event in enumerate(sorted(events, key=lambda event: event.time), 1):
        event.set_timeline(seq=number)


class Twin:
    """A vCPU that does what the one of the profile does, with CPUs and threads of its own, a
    little later. VCPUS_OF_A_VM of them are of one VM."""

    def __init__(self, profile, number, step, later):
        self.vmm, self.thread = the_vcpu(profile)
        self.number = number
        self.vcpu = number % VCPUS_OF_A_VM
        self.pid = self.vmm + (number - self.vcpu) * step
        self.cpu = number * profile.cpus
        self.step = step
        self.later = later

    def task(self, pid, tid):
        if pid != self.vmm:
            return pid, tid
        return self.pid, self.pid if tid == pid else tid + self.number * self.step

    def sample(self, record):
        record = record.copy()
        record.time += self.later
        record.cpu += self.cpu
        record.task = self.task(*record.task)
        record.set_vcpu(self.vcpu)
        if record.event.is_timeline:
            record.set_timeline(vcpu_id=self.vcpu, cpu=record.timeline("cpu") + self.cpu)
        return record

    def other(self, record):
        """What says of the VMM's process and its threads, for these. None if it does not, or if
        it has been said with the VM's first vCPU"""
        tasks = record.tasks
        if not tasks or tasks[0][0] != self.vmm:
            return None
        tasks = [self.task(*task) for task in tasks]
        if self.vcpu and tasks[0] == (self.pid, self.pid):
            return None
        record = record.copy()
        record.tasks = tasks
        return record


def add_vcpus(profile, number):
    """So many vCPUs, each with as many CPUs as the profile has, where the same went on"""
    step = pid_step(profile)
    twins = [Twin(profile, i, step, i * SPREAD_NS // number) for i in range(number)]
    added, records, samples = twins[1:], [], []
    for record in profile.records:
        if record.is_round:
            records += twins_of(samples, added)
            samples = []
        elif record.event:
            samples.append(record)
        records.append(record)
        if not record.event:
            records += filter(None, (twin.other(record) for twin in added))
    profile.records = records + twins_of(samples, added)
    profile.vms = table_of_vms(profile, twins)
    profile.set_cpus(profile.cpus * number)
    profile.same_guests = {twin.pid: twin.vmm for twin in added if not twin.vcpu}


def twins_of(samples, added):
    return [twin.sample(sample) for twin in added for sample in samples]


def table_of_vms(profile, twins):
    vms = [twins[i:i + VCPUS_OF_A_VM] for i in range(0, len(twins), VCPUS_OF_A_VM)]
    table = bytearray(profile.vms[:PIPE_HEADER])
    for kind, record in stream(profile.vms):
        if kind == GUEST_VM:
            for i, vcpus in enumerate(vms):
                table += vm_record(record, i, vcpus)
        elif kind == GUEST_VM_TSC:
            for vcpus in vms:
                struct.pack_into("<I", record, VM_PID_AT, vcpus[0].pid)
                table += record
        else:
            table += record
    return table


def vm_record(record, number, vcpus):
    """As the one that there is, with these vCPUs, and another name"""
    name = VM.unpack_from(record)[-1].rstrip(b"\0")
    if number:
        name += b"-%d" % number
    _, _, flags, reserved = VM_VCPU.unpack_from(record, VM.size)
    entries = b"".join(VM_VCPU.pack(twin.vcpu, twin.task(twin.vmm, twin.thread)[1], flags, reserved)
                       for twin in vcpus)
    return VM.pack(GUEST_VM, 0, VM.size + len(entries), vcpus[0].pid, len(vcpus), name) + entries
