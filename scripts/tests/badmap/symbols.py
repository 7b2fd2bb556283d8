# SPDX-License-Identifier: GPL-2.0
"""Symbols that processes and the kernel tell of themselves."""

import struct

from .records import NONE, SYMBOLS, everywhere, kallsyms, kind, many, record, symbols

MIB = 1 << 20
TEXT = 0xffffffff81000000
MAX_LINES = 1 << 20
MAX_TEXT = 64 * MIB
TOO_MANY = "has more processes, maps or symbols than any real guest"
MISSED = "of processes that came or went were lost in it"
JIT = b"//anon\0"


def lines(line, size):
    """So many bytes of a line and its number, which is quick to make"""
    block = b"".join(line % i for i in range(10000))
    return (block * (size // len(block) + 1))[:size - 1] + b"\n"


@kind(shows=MISSED)
def symbols_large(good, out):
    """A perf map of 200 MiB"""
    return symbols(good.pids[-1], lines(b"%x 10 function\n", 200 * MIB))


@kind()
def symbols_most(good, out):
    """As much of a perf map as there may be, in a million lines"""
    text = b"".join(b"%x 10 %040d\n" % (i << 4, i) for i in range(MAX_LINES))
    return everywhere(good, JIT) + list(symbols(good.pids[-1], text[-(MAX_TEXT - 10000):]))


@kind()
def symbols_line(good, out):
    """A perf map of one line without end"""
    return everywhere(good, JIT) + list(
        symbols(good.pids[-1], b"0 7fffffffffff " + b"f" * (60 * MIB)))


@kind()
def symbols_long_names(good, out):
    """Names as long as there may be, as many as there may be"""
    text = b"".join(b"%x 10 %d%s\n" % (i << 4, i, b"f" * 1010) for i in range(60000))
    return everywhere(good, JIT) + list(symbols(good.pids[-1], text))


@kind()
def symbols_overlap(good, out):
    """Symbols on top of each other"""
    text = b"".join(b"%x %x f%d\n" % (i << 4, (1 << 47) - (i << 5), i) for i in range(200000))
    return everywhere(good, JIT) + [c for pid in good.pids for c in symbols(pid, text)]


@kind()
def symbols_odd(good, out):
    """Symbols that wrap, of no size, of all sizes, without a name, without a number"""
    text = b"\n".join((b"0 0 none", b"1000 ffffffffffffffff wraps", b"0 ffffffffffffffff all",
                       b"ffffffffffffffffffffff 1 large", b"-1 -1 negative", b"0x 0x x", b"",
                       b" ", b"1", b"1 ", b"1 1", b"1 1 ", b"zz zz zz", b"1\t1\tt", b"\0\0\0",
                       b"1 1 a\0b", b"\xff\xfe\xfd")) * 1000
    return everywhere(good, JIT) + [c for pid in good.pids for c in symbols(pid, text)]


@kind()
def symbols_cut(good, out):
    """A perf map in pieces of a byte"""
    text = b"7f0000000000 ffffffffff function\n" * 3000
    return everywhere(good, JIT) + [record(SYMBOLS, struct.pack("<II", good.pids[-1], 1) +
                                           text[i:i + 1] + b"\0" * 7) for i in range(len(text))]


@kind()
def symbols_in_turn(good, out):
    """A thousand perf maps, in pieces of eight bytes, in turn"""
    n = 8000000
    like = next(symbols(1, b"0 1 abcd"))
    return [many(like, 1000, w1=(i + 1 | 8 << 32 for i in range(1000))) * (n // 1000)]


@kind(shows=MISSED)
def symbols_pids(good, out):
    """A million processes with a perf map each"""
    n = 1 << 20
    like = next(symbols(1, b"0 1 f\n"))
    return [many(like, n, w1=(i | 6 << 32 for i in range(n)))]


@kind()
def symbols_pids_of_ours(good, out):
    """Perf maps of the vDSO and of numbers that stand for a CR3"""
    return [c for pid in (0, 0x40000000, 0x80000000)
            for c in symbols(pid, b"0 7fffffffffff f\n")] + everywhere(good, b"[vdso]\0")


@kind("is corrupt")
def symbols_of_no_file(good, out):
    """The number that stands for a file's symbols, with a perf map"""
    return symbols(0xffffffff, b"0 7fffffffffff f\n")


@kind("is corrupt")
def symbols_lie(good, out):
    """A piece of a perf map that is longer than its record"""
    return [record(SYMBOLS, struct.pack("<II", good.pids[-1], 0xffffffff) + b"0 1 f\n\0\0")]


@kind("is corrupt")
def kallsyms_lie(good, out):
    """A piece of kallsyms that is longer than its record"""
    return [record(98, struct.pack("<II", 0xffffffff, 0) + b"0 t f\n\0\0")]


@kind("is corrupt")
def kallsyms_lie_little(good, out):
    """A piece of kallsyms that is longer than its record by a byte"""
    return [record(98, struct.pack("<II", 9, 0) + b"0 t f\n\0\0")]


@kind(TOO_MANY)
def kallsyms_large(good, out):
    """A kallsyms of 200 MiB"""
    return kallsyms(lines(b"ffffffff81%06x t function_with_a_long_name_that_goes_on_and_on_" +
                          b"x" * 400 + b"\n", 200 * MIB))


@kind(TOO_MANY)
def kallsyms_lines(good, out):
    """More symbols than a kernel has"""
    return kallsyms(lines(b"%x t f\n", 10 * MIB))


@kind()
def kallsyms_line(good, out):
    """A kallsyms of one line without end"""
    return kallsyms(b"ffffffff81000000 t " + b"f" * (60 * MIB))


@kind()
def kallsyms_at_zero(good, out):
    """As many symbols as there may be, all at 0"""
    return kallsyms(b"0000000000000000 t f\n" * (MAX_LINES - 10000))


@kind()
def kallsyms_at_one(good, out):
    """As many symbols as there may be, all where the kernel is"""
    return kallsyms(b"%x t f\n" % TEXT * (MAX_LINES - 10000))


@kind()
def kallsyms_most(good, out):
    """As many symbols as there may be, each at its place"""
    return kallsyms(b"".join(b"%x t f%d\n" % (TEXT + i * 16, i)
                             for i in range(MAX_LINES - 10000)))


@kind()
def kallsyms_downwards(good, out):
    """As many symbols as there may be, always before the first"""
    return kallsyms(b"".join(b"%x t f%d\n" % (TEXT + (MAX_LINES - i) * 16, i)
                             for i in range(MAX_LINES - 10000)))


@kind()
def kallsyms_modules(good, out):
    """Symbols of modules that are not there, of some thousand times, in turn"""
    return kallsyms(b"".join(b"%x t f%d\t[m%d]\n" % (0xffffffffc0000000 + i * 16, i, i % 5000)
                             for i in range(200000)))


@kind()
def kallsyms_same_module(good, out):
    """Symbols of the kernel and of one module, in turn"""
    return kallsyms(b"".join(b"%x t f%d%s\n" % (TEXT + i * 16, i, b"\t[m]" if i % 2 else b"")
                             for i in range(400000)))


@kind()
def kallsyms_odd(good, out):
    """Lines without an address, a type, a name, or with too much of them"""
    text = b"\n".join((b"", b" ", b"x", b"ffffffff81000000", b"ffffffff81000000 ",
                       b"ffffffff81000000 t", b"ffffffff81000000 t ", b"f" * 5000,
                       b"f" * 40 + b" t f", b"ffffffff81000000 t f\t[", b"ffffffff81000000 t f\t[]",
                       b"ffffffff81000000 t f [m", b"%x t wraps" % NONE, b"\0\0\0 t f",
                       b"ffffffff81000000 t " + b"n" * 5000, b"ffffffff81000000\tt\tf"))
    return kallsyms(text * 500)


@kind()
def kallsyms_garbage(good, out):
    """No text at all"""
    return kallsyms(bytes(range(256)) * 40000)
