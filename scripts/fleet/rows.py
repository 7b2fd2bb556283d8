# SPDX-License-Identifier: GPL-2.0
"""Rows of `perf kvm unified export --format rows`: their members, and what is wrong with a line"""

import datetime
import json
import re

# As profile_class__name() has them
CLASSES = ("OS", "USER", "IDLE", "halt-poll", "VM", "HOST", "steal", "exit", "vmm", "stopped",
           "throttled", "blocked", "lost", "unknown")
LEVELS = ("host", "vcpu")
TEXTS = ("host", "level", "vm", "class", "function", "module", "process", "cgroup", "build_id",
         "stack")
MEMBERS = ("host", "start", "duration", "level", "vm", "vcpu", "class", "function", "module",
           "process", "pid", "cgroup", "build_id", "ns", "samples", "stack")

SECOND = 1000000000
# What the types of schema.sql hold: a day is 16 bits, a number of a vCPU or a process 32. -1: none
LIMITS = (("start", 0, (1 << 32) * SECOND), ("duration", 0, 1 << 63), ("vcpu", -1, 1 << 31),
          ("pid", -1, 1 << 31), ("ns", 0, 1 << 63), ("samples", 0, 1 << 63))

HEX = re.compile("(?:[0-9a-f]{2})*")
STACK = re.compile("(?:[0-9a-f]{16})?")


class BadRow(ValueError):
    """What is wrong with a line"""


def shown(value):
    """A name in a message: short, and without what a terminal would take for its own"""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def no_twice(pairs):
    row = dict(pairs)
    if len(row) != len(pairs):
        raise BadRow("a member is there twice")
    return row


def no_number(text):
    raise BadRow("%s is no number" % text)


# One of its own, which json.loads() would make for each line
DECODER = json.JSONDecoder(object_pairs_hook=no_twice, parse_constant=no_number)
ALL_MEMBERS = set(MEMBERS)


def check_members(row):
    if not isinstance(row, dict):
        raise BadRow("not an object")
    if row.keys() != ALL_MEMBERS:
        for member in MEMBERS:
            if member not in row:
                raise BadRow("there is no member %s" % member)
        raise BadRow("there is no such member: %s" %
                     shown(next(member for member in row if member not in MEMBERS)))


def check_texts(row):
    for member in TEXTS:
        if not isinstance(row[member], str):
            raise BadRow("%s is not a string" % member)


def check_numbers(row):
    for member, least, most in LIMITS:
        number = row[member]
        # To Python, true is a number.
        if type(number) is not int:  # pylint: disable=unidiomatic-typecheck
            raise BadRow("%s is not a whole number" % member)
        if not least <= number < most:
            raise BadRow("%s is out of range: %d" % (member, number))


def check_meaning(row):
    if not row["host"]:
        raise BadRow("host has no name")
    if not row["duration"]:
        raise BadRow("duration is 0")
    if row["level"] not in LEVELS:
        raise BadRow("level is neither host nor vcpu: %s" % shown(row["level"]))
    if row["class"] not in CLASSES:
        raise BadRow("there is no class %s" % shown(row["class"]))
    if row["level"] == "host" and row["vcpu"] != -1:
        raise BadRow("level host has a vCPU")
    if row["level"] == "vcpu" and (row["vcpu"] < 0 or not row["vm"]):
        raise BadRow("level vcpu has no vCPU, or no VM")
    if not HEX.fullmatch(row["build_id"]):
        raise BadRow("build_id is not hex: %s" % shown(row["build_id"]))
    if not STACK.fullmatch(row["stack"]):
        raise BadRow("stack is neither empty nor 16 digits of hex: %s" % shown(row["stack"]))


def parse(line):
    """The row that the bytes of a line are, or BadRow"""
    try:
        text = line.decode("utf-8")
        row = DECODER.decode(text)
        check_members(row)
        check_texts(row)
        check_numbers(row)
        # Half of a surrogate pair, which JSON can write and UTF-8 cannot
        if "\\u" in text:
            "".join(row[member] for member in TEXTS).encode("utf-8")
    except BadRow:
        raise
    except UnicodeError:
        raise BadRow("a name is not UTF-8") from None
    except (ValueError, RecursionError):
        raise BadRow("not JSON") from None
    check_meaning(row)
    return row


class Sums:
    """What a window adds up to: no vCPU has more time than there was."""

    def __init__(self):
        self.ns, self.durations = {}, {}

    def add(self, row):
        host, start, duration = row["host"], row["start"], row["duration"]
        if self.durations.setdefault((host, start), duration) != duration:
            raise BadRow("the same window of host %s has another duration before" % shown(host))
        if row["level"] != "vcpu":
            return
        vcpu = host, start, row["vm"], row["vcpu"]
        sum_ns = self.ns[vcpu] = self.ns.get(vcpu, 0) + row["ns"]
        if sum_ns > duration:
            raise BadRow("vCPU %d of VM %s, host %s: more time than the window has. Are these "
                         "rows there twice?" % (row["vcpu"], shown(row["vm"]), shown(host)))


def start_of(text):
    """ns since 1970 of a time of UTC, such as 2026-11-30T10:00:00"""
    time = datetime.datetime.fromisoformat(text)
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    since = time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    ns = (since.days * 86400 + since.seconds) * SECOND + since.microseconds * 1000
    if not 0 < ns < LIMITS[0][2]:
        raise ValueError("out of range")
    return ns
