# SPDX-License-Identifier: GPL-2.0
"""The records of a guest map, and how a kind of bad map is declared.

The records are those of perf-kvm-unified/format/records.h and of perf.
"""

import array
import collections
import struct

HEADER = struct.Struct("<IHH")
FILE_HEADER = struct.pack("<8sQ", b"PERFILE2", 16)
MMAP, COMM, EXIT, FORK, MMAP2, FINISHED_INIT = 1, 3, 4, 7, 10, 82
SPACE, KALLSYMS, MAP, MISSED, CLOCK, TIME, SYMBOLS, ORC = 97, 98, 101, 102, 103, 104, 105, 108
CGROUP = 110
MISC_KERNEL, MISC_USER, MISC_EXEC, MISC_BUILD_ID = 1, 2, 1 << 13, 1 << 14
# Of struct perf_record_mmap2, behind the header
MMAP2_FIXED = struct.Struct("<IIQQQBBxx20sII")
FILE_PRINT = 1
END = HEADER.pack(FINISHED_INIT, 0, 8)
NONE = (1 << 64) - 1
MAP_ANONYMOUS, PROT_READ_EXEC, MAP_PRIVATE = 0x20, 5, 2
BUILD_ID = b"\xaa" * 20
# Where the maps begin that take what is there of the good map's samples
ALL_USER = (0, 0x7fffffffffff)

Kind = collections.namedtuple("Kind", "name what refused shows make")
KINDS = {}


def kind(refused=None, name=None, shows=None):
    """Declares a kind of map: make(good, out) makes it, as chunks of what is behind the
    good records (or as no chunk at all, if it has written out.map itself). refused is a
    regular expression for what is said about it, None: there is a report, and shows is a
    regular expression for what is in it. Its first line of documentation says what it
    attacks."""
    def declare(make):
        called = name or make.__name__.replace("_", "-")
        assert called not in KINDS
        KINDS[called] = Kind(called, make.__doc__.split("\n")[0], refused, shows, make)
        return make
    return declare


class Good:
    """A map that is all right, in parts"""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.records, at = [], 16
        while at < len(self.data):
            number, misc, size = HEADER.unpack_from(self.data, at)
            self.records.append((number, misc, self.data[at + 8:at + size]))
            at += size
        assert self.records.pop()[0] == FINISHED_INIT
        self.body = self.data[16:-8]
        spaces = [struct.unpack_from("<QQQI", d) for n, _, d in self.records if n == SPACE]
        # Those that have samples are among them
        self.pids = sorted({space[3] for space in spaces})
        self.roots = [space[0] for space in spaces]


def record(number, data, misc=0):
    return HEADER.pack(number, misc, 8 + len(data)) + data


def padded(data):
    return data + b"\0" * (-len(data) % 8)


def comm(pid, name, misc=0):
    return record(COMM, padded(struct.pack("<II", pid, pid) + name + b"\0"), misc)


def mmap2(pid, start, length, name, misc=MISC_USER, build_id=b"", flags=MAP_PRIVATE, size=None,
          what=0):
    if build_id:
        misc |= MISC_BUILD_ID
    return record(MMAP2, padded(MMAP2_FIXED.pack(
        pid, pid, start, length, 0, len(build_id) if size is None else size,
        what, build_id, PROT_READ_EXEC, flags) + name), misc)


def fork(pid, ppid, number=FORK):
    return record(number, struct.pack("<IIIIQ", pid, ppid, pid, ppid, 0))


def space(root, start, until, pid):
    return record(SPACE, struct.pack("<QQQII", root, start, until, pid, 0))


def time(ns):
    return record(TIME, struct.pack("<Q", ns))


def clock(tsc, ns):
    return record(CLOCK, struct.pack("<QQ", tsc, ns))


def pieces(number, first, text):
    """A text in records with @first in front of each one's length, or behind it"""
    for at in range(0, len(text), 60000):
        piece = text[at:at + 60000]
        fields = (first, len(piece)) if number == SYMBOLS else (len(piece), first)
        yield record(number, struct.pack("<II", *fields) + padded(piece))


def kallsyms(text):
    return pieces(KALLSYMS, 0, text)


def symbols(pid, text):
    return pieces(SYMBOLS, pid, text)


def module(start, length, since, until, name=b"m", text=b"0 100 f\n"):
    """One of the kernel that was not there all the time; each text makes a record of its own"""
    data = struct.pack("<QQQQ64s", start, length, since, until, name) + text
    return record(SYMBOLS, struct.pack("<II", (1 << 32) - 2, len(data)) + padded(data))


def many(like, number, **words):
    """@number copies of a record, in which the 64-bit word wN is the Nth of words["wN"]"""
    assert len(like) % 8 == 0
    out = array.array("Q", like) * number
    for word, values in words.items():
        out[int(word[1:])::len(like) // 8] = array.array("Q", values)
    return out.tobytes()


def twice(pids):
    """pid and tid, or ppid and ptid, as one word"""
    return (pid | pid << 32 for pid in pids)


def everywhere(good, name, **more):
    """The same text of @name, over all addresses, in each process that has samples"""
    return [mmap2(pid, *ALL_USER, name, **more) for pid in good.pids]
