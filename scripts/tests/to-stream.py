#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write a profile to standard output as perf kvm unified record -o - would have.

usage: to-stream.py PERF.DATA [late]

The records are those of the profile. Its table of VMs is in front of them and behind them; with
late, behind them alone, as it is of VMs that were started meanwhile.
"""

import os
import struct
import sys

HEADER = struct.Struct("<IHH")
HEADER_ATTR, TRACING_DATA, FEATURE, FINISHED_INIT, GUEST_RECORDING = 64, 66, 80, 82, 99
RECORDING_STREAM, RECORDING_END = 1 << 1, 1 << 2
# Those of a file alone: struct perf_header_feature_ops
FILE_FEATURES = {2, 15, 18, 19, 20, 24, 30}
TRACING_DATA_FEATURE = 1
# struct perf_file_header
ATTRS_AT, DATA_AT, FEATURES_AT, END_OF_HEADER = 24, 40, 72, 104
FILE_ATTR_IDS = 16
PIPE_HEADER = 16
MAX_SIZE = 0xffff


def record(kind, content):
    return HEADER.pack(kind, 0, HEADER.size + len(content)) + content


def attrs_of(data):
    entry_size, at, size = struct.unpack_from("<QQQ", data, ATTRS_AT - 8)
    for at in range(at, at + size, entry_size):
        ids_at, ids_size = struct.unpack_from("<QQ", data, at + entry_size - FILE_ATTR_IDS)
        yield record(HEADER_ATTR, data[at:at + entry_size - FILE_ATTR_IDS] +
                     data[ids_at:ids_at + ids_size])


def sections_of(data):
    """Features and what they contain"""
    at = sum(struct.unpack_from("<QQ", data, DATA_AT))
    bits = int.from_bytes(data[FEATURES_AT:END_OF_HEADER], "little")
    for feature in (i for i in range(256) if bits >> i & 1):
        offset, size = struct.unpack_from("<QQ", data, at)
        at += 16
        yield feature, data[offset:offset + size]


def features_of(data):
    tracing = b""
    for feature, content in sections_of(data):
        if feature == TRACING_DATA_FEATURE:
            content += b"\0" * (-len(content) % 8)
            tracing = record(TRACING_DATA, struct.pack("<II", len(content), 0)) + content
        elif feature not in FILE_FEATURES and HEADER.size + 8 + len(content) <= MAX_SIZE:
            yield record(FEATURE, struct.pack("<Q", feature) + content)
    # Beyond all that there are: the last one
    yield record(FEATURE, struct.pack("<Q", 255))
    yield tracing


def vms_of(path):
    """The records of the table, and what the first of them says of the recording"""
    with open(path, "rb") as file:
        data = file.read()
    at, flags, out = PIPE_HEADER, 0, b""
    while at < len(data):
        kind, _, size = HEADER.unpack_from(data, at)
        if kind == GUEST_RECORDING:
            flags, = struct.unpack_from("<I", data, at + HEADER.size)
        elif kind != FINISHED_INIT:
            out += data[at:at + size]
        at += size
    return flags, out


def main():
    path, late = sys.argv[1], "late" in sys.argv[2:]
    with open(os.path.join(path, "data"), "rb") as file:
        data = file.read()
    flags, vms = vms_of(os.path.join(path, "vms"))
    at, size = struct.unpack_from("<QQ", data, DATA_AT)
    flags |= RECORDING_STREAM

    out = sys.stdout.buffer
    out.write(data[:8] + struct.pack("<Q", PIPE_HEADER))
    out.write(record(GUEST_RECORDING, struct.pack("<II", flags, 0)))
    if not late:
        out.write(vms)
    for piece in (*attrs_of(data), *features_of(data)):
        out.write(piece)
    out.write(data[at:at + size])
    out.write(vms)
    out.write(record(GUEST_RECORDING, struct.pack("<II", flags | RECORDING_END, 0)))


main()
