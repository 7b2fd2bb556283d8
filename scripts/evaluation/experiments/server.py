# SPDX-License-Identifier: GPL-2.0
"""A database server in a guest, and how much of its throughput is left with a profiler."""

import bisect
import collections
import os
import re
import subprocess
import sys

from experiment import Finding

SCENARIOS = ["server"]

ROOT = "extra-mariadb"
SERVER, LOAD = "mariadbd", "sysbench"
WITHOUT = ["none-1", "none-2", "none-3"]
# Name, what it is, period in ms, and what the paper says
WITH = [("plain-1ms", "perf record -a", 1.0, None),
        ("unified-1ms", "perf kvm unified record", 1.0, "no visible effect"),
        ("unified-100us", "perf kvm unified record", 0.1, None)]
# Of the paper's two, the one that is for practical use
AT_1_MS = "unified-1ms"
# Of the two profiles, the one with more samples
PROFILE = "unified-100us"
TOP = 12
MS_PER_SEC = 1000


class Run:
    """So many transactions, and what sysbench and the guest have said of them."""

    def __init__(self, lab, name):
        answer = lab.text("server", name + "-answer")
        self.transactions = int(re.search(r"transactions: +(\d+)", answer).group(1))
        self.seconds = float(re.search(r"total time: +([\d.]+)s", answer).group(1))
        before, after = (ticks(lab.text("server", "%s-guest1-stat.%s" % (name, when)))
                         for when in ("before", "after"))
        self.ticks = {kind: after[kind] - before[kind] for kind in after}

    @property
    def per_second(self):
        return self.transactions / self.seconds

    @property
    def idle(self):
        """Percent, as the guest sees it."""
        return 100 * (self.ticks["idle"] + self.ticks["iowait"]) / sum(self.ticks.values())


def ticks(stat):
    kinds = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"]
    return dict(zip(kinds, (int(n) for n in stat.split("\n", 1)[0].split()[1:])))


def throughput(finding, lab):
    """The first table; what is lost at 1 ms and by itself, in %."""
    runs = [Run(lab, name) for name in WITHOUT]
    mean = sum(run.per_second for run in runs) / len(runs)

    def loss(run):
        return 100 * (1 - run.per_second / mean)

    rows = [["nothing", None, None, run.per_second, loss(run), run.idle] for run in runs]
    lost = {}
    for name, what, period, paper in WITH:
        run = Run(lab, name)
        lost[name] = loss(run)
        rows.append([what, period, paper, run.per_second, lost[name], run.idle])
    finding.table("Throughput of the database server",
                  ["with", "period, ms", "loss, paper", "transactions per second", "loss, %",
                   "idle, % (the guest's /proc/stat)"], rows)
    finding.bars("Throughput of a database server in a guest", "transactions per second",
                 ["nothing"] + ["%s, %g ms" % (what, period) for _, what, period, _ in WITH],
                 {"transactions per second": [mean] + [mean * (1 - lost[name] / 100)
                                                       for name, _, _, _ in WITH]})
    finding.at_most(1, "the runs without a profiler: from the mean of them",
                    max(abs(loss(run)) for run in runs), "%")
    finding.at_most(1, "throughput that is lost with perf kvm unified record at 1 ms",
                    lost[AT_1_MS], "%")


def in_process(name):
    return lambda row: row["class"] == "USER" and row.get("comm") == name


def in_server(row):
    return in_process(SERVER)(row) and row["module"] == SERVER


def short(function):
    """Without a C++ function's arguments, which are long."""
    return re.sub(r"\(.*", "", function) or function


