#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a guest map in which the middle of a file's text is anonymous memory, in place.

usage: huge-text.py GUEST-MAP FILE whole|shifted

Of each process that has FILE (the end of its name): as if its text had been moved to huge pages,
but for its first and last page. "shifted": and the last page is another one of the file.
"""

import struct
import sys

HEADER = struct.Struct("<IHH")
MMAP2 = 10
# pid, tid, address, length, offset in the file; build-id, protection and flags follow
WHERE = struct.Struct("<IIQQQ")
BUILD_ID_SIZE = 24
NAME_AT = HEADER.size + WHERE.size + BUILD_ID_SIZE + 8
BUILD_ID_FLAG = 1 << 14
PAGE = 4096
ANON = b"//anon\0\0"


def part(record, start, length, name=None):
    """A part of the map of @record; @name: of memory without a build-id"""
    record = bytearray(record)
    pid, tid, address, _, offset = WHERE.unpack_from(record, HEADER.size)
    kind, misc, size = HEADER.unpack_from(record)
    if name:
        record[NAME_AT:] = name
        offset, address, misc = 0, address, misc & ~BUILD_ID_FLAG
        record[NAME_AT - 8 - BUILD_ID_SIZE:NAME_AT - 8] = bytes(BUILD_ID_SIZE)
        size = len(record)
    HEADER.pack_into(record, 0, kind, misc, size)
    WHERE.pack_into(record, HEADER.size, pid, tid, address + start, length,
                    offset if name else offset + start)
    return record


def main():
    path, wanted, how = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    out, at, changed = bytearray(data[:16]), 16, 0
    while at < len(data):
        kind, _, size = HEADER.unpack_from(data, at)
        record = data[at:at + size]
        at += size
        if kind != MMAP2 or not record[NAME_AT:].split(b"\0")[0].endswith(wanted.encode()):
            out += record
            continue
        length = WHERE.unpack_from(record, HEADER.size)[3]
        out += part(record, 0, PAGE)
        # In two maps, as the kernel has huge and small pages of one area
        out += part(record, PAGE, PAGE, ANON)
        out += part(record, 2 * PAGE, length - 3 * PAGE, ANON)
        last = part(record, length - PAGE, PAGE)
        if how == "shifted":
            where = list(WHERE.unpack_from(last, HEADER.size))
            where[4] += PAGE
            WHERE.pack_into(last, HEADER.size, *where)
        out += last
        changed += 1
    with open(path, "wb") as file:
        file.write(out)
    print(changed)


main()
