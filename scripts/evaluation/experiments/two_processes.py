# SPDX-License-Identifier: GPL-2.0
"""Two equal processes of one program in one vCPU."""

from experiment import Finding

SCENARIOS = ["accuracy"]
QUICK_SCENARIOS = SCENARIOS

# Table 7: its two rows of toffoli
PAPER = [27.01, 26.98]


def cpu_shares(lab):
    """{pid: percent of the user time of all of them}, by the guest's own accounting."""
    times = {}
    for when, sign in (("before", -1), ("after", 1)):
        for line in lab.text("accuracy", "two/guest1-cpu.%s" % when).splitlines():
            fields = dict(field.split("=") for field in line.split()[1:])
            pid = int(fields["pid"])
            times[pid] = times.get(pid, 0) + sign * int(fields["user_ns"])
    return {pid: 100 * time / sum(times.values()) for pid, time in times.items()}


def find(lab):
    report = lab.report("accuracy", "two")
    finding = Finding("Two processes of one program", "Tables 6 and 7",
                      "Two processes that factor 91 with base 8, over and over, share the "
                      "guest's one vCPU for 20 s of virtual time.")
    by_guest = cpu_shares(lab)
    pids = sorted(by_guest)
    toffoli = [report.part("guest1", lambda row, pid=pid: row.get("pid") == pid and
                           row["function"].startswith("quantum_toffoli")) for pid in pids]
    whole = [report.user("guest1", lambda row, pid=pid: row.get("pid") == pid,
                         lambda row: row.get("pid") in pids) for pid in pids]
    finding.table("Two equal processes, %", ["", "first", "second"],
                  [["quantum_toffoli, of the guest's time, paper"] + PAPER,
                   ["quantum_toffoli, of the guest's time, ours"] + toffoli,
                   ["user time of the two, by the report"] + whole,
                   ["user time of the two, by the guest's accounting"] +
                   [by_guest[pid] for pid in pids]])
    finding.within(1, "user time of the two processes", whole[0], whole[1])
    # Of the other it is the rest.
    finding.within(0.5, "user time of the first, by the report and by the guest", whole[0],
                   by_guest[pids[0]])
    finding.remark("Two processes of one program are told apart by their CR3, and equal "
                   "ones have equal shares.")
    return finding
