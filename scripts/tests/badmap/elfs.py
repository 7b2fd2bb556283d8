# SPDX-License-Identifier: GPL-2.0
"""Files below the guest's root, which has what the guest has put there.

All are /file, which is mapped over all user addresses, with the build-id that the map
names, so that perf opens them.
"""

import gzip
import lzma
import os
import struct
import zlib

from .records import BUILD_ID, FILE_PRINT, everywhere, kind, mmap2

PHDR, SHDR = 56, 64
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE = 1, 2, 3, 4, 7
SHT_NOBITS, SHT_DYNSYM = 8, 11
SHF_COMPRESSED = 1 << 11
NOTE = struct.pack("<III4s", 4, 20, 3, b"GNU\0") + BUILD_ID
EHDR = struct.Struct("<16sHHIQQQIHHHHHH")


def ehdr(shoff, shnum, shstrndx, **more):
    return EHDR.pack(b"\x7fELF\2\1\1" + b"\0" * 9, 3, 62, 1, more.get("entry", 0), 64, shoff, 0,
                     64, PHDR, more.get("phnum", 2), SHDR, shnum, shstrndx)


def phdrs(note_at, note_size=None):
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 1 << 47, 1 << 47, 4096)
    note = struct.pack("<IIQQQQQQ", 4, 4, note_at, note_at, note_at,
                       len(NOTE) if note_size is None else note_size, len(NOTE), 4)
    return load + note


class Elf:
    """Sections, of which what is wrong can be said in their headers' fields"""

    def __init__(self):
        self.data = b"\0" * 64 + phdrs(64 + 2 * PHDR) + NOTE
        self.names = b"\0"
        self.headers = [b"\0" * SHDR]
        self.add(".note.gnu.build-id", SHT_NOTE, NOTE, flags=2)
        self.add(".text", SHT_PROGBITS, b"\xc3" * 64, flags=6, addr=4096)

    def add(self, name, number, data, **more):
        field = {"flags": 0, "addr": 0, "offset": len(self.data), "size": len(data), "link": 0,
                 "info": 0, "align": 1, "entsize": 0}
        field.update(more)
        self.headers.append(struct.pack("<IIQQQQIIQQ", len(self.names), number, *field.values()))
        self.names += name.encode() + b"\0"
        self.data += data
        return len(self.headers) - 1

    def symbols(self, name, symbols, names, **more):
        """(name's offset, value, size) each"""
        link = self.add(".strtab" + name, SHT_STRTAB, names)
        table = b"".join(struct.pack("<IBBHQQ", at, 0x12, 0, 2, value, size)
                         for at, value, size in symbols)
        return self.add(name, SHT_DYNSYM if name == ".dynsym" else SHT_SYMTAB, table,
                        **{"link": link, "entsize": 24, **more})

    def whole(self, **more):
        shstrndx = self.add(".shstrtab", SHT_STRTAB, self.names + b".shstrtab\0")
        return ehdr(len(self.data), more.get("shnum", len(self.headers)),
                    more.get("shstrndx", shstrndx)) + self.data[64:] + b"".join(self.headers)


def bomb(make, shows=None):
    """A kind that is a file; make() returns what is in it, or writes it and returns None"""
    def with_map(good, out):
        path = os.path.join(out.root, "file")
        data = make(path)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data)
        by_print = mmap2(good.pids[-1], 0, 4096, b"/file\0", build_id=BUILD_ID, what=FILE_PRINT)
        return everywhere(good, b"/file\0", build_id=BUILD_ID) + [by_print]
    with_map.__doc__ = make.__doc__
    kind(None, make.__name__.replace("_", "-"), shows)(with_map)
    return make


def elf_good(path):
    """A file that is all right, so that those that are not are known to be opened"""
    elf = Elf()
    elf.symbols(".symtab", [(0, 0, 0), (1, 0, 1 << 47)], b"\0function_of_elf\0")
    return elf.whole()


bomb(elf_good, "function_of_elf")


@bomb
def elf_sections(path):
    """2^32 sections, as its first one says"""
    elf = Elf()
    elf.headers[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0xffffffff, 0xffffffff, 0, 0, 0)
    return elf.whole(shnum=0, shstrndx=0xffff)


@bomb
def elf_sections_loop(path):
    """Sections that refer to each other in a circle"""
    elf = Elf()
    for i in range(1000):
        elf.add(".symtab", SHT_SYMTAB, b"\0" * 48, link=3 + (i + 1) % 1000, entsize=24, info=1)
    elf.add(".rela.plt", SHT_RELA, b"\0" * 48, link=4, info=len(elf.headers), entsize=24)
    return elf.whole()


@bomb
def elf_sections_many(path):
    """As many sections as a header can say, all with a build-id"""
    elf = Elf()
    elf.headers += [elf.headers[1]] * 65000
    return elf.whole()


