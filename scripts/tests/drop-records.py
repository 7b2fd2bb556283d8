#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Leave the records of one type out of a stream of perf records, in place.

usage: drop-records.py FILE TYPE
"""

import struct
import sys

PIPE_HEADER = 16
HEADER = 8
# PERF_RECORD_HEADER_TRACING_DATA: what is traced follows the record, of the size in it
TRACING_DATA = 66
ALIGNMENT = 8


def main():
    path, kind = sys.argv[1], int(sys.argv[2])
    with open(path, "rb") as file:
        data = file.read()
    kept, at = [data[:PIPE_HEADER]], PIPE_HEADER
    while at < len(data):
        record, _, size = struct.unpack_from("<IHH", data, at)
        if not size:
            sys.exit(f"{path}: no record at {at}")
        if record == TRACING_DATA:
            traced, = struct.unpack_from("<I", data, at + HEADER)
            size += -(-traced // ALIGNMENT) * ALIGNMENT
        if record != kind:
            kept.append(data[at:at + size])
        at += size
    with open(path, "wb") as file:
        file.write(b"".join(kept))


main()
