# SPDX-License-Identifier: GPL-2.0
"""Tables that a guest's kernel is unwound by."""

import struct

from .records import ORC, kind, padded, record

TABLE = 0xffffffffa0000000
TYPE3 = 2
MOST_OF_RECORD = 6500


def orc(addr, offsets, entries, number=None, layout=TYPE3):
    return record(ORC, struct.pack("<QII", addr, len(offsets) if number is None else number,
                                   layout) +
                  padded(struct.pack("<%di" % len(offsets), *offsets) + b"".join(entries)))


def entry(sp_offset=8, bits=5 | 2 << 8):
    return struct.pack("<hhH", sp_offset, 0, bits)


@kind("is corrupt")
def orc_lie(good, out):
    """A piece of a table that is longer than its record"""
    return [orc(TABLE, [0, 16], [entry(), entry()], number=1 << 16)]


@kind("is corrupt")
def orc_lie_little(good, out):
    """A piece of a table that is longer than its record by an entry"""
    return [orc(TABLE, [0, 16, 32, 48], [entry()] * 4, number=5)]


@kind("is corrupt")
def orc_short(good, out):
    """A piece that has no room for what it is of"""
    return [record(ORC, struct.pack("<Q", TABLE))]


@kind()
def orc_garbage(good, out):
    """Entries that are none, of no layout, and of nowhere"""
    return [orc(TABLE, range(1000, 0, -1), [b"\xff" * 6] * 1000),
            orc(TABLE, [0, 16], [entry(), entry()], layout=77),
            orc(0x1000, [0, 16], [entry(), entry()]), orc((1 << 64) - 4, [0, 16], [entry()] * 2),
            orc(TABLE, [-(1 << 31), (1 << 31) - 1], [entry()] * 2), orc(TABLE, [], [])]


@kind()
def orc_twice(good, out):
    """Two tables of the same code"""
    return [orc(TABLE, range(0, 4096, 16), [entry()] * 256)] * 2


@kind()
def orc_most(good, out):
    """More entries than all kernels together"""
    return [orc(TABLE + i * 4 * MOST_OF_RECORD, range(0, 4 * MOST_OF_RECORD, 4),
                [entry()] * MOST_OF_RECORD) for i in range(1000)]


@kind()
def orc_many(good, out):
    """Each entry is a table of its own"""
    return [orc(TABLE + i * 64, [0], [entry()]) for i in range(100000)]
