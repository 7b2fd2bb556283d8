# SPDX-License-Identifier: GPL-2.0
"""Clocks that go back, and processes that live before they are born."""

from .records import (ALL_USER, EXIT, MISC_EXEC, NONE, clock, comm, fork, kind, many, mmap2, space,
                      time)

MAX_CLOCKS = 65536
MAX_SPACES = 1 << 21
MISSED = "of processes that came or went were lost in it"


@kind("is corrupt")
def time_zero(good, out):
    """Something happened before all time"""
    return [time(0)]


@kind("is corrupt")
def time_never(good, out):
    """Something happened at a time that stands for none"""
    return [time(NONE)]


@kind("is corrupt")
def time_back(good, out):
    """Something happened before what is in front of it"""
    return [time(2), time(1)]


@kind()
def time_far(good, out):
    """All that happened did so after centuries"""
    return [time(NONE - 1)] + [rec for pid in good.pids for rec in (
        comm(pid, b"late", MISC_EXEC), mmap2(pid, *ALL_USER, b"/late\0"))]


@kind()
def times_only(good, out):
    """Millions of times at which nothing happened"""
    n = 1 << 20
    return [many(time(1), n, w1=range(1, n + 1))]


@kind()
def clock_back(good, out):
    """The guest's clock goes back"""
    return [clock(1 << 40, 100), clock(1 << 41, 99)]


@kind()
def clock_tsc_back(good, out):
    """The guest's TSC goes back"""
    return [clock(1 << 41, 100), clock(1 << 40, 101)]


@kind()
def clocks_many(good, out):
    """The guest has looked at its clock millions of times"""
    return [many(clock(1, 1), 1 << 20, w1=range(1, (1 << 20) + 1))]


@kind()
def clocks_dense(good, out):
    """As many looks at the clock as there may be, all at once"""
    return [many(clock(1, 1), MAX_CLOCKS, w1=range(1, MAX_CLOCKS + 1))]


@kind()
def clock_jumps(good, out):
    """A clock that says the same at first, and the end of all time then"""
    return [clock(1, 0), clock(1 << 20, NONE - 1), clock(1 << 62, NONE - 1)]


@kind()
def clock_of_another(good, out):
    """A clock whose TSC has nothing to do with the host's"""
    return [clock(NONE - 1, 1), clock(NONE, NONE)]


@kind(shows=MISSED)
def spaces_many(good, out):
    """More address spaces than there may be"""
    n = MAX_SPACES + 1
    return [many(space(0, 1, NONE, 1), n, w1=((i + 1) << 12 for i in range(n)))]


@kind()
def spaces_one_root(good, out):
    """Millions of owners of one address space, all at the same time"""
    n = MAX_SPACES - 1000
    return [many(space(good.roots[-1], 0, NONE - 1, 1), n, w4=range(1, n + 1))]


@kind()
def spaces_nested(good, out):
    """Millions of owners of one address space, each before the one that was there first"""
    n = MAX_SPACES - 1000
    return [many(space(good.roots[-1], 0, NONE - 1, 1), n, w2=range(n, 0, -1),
                 w3=range(NONE - n - 1, NONE - 1))]


@kind()
def spaces_backwards(good, out):
    """Processes that end before they begin"""
    return [many(space(good.roots[-1], NONE - 1, 1, 1), 1 << 18)]


@kind()
def spaces_nowhere(good, out):
    """Address spaces at 0, and where no memory can be"""
    return [space(root, 0, NONE, pid) for pid in good.pids
            for root in (0, 4095, 1 << 52, NONE, 1 << 63)]


@kind()
def exit_unborn(good, out):
    """Ends of processes that never began"""
    n = (1 << 20) - 1000
    return [time(1), many(fork(0, 0, EXIT), n, w1=range(1 << 20, (1 << 20) + n),
                          w2=range(1 << 20, (1 << 20) + n))]
