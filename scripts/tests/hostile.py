#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Read bad guest maps with perf, and see that it ends well.

usage: hostile.py PERF SEED-DIR WORK-DIR OUT-DIR [KIND...]

SEED-DIR is what small-profile.py makes. OUT-DIR gets a file for each kind, empty if all is
well, and table: how long each command took and how much memory. Each kind of bad-map.py is
read by hand (--guest-map), and as the map in the profile's directory, by perf kvm unified
report, perf report and perf script.
"""

import concurrent.futures
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

from badmap import KINDS, make  # noqa: E402

MAX_SECONDS = float(os.environ.get("HOSTILE_SECONDS", 10))
# 0: not bounded, for a build with sanitizers
MAX_MIB = int(os.environ.get("HOSTILE_MIB", 512))
# Times what the good map takes: a slow machine takes as much longer for each.
MAX_TIMES = 40
# On a machine that is busy with other things: of the clock, not of CPU time
HANGS_TIMES = 10
MAX_OUTPUT = 64 << 20
NOT_TEXT = re.compile(rb"[^\n\t -~]")
CRASHED = re.compile(rb"AddressSanitizer|LeakSanitizer|runtime error: |Segmentation|Assertion")
OPENED = re.compile(r'(?:open|openat|openat2|execve)\((?:AT_FDCWD, |\d+, )?"((?:[^"\\]|\\.)*)"')
# Names that the sanitizers, memfd_create() and threads come by
ALWAYS = re.compile(r"/proc/(self|\d+)/|/sys/devices/system/cpu|/proc/sys/|/tmp/perf-kallsyms")
# Files that perf makes, with another name each time: the VMM's vDSO, as perf has it itself
MADE = re.compile(r"(/tmp/perf-vdso\.so-)\w{6}$")
GUEST = re.compile(r"(/root[/].debug|/usr/lib/debug|\.debug|/)?/\[guest:[^/]*\](/(?!\.\./).*)?$")
HEAD = "%-24s %-8s %6s %8s  %s\n" % ("kind", "command", "CPU s", "MiB", "what it attacks")


class Bad(Exception):
    pass


def ended(child, limit):
    """Waits: the child's status, CPU time and most memory"""
    gone = threading.Event()
    hung = []

    def end():
        if not gone.wait(limit):
            hung.append(True)
            child.kill()
    watch = threading.Thread(target=end)
    watch.start()
    _, status, usage = os.wait4(child.pid, 0)
    gone.set()
    watch.join()
    child.returncode = os.waitstatus_to_exitcode(status)
    if hung:
        raise Bad("it does not end in %d s" % limit)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def set_limit():
    """One that runs away must not take the machine with it."""
    if MAX_MIB:
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MIB << 22, MAX_MIB << 22))


def run(args, work, traced, hangs):
    """Exit code, output, CPU seconds, MiB, and files it has opened"""
    trace = os.path.join(work, "trace")
    if traced:
        args = ["strace", "-f", "--seccomp-bpf", "-s", "4096", "-o", trace,
                "-e", "trace=open,openat,openat2,execve", *args]
    with open(os.path.join(work, "out"), "w+b") as out:
        child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=work,
                                 preexec_fn=set_limit)
        seconds, mib = ended(child, hangs)
        if out.tell() > MAX_OUTPUT:
            raise Bad("it prints more than %d MiB" % (MAX_OUTPUT >> 20))
        out.seek(0)
        text = out.read()
    opened = set()
    if traced:
        with open(trace, encoding="ascii", errors="replace") as f:
            opened = {MADE.sub(r"\1", m[1]) for m in OPENED.finditer(f.read())}
    return child.returncode, text, seconds, mib, opened


def tail(text):
    return NOT_TEXT.sub(b"?", text[-600:]).decode()


