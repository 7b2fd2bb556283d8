#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a guest map one of another boot, whose kernel is elsewhere by some MiB.

usage: other-boot.py GOOD MIB KEEP-PROCESSES OUT [KALLSYMS]

KALLSYMS gets its symbols, as they lie beside a map in a profile.
Without KEEP-PROCESSES (0), the processes have page tables where no others had theirs.
"""

import re
import struct
import sys

sys.dont_write_bytecode = True

from badmap import records  # noqa: E402

CPUMODE_MASK = 7
KERNEL = b"[kernel.kallsyms]"
# Where the kernel's image is, and not its modules
IMAGE = re.compile(rb"^ffffffff[89ab][0-9a-f]{7}", re.M)
NO_PAGE_TABLE = 1 << 40


def moved_text(text, offset):
    return IMAGE.sub(lambda match: b"%x" % (int(match[0], 16) + offset), text)


def main():
    path, mib, keep, out, *kallsyms = sys.argv[1:]
    offset = int(mib) << 20
    text, kept = b"", []
    for number, misc, data in records.Good(path).records:
        if number == records.KALLSYMS:
            text += data[8:8 + struct.unpack_from("<I", data)[0]]
            continue
        if number == records.MMAP2 and misc & CPUMODE_MASK == records.MISC_KERNEL and KERNEL in data:
            pids, start, size, pgoff = struct.unpack_from("<QQQQ", data)
            data = struct.pack("<QQQQ", pids, start + offset, size, pgoff + offset) + data[32:]
        elif number == records.SPACE and not int(keep):
            root, = struct.unpack_from("<Q", data)
            data = struct.pack("<Q", root | NO_PAGE_TABLE) + data[8:]
        kept.append(records.record(number, data, misc))
    with open(out, "wb") as file:
        file.write(records.FILE_HEADER)
        file.writelines(records.kallsyms(moved_text(text, offset)))
        file.writelines(kept)
        file.write(records.END)
    for name in kallsyms:
        with open(name, "wb") as file:
            file.write(moved_text(text, offset))


main()
