# SPDX-License-Identifier: GPL-2.0
"""Maps at places where none can be, of processes that cannot be, and on top of each other."""

from .records import (ALL_USER, BUILD_ID, FILE_PRINT, MISC_KERNEL, NONE, comm, everywhere, kind,
                      many, mmap2, module, space, twice)

MAX_MAPS_OF_PID = 16384
MAX_USER_MAPS = 1 << 18
MAX_KERNEL_MAPS = 4096
TOO_MANY = "has more processes, maps or symbols than any real guest"


@kind("is corrupt")
def build_id_too_long(good, out):
    """A build-id longer than its array"""
    return everywhere(good, b"/x\0", build_id=BUILD_ID, size=255)


@kind()
def print_too_short(good, out):
    """The print of a file that is a part of one, or none"""
    return [chunk for size in (0, 8) for chunk in
            everywhere(good, b"/x\0", build_id=BUILD_ID, size=size, what=FILE_PRINT)]


@kind()
def all_space(good, out):
    """One map of all addresses, user's and kernel's"""
    return [mmap2(pid, 0, NONE, b"/x\0", misc) for pid in good.pids for misc in (1, 2)]


@kind()
def wraps(good, out):
    """Maps that go on at 0"""
    return [mmap2(pid, 1 << shift, NONE - 4095, b"/x\0", misc)
            for pid in good.pids for shift in (12, 47, 63) for misc in (1, 2)]


@kind()
def empty_maps(good, out):
    """Maps of nothing"""
    return [mmap2(pid, 4096, 0, b"/x\0", misc) for pid in good.pids for misc in (1, 2)]


@kind()
def user_in_kernel(good, out):
    """A process has mapped the kernel's text"""
    return [mmap2(pid, 0xffffffff80000000, 0x70000000, b"/x\0") for pid in good.pids]


@kind()
def kernel_in_user(good, out):
    """The kernel is where processes are"""
    return [mmap2(0, *ALL_USER, b"[m]\0", MISC_KERNEL),
            mmap2(0, *ALL_USER, b"[kernel.kallsyms]_text\0", MISC_KERNEL)]


@kind()
def kernel_everywhere(good, out):
    """A kernel of half of all addresses"""
    return [mmap2(0xffffffff, 1 << 63, (1 << 63) - 1, b"[kernel.kallsyms]_text\0", MISC_KERNEL)]


@kind()
def pids_of_ours(good, out):
    """Processes with the numbers that stand for a CR3"""
    pids = [0x40000000 + i for i in range(100)]
    return [rec for pid in pids for rec in (
        comm(pid, b"me"), mmap2(pid, *ALL_USER, b"/x\0"), space(good.roots[0], 0, NONE, pid))]


@kind()
def pids_negative(good, out):
    """Processes -1, which is perf's host, and 0, which is its guest"""
    return [rec for pid in (0xffffffff, 0x80000000, 0) for rec in (
        comm(pid, b"me"), mmap2(pid, *ALL_USER, b"/x\0"), space(good.roots[0], 0, NONE, pid))]