class Hostile:
    def __init__(self, perf, seed, work, out):
        self.perf, self.seed, self.work, self.out = perf, seed, work, out
        self.map_name = os.path.basename(glob.glob(seed + "/perf.data/guest_map__*")[0])
        self.rows = []
        self.max_seconds = MAX_SECONDS
        # What any run opens, on this machine
        self.allowed = set()
        for _, args in self.commands(seed + "/perf.data/" + self.map_name, seed + "/root",
                                     seed + "/perf.data"):
            rc, text, seconds, _, opened = run(args, work, True, HANGS_TIMES * MAX_SECONDS)
            self.max_seconds = max(self.max_seconds, MAX_TIMES * seconds)
            if rc:
                raise SystemExit("the good map: exit code %d\n%s" % (rc, tail(text)))
            self.allowed |= opened

    def commands(self, path, root, stored):
        report = [self.perf, "kvm", "unified", "report", "-f", "--guest-root", root]
        return (("by hand", [*report, "-i", self.seed + "/perf.data", "--no-guest-maps",
                             "--guest-map", "guest1=" + path]),
                ("stored", [*report, "-i", stored]),
                ("report", [self.perf, "report", "--stdio", "-f", "-i", stored]),
                ("script", [self.perf, "script", "-f", "-i", stored]))

    def made(self, kind, work):
        """Its map, its root, and a profile with it as its own"""
        # In another process: what this one has of memory, its children begin with.
        maker = os.fork()
        if not maker:
            try:
                make(kind.name, self.seed + "/perf.data/" + self.map_name, work)
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(maker, 0)[1]:
            raise Bad("it could not be made")
        stored = work + "/perf.data"
        shutil.copytree(self.seed + "/perf.data", stored)
        os.remove(stored + "/" + self.map_name)
        os.symlink(work + "/map", stored + "/" + self.map_name)
        return work + "/map", work + "/root", stored

    def is_opened_for_guest(self, path, work):
        # The map itself, whatever it is, was named by the user.
        if path in self.allowed or ALWAYS.match(path) or \
                path in (work + "/map", work + "/perf.data/" + self.map_name):
            return False
        real = os.path.realpath(path)
        if real.startswith((work + "/", self.seed + "/")):
            return False
        return not GUEST.match(path)

    def check(self, kind, command, result, work):
        rc, text, seconds, mib, opened = result
        self.rows.append((kind.name, command, seconds, mib))
        refused = kind.refused and command == "by hand"
        said = NOT_TEXT.sub(b"?", text).decode()
        if rc < 0 or rc > 127:
            raise Bad("signal %d: %s" % (-rc, tail(text)))
        if CRASHED.search(text):
            raise Bad(tail(text))
        if seconds > self.max_seconds or 0 < MAX_MIB < mib:
            raise Bad("it takes %.1f s and %.0f MiB" % (seconds, mib))
        bad = NOT_TEXT.search(text)
        if bad:
            raise Bad("it prints %r" % text[max(0, bad.start() - 40):bad.end() + 40])
        if bool(rc) != bool(refused):
            raise Bad("exit code %d: %s" % (rc, tail(text)))
        if kind.refused and not re.search(r"(The map|its map) \S+ (%s)" % kind.refused, said):
            raise Bad("it does not say that the map '%s': %s" % (kind.refused, tail(text)))
        if not kind.refused and "stays without names" in said:
            raise Bad("it does not take the map: " + tail(text))
        if not refused and not re.search(r"Total samples|Samples: \d|cpu-clock", said):
            raise Bad("there is no report: " + tail(text))
        if kind.shows and command in ("by hand", "stored") and not re.search(kind.shows, said):
            raise Bad("%s is not in the report: %s" % (kind.shows, tail(text)))
        for path in opened:
            if self.is_opened_for_guest(path, work):
                raise Bad("it opens " + path)

    def one(self, name):
        """Says what is wrong in a file, and returns what each command took"""
        kind, bad, self.rows = KINDS[name], [], []
        work = os.path.realpath(os.path.join(self.work, name))
        os.makedirs(work)
        for command, args in self.commands(*self.made(kind, work)):
            # What one command has refused, the next would, too.
            if kind.refused and command in ("report", "script"):
                continue
            try:
                self.check(kind, command, run(args, work, True, HANGS_TIMES * self.max_seconds),
                           work)
            except Bad as e:
                bad.append("%s: %s\n" % (command, e))
        shutil.rmtree(work)
        with open(os.path.join(self.out, name), "w", encoding="ascii") as f:
            f.writelines(bad)
        return self.rows


def write_table(path, rows):
    with open(path, "w", encoding="ascii") as f:
        f.write(HEAD)
        for name, command, seconds, mib in rows:
            f.write("%-24s %-8s %6.2f %8.1f  %s\n" % (name, command, seconds, mib,
                                                     KINDS[name].what))


def main():
    perf, seed, work, out = map(os.path.realpath, sys.argv[1:5])
    hostile = Hostile(perf, seed, work, out)
    jobs = int(os.environ.get("JOBS", os.cpu_count()))
    start = time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        rows = sum(pool.map(hostile.one, sys.argv[5:] or list(KINDS)), [])
    write_table(os.path.join(out, "table"), rows)
    longest = max(rows, key=lambda row: row[2])
    largest = max(rows, key=lambda row: row[3])
    print("# %d kinds of bad maps in %d s; at most %.1f s of CPU time (%s) and %.0f MiB (%s)" % (
        len({row[0] for row in rows}), time.monotonic() - start,
        longest[2], longest[0], largest[3], largest[0]))


main()
