#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a guest map one whose collector ended in the middle, in place: what happened
later is not in it, and what ended later is alive.

usage: end-early.py MAP
"""

import struct
import sys

PIPE_HEADER = 16
SPACE, CLOCK, TIME = 97, 103, 104
ALIVE = (1 << 64) - 1


def records(data):
    at = PIPE_HEADER
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield kind, data[at:at + size]
        at += size


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    clocks = [struct.unpack_from("<QQ", rec, 8) for kind, rec in records(data) if kind == CLOCK]
    times = [struct.unpack_from("<Q", rec, 8)[0] for kind, rec in records(data) if kind == TIME]
    middle = times[len(times) // 2]
    # The counter at that time: between the first pair and the last, both are straight.
    (tsc0, ns0), (tsc1, ns1) = clocks[0], clocks[-1]
    end = (tsc0 + (tsc1 - tsc0) * (middle - ns0) // (ns1 - ns0), middle)

    kept, late, ended = [data[:PIPE_HEADER]], False, False
    for kind, rec in records(data):
        if kind == TIME:
            late = struct.unpack_from("<Q", rec, 8)[0] > middle
        if kind == SPACE:
            root, start, until, pid, ns_pid = struct.unpack_from("<QQQII", rec, 8)
            if start > middle:
                continue
            rec = rec[:8] + struct.pack("<QQQII", root, start,
                                        ALIVE if until > middle else until, pid, ns_pid)
        elif kind == CLOCK and struct.unpack_from("<QQ", rec, 8)[1] > middle:
            if ended:
                continue
            ended = True
            rec = rec[:8] + struct.pack("<QQ", *end)
        elif late and kind < 64:
            continue
        kept.append(rec)
    with open(sys.argv[1], "wb") as file:
        file.write(b"".join(kept))


main()
