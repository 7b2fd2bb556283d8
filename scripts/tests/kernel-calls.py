#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kernel-calls.py VMLINUX KALLSYMS COMM: hold callchains of a kernel against its code.

VMLINUX is the image of the kernel, as scripts/extract-vmlinux makes it, KALLSYMS the symbols of
where it ran. Standard input is of perf script -F comm,ip,sym, with an empty line after each chain;
those count that are of tasks whose name begins with COMM.

An edge of a chain is proven if the call in front of the return address goes to the function that
comes next, or to one that jumps to it (a tail call); possible, if that is an indirect or a static
call; wrong if there is no call at all; and odd if it goes somewhere else, as alternatives do, which
the kernel writes into its code, or if the code is that of an indirect call and its target stands on
the stack already, as it does at its last instruction (the kernel's own chains have that, too). Where an interrupt or an exception comes next, no call is wanted.
Prints shares of the chains, each of which counts once for each sample:

    chains N, entered PERCENT, proven PERCENT, odd PERCENT, wrong N, programs PERCENT

entered: the outermost function of the kernel is one where it is entered, or where a task begins;
proven and odd: of the edges of all chains; programs: of the chains, those that go on in a program.
"""

import bisect
import collections
import itertools
import re
import struct
import sys

# Interrupts and exceptions: the code that was interrupted has no call.
INTERRUPT = re.compile(r"asm_(exc|sysvec|common|spurious|load)|(common_)?interrupt|error_entry"
                       r"|paranoid_entry|(async_)?page_fault|general_protection|nmi|.*_interrupt$")
# Where the kernel is entered, and where its tasks begin
OUTERMOST = re.compile(r"asm_|entry_|ret_from_fork|secondary_startup|startup_64|x86_64_start"
                       r"|syscall_return_via|swapgs_restore|common_interrupt|irq_entries_start"
                       r"|restore_regs|native_irq_return|.*_usermode")
CALL_SIZE = 5
CALL_REL32 = 0xe8
JUMP_REL32 = 0xe9
JUMP_REL8 = 0xeb
SHORT_JUMP_SIZE = 2
# How many functions jump on, one after the other
MOST_JUMPS = 3
# What is called only where the kernel has replaced an instruction of the image by a call
ALTERNATIVE = re.compile(r"rep_(movs|stos)_alternative$")
# What stands for a call through a register, or for one that is written into the code
INDIRECT = re.compile(r"__x86_indirect|__SCT__|__SCK__|__static_call|__fentry__|__cfi_|__pi_|BUG_func")
PT_LOAD = 1


class Image:
    """The code of a kernel, at the addresses that it is linked for."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        at, = struct.unpack_from("<Q", self.data, 32)
        size, number = struct.unpack_from("<HH", self.data, 54)
        self.loads = []
        for i in range(number):
            kind, _, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", self.data,
                                                                   at + i * size)
            if kind == PT_LOAD:
                self.loads.append((vaddr, vaddr + filesz, offset))
        self.start = min(load[0] for load in self.loads if load[0] >> 63)

    def read(self, address, size):
        """Bytes before @address, or None."""
        for start, end, offset in self.loads:
            if start <= address - size and address <= end:
                return self.data[offset + address - size - start:offset + address - start]
        return None


def functions_of(path):
    """Addresses and names of the kernel's own functions, and where its text begins."""
    functions = []
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            address, kind, name = line.split()[:3]
            if kind in "tTwW" and "[" not in line:
                functions.append((int(address, 16), name))
    functions.sort()
    return functions, next(address for address, name in functions if name in ("_stext", "_text"))


def has_indirect_call(code):
    """An indirect call, of 2 to 7 bytes, at the end of @code."""
    return any(code[at] == 0xff and code[at + 1] >> 3 & 7 == 2 for at in range(len(code) - 1))