@bomb
def elf_sections_sparse(path):
    """Sixteen million sections, all holes"""
    elf = Elf()
    number = 1 << 24
    elf.headers[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, number, 2, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(elf.whole(shnum=0, shstrndx=0xffff))
        f.truncate(f.tell() + number * SHDR)


@bomb
def elf_notes_sparse(path):
    """Holes of a gigabyte, all of it notes, in front of the build-id"""
    elf = Elf()
    elf.headers.insert(1, elf.headers[1])
    elf.headers[1] = struct.pack("<IIQQQQIIQQ", 1, SHT_NOTE, 2, 0, 1 << 20, 1 << 30, 0, 0, 4, 0)
    with open(path, "wb") as f:
        f.write(elf.whole())
    os.truncate(path, 2 << 30)


@bomb
def elf_sparse(path):
    """A tebibyte of holes, all of it symbols and their names"""
    elf = Elf()
    size = 1 << 39
    link = elf.add(".strtab", SHT_STRTAB, b"", offset=1 << 20, size=size)
    elf.add(".symtab", SHT_SYMTAB, b"", offset=1 << 20, size=size // 24 * 24, link=link, entsize=24)
    elf.add(".dynsym", SHT_DYNSYM, b"", offset=1 << 20, size=size // 24 * 24, link=link, entsize=24)
    with open(path, "wb") as f:
        f.write(elf.whole())
    os.truncate(path, 1 << 40)


@bomb
def elf_sparse_symbols(path):
    """Holes of 3 GiB, all of it symbols"""
    elf = Elf()
    size = 3 << 30
    link = elf.add(".strtab", SHT_STRTAB, b"\0x\0")
    elf.add(".symtab", SHT_SYMTAB, b"", offset=1 << 20, size=size // 24 * 24, link=link, entsize=24)
    with open(path, "wb") as f:
        f.write(elf.whole())
    os.truncate(path, 4 << 30)


@bomb
def elf_symbols_many(path):
    """A million functions, all with one name, as long as can be"""
    elf = Elf()
    name = b"\0" + b"f" * 60000 + b"\0"
    elf.symbols(".symtab", ((1, i, 1) for i in range(1 << 20)), name)
    return elf.whole()


@bomb
def elf_symbols_aliases(path):
    """Two hundred thousand functions at one place"""
    elf = Elf()
    elf.symbols(".symtab", ((1, 0, 1 << 47) for i in range(200000)), b"\0f\0")
    return elf.whole()


@bomb
def elf_demangle_doubles(path):
    """A name that doubles forty times when it is demangled"""
    elf = Elf()
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name = "_Z1f1AIiiE" + "".join("S_IS%s_S%s_E" % (d, d) for d in digits)
    elf.symbols(".symtab", [(0, 0, 0), (1, 0, 1 << 47)], b"\0" + name.encode() + b"\0")
    return elf.whole()


@bomb
def elf_demangle_packs(path):
    """Packs within packs, in all names"""
    elf = Elf()
    name = "_Z1fIJ" + "i" * 180 + "EEv" + "St5tupleIJ" * 8 + "DpT_" + "EDp" * 7 + "E"
    elf.symbols(".symtab", ((1, i * 16, 16) for i in range(100000)), b"\0" + name.encode() + b"\0")
    return elf.whole()


@bomb
def elf_escapes(path):
    """What a terminal obeys, in names of functions"""
    elf = Elf()
    elf.symbols(".symtab", [(0, 0, 0), (1, 0, 1 << 47)], b"\0\x1b[2J\x1b]0;owned\x07\x9b31m\r\0")
    return elf.whole()


@bomb
def elf_names_no_end(path):
    """Names that go on behind their section"""
    elf = Elf()
    elf.symbols(".symtab", [(0, 0, 0), (0xfffffff0, 0, 1 << 47), (1, 0, 1 << 47)],
                b"\0" + b"x" * 64)
    return elf.whole()


@bomb
def elf_odd_sizes(path):
    """Symbols of 0 bytes each, and sections that end behind the file"""
    elf = Elf()
    link = elf.add(".strtab", SHT_STRTAB, b"\0x\0", size=(1 << 64) - 1)
    for entsize in 0, 1, (1 << 64) - 1:
        elf.add(".symtab", SHT_SYMTAB, b"\0" * 240, link=link, entsize=entsize)
        elf.add(".dynsym", SHT_DYNSYM, b"\0" * 24, link=link, entsize=24, size=(1 << 63) + 24)
    return elf.whole()


@bomb
def elf_compressed_symbols(path):
    """Sections that say they unpack to a tebibyte, or to 4 GiB"""
    elf = Elf()
    packed = zlib.compress(b"\0" * (64 << 20), 9)
    for name, number, size in ((".symtab", SHT_SYMTAB, 1 << 40), (".dynsym", SHT_DYNSYM, 1 << 32),
                               (".debug_info", SHT_PROGBITS, 1 << 32),
                               (".debug_line", SHT_PROGBITS, 64 << 20),
                               (".gnu_debugdata", SHT_PROGBITS, 64 << 20)):
        header = struct.pack("<IIQQ", 1, 0, size, 8)
        elf.add(name, number, header + packed, flags=SHF_COMPRESSED, link=1, entsize=24)
    return elf.whole()


@bomb
def elf_debugdata(path):
    """Symbols in a section that unpacks to a gigabyte"""
    elf = Elf()
    elf.add(".gnu_debugdata", SHT_PROGBITS, xz_bomb())
    return elf.whole()


def debuglink(name):
    return name + b"\0" * (4 - len(name) % 4) + b"\1\2\3\4"


@bomb
def elf_debuglink(path):
    """Its symbols are in a file of the host, as it says"""
    elf = Elf()
    elf.add(".gnu_debuglink", SHT_PROGBITS, debuglink(b"../../../../../../../../etc/shadow"))
    return elf.whole()


@bomb
def elf_debuglink_absolute(path):
    """Its symbols are in a file of the host, as it says, from the root on"""
    elf = Elf()
    elf.add(".gnu_debuglink", SHT_PROGBITS, debuglink(b"/etc/shadow"))
    return elf.whole()


def elf_debuglink_near(path):
    """Its symbols are in a file beside it, which is as it should be"""
    with open(path + ".debug", "wb") as f:
        f.write(elf_good(path).replace(b"function_of_elf", b"function_nearby"))
    elf = Elf()
    elf.add(".gnu_debuglink", SHT_PROGBITS, debuglink(b"file.debug"))
    return elf.whole()


bomb(elf_debuglink_near, "function_nearby")


@bomb
def elf_debuglink_link(path):
    """Its symbols are in a file beside it, which is a link to one of the host"""
    os.symlink("/etc/shadow", path + ".debug")
    elf = Elf()
    elf.add(".gnu_debuglink", SHT_PROGBITS, debuglink(b"file.debug"))
    return elf.whole()


@bomb
def elf_debuglink_dir(path):
    """Its symbols are in a directory beside it, which is a link to one of the host"""
    os.symlink("/etc", os.path.join(os.path.dirname(path), ".debug"))
    elf = Elf()
    elf.add(".gnu_debuglink", SHT_PROGBITS, debuglink(b"shadow"))
    return elf.whole()


@bomb
def elf_debuglink_sparse(path):
    """Its symbols are in a file beside it, which is all holes"""
    elf_sparse_symbols(path + ".debug")
    elf = Elf()
    elf.add(".gnu_debuglink", SHT_PROGBITS, debuglink(b"file.debug"))
    return elf.whole()


@bomb
def elf_debugaltlink(path):
    """More of its debug data is in a file of the host"""
    elf = Elf()
    elf.add(".gnu_debugaltlink", SHT_PROGBITS, b"/etc/shadow\0" + BUILD_ID)
    elf.add(".debug_info", SHT_PROGBITS, b"\0" * 64)
    return elf.whole()


@bomb
def elf_notes(path):
    """Notes of no size, and of all sizes"""
    elf = Elf()
    for size in 0, 1, 0x7fffffff, 0xffffffff:
        elf.add(".note", SHT_NOTE, struct.pack("<III", size, size, 3) + b"GNU\0" * 9)
        elf.add(".notes", SHT_NOTE, struct.pack("<III", 4, size, 3) + b"GNU\0" * 9)
    elf.add(".note.gnu.property", SHT_NOTE, struct.pack("<III", 0, 0, 0) * 100000)
    return elf.whole()


@bomb
def elf_plt(path):
    """A procedure linkage table of a million entries for one symbol"""
    elf = Elf()
    elf.add(".plt", SHT_PROGBITS, b"", size=1 << 40, flags=6, addr=8192)
    elf.add(".dynamic", 6, b"\0" * 16)
    dynsym = elf.symbols(".dynsym", [(0, 0, 0), (1, 0, 0)], b"\0" + b"f" * 3000 + b"\0")
    rela = struct.pack("<QQq", 8192, 1 << 32 | 7, 0) * (1 << 20)
    elf.add(".rela.plt", SHT_RELA, rela, link=dynsym, info=3, entsize=24)
    return elf.whole()


@bomb
def elf_32(path):
    """The class says 32 bits, the rest 64"""
    data = bytearray(Elf().whole())
    data[4] = 1
    return bytes(data)


@bomb
def elf_big_endian(path):
    """The bytes are swapped, but not in the notes"""
    data = bytearray(Elf().whole())
    data[5] = 2
    return bytes(data)


@bomb
def elf_core(path):
    """perf takes it for the kernel's memory"""
    data = bytearray(Elf().whole())
    data[16] = 4
    return bytes(data)


def packed_bomb(suffix, packed):
    def make(good, out):
        with open(os.path.join(out.root, "file" + suffix), "wb") as f:
            f.write(packed())
        return everywhere(good, b"/file" + suffix.encode() + b"\0", build_id=BUILD_ID)
    make.__doc__ = "A file that unpacks to a gigabyte, *" + suffix
    kind(None, "packed" + suffix.replace(".", "-"))(make)


def gzip_bomb():
    return gzip.compress(b"\0" * (16 << 20), 1) * 64


def xz_bomb():
    return lzma.compress(b"\0" * (16 << 20), preset=0) * 64


def elf_with_gzip_behind():
    return Elf().whole() + gzip_bomb()


packed_bomb(".gz", gzip_bomb)
packed_bomb(".xz", xz_bomb)
packed_bomb(".ko.gz", elf_with_gzip_behind)
