# SPDX-License-Identifier: GPL-2.0
"""Two busy vCPUs of a guest, on one CPU of the host and on two."""

from experiment import Finding, cpu_time

SCENARIOS = ["two-vcpus", "two-cpus"]

# Steal of each of the vCPUs, Tables 8 and 9, and 10 and 11
PAPER_SHARED = {"on the other": [49.98, 50.02], "outside": [2.50, 2.70]}
PAPER_OWN = [5.23, 2.59]


def steal_on(report, vcpu, other):
    return report.rows("guest1", "[steal] (on vcpu%d)" % other, vcpu)


def find(lab):
    shared, own = lab.report("two-vcpus", "two-busy"), lab.report("two-cpus", "two-busy")
    finding = Finding("Two vCPUs", "Tables 8 to 11",
                      "A guest with two busy vCPUs for 6 s of virtual time: both on one CPU of "
                      "the host, and on one each.")
    on_other = [steal_on(shared, vcpu, 1 - vcpu) for vcpu in (0, 1)]
    steal = [shared.share("guest1", "taken", vcpu) for vcpu in (0, 1)]
    outside = [steal[vcpu] - on_other[vcpu] for vcpu in (0, 1)]
    apart = [own.share("guest1", "taken", vcpu) for vcpu in (0, 1)]
    apart_on_other = [steal_on(own, vcpu, 1 - vcpu) for vcpu in (0, 1)]
    finding.table("Steal, % of the vCPU's time", ["", "vCPU 0", "vCPU 1"],
                  [["one CPU, on the other vCPU, paper"] + PAPER_SHARED["on the other"],
                   ["one CPU, on the other vCPU, ours"] + on_other,
                   ["one CPU, all other steal, paper"] + PAPER_SHARED["outside"],
                   ["one CPU, all other steal, ours"] + outside,
                   ["two CPUs, paper"] + PAPER_OWN,
                   ["two CPUs, ours"] + apart,
                   ["two CPUs, on the other vCPU, ours"] + apart_on_other])
    for vcpu in (0, 1):
        finding.within(1, "one CPU: vCPU %d's steal on the other, and a half" % vcpu,
                       on_other[vcpu], 50)
        finding.at_most(1, "two CPUs: vCPU %d's steal on the other" % vcpu,
                        apart_on_other[vcpu], "%")
        finding.at_most(5, "one CPU: vCPU %d's steal, but for the other" % vcpu, outside[vcpu], "%")
        finding.at_least(2, "vCPU %d's steal on one CPU, over that on two" % vcpu,
                         steal[vcpu] / apart[vcpu], "times")
    by_turns = 0
    for name, scenario, report in (("one CPU", "two-vcpus", shared), ("two CPUs", "two-cpus", own)):
        for vcpu in (0, 1):
            finding.equal("%s: vCPU %d's rows are the whole measurement" % (name, vcpu),
                          sum(row["time_ns"] for row in report.level("guest1", vcpu)["rows"]),
                          report.measurement["duration_ns"], "ns")
            by_scheduler, by_report = cpu_time(report, lab, scenario, "two-busy", "guest1", vcpu)
            if report is own:
                by_turns = max(by_turns, abs(by_report - by_scheduler))
                continue
            finding.within(1, "%s: vCPU %d's thread on a CPU, by the report and by the scheduler"
                           % (name, vcpu), by_report, by_scheduler)
    finding.bars("Steal of the two vCPUs", "%", ["one CPU, vCPU 0", "one CPU, vCPU 1",
                                                 "two CPUs, vCPU 0", "two CPUs, vCPU 1"],
                 {"paper": [a + b for a, b in zip(PAPER_SHARED["on the other"],
                                                  PAPER_SHARED["outside"])] + PAPER_OWN,
                  "ours": steal + apart})
    finding.remark("On one CPU each vCPU loses half of the time, and to whom is named; "
                   "on two CPUs none is on the other. What steal there is is the emulator's for "
                   "the most part: on a virtual clock it runs one CPU at a time, and one that "
                   "gives up its turn as it sets a timer (steal behind MSR exits, in the host's "
                   "start_sw_timer()) has the other's turn counted as its own time. For the same "
                   "reason the report and the scheduler are up to %.2f points apart there, where "
                   "all other runs are held to 1." % by_turns)
    return finding
