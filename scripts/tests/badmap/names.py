# SPDX-License-Identifier: GPL-2.0
"""Names that lead elsewhere, that perf takes for something special, or never end."""

import os
import struct

from .records import (ALL_USER, BUILD_ID, COMM, FILE_PRINT, MISC_KERNEL, MMAP, comm, everywhere,
                      kallsyms, kind, mmap2, record, symbols)

ESCAPES = b"\x1b[2J\x1b]0;owned\x07\x9b31m\r\b\x7f\xc2\x9b5n"
# Names that perf, or the kernel it profiles, gives to what is no file
SPECIAL = {
    "anon": b"//anon",
    "heap": b"[heap]",
    "stack": b"[stack]",
    "vdso": b"[vdso]",
    "vsyscall": b"[vsyscall]",
    "perf-map": b"/tmp/perf-1.map",
    "jitted": b"/tmp/jitted-1-1.so",
    "memfd": b"/memfd:x (deleted)",
    "huge": b"/anon_hugepage",
    "sysv": b"/SYSV00000000 (deleted)",
    "zero": b"/dev/zero",
    "kcore": b"/proc/kcore",
    "kallsyms": b"[kernel.kallsyms]_text",
    "guest-kallsyms": b"[guest.kernel.kallsyms]",
    "self": b"/proc/self/mem",
    "bpf": b"bpf_prog_0123456789abcdef_x",
    "nothing": b"",
}


def special(name, text):
    def make(good, out):
        return everywhere(good, text + b"\0")
    make.__doc__ = "All user text is %s" % (text.decode() or "without a name")
    kind(None, "name-" + name)(make)


for short_name, file_name in SPECIAL.items():
    special(short_name, file_name)


@kind()
def path_absolute(good, out):
    """A file of the host by its name"""
    return everywhere(good, b"/etc/shadow\0", build_id=BUILD_ID)


@kind()
def path_up(good, out):
    """Out of the guest's root"""
    return everywhere(good, b"/../../../../../../../../etc/shadow\0", build_id=BUILD_ID)


@kind()
def path_up_relative(good, out):
    """Out of perf's working directory"""
    return everywhere(good, b"../../../../../../../../etc/shadow\0", build_id=BUILD_ID)


@kind()
def path_twice_slash(good, out):
    """What perf takes for a name of its own"""
    return everywhere(good, b"//etc/shadow\0", build_id=BUILD_ID)


@kind()
def path_nul(good, out):
    """A zero byte within the name"""
    return everywhere(good, b"/etc/shadow\0/usr/lib/x\0", build_id=BUILD_ID)


@kind()
def path_link_out(good, out):
    """A link in the guest's root that leads out of it"""
    os.symlink("/etc/shadow", os.path.join(out.root, "file"))
    return everywhere(good, b"/file\0", build_id=BUILD_ID)


@kind()
def path_link_print(good, out):
    """The same by the print of a file without a build-id"""
    os.symlink("/bin/sh", os.path.join(out.root, "file"))
    return everywhere(good, b"/file\0", build_id=BUILD_ID, what=FILE_PRINT)


@kind()
def path_link_dir(good, out):
    """A directory in the guest's root that is a link out of it"""
    os.symlink("/etc", os.path.join(out.root, "dir"))
    return everywhere(good, b"/dir/shadow\0", build_id=BUILD_ID)


@kind()
def path_link_loop(good, out):
    """A link in the guest's root to itself"""
    os.symlink("file", os.path.join(out.root, "file"))
    return everywhere(good, b"/file\0", build_id=BUILD_ID)


@kind()
def path_links_slow(good, out):
    """Thousands of files, each behind 40 links of 1,300 directories each"""
    os.mkdir(os.path.join(out.root, "d"))
    for i in range(39):
        os.symlink("d/../" * 700 + "link%d" % (i + 1), os.path.join(out.root, "link%d" % i))
    os.symlink("d", os.path.join(out.root, "link39"))
    return [mmap2(good.pids[-1], (i + 1) << 12, 4096, b"/link0/%d\0" % i, build_id=BUILD_ID)
            for i in range(16000)]


