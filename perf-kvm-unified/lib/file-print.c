// SPDX-License-Identifier: GPL-2.0
/*
 * What tells a program from others if it has no build-id: a hash of its size, its headers, all
 * that perf takes names of functions from, and the first page of the rest. Two files with the
 * same one have the same names at the same addresses.
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/blake2s.h"
#include "file-print.h"

/* As in util/modest-elf.c: programs have some 40 sections and a dozen segments. */
#define MAX_HEADERS		1024
#define MAX_SECTION_NAMES	(1U << 16)

/* So much is read of a section that has no names, such as code. */
#define FIRST_PART		4096

#define READ_SIZE		(64U << 10)

/**
 * struct printer - the hash of a file that is being made
 * @buf: of READ_SIZE bytes
 * @nr_read: how many bytes of the file were read, @max: may be
 * @sections: @nr_sections headers
 * @names: of the sections, ends with a zero byte
 */
struct printer {
	struct blake2s_ctx hash;
	int	fd;
	u8	*buf;
	size_t	nr_read;
	size_t	max;
	Elf64_Shdr *sections;
	size_t	nr_sections;
	char	*names;
	size_t	names_len;
};

/* 0, -EFBIG: over the limit, or -ENOEXEC: there are not so many bytes */
static int read_at(struct printer *p, u64 offset, void *buf, size_t size)
{
	if (size > p->max - p->nr_read)
		return -EFBIG;
	p->nr_read += size;
	if (offset > INT64_MAX || pread(p->fd, buf, size, offset) != (ssize_t)size)
		return -ENOEXEC;
	return 0;
}

static int add_part(struct printer *p, u64 offset, u64 size)
{
	int ret = 0;

	if (size > p->max)
		return -EFBIG;
	while (!ret && size) {
		size_t part = min_t(u64, size, READ_SIZE);

		ret = read_at(p, offset, p->buf, part);
		if (!ret)
			blake2s_update(&p->hash, p->buf, part);
		offset += part;
		size -= part;
	}
	return ret;
}

static const char *name_of(const struct printer *p, const Elf64_Shdr *section)
{
	return section->sh_name < p->names_len ? p->names + section->sh_name : "";
}

/* May perf take names from it? */
static bool has_names(const struct printer *p, const Elf64_Shdr *section)
{
	switch (section->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_REL:
	case SHT_RELA:
		return true;
	case SHT_PROGBITS:
		/* A symbol table that is packed is one of these. Source lines are large. */
		return !(section->sh_flags & SHF_ALLOC) &&
		       !strstarts(name_of(p, section), ".debug") &&
		       !strstarts(name_of(p, section), ".zdebug");
	default:
		return false;
	}
}

static int add_section(struct printer *p, const Elf64_Shdr *section)
{
	u64 size = section->sh_size;

	if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS)
		return 0;
	/* Without a build-id, nothing tells whether the other file is of this one. */
	if (!strcmp(name_of(p, section), ".gnu_debuglink"))
		return -ENOEXEC;
	return add_part(p, section->sh_offset,
			has_names(p, section) ? size : min_t(u64, size, FIRST_PART));
}

static int read_section_names(struct printer *p, u16 idx)
{
	const Elf64_Shdr *section = &p->sections[idx];

	if (idx >= p->nr_sections || section->sh_type != SHT_STRTAB ||
	    section->sh_size > MAX_SECTION_NAMES)
		return -ENOEXEC;
	p->names_len = section->sh_size;
	p->names = zalloc(p->names_len + 1);
	return p->names ? read_at(p, section->sh_offset, p->names, p->names_len) : -ENOMEM;
}

static int add_file(struct printer *p)
{
	Elf64_Ehdr ehdr;
	int ret = read_at(p, 0, &ehdr, sizeof(ehdr));

	if (ret)
		return ret;
	if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB || ehdr.e_shentsize != sizeof(*p->sections) ||
	    !ehdr.e_shnum || ehdr.e_shnum > MAX_HEADERS || ehdr.e_phnum > MAX_HEADERS)
		return -ENOEXEC;
	p->nr_sections = ehdr.e_shnum;
	p->sections = calloc(p->nr_sections, sizeof(*p->sections));
	if (!p->sections)
		return -ENOMEM;
	ret = read_at(p, ehdr.e_shoff, p->sections, p->nr_sections * sizeof(*p->sections));
	if (!ret)
		ret = read_section_names(p, ehdr.e_shstrndx);
	if (ret)
		return ret;

	blake2s_update(&p->hash, (const u8 *)&ehdr, sizeof(ehdr));
	blake2s_update(&p->hash, (const u8 *)p->sections, p->nr_sections * sizeof(*p->sections));
	ret = add_part(p, ehdr.e_phoff, ehdr.e_phnum * sizeof(Elf64_Phdr));
	for (size_t i = 0; !ret && i < p->nr_sections; i++)
		ret = add_section(p, &p->sections[i]);
	return ret;
}

/**
 * file_print - make the print of a file
 * @fd: a regular file, which is not trusted; open for reading
 * @max: bytes that may be read of it, FILE_PRINT_MAX_READ at most
 * @print: the result
 *
 * How many bytes were read, or -ENOEXEC: it is no program of 64 bits, little endian, or has its
 * names in another file; -EFBIG: more than @max would have to be read; -ENOMEM or another -errno
 */
ssize_t file_print(int fd, size_t max, u8 print[FILE_PRINT_SIZE])
{
	struct printer p = { .fd = fd, .max = min_t(size_t, max, FILE_PRINT_MAX_READ) };
	struct stat st;
	u64 size;
	int ret;

	if (fstat(fd, &st))
		return -errno;
	p.buf = malloc(READ_SIZE);
	if (!p.buf)
		return -ENOMEM;
	size = st.st_size;
	blake2s_init(&p.hash, FILE_PRINT_SIZE);
	blake2s_update(&p.hash, (const u8 *)&size, sizeof(size));
	ret = add_file(&p);
	if (!ret)
		blake2s_final(&p.hash, print);
	free(p.names);
	free(p.sections);
	free(p.buf);
	return ret ?: (ssize_t)p.nr_read;
}
