#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Have the guests of a profile a kernel at low addresses, as unikernels have it.

usage: low-kernel.py DATA KALLSYMS OUT

Samples of guests' kernels in DATA, the data of a profile, are changed in place. OUT gets the
kernel's functions of KALLSYMS, where they are then, without the end of its text.
"""

import struct
import sys

HEADER = struct.Struct("<IHH")
SAMPLE = 9
CPUMODE_MASK, GUEST_KERNEL = 7, 4
# Behind the header and the event's number
IP = 16
LOW = (1 << 30) - 1


def main():
    path, kallsyms, out = sys.argv[1:]
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at + HEADER.size <= end:
        kind, misc, size = HEADER.unpack_from(data, at)
        if kind == SAMPLE and misc & CPUMODE_MASK == GUEST_KERNEL:
            ip, = struct.unpack_from("<Q", data, at + IP)
            struct.pack_into("<Q", data, at + IP, ip & LOW)
        at += size
    with open(path, "wb") as file:
        file.write(data)
    with open(kallsyms, encoding="ascii") as file, open(out, "w", encoding="ascii") as low:
        for line in file:
            address, kind, name = line.split(maxsplit=2)
            if kind in "tTwW" and "[" not in name and name != "_etext\n":
                low.write(f"{int(address, 16) & LOW:016x} {kind} {name}")


main()
