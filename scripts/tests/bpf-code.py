#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a profile whose guest's kernel has BPF programs, of one without: prints their samples.

usage: bpf-code.py PERF.DATA OUT-DIR

The samples of the guest's kernel are, in turn, at the beginning of one program, at the end of
another, which the next one follows, and so far behind the last one that they are in none. The
guest's kallsyms have the three, not in order, and one that would be in the kernel itself.
"""

import glob
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from perf_data import GUEST_KERNEL, IP, Profile  # noqa: E402 # where it is, is said above

FIRST, SECOND, LAST = 0xffffffffc8000000, 0xffffffffc8000400, 0xffffffffc8001000
PLACES = FIRST, LAST - 1, LAST + (1 << 20)


def main():
    source, out = sys.argv[1:]
    profile = Profile(source)
    counts = [0] * len(PLACES)
    for sample in profile.samples():
        if sample.mode == GUEST_KERNEL and not sample.event.is_timeline:
            which = sum(counts) % len(PLACES)
            struct.pack_into("<Q", sample.data, sample.event.at[IP], PLACES[which])
            counts[which] += 1
    profile.write(out, 1, 0)
    kallsyms, = glob.glob(os.path.join(out, "kcore_dir__*", "kallsyms"))
    with open(kallsyms, encoding="ascii") as file:
        text = next(line for line in file if line.endswith(" _stext\n")).split()[0]
    with open(kallsyms, "a", encoding="ascii") as file:
        for start, name in ((LAST, "bpf_prog_0123456789abcdef_last"), (FIRST, "bpf_prog_00_first"),
                            (SECOND, "bpf_trampoline_6442"), (int(text, 16), "bpf_prog_ff_kernel")):
            print("%x t %s\t[bpf]" % (start, name), file=file)
    print(*counts)


main()
