# SPDX-License-Identifier: GPL-2.0
"""The same work natively and in a guest, and the host's and the guest's view of it."""

from experiment import Finding

SCENARIOS = ["accuracy"]
QUICK_SCENARIOS = SCENARIOS

# The paper's rows, of libquantum, by the beginnings of our names: Debian's library runs its
# loops with OpenMP, and they have names of their own.
FUNCTIONS = ["quantum_toffoli", "quantum_sigma_x", "quantum_cnot", "quantum_swaptheleads",
             "quantum_objcode_put"]
PAPER = {
    "native": {"quantum_toffoli": 61.06, "quantum_sigma_x": 19.49, "quantum_cnot": 15.45},
    "guest": {"quantum_toffoli": 56.62, "quantum_sigma_x": 22.51, "quantum_cnot": 11.10},
}


def of_program(row, name):
    return row["module"].startswith("libquantum") and (
        row["function"] == name or row["function"].startswith(name + "."))


def shares(report, level):
    """Percent of the level's time, and of the time that libquantum has of it."""
    in_library = report.part(level, lambda row: row["module"].startswith("libquantum"))
    of_level = {name: report.part(level, lambda row, name=name: of_program(row, name))
                for name in FUNCTIONS}
    of_library = {name: 100 * share / in_library for name, share in of_level.items()}
    return of_level, of_library


def find(lab):
    native, guest = lab.report("accuracy", "native"), lab.report("accuracy", "guest")
    finding = Finding("Native and in a guest", "Tables 3, 4 and 5",
                      "libquantum factors 91 with base 8, from its beginning to its end, on the "
                      "lab's host and in a guest of it. The profile is made on the host in both "
                      "cases, with a sample every 0.997 ms.")
    of_host, native_library = shares(native, "host")
    of_guest, guest_library = shares(guest, "guest1")
    order = sorted(FUNCTIONS, key=lambda name: -native_library[name])
    steal = guest.share("guest1", "steal")
    others = 100 - guest.rows("host", "[guest1]")

    rows = [[name, PAPER["native"].get(name), of_host[name], PAPER["guest"].get(name),
             of_guest[name]] for name in order]
    rows.append(["[steal]", None, None, 5.04, steal])
    finding.table("Share of a function, % of the host's time (native), of the guest's time",
                  ["function", "native, paper", "native, ours", "guest, paper", "guest, ours"], rows)
    finding.bars("Functions of libquantum, share of its own time", "%", order, {
        "native": [native_library[name] for name in order],
        "guest": [guest_library[name] for name in order]})
    finding.equal("the functions' order, natively and in the guest",
                  sorted(FUNCTIONS, key=lambda name: -guest_library[name]), order)
    for name in order[:3]:
        finding.within(1, "%s, of libquantum's time, natively and in the guest" % name,
                       native_library[name], guest_library[name])

    finding.table("What the guest did not get, and what the host did besides, %",
                  ["", "paper", "ours"],
                  [["guest level: steal", 5.04, steal],
                   ["host level: all but the VM", 5.05, others]])
    finding.within(0.1, "the guest's steal and the host's time for others", steal, others)

    level = guest.level("guest1")
    reasons = sorted(level["steal_by_exit_reason"], key=lambda row: -row["time_ns"])
    total = level["classes_ns"]["steal"]
    finding.table("Steal by exit reason, % of it; the paper: 82 external interrupt, 18 APIC access",
                  ["exit reason", "share"],
                  [[row["function"], 100 * row["time_ns"] / total] for row in reasons])
    finding.at_least(99, "steal whose exit reason is known", sum(
        100 * row["time_ns"] / total for row in reasons if "unknown" not in row["function"]), "%")
    finding.remark(
        "Holds: order and shares of the functions are those of the native run, and the guest's "
        "steal is what the host had for others. Steal is %s here than in the paper, where every "
        "access to the APIC was an exit." % ("less" if steal < PAPER_STEAL else "more"))
    return finding


PAPER_STEAL = 5.04