class Checker:
    """Edges of chains, held against the code."""

    def __init__(self, image, kallsyms):
        self.image = Image(image)
        self.functions, text = functions_of(kallsyms)
        self.starts = [address for address, _ in self.functions]
        self.function_starts = set(self.starts)
        self.end = next(address for address, name in self.functions if name == "_etext")
        # KASLR moves the kernel by a multiple of 2 MiB.
        self.moved = text - self.image.start
        self.jumps = {}

    def names_at(self, address):
        """All names of where a function begins."""
        at = bisect.bisect_left(self.starts, address)
        while at < len(self.starts) and self.starts[at] == address:
            yield self.functions[at][1]
            at += 1

    def jumps_of(self, function):
        """Where the code of the function at this address jumps to, out of it."""
        if function not in self.jumps:
            at = bisect.bisect_right(self.starts, function)
            size = self.starts[at] - function if at < len(self.starts) else 0
            code = self.image.read(function + size - self.moved, size) or b""
            self.jumps[function] = {
                function + i + CALL_SIZE + struct.unpack_from("<i", code, i + 1)[0]
                for i in range(len(code) - CALL_SIZE + 1)
                if code[i] == JUMP_REL32 or (i and code[i - 1] == 0x0f and code[i] & 0xf0 == 0x80)
            } | {
                function + i + SHORT_JUMP_SIZE + struct.unpack_from("<b", code, i + 1)[0]
                for i in range(len(code) - SHORT_JUMP_SIZE + 1)
                if code[i] == JUMP_REL8 or code[i] & 0xf0 == 0x70}
        return self.jumps[function]

    def goes_to(self, function, called):
        """Directly, or by jumps; possible, if one of them is indirect."""
        reached = {function}
        for _ in range(MOST_JUMPS):
            names = {name for address in reached for name in self.names_at(address)}
            if called in names:
                return "proven"
            if any(INDIRECT.match(name) for name in names):
                return "possible"
            reached = {target for address in reached for target in self.jumps_of(address)}
        return "odd"

    def kind_of(self, returns_to, called):
        """Of the edge, see above; nothing, where it is not of the kernel's text."""
        if INTERRUPT.match(called) or not self.starts[0] <= returns_to <= self.end:
            return None
        code = self.image.read(returns_to - self.moved, 7)
        if code is None:
            return None
        if code[-CALL_SIZE] == CALL_REL32:
            offset, = struct.unpack("<i", code[-4:])
            return self.goes_to(returns_to + offset, called)
        if has_indirect_call(code):
            return "possible"
        is_target = INDIRECT.match(called) and returns_to in self.function_starts
        return "odd" if is_target or ALTERNATIVE.match(called) else "wrong"


def chains_of(lines, comm):
    """Lists of (address, name), of samples in the kernel."""
    chain, of_comm = [], False
    for line in lines:
        words = line.split()
        if words and not line[0].isspace():
            of_comm = line.startswith(comm)
        elif words and words[1] != "[broken]":
            chain.append((int(words[0], 16), words[1].split("+")[0]))
        elif not words:
            if of_comm and chain and chain[0][0] >> 63:
                yield chain
            chain = []


def main(image, kallsyms, comm):
    """Prints the line, and to standard error what is not proven."""
    checker = Checker(image, kallsyms)
    kinds, seen = collections.Counter(), collections.Counter()
    chains = entered = programs = 0
    for whole in chains_of(sys.stdin, comm):
        chain = list(itertools.takewhile(lambda one: one[0] >> 63, whole))
        chains += 1
        programs += len(chain) < len(whole)
        entered += bool(OUTERMOST.match(chain[-1][1]))
        if not OUTERMOST.match(chain[-1][1]):
            seen["ends in " + chain[-1][1]] += 1
        for (_, called), (returns_to, caller) in zip(chain, chain[1:]):
            kind = checker.kind_of(returns_to, called)
            kinds[kind] += 1
            if kind in ("odd", "wrong"):
                seen["%s: %s called %s" % (kind, caller, called)] += 1
    edges = max(sum(kinds[kind] for kind in ("proven", "possible", "odd", "wrong")), 1)
    print("chains %d, entered %.2f, proven %.2f, odd %.2f, wrong %d, programs %.2f" % (
        chains, 100 * entered / max(chains, 1), 100 * kinds["proven"] / edges,
        100 * kinds["odd"] / edges, kinds["wrong"], 100 * programs / max(chains, 1)))
    for what, number in seen.most_common(20):
        print("%6d %s" % (number, what), file=sys.stderr)


main(*sys.argv[1:])
