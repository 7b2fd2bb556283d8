# SPDX-License-Identifier: GPL-2.0
"""Cgroups of processes that are none, or too many"""

import struct

from .names import ESCAPES
from .records import CGROUP, kind, padded, record, time

# As many different ones as are taken, and more
MANY = 100000
PATH_MAX = 4096


def cgroup(pid, path):
    return record(CGROUP, padded(struct.pack("<II", pid, 0) + path + b"\0"))


@kind("is corrupt")
def cgroup_no_nul(good, out):
    """The path of a cgroup has no end"""
    return [record(CGROUP, struct.pack("<II", 1, 0) + b"/" * 16)]


@kind()
def cgroup_names(good, out):
    """Paths of cgroups that are none, are too long, and that a terminal or a page obeys"""
    names = (b"", b"x", b"../../etc", b"/" + ESCAPES, b"/</script>\"',;\\", b"/" + b"c" * 60000)
    return [cgroup(pid, name) for name in names for pid in good.pids]


@kind("is corrupt")
def cgroup_short(good, out):
    """A cgroup without a path, and without a pid"""
    return [record(CGROUP, b"")]


@kind()
def cgroup_many(good, out):
    """Each process is in many cgroups in turn, some of which are of nobody, also later"""
    return [cgroup(good.pids[i % len(good.pids)] if i % 3 else i, b"/%d" % i)
            for i in range(MANY)] + \
           [time(1)] + [cgroup(good.pids[0], b"/%d/" % i + b"c" * (PATH_MAX // 2))
                        for i in range(MANY // 2)]
