// SPDX-License-Identifier: GPL-2.0
/*
 * Build-id and functions of a program of the guest. libelf wants a whole file, and a hole must
 * not be taken for zeros: here each piece is read where it is needed, and what lies in a hole
 * is left out.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "program.h"
#include "ram.h"

#define MAX_PHDRS	64
#define MAX_SHDRS	1024
#define MAX_NOTES	65536

/* A browser's library with debug symbols has a million. */
#define MAX_SYMBOLS	(1U << 20)
#define MAX_STRINGS	(16U << 20)
#define SYMBOLS_AT_ONCE	128

/* Mangled names of C++ may be long; those that are longer have no readers. */
#define MAX_NAME	1024

struct elf {
	const struct guest_elf *file;
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdrs[MAX_PHDRS];
	size_t	nr_phdrs;
};

/* Where symbols and their strings are in the file */
struct table {
	u64	symbols;
	u64	nr;
	u64	strings;
	u64	strings_size;
};

/* As guest_text, too: 0, -E2BIG: it may not have that much, or -ENOMEM */
int guest_text__add(struct guest_text *text, const char *data, size_t len)
{
	if (len > text->max - text->len)
		return -E2BIG;
	if (text->len + len > text->allocated) {
		size_t more = text->allocated ? text->allocated * 2 : GUEST_PAGE_SIZE;
		char *grown;

		while (more < text->len + len)
			more *= 2;
		grown = realloc(text->data, more);
		if (!grown)
			return -ENOMEM;
		text->data = grown;
		text->allocated = more;
	}
	memcpy(text->data + text->len, data, len);
	text->len += len;
	return 0;
}

void guest_text__exit(struct guest_text *text)
{
	zfree(&text->data);
	text->len = 0;
	text->allocated = 0;
}

static int elf_read(const struct elf *elf, u64 offset, void *buf, size_t len)
{
	if (offset > elf->file->size || len > elf->file->size - offset)
		return -EINVAL;
	return elf->file->read(elf->file->arg, offset, buf, len);
}

static int read_headers(struct elf *elf, const struct guest_elf *file)
{
	int ret;

	*elf = (struct elf) { .file = file };
	ret = elf_read(elf, 0, &elf->ehdr, sizeof(elf->ehdr));
	if (ret)
		return ret;
	if (memcmp(elf->ehdr.e_ident, ELFMAG, SELFMAG) ||
	    elf->ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf->ehdr.e_phentsize != sizeof(Elf64_Phdr) || elf->ehdr.e_phnum > MAX_PHDRS)
		return -EINVAL;
	elf->nr_phdrs = elf->ehdr.e_phnum;
	return elf_read(elf, elf->ehdr.e_phoff, elf->phdrs, elf->nr_phdrs * sizeof(Elf64_Phdr));
}

/**
 * guest_elf__build_id - the build-id of a program
 * @id: the result, of size 0: it has none
 *
 * Return: 0; -EINVAL: it is no ELF file of x86-64; -ENOMEM; or as @elf reads
 */
int guest_elf__build_id(const struct guest_elf *file, struct guest_build_id *id)
{
	struct elf elf;
	char *notes;
	int ret = read_headers(&elf, file);

	id->size = 0;
	for (size_t i = 0; !ret && !id->size && i < elf.nr_phdrs; i++) {
		const Elf64_Phdr *ph = &elf.phdrs[i];

		if (ph->p_type != PT_NOTE || !ph->p_filesz || ph->p_filesz > MAX_NOTES)
			continue;
		notes = malloc(ph->p_filesz);
		if (!notes)
			return -ENOMEM;
		ret = elf_read(&elf, ph->p_offset, notes, ph->p_filesz);
		if (!ret)
			guest_note__build_id(notes, ph->p_filesz, id);
		free(notes);
	}
	return ret;
}

/* The offset in the file of what is loaded at @address; false: nothing is */
static bool offset_of(const struct elf *elf, u64 address, u64 *offset)
{
	for (size_t i = 0; i < elf->nr_phdrs; i++) {
		const Elf64_Phdr *ph = &elf->phdrs[i];

		if (ph->p_type == PT_LOAD && address >= ph->p_vaddr &&
		    address - ph->p_vaddr < ph->p_filesz) {
			*offset = address - ph->p_vaddr + ph->p_offset;
			return true;
		}
	}
	return false;
}

/* .symtab, by the section headers. 0 or -errno: there is none, or not all of these */
static int find_symtab(const struct elf *elf, struct table *t)
{
	const Elf64_Ehdr *ehdr = &elf->ehdr;
	Elf64_Shdr sh, strings;

	if (ehdr->e_shentsize != sizeof(sh) || ehdr->e_shnum > MAX_SHDRS)
		return -EINVAL;
	for (u32 i = 0; i < ehdr->e_shnum; i++) {
		int ret = elf_read(elf, ehdr->e_shoff + i * sizeof(sh), &sh, sizeof(sh));

		if (ret)
			return ret;
		if (sh.sh_type != SHT_SYMTAB || sh.sh_link >= ehdr->e_shnum)
			continue;
		ret = elf_read(elf, ehdr->e_shoff + sh.sh_link * sizeof(sh), &strings,
			       sizeof(strings));
		if (ret)
			return ret;
		*t = (struct table) {
			.symbols = sh.sh_offset, .nr = sh.sh_size / sizeof(Elf64_Sym),
			.strings = strings.sh_offset, .strings_size = strings.sh_size,
		};
		return 0;
	}
	return -ENOENT;
}

