# SPDX-License-Identifier: GPL-2.0
"""A guest that is busy for a third of the time."""

from experiment import Finding

SCENARIOS = ["time-axis"]

PAPER = {"guest": 67.40, "host": 66.73}


def find(lab):
    report = lab.report("time-axis", "third")
    finding = Finding("Halt and steal", "Tables 14 and 15",
                      "One of three guests is busy for 1 s of every 3 s; the two others are idle, "
                      "9 s of virtual time.")
    guest, host = report.share("guest1", "idle"), report.share("host", "idle")
    steal = report.share("guest1", "taken")
    finding.table("Idle time, %", ["", "paper", "ours"],
                  [["guest level: idle", PAPER["guest"], guest],
                   ["host level: idle", PAPER["host"], host],
                   ["guest level: steal", None, steal]])
    finding.within(1, "the guest's idle time, and two thirds", guest, 200 / 3)
    finding.within(1, "idle time of the guest and of the host", guest, host)
    finding.at_most(3, "the guest's steal", steal, "%")
    finding.bars("A guest that is busy for a third of the time", "%", ["guest idle", "host idle"],
                 {"paper": [PAPER["guest"], PAPER["host"]], "ours": [guest, host]})
    finding.remark("Blank time behind a HLT is the guest's own idle time, not steal.")
    return finding
