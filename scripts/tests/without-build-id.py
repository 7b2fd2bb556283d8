#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a guest map in which a file has no build-id.

usage: without-build-id.py GUEST-MAP NAME FILE none|print|other

NAME is the end of the file's name in the map, FILE the file. "print": as the collector tells of
a file without a build-id, see perf-kvm-unified/lib/file-print.c; "other": the same of another
file; "none": as collectors did that told nothing. Prints how many maps it has changed.
"""

import hashlib
import struct
import sys

HEADER = struct.Struct("<IHH")
MMAP2 = 10
BUILD_ID_FLAG = 1 << 14
# Behind pid, tid, address, length and offset: the size of the build-id, what it is, the build-id
BUILD_ID_AT, BUILD_ID, NAME_AT = 40, struct.Struct("<BBH20s"), 72
FILE_PRINT = 1

EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
SHDR = struct.Struct("<IIQQQQIIQQ")
PHDR_SIZE = 56
PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, REL, DYNSYM = 1, 2, 3, 4, 8, 9, 11
ALLOC = 2
PAGE = 4096


def file_print(data):
    """By its own reckoning"""
    ehdr = EHDR.unpack_from(data)
    phoff, shoff, phnum, shnum, names_idx = ehdr[5], ehdr[6], ehdr[10], ehdr[12], ehdr[13]
    sections = data[shoff:shoff + shnum * SHDR.size]
    headers = list(SHDR.iter_unpack(sections))
    names = data[headers[names_idx][4]:][:headers[names_idx][5]]
    text = [struct.pack("<Q", len(data)), data[:EHDR.size], sections,
            data[phoff:phoff + phnum * PHDR_SIZE]]
    for name_at, kind, flags, _, offset, size, *_ in headers:
        name = names[name_at:].split(b"\0")[0]
        if kind in (0, NOBITS):
            continue
        whole = kind in (SYMTAB, STRTAB, RELA, REL, DYNSYM) or \
            kind == PROGBITS and not flags & ALLOC and not name.startswith((b".debug", b".zdebug"))
        text.append(data[offset:offset + (size if whole else min(size, PAGE))])
    return hashlib.blake2s(b"".join(text), digest_size=20).digest()


def main():
    path, name, file_name, how = sys.argv[1:]
    with open(path, "rb") as file:
        data = bytearray(file.read())
    with open(file_name, "rb") as file:
        digest = file_print(file.read())
    if how == "other":
        digest = digest[::-1]
    at, changed = 16, 0
    while at < len(data):
        kind, misc, size = HEADER.unpack_from(data, at)
        if kind == MMAP2 and data[at + NAME_AT:at + size].split(b"\0")[0].endswith(name.encode()):
            if how == "none":
                HEADER.pack_into(data, at, kind, misc & ~BUILD_ID_FLAG, size)
                BUILD_ID.pack_into(data, at + BUILD_ID_AT, 0, 0, 0, b"")
            else:
                HEADER.pack_into(data, at, kind, misc | BUILD_ID_FLAG, size)
                BUILD_ID.pack_into(data, at + BUILD_ID_AT, len(digest), FILE_PRINT, 0, digest)
            changed += 1
        at += size
    with open(path, "wb") as file:
        file.write(data)
    print(changed)


main()
