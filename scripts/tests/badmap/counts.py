# SPDX-License-Identifier: GPL-2.0
"""Processes without number, and those that multiply."""

from .records import (EXIT, MISC_EXEC, comm, everywhere, fork, kallsyms, kind, many, mmap2, space,
                      symbols, time, twice)

MAX_COMMS = 1 << 18
MAX_NAMES = 1 << 16
MAX_PROCESSES = 1 << 16
MAX_FORKS = 1 << 20
MAX_FOLLOWED_MAPS = 1 << 20
TOO_MANY = "has more processes, maps or symbols than any real guest"
MISSED = "of processes that came or went were lost in it"
# So many records are left to the good map
FEW = 1000


def fork_words(children, parents):
    words = [child | parent << 32 for child, parent in zip(children, parents)]
    return {"w1": words, "w2": words}


@kind(TOO_MANY)
def comms(good, out):
    """More names of processes than there may be"""
    return [many(comm(1, b"c"), MAX_COMMS + 1)]


@kind(TOO_MANY)
def processes(good, out):
    """More processes than there may be"""
    return [many(comm(1, b"c"), MAX_PROCESSES + 1, w1=twice(range(1, MAX_PROCESSES + 2)))]


@kind()
def processes_most(good, out):
    """As many processes as there may be, each with a name of its own"""
    return [comm(i, b"%d" % i) for i in range(1, MAX_PROCESSES - FEW)]


@kind()
def comms_of_one(good, out):
    """A process that changes its name all the time"""
    return [comm(good.pids[-1], b"%d" % i) for i in range(MAX_NAMES - FEW)]


@kind(TOO_MANY)
def comms_of_one_more(good, out):
    """A process that changes its name too often"""
    return [comm(good.pids[-1], b"%d" % i) for i in range(MAX_NAMES + 1)]


@kind(shows=MISSED)
def forks(good, out):
    """More forks than there may be"""
    return [time(1), many(fork(1, 2), MAX_FORKS + 1)]


@kind()
def forks_alive(good, out):
    """As many children as there may be, none of which ends"""
    n = MAX_FORKS - FEW
    return [time(1), many(fork(0, 0), n, **fork_words(range(1000, 1000 + n),
                                                      [good.pids[-1]] * n))]


@kind()
def forks_chain(good, out):
    """Each child has one, and none ends"""
    n = MAX_FORKS - FEW
    return [time(1), many(fork(0, 0), n, **fork_words(range(1000, 1000 + n),
                                                      range(999, 999 + n)))]


@kind()
def forks_of_large(good, out):
    """A process with as many maps as it may have is forked 100,000 times"""
    maps, n = 16000, 100000
    return [many(mmap2(999, 0, 4096, b"/x\0"), maps, w2=((i + 1) << 13 for i in range(maps))),
            time(1), many(fork(0, 0), n, **fork_words(range(1000, 1000 + n), [999] * n))]


@kind()
def forks_of_large_end(good, out):
    """The same, but each child ends before the next is born"""
    maps, n = 16000, 100000
    pair = fork(1000, 999) + fork(1000, 1000, EXIT)
    return [many(mmap2(999, 0, 4096, b"/x\0"), maps, w2=((i + 1) << 13 for i in range(maps))),
            time(1), pair * n]


@kind()
def forks_of_large_exec(good, out):
    """The same, but each child runs another program at once"""
    maps, n = 16000, 100000
    pair = fork(1000, 999) + comm(1000, b"x", MISC_EXEC)
    return [many(mmap2(999, 0, 4096, b"/x\0"), maps, w2=((i + 1) << 13 for i in range(maps))),
            time(1), pair * n]


@kind()
def forks_of_itself(good, out):
    """Processes that are their own parents, or their parents' parents"""
    return [time(1)] + [
        fork(child, parent) for i in range(10000) for child, parent in (
            (good.pids[-1], good.pids[-1]), (good.pids[0], good.pids[-1]),
            (good.pids[-1], good.pids[0]))]


@kind()
def forks_of_ours(good, out):
    """The kernel, perf's own numbers, and -1 fork, run programs, and end"""
    pids = [0, 0x40000000, 0x40000001, 0x7fffffff, 0x80000000, 0xffffffff] + good.pids
    return [time(1)] + [
        rec for child in pids for parent in pids for rec in (
            fork(child, parent), comm(child, b"x", MISC_EXEC), mmap2(child, 0, 1 << 47, b"/x\0"),
            fork(child, parent, EXIT))]


