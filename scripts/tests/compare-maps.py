#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Holds a guest map made from the host against the collector's, of the same guest.

usage: compare-maps.py HOST-MAP GUEST-MAP GUEST-KALLSYMS [IGNORED-COMM...]

Prints a line for each kind of thing: how many the guest has, how many are the same, and those
that are not. Processes that had an IGNORED-COMM when the guest was asked are left out: they were
the asking. Ends with 1 if the host's map says what the guest's does not, or lacks more than
0.1 % of symbols or any process, map or build-id.
"""

import struct
import sys

COMM, MMAP, MMAP2 = 3, 1, 10
SPACE, KALLSYMS, MAP, CLOCK, SYMBOLS, ORC, CGROUP = 97, 98, 101, 103, 105, 108, 110
KERNEL, BUILD_ID = 1, 1 << 14
FILE_PRINT = 1
OF_FILE = 0xffffffff


def text(data):
    return data.split(b"\0")[0].decode("latin1")


class Map:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.comms, self.codes, self.kernel, self.spaces = {}, set(), set(), {}
        self.kallsyms, self.symbols, self.flags, self.clocks, self.programs = b"", {}, 0, [], {}
        self.orc, self.cgroups = {}, set()
        at = 16
        while at < len(data):
            kind, misc, size = struct.unpack_from("<IHH", data, at)
            self.take(kind, misc, data[at + 8:at + size])
            at += size
        # Of a code address, the last entry holds.
        self.orc = set(self.orc.items())
        self.symbols = {pid: set(t.decode().split("\n")) for pid, t in self.symbols.items()}

    def take(self, kind, misc, rec):
        if kind == COMM:
            pid, tid = struct.unpack_from("<II", rec)
            if pid == tid:
                self.comms[pid] = text(rec[8:])
        elif kind == MMAP2:
            pid, _, start, length, pgoff = struct.unpack_from("<IIQQQ", rec)
            # What stands for a file without a build-id is the collector's alone.
            has_bid = misc & BUILD_ID and rec[33] != FILE_PRINT
            bid = rec[36:36 + rec[32]].hex() if has_bid else ""
            prot, flags = struct.unpack_from("<II", rec, 56)
            name = text(rec[64:])
            if misc & 7 == KERNEL:
                name = name.rsplit("/", 1)[-1].split(".ko")[0].strip("[]").replace("-", "_")
                self.kernel.add((start, length, name.split("]")[0], bid))
            else:
                self.codes.add((pid, start, length, pgoff, prot, flags, name, bid))
        elif kind == SPACE:
            root, start, until, pid, ns_pid = struct.unpack_from("<QQQII", rec)
            if root and until == 0xffffffffffffffff:
                self.spaces[pid] = (root, start, ns_pid)
        elif kind == KALLSYMS:
            n, = struct.unpack_from("<I", rec)
            self.kallsyms += rec[8:8 + n]
        elif kind == CGROUP:
            self.cgroups.add((struct.unpack_from("<I", rec)[0], text(rec[8:])))
        elif kind == MAP:
            self.flags, = struct.unpack_from("<I", rec)
        elif kind == CLOCK:
            self.clocks.append(struct.unpack_from("<QQ", rec))
        elif kind == ORC:
            at, nr, layout = struct.unpack_from("<QII", rec)
            for i in range(nr):
                offset, = struct.unpack_from("<i", rec, 16 + 4 * i)
                entry = 16 + 4 * nr + 6 * i
                self.orc[at + 4 * i + offset] = (layout, rec[entry:entry + 6])
        elif kind == SYMBOLS:
            pid, n = struct.unpack_from("<II", rec)
            if pid == OF_FILE:
                bid = rec[8:8 + rec[28]].hex()
                self.programs[bid] = self.programs.get(bid, b"") + rec[32:8 + n]
            else:
                self.symbols[pid] = self.symbols.get(pid, b"") + rec[8:8 + n]


def kallsyms(data):
    """core symbols, and those of modules; types in lower case: 'exported' is not in the tables"""
    core, modules = set(), set()
    for line in data.decode("latin1").splitlines():
        fields = line.split()
        if len(fields) == 3:
            core.add((int(fields[0], 16), fields[1], fields[2]))
        elif not fields[3].startswith("[__builtin"):
            modules.add((int(fields[0], 16), fields[2], fields[3]))
    return core, modules


def main():
    host, guest = Map(sys.argv[1]), Map(sys.argv[2])
    ignored = {pid for pid, comm in guest.comms.items() if comm in sys.argv[4:]}
    ignored |= {pid for pid, comm in host.comms.items() if comm in sys.argv[4:]}
    bad = False

    def hold(what, mine, theirs, least=1.0):
        nonlocal bad
        same = mine & theirs
        print("%s: guest %d, host %d, same %d" % (what, len(theirs), len(mine), len(same)))
        wrong = len(mine) > len(same) or len(same) < least * len(theirs)
        bad |= wrong
        for only, who in ((theirs - mine, "guest"), (mine - theirs, "host")):
            for one in sorted(only)[:8 if wrong else 0]:
                print("    only the %s's: %s" % (who, one))

    with open(sys.argv[3], "rb") as f:
        core, modules = kallsyms(f.read())
    mine, mine_modules = kallsyms(host.kallsyms)
    # What the kernel has freed is mapped no more, and still in its table.
    hold("kernel symbols", mine, core)
    text_symbols = {s for s in modules if any(k[0] <= s[0] < k[0] + k[1] for k in host.kernel)}
    hold("symbols of modules' text", mine_modules, text_symbols)
    # Where they end is another matter: perf takes the data behind the text for code, too.
    hold("kernel and modules", {(k[0], k[2]) for k in host.kernel},
         {(k[0], k[2]) for k in guest.kernel})

    def processes(m):
        return {(pid, comm) for pid, comm in m.comms.items()
                if pid in m.spaces and pid not in ignored and pid}
    hold("processes", processes(host), processes(guest))
    hold("address spaces", {(p, *s) for p, s in host.spaces.items() if p not in ignored},
         {(p, *s) for p, s in guest.spaces.items() if p not in ignored})
    hold("cgroups", {c for c in host.cgroups if c[0] not in ignored},
         {c for c in guest.cgroups if c[0] not in ignored})
    hold("code", {c[:-1] for c in host.codes if c[0] not in ignored},
         {c[:-1] for c in guest.codes if c[0] not in ignored and "[vsyscall]" not in c})
    hold("build-ids", {c[6:] for c in host.codes if c[0] not in ignored},
         {c[6:] for c in guest.codes if c[0] not in ignored and "[vsyscall]" not in c})
    hold("ORC entries", host.orc, guest.orc)
    hold("vDSO", host.symbols.get(0, set()), guest.symbols.get(0, set()))
    hold("flags", {host.flags}, {guest.flags})
    print("programs with symbols: %s" % ", ".join(
        "%s %d" % (bid[:8], t.count(b"\n")) for bid, t in sorted(host.programs.items())))
    print("clocks: host %s, guest %s" % (host.clocks, guest.clocks))
    sys.exit(bad)


main()
