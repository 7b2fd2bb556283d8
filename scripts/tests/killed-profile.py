#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make of a profile what is left of it if its recorder is killed.

usage: killed-profile.py PERF.DATA SIZE [compressed]

The header of its data has a size of 0, and of the data are the first SIZE bytes there, or all
if that is "all"; compressed as perf record -z does it, but in a few large
records. The table of VMs is the one of the start, and the format of the time line's
event is a file of its own. See perf-kvm-unified/format/ and guests/killed.c.
"""

import ctypes
import struct
import sys

GUEST_VM, GUEST_RECORDING = 96, 99
HEADER = struct.Struct("<IHH")
VM = struct.Struct("<II64s")
VCPU = struct.Struct("<IIII")
DATA_SIZE_AT = 48
AT_START_ALONE = 1 << 3
# Those of the end: there, halted, blocked, in the VMM
AT_END = 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5

COMPRESSED2 = 83
CHUNK = 50000


def compressed(records):
    """As records of compressed data, each an own frame."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    out, at = b"", 0
    while at < len(records):
        begin = at
        while at < len(records) and at - begin < CHUNK:
            at += HEADER.unpack_from(records, at)[2]
        room = ctypes.create_string_buffer(2 * (at - begin) + 4096)
        length = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), records[begin:at],
                                    ctypes.c_size_t(at - begin), 1)
        body = struct.pack("<Q", length) + room.raw[:length] + bytes(-length % 8)
        out += HEADER.pack(COMPRESSED2, 0, HEADER.size + len(body)) + body
    return out


path, size = sys.argv[1:3]
with open(path + "/data", "rb") as f:
    data = f.read()
# What perf writes behind the data holds the formats of events as text.
start = data.find(b"name: kvm_vcpu_timeline\n")
end = data.find(b"\n", data.find(b"\nprint fmt:", start) + 1) + 1
with open(path + "/data.timeline_format", "wb") as f:
    f.write(data[start:end])
offset, length = struct.unpack_from("<QQ", data, DATA_SIZE_AT - 8)
end = offset + (length if size == "all" else int(size))
with open(path + "/data", "wb") as f:
    records = data[offset:end]
    if "compressed" in sys.argv[3:]:
        records = compressed(records)
    f.write(data[:DATA_SIZE_AT] + bytes(8) + data[DATA_SIZE_AT + 8:offset] + records)

# Looks end with a record that is written last.
with open(path + "/vcpu_looks", "rb") as f:
    looks = f.read()
with open(path + "/vcpu_looks", "wb") as f:
    f.write(looks[:-HEADER.size])

with open(path + "/vms", "rb") as f:
    vms = bytearray(f.read())
at = 16
while at < len(vms):
    kind, _, size = HEADER.unpack_from(vms, at)
    if kind == GUEST_RECORDING:
        flags, = struct.unpack_from("<I", vms, at + HEADER.size)
        struct.pack_into("<I", vms, at + HEADER.size, flags | AT_START_ALONE)
    elif kind == GUEST_VM:
        number = VM.unpack_from(vms, at + HEADER.size)[1]
        for i in range(number):
            vcpu = at + HEADER.size + VM.size + i * VCPU.size
            name, tid, flags, rest = VCPU.unpack_from(vms, vcpu)
            VCPU.pack_into(vms, vcpu, name, tid, flags & ~AT_END, rest)
    at += size
with open(path + "/vms", "wb") as f:
    f.write(vms)
