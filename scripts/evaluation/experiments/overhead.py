# SPDX-License-Identifier: GPL-2.0
"""What profiling costs a guest, in instructions."""

import os
import re

from experiment import Finding

SCENARIOS = ["overhead", "overhead-bytes"]
QUICK_SCENARIOS = ["overhead-quick"]

NS_PER_MS = 1000000
NS_PER_SEC = 1000000000

WAYS = {
    "plain": "perf record -a on the host",
    "unified": "perf kvm unified record",
    "inside": "perf record -a in the guest",
}
# Figure 16: in the guest's case, % of the time, by period in ms; of a profiler to which the
# guest's interrupts are delegated, which is what perf in the guest is
PAPER = {("unified", 2.5): 0.133, ("inside", 2.5): 0.441, ("unified", 1.0): 0.302,
         ("unified", 0.1): 3.084}


class Run:
    """One run of the guest's work."""

    def __init__(self, lab, scenario, name):
        clock = [int(ns) for ns in re.findall(r"mono_ns=(\d+)", lab.text(scenario, name + ".txt"))]
        self.elapsed = clock[-1] - clock[0]
        self.bytes = self.samples = None
        if os.path.exists(lab.path(scenario, name + ".size")):
            self.bytes = int(lab.text(scenario, name + ".size"))
            # The first is the sum of those of the single events.
            self.samples = int(re.search(r"^ *SAMPLE events: +(\d+)", lab.text(
                scenario, name + ".stats"), re.MULTILINE).group(1))

    def overhead(self, without):
        return 100 * (self.elapsed / without.elapsed - 1)

    def row(self, what, period, paper, without):
        return [what, period, paper, self.overhead(without),
                (self.elapsed - without.elapsed) / (without.elapsed / period / NS_PER_MS)
                if period else None,
                self.bytes * NS_PER_SEC / self.elapsed if self.bytes else None]


def by_bytes(lab, finding):
    """The two ways on a CPU whose kernel moves memory by REP MOVSB."""
    without, plain, unified = (Run(lab, "overhead-bytes", name) for name in (
        "none-1", "plain-%d" % NS_PER_MS, "unified-%d" % NS_PER_MS))
    finding.table("With ERMS and FSRM, each byte that is moved an instruction",
                  ["with", "period, ms", "paper, %", "ours, %", "instructions per period",
                   "bytes per second"],
                  [plain.row(WAYS["plain"], 1.0, None, without),
                   unified.row(WAYS["unified"], 1.0, None, without)])
    finding.remark("With ERMS and FSRM, counted by the byte, perf kvm unified record is %.3f times "
                   "perf record -a: its samples are longer, and are moved twice, into the buffer "
                   "and out of it." % (unified.overhead(without) / plain.overhead(without)))


def find(lab):
    scenario = QUICK_SCENARIOS[0] if lab.quick else SCENARIOS[0]
    without = Run(lab, scenario, "none-1")
    again = Run(lab, scenario, "none-2")
    finding = Finding("Overhead", "Figure 16",
                      "A fixed piece of work in a guest, %.2f G instructions, by the guest's own "
                      "clock. The lab's clock counts the instructions of host and guest, 1 ns "
                      "each, and nothing else: the figures are the same wherever this is run. "
                      "Samples are of the cpu-clock event, whose timer interrupts the guest. The "
                      "host's CPU has neither ERMS nor FSRM: the emulator counts each byte that "
                      "REP MOVSB moves as an instruction, which no hardware does."
                      % (without.elapsed / NS_PER_SEC))
    periods = sorted({int(os.path.basename(path)[len("plain-"):-len(".txt")])
                      for path in lab.paths(scenario, "plain-*.txt")}, reverse=True)
    runs = {(way, period): Run(lab, scenario, "%s-%d" % (way, period))
            for way in WAYS for period in periods}

    rows = [again.row("nothing, once more", None, None, without)]
    for period in periods:
        for way, what in WAYS.items():
            rows.append(runs[way, period].row(what, period / NS_PER_MS,
                                              PAPER.get((way, period / NS_PER_MS)), without))
    if not lab.quick:
        rows.append(Run(lab, scenario, "exits").row("kvm_entry and kvm_exit, perf record -a",
                                                    None, None, without))
    finding.table("Overhead of a guest's work", ["with", "period, ms", "paper, %", "ours, %",
                                                 "instructions per period", "bytes per second"],
                  rows)
    finding.bars("Overhead of a guest's work", "%", ["%g ms" % (period / NS_PER_MS)
                                                     for period in periods],
                 {WAYS[way]: [runs[way, period].overhead(without) for period in periods]
                  for way in WAYS})

    finding.virtual_ns = {name: run.elapsed for name, run in (
        [("none-1", without), ("none-2", again)] +
        [("%s-%d" % key, run) for key, run in runs.items()])}
    finding.at_most(0.1, "the same work without a profiler, twice", abs(again.overhead(without)),
                    "%")
    at = {way: runs[way, NS_PER_MS].overhead(without) for way in WAYS}
    finding.at_most(1, "perf kvm unified record at 1 ms", at["unified"], "%")
    finding.at_most(1.1, "perf kvm unified record at 1 ms, over perf record -a",
                    at["unified"] / at["plain"], "times")
    finding.at_least(2, "perf in the guest at 1 ms, over perf kvm unified record",
                     at["inside"] / at["unified"], "times")
    expected = without.elapsed / NS_PER_MS
    finding.at_least(0.9, "samples at 1 ms, for each ms of the work (what is recorded is longer)",
                     runs["unified", NS_PER_MS].samples / expected)
    if not lab.quick:
        by_bytes(lab, finding)
    return finding
