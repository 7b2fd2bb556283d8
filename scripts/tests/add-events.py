#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a profile with hardware events from one without: some of its samples are theirs.

usage: add-events.py PERF.DATA OUT-DIR

Of four samples of the first event, OUT-DIR has one that stays, one of cycles, and two of
instructions, each in its place; a sample of cycles stands for 1000 of them, one of
instructions for 750. So the whole has an IPC of 1.50.
"""

import os
import shutil
import struct
import sys

HEADER = struct.Struct("<IHH")
SAMPLE = 9
# struct perf_file_header, struct perf_event_attr
ATTR_SIZE_AT, ATTRS_AT, DATA_AT = 16, 24, 40
TYPE_AT, CONFIG_AT, SAMPLE_TYPE_AT = 0, 8, 24
IDENTIFIER = 1 << 16
HARDWARE, CYCLES, INSTRUCTIONS = 0, 0, 1
# (config, period) of what is added, and whose the samples are in turn: None: as it was
ADDED = ((CYCLES, 1000), (INSTRUCTIONS, 750))
TURNS = (None, 0, 1, 1)


def main():
    source, out = sys.argv[1:]
    with open(os.path.join(source, "data"), "rb") as file:
        data = bytearray(file.read())
    attr_size, attrs, attrs_size = struct.unpack_from("<QQQ", data, ATTR_SIZE_AT)
    table = bytearray(data[attrs:attrs + attrs_size])
    first = table[:attr_size]
    if not struct.unpack_from("<Q", first, SAMPLE_TYPE_AT)[0] & IDENTIFIER:
        sys.exit("add-events.py: samples have no identifier")
    ids_at, ids_size = struct.unpack_from("<QQ", first, attr_size - 16)
    ids = struct.unpack_from("<%dQ" % (ids_size // 8), data, ids_at)
    added = [1 << 32 | i for i in range(len(ADDED))]

    at, size = struct.unpack_from("<QQ", data, DATA_AT)
    end, turn = at + size, 0
    while at + HEADER.size <= end:
        kind, _, size = HEADER.unpack_from(data, at)
        if kind == SAMPLE and struct.unpack_from("<Q", data, at + HEADER.size)[0] in ids:
            whose = TURNS[turn % len(TURNS)]
            turn += 1
            if whose is not None:
                struct.pack_into("<Q", data, at + HEADER.size, added[whose])
        at += size

    # The table of events is where there is room: at the end.
    for (config, period), number in zip(ADDED, added):
        attr = bytearray(first)
        struct.pack_into("<I", attr, TYPE_AT, HARDWARE)
        struct.pack_into("<QQ", attr, CONFIG_AT, config, period)
        struct.pack_into("<QQ", attr, attr_size - 16, len(data), 8)
        data += struct.pack("<Q", number)
        table += attr
    struct.pack_into("<QQ", data, ATTRS_AT, len(data), len(table))
    data += table

    shutil.copytree(source, out)
    with open(os.path.join(out, "data"), "wb") as file:
        file.write(data)


main()
