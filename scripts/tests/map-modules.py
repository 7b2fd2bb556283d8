#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print which modules and BPF programs came or went, as a guest map tells of them.

usage: map-modules.py GUEST-MAP

A line each: name, address, from, until ("end": it was there at the end), and the names of its functions
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from perf_data import stream  # noqa: E402

SYMBOLS, OF_BPF, OF_MODULE, END_OF_TIME = 105, (1 << 32) - 3, (1 << 32) - 2, (1 << 64) - 1
MODULE, AT = struct.Struct("<QQQQ64s"), 16


def main():
    with open(sys.argv[1], "rb") as file:
        records = list(stream(file.read()))
    for kind, record in records:
        if kind != SYMBOLS or struct.unpack_from("<I", record, 8)[0] not in (OF_BPF, OF_MODULE):
            continue
        length, = struct.unpack_from("<I", record, 12)
        start, _, since, until, name = MODULE.unpack_from(record, AT)
        text = record[AT + MODULE.size:AT + length].decode("ascii", "replace")
        print(name.split(b"\0")[0].decode("ascii", "replace"), hex(start), since,
              "end" if until == END_OF_TIME else until,
              *(line.split(" ", 2)[2] for line in text.splitlines()))


main()