@kind()
def path_missing(good, out):
    """Tens of thousands of files that are not there"""
    return [mmap2(1000 + i % 20, (i + 1) << 12, 4096, b"/usr/lib/%d\0" % i, build_id=BUILD_ID)
            for i in range(60000)]


@kind()
def path_fifo(good, out):
    """A pipe in the guest's root that nobody writes to"""
    os.mkfifo(os.path.join(out.root, "file"))
    return everywhere(good, b"/file\0", build_id=BUILD_ID)


@kind()
def path_long(good, out):
    """A name as long as a record can be"""
    return everywhere(good, b"/" + b"x" * 65000 + b"\0", build_id=BUILD_ID)


@kind()
def path_slashes(good, out):
    """Nothing but slashes and dots"""
    return everywhere(good, b"/./" * 1300 + b"\0", build_id=BUILD_ID)


@kind("is corrupt")
def no_nul_mmap2(good, out):
    """The name of a file has no end"""
    return [mmap2(102, 4096, 4096, b"x" * 64)]


@kind("is corrupt")
def no_nul_mmap(good, out):
    """The name of a file has no end, in an old record"""
    return [record(MMAP, struct.pack("<IIQQQ", 102, 102, 1, 1, 0) + b"x" * 8, 2)]


@kind("is corrupt")
def no_nul_comm(good, out):
    """The name of a process has no end"""
    return [record(COMM, struct.pack("<II", 1, 1) + b"x" * 16)]


@kind()
def comm_long(good, out):
    """The name of a process is longer than the kernel has them"""
    return [comm(pid, b"c" * 60000) for pid in good.pids]


@kind()
def module_up(good, out):
    """The name of a module is a path"""
    return [mmap2(0xffffffff, 0xffffffffc0000000 + i * 4096, 4096, name, MISC_KERNEL)
            for i, name in enumerate((b"[../../etc/shadow]\0", b"/etc/shadow\0", b"[]\0", b"[\0",
                                      b"/\0", b"\0", b"[a]b]\0", b"[" + b"m" * 8000 + b"]\0"))]


@kind()
def kernel_suffix(good, out):
    """The name of the kernel's map goes on as a path"""
    return [mmap2(0xffffffff, 0xffffffff81000000, 1 << 24, b"[kernel.kallsyms]" + suffix,
                  MISC_KERNEL) for suffix in (b"/../../etc/shadow\0", b"%s%n\0", ESCAPES + b"\0")]


@kind()
def escapes_files(good, out):
    """What a terminal obeys, in names of files"""
    return everywhere(good, b"/" + ESCAPES + b"lib\0")


@kind()
def escapes_modules(good, out):
    """What a terminal obeys, in the name of a module that has all samples"""
    return [mmap2(0xffffffff, 0xffffffff80000000, 0x70000000, b"[" + ESCAPES + b"]\0",
                  MISC_KERNEL)]


@kind()
def escapes_comms(good, out):
    """What a terminal obeys, in names of processes"""
    return [comm(pid, ESCAPES) for pid in good.pids]


@kind()
def escapes_symbols(good, out):
    """What a terminal obeys, in names of JIT code"""
    text = b"0 7fffffffffff " + ESCAPES + b"\n"
    return everywhere(good, b"//anon\0") + [
        chunk for pid in good.pids for chunk in symbols(pid, text)]


@kind()
def escapes_kallsyms(good, out):
    """What a terminal obeys, in names of the kernel's functions"""
    lines = b"".join(b"%x t %s%d\n" % (0xffffffff80000000 + i * 4096, ESCAPES, i)
                     for i in range(10000))
    return kallsyms(lines)


@kind()
def formats(good, out):
    """What printf() obeys, in all names"""
    evil = b"%s%n%99999999d"
    return everywhere(good, b"/" + evil + b"\0") + [comm(pid, evil) for pid in good.pids] + \
        list(kallsyms(b"ffffffff81000000 t " + evil + b"\n"))


assert ALL_USER[0] == 0