@kind()
def overlap_same(good, out):
    """As many maps as a process may have, all at one place"""
    return [many(mmap2(good.pids[-1], *ALL_USER, b"/x\0"), MAX_MAPS_OF_PID // 2)]


@kind()
def overlap_inside(good, out):
    """Each map in the midst of the one before, which leaves two"""
    n = MAX_MAPS_OF_PID // 2
    return [many(mmap2(good.pids[-1], 0, 0, b"/x\0"), n, w2=(i << 12 for i in range(n)),
                 w3=((4 * n - 2 * i) << 12 for i in range(n)))]


@kind()
def overlap_downwards(good, out):
    """As many maps as there may be of all processes, always before the first"""
    n = MAX_MAPS_OF_PID - 100
    return [many(mmap2(pid, 0, 8192, b"/x\0"), n, w2=((n - i) << 12 for i in range(n)))
            for pid in range(1000, 1000 + MAX_USER_MAPS // MAX_MAPS_OF_PID - 1)]


@kind(TOO_MANY)
def maps_of_one(good, out):
    """More maps than a process may have"""
    n = MAX_MAPS_OF_PID + 1
    return [many(mmap2(999, 0, 4096, b"/x\0"), n, w2=((i + 1) << 13 for i in range(n)))]


@kind(TOO_MANY)
def maps_of_many(good, out):
    """More maps than all processes may have"""
    return [many(mmap2(0, 4096, 4096, b"/x\0"), MAX_USER_MAPS + 1,
                 w1=twice(i // 1000 + 1000 for i in range(MAX_USER_MAPS + 1)))]


@kind(TOO_MANY)
def kernel_maps(good, out):
    """More modules than a kernel has"""
    n = MAX_KERNEL_MAPS + 1
    return [many(mmap2(0xffffffff, 0, 4096, b"[mod]\0", MISC_KERNEL), n,
                 w2=(0xffffffffc0000000 + i * 4096 for i in range(n)))]


@kind()
def kernel_maps_overlap(good, out):
    """Modules by the thousand, each on top of all, each with its name"""
    return [mmap2(0xffffffff, 0xffffffff80000000 + i * 4096, 0x70000000, b"[m%d]\0" % i,
                  MISC_KERNEL) for i in range(MAX_KERNEL_MAPS - 20)]


@kind()
def modules_overlap(good, out):
    """Modules that come and go at all times, each on top of all, and of the kernel"""
    return [module(0xffffffff80000000 + i * 4096, 0x7fffffff - i * 4096, i << 25, NONE - (i << 25))
            for i in range(250)]


@kind()
def modules_of_kernel(good, out):
    """A module that is where all others are, and one that is all of the address space's half"""
    return [module(0xffffffffc0000000, 0x3f000000, 0, NONE),
            module(1 << 63, (1 << 63) - 1, 0, NONE)]


@kind(shows="of processes that came or went were lost in it")
def modules_many(good, out):
    """More modules that come and go than are taken"""
    return [module(0xffffffffc0000000 + (i << 12), 4096, i, NONE) for i in range(20000)]


@kind()
def modules_name(good, out):
    """Modules with names that are none, and with no functions"""
    names = (b"", b"[kernel.kallsyms]", b"[guest.kernel.kallsyms]_text", b"\x1b[2J",
             b"/etc/shadow", b"]")
    return [module(0xffffffffc0000000 + (i << 24), 1 << 24, 0, NONE, name, b"")
            for i, name in enumerate(names)]


@kind("is corrupt")
def module_wraps(good, out):
    """A module that goes on at 0"""
    return [module(0xffffffffc0000000, 1 << 62, 0, NONE)]


@kind("is corrupt")
def module_of_process(good, out):
    """A module where processes have their code"""
    return [module(4096, 4096, 0, NONE)]


@kind("is corrupt")
def module_backwards(good, out):
    """A module that goes before it comes"""
    return [module(0xffffffffc0000000, 4096, 2, 1)]


@kind("is corrupt")
def module_without_end(good, out):
    """A module with a name that has no end"""
    return [module(0xffffffffc0000000, 4096, 0, NONE, b"x" * 64)]


@kind()
def files_of_many_names(good, out):
    """As many files as there may be maps, each with a long name of its own"""
    n = 30000
    return [mmap2(1000 + i % 100, (i + 1) << 12, 4096, b"/%d%s\0" % (i, b"x" * 3900))
            for i in range(n)]


@kind(shows="not all of them are used")
def files_of_short_names(good, out):
    """More files than there may be"""
    return [mmap2(1000 + i % 100, (i + 1) << 12, 4096, b"/%0100d\0" % i) for i in range(70000)]


@kind()
def files_most(good, out):
    """As many files as there may be"""
    return [mmap2(1000 + i % 100, (i + 1) << 12, 4096, b"/%0100d\0" % i) for i in range(65000)]
