# SPDX-License-Identifier: GPL-2.0
"""A report of perf kvm unified in JSON, and what one asks it."""

import json

# Classes that are one thing to the paper: a vCPU that did not get what it wanted, and one that
# wanted nothing
GROUPS = {"taken": ("steal", "exit", "vmm", "stopped", "throttled", "blocked"), "idle": ("IDLE", "halt-poll")}


def in_parts(levels):
    """Names of the VMs whose vCPUs have levels of their own: a VM with one vCPU has none."""
    return {level["vm"] for level in levels if level["level"] == "vcpu"}


def vcpus_of(levels):
    """Of each vCPU its VM, number and level, which is the VM's where that has one vCPU."""
    several = in_parts(levels)
    for level in levels:
        if level["level"] == "vcpu" or level["level"] == "vm" and level["vm"] not in several:
            yield level["vm"], level.get("vcpu", 0), level


class Report:
    """What `perf kvm unified report --format json` has written to a file."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            self.json = json.load(file)

    @property
    def measurement(self):
        return self.json["measurement"]

    def guest(self, name=None):
        """What is known of a guest (the first)."""
        for guest in self.json["guests"]:
            if name in (None, guest["name"]):
                return guest
        raise SystemExit("no guest %s" % name)

    def level(self, name, vcpu=None):
        """The level "host", that of a VM, or that of a vCPU of it."""
        for level in self.json["levels"]:
            if level.get("vm", "host") == name and level.get("vcpu") == vcpu:
                return level
        raise SystemExit("no level %s %s" % (name, vcpu))

    def share(self, name, kind, vcpu=None):
        """Percent of a class, or of a group of them, in a level."""
        level = self.level(name, vcpu)
        classes = GROUPS.get(kind, (kind,))
        return 100 * sum(level["classes_ns"][one] for one in classes) / level["time_ns"]

    def part(self, name, of, vcpu=None):
        """Percent of a level's time in the rows that of() says yes to."""
        level = self.level(name, vcpu)
        return 100 * sum(row["time_ns"] for row in level["rows"] if of(row)) / level["time_ns"]

    def rows(self, name, start, vcpu=None):
        """Percent of the rows whose function starts with that."""
        return self.part(name, lambda row: row["function"].startswith(start), vcpu)

    def user(self, name, of, among=lambda row: True):
        """Percent of a VM's time in user mode in the rows that of() says yes to, of those
        that among() does. Of none it is not a number, which no limit is held against."""
        rows = [row for row in self.level(self.guest(name)["name"])["rows"]
                if row["class"] == "USER" and among(row)]
        time_ns = sum(row["time_ns"] for row in rows)
        return 100 * sum(row["time_ns"] for row in rows if of(row)) / time_ns if time_ns \
            else float("nan")
