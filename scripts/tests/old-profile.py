#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a profile one of the kernels that had PERF_SAMPLE_VCPU first, in place.

usage: old-profile.py PERF.DATA/data

Their samples have the same words behind the flags, and the flags do not say how many there
are. With the samples of the events that have no vCPU nothing is done.
"""

import struct
import sys

HEADER = struct.Struct("<IHH")
SAMPLE = 9
SAMPLE_TYPE_VCPU = 1 << 25
LOADED = 1 << 0
WORDS_SHIFT = 16
WORDS = 0xff << WORDS_SHIFT
# pt_root, vcpu_id and vpid, exit_reason
NR_WORDS = 3


def vcpu_events(data):
    """The ids of the events whose samples have a vCPU: perf_file_attr in the file's header"""
    attr_size, attrs, attrs_size = struct.unpack_from("<QQQ", data, 16)
    for at in range(attrs, attrs + attrs_size, attr_size):
        sample_type, = struct.unpack_from("<Q", data, at + 24)
        ids, ids_size = struct.unpack_from("<QQ", data, at + attr_size - 16)
        if sample_type & SAMPLE_TYPE_VCPU:
            yield from struct.unpack_from("<%dQ" % (ids_size // 8), data, ids)


def main():
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    ids, changed = set(vcpu_events(data)), 0
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, size = HEADER.unpack_from(data, at)
        # PERF_SAMPLE_IDENTIFIER: the first number of a sample is its event's
        if kind == SAMPLE and struct.unpack_from("<Q", data, at + HEADER.size)[0] in ids:
            where = at + size - 8 * (1 + NR_WORDS)
            flags, = struct.unpack_from("<Q", data, where)
            # One without a vCPU has the flags alone, at its end.
            if flags & LOADED and flags & WORDS == NR_WORDS << WORDS_SHIFT:
                struct.pack_into("<Q", data, where, flags & ~WORDS)
                changed += 1
        at += size
    with open(sys.argv[1], "wb") as file:
        file.write(data)
    print(changed)


main()
