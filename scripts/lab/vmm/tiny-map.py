#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the guest map that perf kvm unified guest-map would in a guest of tiny-vmm.

usage: tiny-map.py KALLSYMS PID:COMM:CR3... >MAP

KALLSYMS is what tiny-vmm --symbols prints, CR3 is hexadecimal. A process has its
program, /bin/COMM, where all guests of tiny-vmm have it. The records are those of
perf-kvm-unified/format/records.h and of perf.
"""

import struct
import sys

HEADER = struct.Struct("<IHH")
# Of struct perf_record_mmap2, behind the header and without a build-id
MMAP2_FIXED = struct.Struct("<IIQQQ24xII")
COMM, MMAP2, FINISHED_INIT, GUEST_SPACE, GUEST_KALLSYMS = 3, 10, 82, 97, 98
MISC_KERNEL, MISC_USER = 1, 2
PROT_READ_EXEC, MAP_PRIVATE = 5, 2
KERNEL_PID = 0xffffffff
ALIVE = (1 << 64) - 1
PAGE = 4096
USER_TEXT = 0x400000


def record(kind, data, misc=0):
    data += b"\0" * (-len(data) % 8)
    return HEADER.pack(kind, misc, HEADER.size + len(data)) + data


def mmap2(pid, start, size, pgoff, name, misc):
    return record(MMAP2, MMAP2_FIXED.pack(pid, pid, start, size, pgoff, PROT_READ_EXEC,
                                          MAP_PRIVATE) + name.encode() + b"\0", misc)


def kernel(kallsyms):
    symbols = {name: int(addr, 16) for addr, _, name in map(str.split, kallsyms.splitlines())}
    start = symbols["_text"]
    size = -(-(symbols["_etext"] - start) // PAGE) * PAGE
    return mmap2(KERNEL_PID, start, size, start, "[kernel.kallsyms]_text", MISC_KERNEL)


def process(pid, comm, cr3):
    return (record(COMM, struct.pack("<II", pid, pid) + comm.encode() + b"\0") +
            mmap2(pid, USER_TEXT, PAGE, 0, "/bin/" + comm, MISC_USER) +
            record(GUEST_SPACE, struct.pack("<QQQII", cr3, 0, ALIVE, pid, 0)))


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        kallsyms = f.read()
    out = struct.pack("<8sQ", b"PERFILE2", 16) + kernel(kallsyms)
    for arg in sys.argv[2:]:
        pid, comm, cr3 = arg.split(":")
        out += process(int(pid), comm, int(cr3, 16))
    out += record(GUEST_KALLSYMS, struct.pack("<II", len(kallsyms), 0) + kallsyms.encode())
    out += record(FINISHED_INIT, b"")
    sys.stdout.buffer.write(out)


main()