def profile(finding, report):
    def part(of):
        return report.part("guest1", of)

    def is_named(row):
        return row["function"] != "[unknown]"

    server = part(in_server)
    named = part(lambda row: in_server(row) and is_named(row))
    finding.table(
        "The guest's time with the load, by perf kvm unified, %", ["", "share"],
        [["mariadbd: its own code", server],
         ["... in functions with names", named],
         ["mariadbd: libraries", part(in_process(SERVER)) - server],
         ["sysbench", part(in_process(LOAD))],
         ["other processes", report.share("guest1", "USER") - part(in_process(SERVER)) -
          part(in_process(LOAD))],
         ["the guest's kernel", report.share("guest1", "OS")],
         ["steal", report.share("guest1", "taken")],
         ["idle", report.share("guest1", "idle")]])
    rows = sorted((row for row in report.level("guest1")["rows"]
                   if row["class"] in ("USER", "OS") and is_named(row)),
                  key=lambda row: -row["time_ns"])[:TOP]
    finding.table("The first functions that have a name", ["function", "module", "process", "%"],
                  [[short(row["function"]), row["module"], row.get("comm") or None, row["percent"]]
                   for row in rows])
    finding.at_least(99, "user time whose process is named",
                     100 * report.guest("guest1")["user_samples_named"] /
                     report.guest("guest1")["user_samples"], "%")
    finding.at_least(40, "mariadbd's own code, in functions with names", 100 * named / server, "%")


def functions(path):
    """The functions that a program has names for, by nm: [(start, end)], {name: [start]}."""
    nm = subprocess.run(["nm", "-DSC", "--defined-only", path], stdout=subprocess.PIPE,
                        check=True, universal_newlines=True)
    ranges, starts = set(), collections.defaultdict(set)
    for line in nm.stdout.splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [TtWwi] (.*)", line)
        if match:
            start, size = (int(number, 16) for number in match.groups()[:2])
            ranges.add((start, start + size))
            starts[match.group(3)].add(start)
    return sorted(ranges), starts


def samples_of(lab, path):
    """Of the profile: (address, name or None, offset in it) of each sample in that program."""
    perf = [os.path.join(lab.tree, "perf/perf")]
    home = dict(os.environ, HOME=lab.work)
    subprocess.run(perf + ["buildid-cache", "--add", path], env=home, check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = subprocess.run(
        perf + ["script", "-f", "-i", lab.path("server", PROFILE + ".data"), "-F",
                "ip,sym,symoff,dso"], env=home, check=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    samples = []
    for line in script.stdout.splitlines():
        match = re.match(r" *([0-9a-f]+) (?:(.*)\+0x([0-9a-f]+)|\[unknown\]) "
                         r"\([^()]*/%s\)$" % SERVER, line)
        if match:
            samples.append((int(match.group(1), 16), match.group(2),
                            int(match.group(3) or "0", 16)))
    return samples


def check_names(finding, lab):
    """That each sample has the name that nm has for its address, if it has one."""
    path = os.path.join(lab.tree, "guest", ROOT, "usr/sbin", SERVER)
    ranges, starts = functions(path)
    samples = samples_of(lab, path)
    # Where the program was in the guest's memory: where most of the names say so
    bases = collections.Counter(address - offset - start for address, name, offset in samples
                                for start in starts.get(name, ()))
    base = bases.most_common(1)[0][0]
    known = right = 0
    for address, name, offset in samples:
        at = bisect.bisect_right(ranges, (address - base, sys.maxsize)) - 1
        if at >= 0 and address - base < ranges[at][1]:
            known += 1
            right += name is not None and address - base - offset == ranges[at][0]
    finding.equal("samples in functions of mariadbd that nm knows, and those of them that have "
                  "this function's name", known, right)
    finding.at_least(40, "samples in mariadbd that are in functions that nm knows",
                     100 * known / len(samples), "%")


def find(lab):
    finding = Finding(
        "A database server", "Figure 17",
        "MariaDB does %d transactions of sysbench's OLTP benchmark (read and write, one thread) in "
        "a guest, with its files in memory. Each run has a server of its own that begins with the "
        "same database. The clock counts instructions and the CPU is that of the overhead, but "
        "perf kvm unified follows the guest's processes as well."
        % Run(lab, WITHOUT[0]).transactions)
    throughput(finding, lab)
    profile(finding, lab.report("server", PROFILE, guest_root=ROOT))
    check_names(finding, lab)
    finding.remark(
        "One run of each with a profiler, and three without, which differ by themselves: of less "
        "than that nothing is said here (the overhead above is what is exact).")
    finding.remark(
        "Debian's mariadbd has no symbols but those that it exports for its plugins, so that what "
        "is named is what `nm -D` names; more takes its debug symbols, by build-id. The paper has "
        "no figures but a plot, in which the lines with and without the profiler are one.")
    return finding
