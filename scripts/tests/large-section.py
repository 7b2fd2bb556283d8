#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make an ELF file of 64 bits, little endian, in which one section has another size.

usage: large-section.py ELF TYPE MIB

The first section of that type, a number (1: PROGBITS with code, 11: DYNSYM), gets MIB mebibytes.
The file gets a hole at its end in which there is room for it.
"""

import os
import struct
import sys

SHDR = struct.Struct("<IIQQQQIIQQ")
EXECINSTR = 4
PROGBITS = 1


def main():
    path, wanted, mib = sys.argv[1:]
    with open(path, "r+b") as file:
        header = file.read(64)
        start, = struct.unpack_from("<Q", header, 40)
        number, = struct.unpack_from("<H", header, 60)
        for index in range(number):
            file.seek(start + index * SHDR.size)
            fields = list(SHDR.unpack(file.read(SHDR.size)))
            if fields[1] == int(wanted) and (fields[1] != PROGBITS or fields[2] & EXECINSTR):
                break
        else:
            sys.exit(f"{path} has no such section")
        fields[5] = int(mib) << 20
        file.seek(start + index * SHDR.size)
        file.write(SHDR.pack(*fields))
        size = file.seek(0, os.SEEK_END)
        file.truncate(max(size, fields[4] + fields[5]))


main()
