#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the VMs that a profile knows, a line for each vCPU: name, VMM's pid, id, thread.

usage: vms-table.py PERF.DATA

See perf-kvm-unified/format/records.h.
"""

import struct
import sys

GUEST_VM = 96
# Above it is which of a process's VMs it is.
PID_MASK = (1 << 22) - 1
HEADER = struct.Struct("<IHH")
VM = struct.Struct("<II64s")
VCPU = struct.Struct("<IIII")

with open(sys.argv[1] + "/vms", "rb") as f:
    data = f.read()
at = 16
while at < len(data):
    kind, _, size = HEADER.unpack_from(data, at)
    if kind == GUEST_VM:
        pid, number, name = VM.unpack_from(data, at + HEADER.size)
        first = at + HEADER.size + VM.size
        for i in range(number):
            vcpu, tid, _, _ = VCPU.unpack_from(data, first + i * VCPU.size)
            print(name.rstrip(b"\0").decode(), pid & PID_MASK, vcpu, tid)
    at += size