/*
 * .dynsym, by what the program tells its loader: a file without symbols may have no section
 * headers in memory either. The strings are after the symbols, or it is not known how many
 * these are.
 */
static int find_dynsym(const struct elf *elf, struct table *t)
{
	u64 symbols = 0, strings = 0, size = 0;

	for (size_t i = 0; i < elf->nr_phdrs; i++) {
		const Elf64_Phdr *ph = &elf->phdrs[i];
		u64 nr = ph->p_filesz / sizeof(Elf64_Dyn);
		Elf64_Dyn dyn = { .d_tag = ~DT_NULL };

		if (ph->p_type != PT_DYNAMIC)
			continue;
		for (u64 j = 0; j < nr && j < MAX_SHDRS && dyn.d_tag != DT_NULL; j++) {
			int ret = elf_read(elf, ph->p_offset + j * sizeof(dyn), &dyn, sizeof(dyn));

			if (ret)
				return ret;
			if (dyn.d_tag == DT_SYMTAB)
				symbols = dyn.d_un.d_ptr;
			else if (dyn.d_tag == DT_STRTAB)
				strings = dyn.d_un.d_ptr;
			else if (dyn.d_tag == DT_STRSZ)
				size = dyn.d_un.d_val;
		}
	}
	if (!symbols || strings <= symbols || !size)
		return -ENOENT;
	*t = (struct table) {
		.nr = (strings - symbols) / sizeof(Elf64_Sym), .strings_size = size,
	};
	return offset_of(elf, symbols, &t->symbols) && offset_of(elf, strings, &t->strings) ?
	       0 : -EINVAL;
}

/*
 * All strings, with a newline in each place of a page that is not there: no name has one, so
 * that what begins or ends there is seen to be none. NULL: no memory
 */
static char *read_strings(const struct elf *elf, const struct table *t)
{
	char *strings = malloc(t->strings_size + 1);

	for (u64 at = 0; strings && at < t->strings_size;) {
		size_t n = guest_page__part(t->strings + at, t->strings_size - at);

		if (elf_read(elf, t->strings + at, strings + at, n))
			memset(strings + at, '\n', n);
		at += n;
	}
	if (strings)
		strings[t->strings_size] = '\0';
	return strings;
}

static bool is_function(const Elf64_Sym *sym)
{
	u8 type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && sym->st_shndx != SHN_UNDEF &&
	       sym->st_size;
}

static int add_symbol(const struct elf *elf, const struct table *t, const char *strings,
		      const Elf64_Sym *sym, struct guest_text *text)
{
	char line[MAX_NAME + 64];
	const char *name;
	u64 offset;
	size_t len;
	int n;

	if (!is_function(sym) || sym->st_name >= t->strings_size ||
	    !offset_of(elf, sym->st_value, &offset))
		return 0;
	name = strings + sym->st_name;
	len = strnlen(name, MAX_NAME);
	if (!len || len == MAX_NAME || memchr(name, '\n', len))
		return 0;
	n = snprintf(line, sizeof(line), "%" PRIx64 " %" PRIx64 " %s\n", offset,
		     (u64)sym->st_size, name);
	return guest_text__add(text, line, n);
}

static int read_symbols(const struct elf *elf, const struct table *t, struct guest_text *text)
{
	Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	char *strings;
	int ret = 0;

	if (t->nr > MAX_SYMBOLS || t->strings_size > MAX_STRINGS ||
	    t->strings_size > elf->file->size)
		return -E2BIG;
	strings = read_strings(elf, t);
	if (!strings)
		return -ENOMEM;
	for (u64 i = 0; !ret && i < t->nr;) {
		u64 n = min_t(u64, t->nr - i, SYMBOLS_AT_ONCE);

		ret = elf_read(elf, t->symbols + i * sizeof(*symbols), symbols,
			       n * sizeof(*symbols));
		for (u64 j = 0; !ret && j < n; j++)
			ret = add_symbol(elf, t, strings, &symbols[j], text);
		/* The next ones may be there. */
		if (ret == -ENODATA || ret == -EAGAIN)
			ret = 0;
		i += n;
	}
	free(strings);
	return ret;
}

/**
 * guest_elf__symbols - the functions of a program
 * @text: gets a line "offset size name" for each, the first two in hex; the offset is that in
 *	  the file
 *
 * Those that are not in memory are left out. Return: 0; -ENOENT, -ENODATA, -EINVAL: there are
 * none, or they are not in memory; -E2BIG: there are too many; -ENOMEM, -EDQUOT
 */
int guest_elf__symbols(const struct guest_elf *file, struct guest_text *text)
{
	struct table t;
	struct elf elf;
	int ret = read_headers(&elf, file);

	if (ret)
		return ret;
	ret = find_symtab(&elf, &t);
	if (ret && ret != -EDQUOT)
		ret = find_dynsym(&elf, &t);
	return ret ?: read_symbols(&elf, &t, text);
}
