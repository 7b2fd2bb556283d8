#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make the VMs of a profile some whose TSC was set while it was recorded, as a reboot does.

usage: tsc-changed.py PERF.DATA

See perf-kvm-unified/format/records.h.
"""

import struct
import sys

GUEST_VM_TSC = 100
TSC_CHANGED = 1
FILE_HEADER = 16
HEADER = struct.Struct("<IHH")
TSC = struct.Struct("<IIQQII")

path = sys.argv[1] + "/vms"
with open(path, "rb") as f:
    data = bytearray(f.read())
at, number = FILE_HEADER, 0
while at < len(data):
    kind, _, size = HEADER.unpack_from(data, at)
    if kind == GUEST_VM_TSC:
        *known, flags, reserved = TSC.unpack_from(data, at + HEADER.size)
        TSC.pack_into(data, at + HEADER.size, *known, flags | TSC_CHANGED, reserved)
        number += 1
    at += size
if not number:
    sys.exit(f"{path}: has no VM with a TSC")
with open(path, "wb") as f:
    f.write(data)
