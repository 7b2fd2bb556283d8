#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print how many BPF programs the kernel has: bpf(2), BPF_PROG_GET_NEXT_ID."""

import ctypes
import struct

SYS_BPF = 321
BPF_PROG_GET_NEXT_ID = 11

libc = ctypes.CDLL(None, use_errno=True)
number = last = 0
while True:
    # start_id, and where next_id goes
    attr = ctypes.create_string_buffer(struct.pack("II", last, 0), 128)
    if libc.syscall(SYS_BPF, BPF_PROG_GET_NEXT_ID, attr, len(attr)):
        break
    last = struct.unpack("II", attr.raw[:8])[1]
    number += 1
print(number)
