# SPDX-License-Identifier: GPL-2.0
"""Three VMs on one CPU."""

from experiment import Finding, cpu_time

SCENARIOS = ["time-axis"]

GUESTS = ["guest1", "guest2", "guest3"]
# Table 13, and guest1's steal in Table 12
PAPER_VMS = [31.41, 30.61, 30.49]
PAPER_STEAL = 69.39


def find(lab):
    report = lab.report("time-axis", "three-busy")
    finding = Finding("Three VMs on one CPU", "Tables 12 and 13",
                      "Three guests with a busy process each, for 6 s of virtual time.")
    shares = [report.rows("host", "[%s]" % guest) for guest in GUESTS]
    steal = [report.share(guest, "taken") for guest in GUESTS]
    finding.table("Three VMs, %", ["", "VM 1", "VM 2", "VM 3"],
                  [["host level: the VM, paper"] + PAPER_VMS,
                   ["host level: the VM, ours"] + shares,
                   ["guest level: steal, paper", PAPER_STEAL, None, None],
                   ["guest level: steal, ours"] + steal,
                   ["host level: all but the VM, ours"] + [100 - share for share in shares]])
    for guest, share, of_guest in zip(GUESTS, shares, steal):
        finding.within(0.1, "%s: its steal, and the host's time for all but it" % guest,
                       of_guest, 100 - share)
    for guest in GUESTS:
        by_scheduler, by_report = cpu_time(report, lab, "time-axis", "three-busy", guest)
        finding.within(1, "%s: its vCPU's thread on the CPU, by the report and by the scheduler"
                       % guest, by_report, by_scheduler)
    finding.at_most(1, "difference between the largest and the smallest VM",
                    max(shares) - min(shares), "points")
    finding.bars("Three equal VMs on one CPU, host level", "%", GUESTS,
                 {"paper": PAPER_VMS, "ours": shares})
    finding.remark("What the host has for others is what the guest misses, and equal VMs "
                   "have equal shares.")
    return finding