@kind()
def execs(good, out):
    """A process runs another program a million times"""
    n = MAX_FORKS - FEW
    return [time(1), many(comm(good.pids[-1], b"x", MISC_EXEC), n)]


@kind()
def execs_of_all(good, out):
    """A hundred thousand processes run another program all the time"""
    n, pids = MAX_FORKS - FEW, 100000
    return [time(1), many(comm(0, b"x", MISC_EXEC), n,
                          w1=twice(1000 + i % pids for i in range(n)))]


@kind(shows=MISSED)
def followed_maps(good, out):
    """More maps, one after the other, than there may be"""
    n = MAX_FOLLOWED_MAPS + 1
    return [time(1), many(mmap2(0, 4096, 4096, b"/x\0"), n,
                          w1=twice(i // 100 for i in range(n)))]


@kind()
def followed_maps_of_one(good, out):
    """A process that maps a file a million times, below what it has"""
    n = MAX_FOLLOWED_MAPS - FEW
    return [time(1), many(mmap2(999, 0, 4096, b"/x\0"), n, w2=((n - i) << 13 for i in range(n)))]


@kind()
def followed_maps_most(good, out):
    """As many maps as there may be, of as few processes as can have them"""
    n, each = MAX_FOLLOWED_MAPS - FEW, 16000
    return [time(1), many(mmap2(999, 0, 4096, b"/x\0"), n, w1=twice(1000 + i // each
                                                                    for i in range(n)),
                          w2=((n - i) << 13 for i in range(n)))]


@kind(shows=MISSED)
def followed_before_kernel(good, out):
    """As a guest that was followed for too long is told of: the kernel's symbols come last"""
    n, forks, spaces = MAX_FOLLOWED_MAPS - FEW, 300000, 1500000
    return [
        time(1), many(mmap2(999, 0, 4096, b"/x\0"), n, w1=twice(1000 + i // 16000
                                                                 for i in range(n)),
                      w2=((n - i) << 13 for i in range(n))),
        many(fork(999, 998), forks),
        many(space(0, 0, 1 << 60, 1), spaces, w1=((i + 1) << 12 for i in range(spaces)),
             w4=range(spaces)),
        *kallsyms(b"".join(b"%x t f%d\n" % (0xffffffff81000000 + i * 16, i)
                           for i in range(100000)))]


@kind()
def followed_overlaps(good, out):
    """Maps that split the one before, of a process that runs on"""
    n = MAX_FOLLOWED_MAPS // 4
    return [time(1), many(mmap2(999, 0, 0, b"/x\0"), n, w2=(i << 12 for i in range(n)),
                          w3=((4 * n - 2 * i) << 12 for i in range(n)))]


def long_names(n):
    return [time(1)] + [mmap2(1000 + i % 100, (i + 1) << 12, 4096, b"/%d%s\0" % (i, b"x" * 4000))
                        for i in range(n)]


@kind(shows=MISSED)
def followed_names(good, out):
    """As many files with long names as fit a map, all kept for later"""
    return long_names(62000)


@kind()
def followed_names_most(good, out):
    """As many files with long names as may be kept for later"""
    return long_names(21000)


@kind()
def followed_own_code(good, out):
    """A million processes with code of their own"""
    n = MAX_FOLLOWED_MAPS - FEW
    return [time(1), many(mmap2(0, 4096, 4096, b"//anon\0"), n, w1=twice(range(1000, 1000 + n)))]


@kind()
def all_at_once(good, out):
    """As much of all as there may be at the same time"""
    names, children, large = 40000, 60000, 900
    text = b"".join(b"%x 10 %d\n" % (i << 4, i) for i in range(100000))
    return [
        many(space(0, 0, 1 << 60, 1), 500000, w1=((i + 1) << 12 for i in range(500000)),
             w4=range(500000)),
        *(mmap2(900 + i % 16, (i + 1) << 12, 4096, b"/%0100d\0" % i) for i in range(names)),
        many(mmap2(999, 0, 4096, b"/x\0"), 16000, w2=((i + 1) << 13 for i in range(16000))),
        *kallsyms(b"".join(b"%x t f%d\n" % (0xffffffff81000000 + i * 16, i)
                           for i in range(300000))),
        *symbols(good.pids[-1], text), *everywhere(good, b"//anon\0"),
        time(1), many(fork(0, 0), children, **fork_words(range(1000, 1000 + children),
                                                         [999] * children)),
        many(mmap2(0, 4096, 4096, b"/x\0"), large, w1=twice(range(1000, 1000 + large)))]
