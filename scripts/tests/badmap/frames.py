# SPDX-License-Identifier: GPL-2.0
"""What is not a stream of records, or one that ends early, or too late."""

import gzip
import os
import struct

from .records import (BUILD_ID, CGROUP, CLOCK, COMM, END, EXIT, FILE_HEADER, FORK, HEADER, KALLSYMS,
                      MAP, MISSED, MMAP, MMAP2, ORC, SPACE, SYMBOLS, TIME, clock, comm, fork,
                      kallsyms, kind, mmap2, record, space, symbols, time)

MAX_SIZE = 256 << 20


def whole(out, data):
    with open(out.map, "wb") as f:
        f.write(data)


@kind("is empty or ends within its header")
def empty(good, out):
    """No byte at all"""
    whole(out, b"")


@kind("is empty or ends within its header")
def header_cut(good, out):
    """The file's header ends early"""
    whole(out, good.data[:15])


@kind("is not a stream of perf records of a little endian machine")
def big_endian(good, out):
    """perf would swap its bytes"""
    whole(out, good.data[7::-1] + good.data[15:7:-1] + good.data[16:])


@kind("is not a stream of perf records of a little endian machine")
def gzipped(good, out):
    """perf would unpack it"""
    whole(out, gzip.compress(good.data))


@kind("is not a stream of perf records of a little endian machine")
def header_size(good, out):
    """perf would read a file with sections"""
    whole(out, good.data[:8] + struct.pack("<Q", 104) + good.data[16:])


@kind("is truncated")
def no_end(good, out):
    """A map whose writer was killed"""
    whole(out, FILE_HEADER + good.body)


@kind()
def only_end(good, out):
    """A map of nothing"""
    whole(out, FILE_HEADER + END)


@kind()
def after_end(good, out):
    """Random bytes behind the end"""
    whole(out, good.data + bytes(range(256)) * 4096)


@kind()
def two_maps(good, out):
    """A second map behind the first"""
    whole(out, good.data + good.data)


@kind("is corrupt|is truncated")
def second_header(good, out):
    """A second map in the midst of the first"""
    return [good.data]


@kind("is larger than 256 MiB")
def too_large(good, out):
    """Records of no known type until the size is exceeded by a byte"""
    with open(out.map, "wb") as f:
        f.write(FILE_HEADER)
        at = 16
        while at < MAX_SIZE + 1:
            size = min(65528, MAX_SIZE + 1 - at)
            f.seek(at)
            f.write(HEADER.pack(200, 0, size))
            at += size
        f.truncate(at)


@kind("is corrupt: a record of 0 bytes")
def sparse(good, out):
    """A tebibyte of holes"""
    whole(out, FILE_HEADER)
    os.truncate(out.map, 1 << 40)


@kind("is not a regular file")
def directory(good, out):
    """A directory for a map"""
    os.mkdir(out.map)


@kind("is not a regular file")
def fifo(good, out):
    """A pipe nobody writes to"""
    os.mkfifo(out.map)


@kind("is not a regular file")
def device(good, out):
    """Zeroes without end"""
    os.symlink("/dev/zero", out.map)


@kind("is not a stream of perf records of a little endian machine")
def link_to_secret(good, out):
    """A link to what is no map must not show what is in it"""
    whole(out, b"")
    os.remove(out.map)
    secret = os.path.join(os.path.dirname(out.map), "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("root:SECRET:19000:0:99999:7:::\n")
    os.symlink(secret, out.map)


@kind()
def unknown_records(good, out):
    """Each type of record that a map has not, and attributes and features that are wrong"""
    known = {MMAP, COMM, EXIT, FORK, MMAP2, 82, SPACE, KALLSYMS, MAP, MISSED, CLOCK, TIME, SYMBOLS,
             ORC, CGROUP}
    return [record(i, b"\xff" * 64, 0xffff) for i in range(256) if i not in known]


def sized(size):
    def make(good, out):
        return [HEADER.pack(COMM, 0, size)]
    make.__doc__ = "A record that says it has %d bytes" % size
    kind("is corrupt: a record of %d bytes" % size if size < 8 else "is truncated",
         "record-size-%d" % size)(make)


def cut_and_short(name, rec, needs):
    """A record in which the file ends, and one that is whole but too short"""
    def cut(good, out):
        whole(out, FILE_HEADER + good.body + rec[:-4])

    def short(good, out):
        return [record(*short_of(rec, needs))]
    cut.__doc__ = "The file ends in %s" % name
    short.__doc__ = "%s, whole, but a byte too short" % name
    kind("is truncated", "cut-" + name)(cut)
    kind("is corrupt", "short-" + name)(short)


def short_of(rec, needs):
    number, misc, _ = HEADER.unpack_from(rec)
    return number, rec[8:needs - 1], misc


for number_of_bytes in 0, 1, 7, 65535:
    sized(number_of_bytes)
for what in (
        ("comm", comm(102, b"x"), 17),
        ("fork", fork(103, 102), 32),
        ("exit", fork(103, 102, EXIT), 32),
        ("mmap", record(MMAP, struct.pack("<IIQQQ", 102, 102, 1, 1, 0) + b"/x\0", 2), 41),
        ("mmap2", mmap2(102, 4096, 4096, b"/x\0", build_id=BUILD_ID), 73),
        ("space", space(4096, 0, 1, 102), 40),
        ("map", record(MAP, struct.pack("<II", 0, 0)), 16),
        ("missed", record(MISSED, struct.pack("<QQ", 1, 1)), 24),
        ("clock", clock(1, 1), 24),
        ("time", time(1), 16),
        ("kallsyms", next(kallsyms(b"0 t x\n")), 16),
        ("symbols", next(symbols(102, b"0 1 x\n")), 16)):
    cut_and_short(*what)
