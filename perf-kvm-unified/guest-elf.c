// SPDX-License-Identifier: GPL-2.0
/*
 * Whether an ELF file that a guest has made may be handed to libelf, which believes
 * what the headers say of numbers and sizes: a file of holes has room for all of it.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "guest-elf.h"

/* Programs and libraries have some 40 sections and a dozen segments. */
#define MAX_HEADERS		1024
/* With debug data, a browser is as large. */
#define MAX_FILE_SIZE		(1ULL << 30)
/* Code, in which perf looks for entries of the PLT */
#define MAX_TEXT_SIZE		(256ULL << 20)
/* Tables, such as of symbols, of which perf reads each entry */
#define MAX_TABLE_SIZE		(64ULL << 20)

/* Is a section with these fields of its header as large as one of a program? */
static bool is_modest(u32 type, u64 flags, u64 size)
{
	switch (type) {
	case SHT_NULL:
	case SHT_NOBITS:
		return true;
	case SHT_PROGBITS:
		return !(flags & SHF_EXECINSTR) || size <= MAX_TEXT_SIZE;
	case SHT_STRTAB:
		return !(flags & SHF_COMPRESSED);
	default:
		return !(flags & SHF_COMPRESSED) && size <= MAX_TABLE_SIZE;
	}
}

static bool is_modest64(int fd, const Elf64_Ehdr *ehdr)
{
	Elf64_Shdr shdr;

	if (ehdr->e_shentsize != sizeof(shdr) || ehdr->e_shnum > MAX_HEADERS ||
	    ehdr->e_phnum > MAX_HEADERS || (!ehdr->e_shnum && ehdr->e_shoff))
		return false;
	for (int i = 0; i < ehdr->e_shnum; i++) {
		if (pread(fd, &shdr, sizeof(shdr), ehdr->e_shoff + i * sizeof(shdr)) !=
		    sizeof(shdr) || !is_modest(shdr.sh_type, shdr.sh_flags, shdr.sh_size))
			return false;
	}
	return true;
}

static bool is_modest32(int fd, const Elf32_Ehdr *ehdr)
{
	Elf32_Shdr shdr;

	if (ehdr->e_shentsize != sizeof(shdr) || ehdr->e_shnum > MAX_HEADERS ||
	    ehdr->e_phnum > MAX_HEADERS || (!ehdr->e_shnum && ehdr->e_shoff))
		return false;
	for (int i = 0; i < ehdr->e_shnum; i++) {
		if (pread(fd, &shdr, sizeof(shdr), ehdr->e_shoff + i * sizeof(shdr)) !=
		    sizeof(shdr) || !is_modest(shdr.sh_type, shdr.sh_flags, shdr.sh_size))
			return false;
	}
	return true;
}

/**
 * guest_elf__is_modest - is it an ELF file of x86 that perf can read in little time?
 * @path: a regular file; if it is none any more, it is not waited for
 */
bool guest_elf__is_modest(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool modest = false;
	struct stat st;
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr ehdr32;
		Elf64_Ehdr ehdr64;
	} u = { };

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (u64)st.st_size <= MAX_FILE_SIZE &&
	    pread(fd, &u, sizeof(u), 0) >= (ssize_t)sizeof(u.ehdr32) &&
	    !memcmp(u.ident, ELFMAG, SELFMAG) && u.ident[EI_DATA] == ELFDATA2LSB) {
		if (u.ident[EI_CLASS] == ELFCLASS64)
			modest = is_modest64(fd, &u.ehdr64);
		else if (u.ident[EI_CLASS] == ELFCLASS32)
			modest = is_modest32(fd, &u.ehdr32);
	}
	close(fd);
	return modest;
}
