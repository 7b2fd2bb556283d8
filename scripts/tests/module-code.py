#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a profile in which modules of the guest's kernel came and went, of one without.

usage: module-code.py PERF.DATA OUT-DIR [N]

The samples of the guest's kernel, or every Nth of them, are in these modules, in turn, each in
its second function: one that was there all the time; "first", which was there in the first half
of them, and in the second half "second" had its place; one that had gone before, one that came
behind; one of which nobody knows when; and one that stayed. Then a BPF program that was there in
the first half, with another one in its place after it, and one of which nobody knows when. Prints
how many samples each has, of the second one in each half.
"""

import glob
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from perf_data import (GUEST_KERNEL, GUEST_VM_TSC, HEADER, IP, Profile, stream)  # noqa: E402

CLOCK, SYMBOLS = 103, 105
OF_BPF, OF_MODULE, END_OF_TIME, LENGTH = (1 << 32) - 3, (1 << 32) - 2, (1 << 64) - 1, 0x1000
PLACES = range(0xffffffffc8000000, 0xffffffffc8008000, LENGTH)
ALWAYS, IN_TURN, GONE, LATE, UNKNOWN, STAYED, PROGRAM, UNKNOWN_PROGRAM = PLACES
CODE = 0x100
END = HEADER.pack(82, 0, 8)
MMAP2, MISC_KERNEL = 10, 1


def changing(kind, text, name, start, since, until):
    data = struct.pack("<QQQQ64s", start, LENGTH, since, until, name) + text
    padded = data + bytes(-len(data) % 8)
    return HEADER.pack(SYMBOLS, 0, 16 + len(padded)) + \
        struct.pack("<II", kind, len(data)) + padded


def module(name, *rest):
    text = b"".join(b"%x %x %s_%s\n" % (at, CODE, name, part)
                    for at, part in ((0, b"begin"), (CODE, b"code")))
    return changing(OF_MODULE, text, name, *rest)


def program(name, *rest):
    return changing(OF_BPF, b"0 %x %s\n" % (LENGTH, name), name, *rest)


def kernel_map(name, start):
    """As the collector tells of a module that there was at the start"""
    data = struct.pack("<IIQQQ24xII", END_OF_TIME >> 32, 0, start, LENGTH, 0, 5, 2) + name
    data += bytes(8 - len(data) % 8)
    return HEADER.pack(MMAP2, MISC_KERNEL, 8 + len(data)) + data


def guest_time(profile, time, records):
    """Of a time on the clock of the samples, in a guest whose map has these records"""
    _, frac_bits, offset, ratio = next(struct.unpack_from("<IIQQ", data, 8) for kind, data
                                       in stream(profile.vms) if kind == GUEST_VM_TSC)
    pairs = [struct.unpack_from("<QQ", data, 8) for kind, data in records if kind == CLOCK]
    tsc = profile.tsc(time)
    if frac_bits:
        tsc = tsc * ratio >> frac_bits
    tsc = tsc + offset & END_OF_TIME
    (first, at), (last, until) = pairs[0], pairs[-1]
    return at + (tsc - first) * (until - at) // (last - first)


def main():
    source, out, *every = sys.argv[1:]
    profile = Profile(source)
    samples = [sample for sample in profile.samples()
               if sample.mode == GUEST_KERNEL and not sample.event.is_timeline]
    samples.sort(key=lambda sample: sample.time)
    samples = samples[::int(*every or "1")]
    half = len(samples) // 2
    counts = dict.fromkeys([*PLACES, "second", "next"], 0)
    for i, sample in enumerate(samples):
        place = PLACES[i % len(PLACES)]
        struct.pack_into("<Q", sample.data, sample.event.at[IP], place + CODE + 0x10)
        later = {IN_TURN: "second", PROGRAM: "next"} if i >= half else {}
        counts[later.get(place, place)] += 1
    profile.write(out, 1, 0)

    path, = glob.glob(os.path.join(out, "guest_map__*"))
    with open(path, "rb") as file:
        data = file.read()
    middle = guest_time(profile, (samples[half - 1].time + samples[half].time) // 2,
                        list(stream(data)))
    with open(path, "wb") as file:
        file.write(data[:-len(END)])
        file.write(kernel_map(b"[first]", IN_TURN) + kernel_map(b"[unsure]", UNKNOWN) +
                   kernel_map(b"[stayed]", STAYED))
        file.write(module(b"always", ALWAYS, 0, END_OF_TIME))
        file.write(module(b"first", IN_TURN, 0, middle))
        file.write(module(b"second", IN_TURN, middle, END_OF_TIME))
        file.write(module(b"gone", GONE, 0, 1))
        file.write(module(b"late", LATE, END_OF_TIME - 1, END_OF_TIME))
        file.write(module(b"unsure", UNKNOWN, 0, 0))
        file.write(program(b"bpf_prog_1_early", PROGRAM, 0, middle))
        file.write(program(b"bpf_prog_2_next", PROGRAM, middle, END_OF_TIME))
        file.write(program(b"bpf_prog_3_unsure", UNKNOWN_PROGRAM, 0, 0))
        file.write(END)
    print(*(counts[place] for place in (ALWAYS, IN_TURN, "second", GONE, LATE, UNKNOWN, STAYED,
                                        PROGRAM, "next", UNKNOWN_PROGRAM)))


main()
