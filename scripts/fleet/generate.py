#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make rows of a fleet of hosts from those of one, and say what the answers to queries/ are.

usage: generate.py [--hosts N] [--hours N] [--every SECONDS] [--seed N] [--begin TIME] ROWS ANSWERS

Each host has a window of sample.rows' length every so many seconds. Its VMs are called otherwise,
ten hosts having VMs of one name; all times vary, by host and by window, and what is idle is the
rest, so that each window adds up. Two things happen: from the middle on, VMs of some hosts are
stolen from instead of being halted; and one host after the other gets a new build of nginx, of
which one function takes twice as long.

ROWS gets the rows, and ANSWERS (JSON) what the generator knows without a database: how many rows
and windows there are, and for each question its parameters and the rows of the answer.

  --hosts 100  --hours 24  --every 600  --seed 1  --begin 2026-11-29T14:00:00 (UTC)
"""

import argparse
import collections
import datetime
import hashlib
import json
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import rows  # noqa: E402

SAMPLE = os.path.join(HERE, "sample.rows")
USAGE = __doc__.partition("usage: ")[2].partition("\n")[0]
NAMES = {"guest1": "compute", "guest2": "shop", "guest3": "batch"}
SAME_NAMES = 10
# Whose row it is that a thief's steal is of, in sample.rows. After a name of NAMES comes its VM.
THIEVES = {
    "on vcpu0": "its other vCPUs", "on vcpu1": "its other vCPUs",
    "on VM guest1: vcpu0": "guest1", "on VM guest1: vcpu1": "guest1",
    "on VM guest1: vhost": "guest1", "on VM guest2: vcpu0": "guest2",
    "on VM guest3: vcpu0": "guest3", "on its VMM: qemu-system-x86": "its VMM",
    "on task rsync, pid 812, in backup.service": "task rsync", "on 2 tasks perf": "task perf",
    "on task kworker/1:0-mm_, pid 23": "task kworker/1:0-mm_",
    "on task ksoftirqd/1, pid 22": "task ksoftirqd/1", "waking up": "waking up",
    "switching": "switching", "on something not sampled": "something not sampled",
    "CPU idle: quota": "CPU idle: quota"}
# All times are within these parts of the sample's, by host and by window.
LEAST, SPREAD = 0.8, 0.3
# Of so many hosts, one has the VM that is stolen from, and that many times what it was. So that it
# has lost more idle time than it is stolen, or less, it is throttled twice as long, or not at all.
CROWDED_OF, CROWDED_VM, CROWDED, THROTTLED = 7, "guest3", 15, (2, 0)
ROLLED_OUT, SLOWER, SLOWER_BY = "nginx", "ngx_http_parse_uri", 2
EXECUTED, HALTED, WAITED = ("OS", "USER"), ("IDLE", "halt-poll"), ("steal", "throttled")
LIMIT, POINTS = 20, 5


class Sample:
    """The rows of one host, and which of them are what is left of the time"""

    def __init__(self):
        with open(SAMPLE, "rb") as file:
            self.rows = [rows.parse(line) for line in file]
        self.duration = self.rows[0]["duration"]
        self.parts = collections.defaultdict(list)
        self.rest, self.total = {}, {}
        for i, row in enumerate(self.rows):
            of = row["vm"], row["vcpu"]
            self.total[of] = self.total.get(of, 0) + row["ns"]
            if row["class"] == "IDLE":
                self.rest[of] = i
            else:
                self.parts[of].append(i)
        # A host's row of a VM is what the VM has executed.
        self.executed = {i: [j for j, of in enumerate(self.rows)
                             if of["level"] == "vcpu" and "[%s]" % of["vm"] == row["function"] and
                             of["class"] in EXECUTED]
                         for i, row in enumerate(self.rows) if row["class"] == "VM"}
        self.vcpus = collections.Counter(vm for vm, vcpu in self.total if vcpu >= 0)
        self.old_build = next(row["build_id"] for row in self.rows if row["module"] == ROLLED_OUT)
        self.new_build = hashlib.sha1(self.old_build.encode()).hexdigest()


class Host:
    """ns of its rows, by what has happened to it by then: (is it the second half, has it the new
    build)"""

    def __init__(self, sample, number, rng, crowded):
        """crowded: among the hosts with a VM that is stolen from, which one it is, or None"""
        self.name = "host-%03d" % number
        self.number = number
        self.crowded = crowded is not None
        self.throttled = THROTTLED[(crowded or 0) % 2]
        self.vms = {vm: "%s-%d" % (name, number % SAME_NAMES) for vm, name in NAMES.items()}
        self.base = [row["ns"] * (LEAST + SPREAD * rng.random()) for row in sample.rows]
        self.ns = collections.defaultdict(lambda: [0] * len(sample.rows))
        self.windows = collections.Counter()
        self.texts = {build: [self.text(row, build) for row in sample.rows]
                      for build in (sample.old_build, sample.new_build)}

    def text(self, row, build):
        """What is before the time of a row, and behind its samples"""
        row = dict(row, host=self.name, start=None, ns=None)
        for vm, name in self.vms.items():
            row["function"] = row["function"].replace("[%s]" % vm, "[%s]" % name)
            row["function"] = row["function"].replace(" VM %s:" % vm, " VM %s:" % name)
        row["vm"] = self.vms.get(row["vm"], "")
        if row["module"] == ROLLED_OUT:
            row["build_id"] = build
        text = json.dumps(row)
        before, _, behind = text.partition('"start": null')
        middle, _, behind = behind.partition('"ns": null, "samples": %d' % row["samples"])
        return before + '"start": ', middle + '"ns": ', behind + "\n"


def window_of(sample, host, rng, late, new):
    """ns of each row"""
    ns = [int(base * (LEAST + SPREAD * rng.random())) for base in host.base]
    for i, row in enumerate(sample.rows):
        if late and host.crowded and row["vm"] == CROWDED_VM:
            ns[i] *= {"steal": CROWDED, "throttled": host.throttled}.get(row["class"], 1)
        if new and row["function"] == SLOWER:
            ns[i] *= SLOWER_BY
    for i, executed in sample.executed.items():
        ns[i] = sum(ns[j] for j in executed)
    for of, rest in sample.rest.items():
        ns[rest] = sample.total[of] - sum(ns[i] for i in sample.parts[of])
        if ns[rest] < 0:
            raise ValueError("more time than there is: %s" % (of,))
    return ns


def write(sample, hosts, args, rng, file):
    """Window by window, as hosts send them"""
    nr = args.hours * 3600 // args.every
    for number in range(nr):
        start = args.begin + number * args.every * rows.SECOND
        late = 2 * number >= nr
        for host in hosts:
            new = number >= nr * (0.3 + 0.4 * host.number / len(hosts))
            ns = window_of(sample, host, rng, late, new)
            what = late, new
            host.ns[what] = [a + b for a, b in zip(host.ns[what], ns)]
            host.windows[what] += 1
            texts = host.texts[sample.new_build if new else sample.old_build]
            file.write("".join(
                '%s%d%s%d, "samples": %d%s' % (before, start, middle, n, n // 1000000, behind)
                for (before, middle, behind), n in zip(texts, ns)))
    return nr * len(hosts)


class Answers:
    """What the questions have for answers, from the sums of hosts. late, new: only of that half,
    or with that build"""

    def __init__(self, sample, hosts):
        self.sample, self.hosts = sample, hosts

    def each(self, wanted, late=None, new=None):
        """(host, row, ns) of rows of vCPUs"""
        for host in self.hosts:
            for (is_late, is_new), sums in host.ns.items():
                if late in (None, is_late) and new in (None, is_new):
                    for row, ns in zip(self.sample.rows, sums):
                        if row["level"] == "vcpu" and wanted(row):
                            yield host, row, ns

    def time(self, host, vm, late=None, new=None):
        """Of all vCPUs of a VM"""
        return self.sample.vcpus[vm] * self.sample.duration * sum(
            nr for (is_late, is_new), nr in host.windows.items()
            if late in (None, is_late) and new in (None, is_new))

    def executed(self, late=None):
        return sum(ns for _, _, ns in self.each(lambda row: row["class"] in EXECUTED, late))

    def by(self, key, wanted, **when):
        """ns, hosts and VMs by what a row has in common"""
        sums = collections.defaultdict(lambda: [0, set(), set()])
        for host, row, ns in self.each(wanted, **when):
            of = sums[key(host, row)]
            of[0] += ns
            of[1].add(host.name)
            of[2].add((host.name, row["vm"]))
        return sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))

    def dearest_functions(self, late=None):
        every = self.executed(late)
        return [[*key, ns, 100 * ns / every, len(hosts)] for key, (ns, hosts, _) in
                self.by(lambda host, row: (row["module"], row["function"]),
                        lambda row: row["class"] in EXECUTED, late=late)]

    def containers(self):
        every = self.executed()
        return [[key, ns, 100 * ns / every, len(vms), len(hosts)] for key, (ns, hosts, vms) in
                self.by(lambda host, row: row["cgroup"],
                        lambda row: row["class"] in EXECUTED and row["cgroup"])]

    def thieves(self):
        def key(host, row):
            thief = THIEVES[row["function"].partition("(")[2][:-1]]
            return (host.vms[row["vm"]],
                    "VM %s" % host.vms[thief] if thief in host.vms else thief)
        times = collections.Counter()
        for host in self.hosts:
            for vm, name in host.vms.items():
                times[name] += self.time(host, vm)
        return [[*pair, ns, 100 * ns / times[pair[0]], len(hosts)] for pair, (ns, hosts, _) in
                self.by(key, lambda row: row["class"] == "steal")]

    def part(self, classes, late):
        """Percent of the time of each (host, VM) in that half"""
        sums = dict(self.by(lambda host, row: (host.number, row["vm"]),
                            lambda row: row["class"] in classes, late=late))
        return {(number, vm): 100 * ns / self.time(self.hosts[number], vm, late)
                for (number, vm), (ns, _, _) in sums.items()}

    def halts_to_steal(self):
        old_idle, idle = self.part(HALTED, False), self.part(HALTED, True)
        old_steal, steal = self.part(("steal",), False), self.part(("steal",), True)
        found = [[self.hosts[of[0]].name, self.hosts[of[0]].vms[of[1]], old_idle[of], idle[of],
                  old_steal[of], steal[of], min(old_idle[of] - idle[of], steal[of] - old_steal[of])]
                 for of in idle]
        return sorted((row for row in found if row[-1] >= POINTS), key=lambda row: -row[-1])

    def build_ids(self):
        def ns_of(new):
            sums = collections.Counter()
            for host, row, ns in self.each(lambda row: row["module"] == ROLLED_OUT, new=new):
                sums[row["function"]] += ns
                sums["(all)"] += ns
            return sums, sum(self.time(host, vm, new=new) for host in self.hosts
                             for vm in {row["vm"] for row in self.sample.rows
                                        if row["module"] == ROLLED_OUT})
        (old, old_time), (new, new_time) = ns_of(False), ns_of(True)
        found = [[name, old[name], new[name], 1e6 * old[name] / old_time,
                  1e6 * new[name] / new_time] for name in old]
        return sorted(([*row, row[4] - row[3]] for row in found), key=lambda row: -abs(row[5]))

    def waiting_hosts(self):
        found = []
        for host in self.hosts:
            sums = collections.Counter()
            for row, ns in ((row, ns) for sums_of in host.ns.values()
                            for row, ns in zip(self.sample.rows, sums_of)):
                if row["class"] in WAITED:
                    sums[row["class"]] += ns
                    sums[row["vm"]] += ns
            time = {vm: self.time(host, vm) for vm in host.vms}
            percent, worst = max((100 * sums[vm] / time[vm], name)
                                 for vm, name in host.vms.items())
            found.append([host.name, sums["steal"], sums["throttled"],
                          100 * (sums["steal"] + sums["throttled"]) / sum(time.values()),
                          worst, percent])
        return sorted(found, key=lambda row: -row[3])


def answers(sample, hosts, args, windows):
    def at(hours):
        time = datetime.datetime.fromtimestamp(args.begin // rows.SECOND, datetime.timezone.utc)
        return (time + datetime.timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M:%S")

    known = Answers(sample, hosts)
    begin, middle, end = at(0), at(args.hours / 2), at(args.hours)
    whole, late = {"from": begin, "until": end}, {"from": middle, "until": end}
    builds = dict(whole, old=sample.old_build, new=sample.new_build)
    halts = dict(late, old_from=begin, old_until=middle, points=str(POINTS))
    vm = hosts[0].vms["guest1"]
    return {
        "rows": windows * len(sample.rows), "windows": windows, "hosts": len(hosts),
        "host_hours": args.hours * len(hosts), "ns": sum(sample.total.values()) * windows,
        "questions": [
            {"query": name, "values": values, "rows": found[:LIMIT]} for name, values, found in (
                ("dearest-functions", whole, known.dearest_functions()),
                ("dearest-functions", late, known.dearest_functions(True)),
                ("dearest-functions", dict(whole, module=ROLLED_OUT),
                 [row for row in known.dearest_functions() if row[0] == ROLLED_OUT]),
                ("thieves", whole, known.thieves()),
                ("thieves", dict(whole, vm=vm), [row for row in known.thieves() if row[0] == vm]),
                ("halts-to-steal", halts, known.halts_to_steal()),
                ("build-ids", builds, known.build_ids()),
                ("waiting-hosts", whole, known.waiting_hosts()),
                ("containers", whole, known.containers()))]}


def main():
    parser = argparse.ArgumentParser(usage=USAGE, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    for option, default in ("hosts", 100), ("hours", 24), ("every", 600), ("seed", 1):
        parser.add_argument("--" + option, type=int, default=default)
    parser.add_argument("--begin", type=rows.start_of, default="2026-11-29T14:00:00")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.help:
        print(__doc__.strip())
        return
    if len(args.files) != 2:
        parser.error("two files are wanted")
    rng = random.Random(args.seed)
    sample = Sample()
    crowded = rng.sample(range(args.hosts), min(args.hosts, max(2, args.hosts // CROWDED_OF)))
    hosts = [Host(sample, number, rng, crowded.index(number) if number in crowded else None)
             for number in range(args.hosts)]
    with open(args.files[0], "w", encoding="ascii") as file:
        windows = write(sample, hosts, args, rng, file)
    with open(args.files[1], "w", encoding="ascii") as file:
        json.dump(answers(sample, hosts, args, windows), file, indent=1)


try:
    main()
except (OSError, ValueError) as error:
    sys.exit("generate.py: %s" % error)
