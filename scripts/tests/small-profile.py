#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Cut a profile down to some hundred records of every kind there is.

usage: small-profile.py PERF.DATA OUT-DIR

OUT-DIR gets perf.data/ and root/, with a program in place of one that the guest
ran: to read it takes no time, and that is what it is for.
"""

import collections
import os
import struct
import subprocess
import sys

HEADER = struct.Struct("<IHH")
MMAP2, SAMPLE, GUEST_CALLCHAIN, GUEST_KALLSYMS, GUEST_VCPU_LOOK, GUEST_ORC = 10, 9, 23, 98, 106, 108
BUILD_ID_FEATURE = 2
MISC_BUILD_ID = 1 << 14
MISC_CPUMODE = 7
# PERF_RECORD_MISC_GUEST_KERNEL, _GUEST_USER
GUEST_MODES = (4, 5)
# How many of a type and misc, samples of each event counted apart
MOST = 12
EVERY_NTH_SYMBOL = 400
# Pieces of the tables that a kernel is unwound by, where nothing is unwound
MOST_ORC = 2

PROGRAM = """
int data[16];
extern int puts(const char *);
static int hidden(int i) { return data[i & 15]++; }
int quantum_one(int i) { return hidden(i) + puts("x"); }
int quantum_two(int i) { return hidden(i) * quantum_one(i); }
"""


def records(data, at, end):
    while at + HEADER.size <= end:
        kind, misc, size = HEADER.unpack_from(data, at)
        yield kind, misc, data[at:at + size]
        at += size


def events_of(data):
    """The number of an event by each of its identifiers, of which there is one for each CPU"""
    size, at, length = struct.unpack_from("<QQQ", data, 16)
    events = {}
    for number in range(length // size):
        # Where the identifiers are comes after the event's attributes.
        ids_at, ids_size = struct.unpack_from("<QQ", data, at + (number + 1) * size - 16)
        for i in range(ids_at, ids_at + ids_size, 8):
            events[data[i:i + 8]] = number
    return events


def kind_of(kind, misc, record, events):
    if kind != SAMPLE:
        return kind, misc, b""
    # PERF_SAMPLE_IDENTIFIER: the first number of a sample is its event's, on that CPU. What else it
    # tells than the mode does not make it another kind, and nor does the CPU that a guest was on: so
    # few samples of a guest's kernel are never enough to tell that the map is of another guest,
    # however many the profile has, and whether its vCPU has moved.
    mode, number = misc & MISC_CPUMODE, record[8:16]
    return kind, mode, events.get(number, number) if mode in GUEST_MODES else number


def some_of(data, at, end):
    """The first few of each kind, in their order; of samples, a few from end to end: the
    first ones are of what began the recording, which need not be in the guest's map"""
    events = events_of(data)
    every = collections.Counter(kind_of(*record, events) for record in records(data, at, end))
    seen, out, waits = collections.Counter(), b"", b""
    for record in records(data, at, end):
        if record[0] == GUEST_CALLCHAIN:
            # That of a sample which is here: it has the cookie
            cookie = record[2][HEADER.size:HEADER.size + 8]
            out += record[2] if cookie in waits else b""
            continue
        key = kind_of(*record, events)
        number = seen[key]
        seen[key] += 1
        step = max(1, every[key] // MOST) if key[0] == SAMPLE else 1
        if number % step == 0 and number // step < MOST:
            out += record[2]
            waits = record[2] if key[0] == SAMPLE else waits
    return out


def sections_of(data, at):
    """Features and what they contain"""
    bits = int.from_bytes(data[72:104], "little")
    features = [i for i in range(256) if bits >> i & 1]
    return [(f, *struct.unpack_from("<QQ", data, at + 16 * i)) for i, f in enumerate(features)]


def body_of(data):
    """Where the records begin and end"""
    at, size = struct.unpack_from("<QQ", data, 40)
    return at, at + size


def small_data(data):
    at, end = body_of(data)
    body = some_of(data, at, end)
    sections = sections_of(data, end)
    table, content = b"", b""
    begin = at + len(body) + 16 * len(sections)
    for _, offset, length in sections:
        table += struct.pack("<QQ", begin + len(content), length)
        content += data[offset:offset + length]
    return data[:48] + struct.pack("<Q", len(body)) + data[56:at] + body + table + content


def small_kallsyms(text):
    """Some of the kernel's symbols, the ends of its text, and some of modules"""
    out, modules = [], 0
    for number, line in enumerate(text.splitlines(True)):
        module = b"[" in line
        modules += module
        if module and modules > 40:
            continue
        if module or number % EVERY_NTH_SYMBOL == 0 or line.split()[2] in (
                b"_text", b"_stext", b"_etext", b"__entry_text_start"):
            out.append(line)
    return b"".join(out)


def small_map(data, kallsyms, most_orc):
    out = data[:16]
    for kind, _, record in records(data, 16, len(data)):
        most_orc -= kind == GUEST_ORC
        if kind == GUEST_ORC and most_orc < 0:
            continue
        if kind != GUEST_KALLSYMS:
            out += record
            continue
        for at in range(0, len(kallsyms), 2048):
            piece = kallsyms[at:at + 2048]
            padded = piece + b"\0" * (-len(piece) % 8)
            out += HEADER.pack(kind, 0, 16 + len(padded)) + struct.pack("<II", len(piece), 0)
            out += padded
        kallsyms = b""
    return out


def with_looks(data, pid):
    """A look at each of two vCPUs, of which a busy guest has none: one that is there, and halted"""
    looks = b"".join(HEADER.pack(GUEST_VCPU_LOOK, 0, 32) +
                     struct.pack("<IIIIQ", pid, vcpu, 1 << 3, 0, 1 << 33) for vcpu in (0, 1))
    return data[:16] + looks + data[16:]


def programs(data):
    """(name, build-id) of what guest processes have mapped"""
    for kind, misc, record in records(data, 16, len(data)):
        if kind == MMAP2 and misc & MISC_BUILD_ID and misc & 7 == 2:
            name = record[72:].split(b"\0")[0].decode()
            if name.startswith("/"):
                yield name, record[44:44 + record[40]].hex()


def make_program(root, name, build_id):
    path = root + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(["gcc", "-xc", "-", "-shared", "-fPIC", "-O1", "-g", "-nostdlib", "-o", path,
                    "-Wl,--build-id=0x" + build_id, "-Wl,-z,noseparate-code",
                    "-Wl,-z,max-page-size=4096"], input=PROGRAM.encode(), check=True)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def main():
    profile, out = sys.argv[1:]
    guest, = (int(name[len("guest_map__"):]) for name in os.listdir(profile)
              if name.startswith("guest_map__"))
    most_orc = MOST_ORC
    for name in sorted(os.listdir(profile)):
        path, to = os.path.join(profile, name), os.path.join(out, "perf.data", name)
        if os.path.isdir(path):
            kallsyms = small_kallsyms(open(path + "/kallsyms", "rb").read())
            write(to + "/kallsyms", kallsyms)
            continue
        data = open(path, "rb").read()
        if name == "data":
            data = small_data(data)
            if any(kind == GUEST_CALLCHAIN for kind, _, _ in records(data, *body_of(data))):
                most_orc = len(data)
        elif name.startswith("guest_map__"):
            kallsyms = open(path.replace("guest_map__", "kcore_dir__") + "/kallsyms", "rb").read()
            for number, (program, build_id) in enumerate(sorted(set(programs(data)))):
                # One that the samples are in, and one that they are not in
                if "quantum" in program or number == 0:
                    make_program(out + "/root", program, build_id)
            data = small_map(data, small_kallsyms(kallsyms), most_orc)
        elif name == "vcpu_looks":
            data = with_looks(data, guest)
        write(to, data)


main()
