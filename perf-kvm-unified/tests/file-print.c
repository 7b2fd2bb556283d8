// SPDX-License-Identifier: GPL-2.0
/*
 * What files without a build-id are known by.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tests/tests.h"
#include "util/build-id.h"
#include "util/debug.h"
#include "kvm-unified/guests/files.h"
#include "kvm-unified/guests/guest.h"
#include "kvm-unified/lib/file-print.h"
#include "file-print.h"

#define PAGE	4096

enum { NONE, TEXT, SYMTAB, STRTAB, PACKED, LINES, NAMES, NR_SECTIONS };

/* Where each section's name is */
#define SECTION_NAMES	"\0.text\0.symtab\0.strtab\0.gnu_debugdata\0.debug_line\0.shstrtab\0.gnu_debuglink"

struct program {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	Elf64_Shdr sections[NR_SECTIONS];
	u8	text[2 * PAGE];
	Elf64_Sym symbols[2];
	char	strings[16];
	u8	packed[2 * PAGE];
	u8	lines[2 * PAGE];
	char	names[sizeof(SECTION_NAMES)];
};

static u32 name_at(const char *name)
{
	static const char names[] = SECTION_NAMES;

	return (const char *)memmem(names, sizeof(names), name, strlen(name) + 1) - names;
}

#define SECTION(_name, _type, _flags, _member) (Elf64_Shdr) {			\
	.sh_name = name_at(_name), .sh_type = (_type), .sh_flags = (_flags),	\
	.sh_offset = offsetof(struct program, _member),				\
	.sh_size = sizeof(((struct program *)NULL)->_member),			\
}

static void make_program(struct program *program)
{
	memset(program, 0, sizeof(*program));
	program->ehdr = (Elf64_Ehdr) {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_phoff = offsetof(struct program, phdr),
		.e_phnum = 1,
		.e_shoff = offsetof(struct program, sections),
		.e_shnum = NR_SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shstrndx = NAMES,
	};
	program->sections[TEXT] = SECTION(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text);
	program->sections[SYMTAB] = SECTION(".symtab", SHT_SYMTAB, 0, symbols);
	program->sections[STRTAB] = SECTION(".strtab", SHT_STRTAB, 0, strings);
	program->sections[PACKED] = SECTION(".gnu_debugdata", SHT_PROGBITS, 0, packed);
	program->sections[LINES] = SECTION(".debug_line", SHT_PROGBITS, 0, lines);
	program->sections[NAMES] = SECTION(".shstrtab", SHT_STRTAB, 0, names);
	memcpy(program->names, SECTION_NAMES, sizeof(program->names));
}

/* As file_print() of a file with the first @size bytes of @program, and zeros up to that */
static ssize_t print_of(const struct program *program, size_t size, size_t max, u8 *print)
{
	const size_t part = min(size, sizeof(*program));
	FILE *file = tmpfile();
	ssize_t ret = -EIO;

	if (!file)
		return ret;
	if (fwrite(program, 1, part, file) == part && !fflush(file) &&
	    !ftruncate(fileno(file), size))
		ret = file_print(fileno(file), max, print);
	fclose(file);
	return ret;
}

/* Is it the same after the byte @at was changed? Or -1 */
static int same_without(struct program *program, void *at)
{
	u8 one[FILE_PRINT_SIZE], other[FILE_PRINT_SIZE];
	ssize_t ret = print_of(program, sizeof(*program), SIZE_MAX, one);

	*(u8 *)at ^= 1;
	if (ret < 0 || print_of(program, sizeof(*program), SIZE_MAX, other) < 0)
		return -1;
	*(u8 *)at ^= 1;
	return !memcmp(one, other, sizeof(one));
}

static int check_same(struct program *p)
{
	u8 one[FILE_PRINT_SIZE], other[FILE_PRINT_SIZE];

	TEST_ASSERT_EQUAL("header", same_without(p, &p->ehdr.e_entry), 0);
	TEST_ASSERT_EQUAL("segment", same_without(p, &p->phdr.p_vaddr), 0);
	TEST_ASSERT_EQUAL("section", same_without(p, &p->sections[TEXT].sh_addr), 0);
	TEST_ASSERT_EQUAL("first code", same_without(p, &p->text[PAGE - 1]), 0);
	TEST_ASSERT_EQUAL("last symbol", same_without(p, &p->symbols[1].st_size), 0);
	TEST_ASSERT_EQUAL("last name", same_without(p, &p->strings[15]), 0);
	TEST_ASSERT_EQUAL("packed symbols", same_without(p, &p->packed[2 * PAGE - 1]), 0);
	TEST_ASSERT_EQUAL("more code", same_without(p, &p->text[PAGE]), 1);
	TEST_ASSERT_EQUAL("more lines", same_without(p, &p->lines[PAGE]), 1);

	TEST_ASSERT_VAL("a file", print_of(p, sizeof(*p), SIZE_MAX, one) > 0);
	TEST_ASSERT_VAL("a longer one", print_of(p, sizeof(*p) + 1, SIZE_MAX, other) > 0);
	TEST_ASSERT_VAL("another size", memcmp(one, other, sizeof(one)));
	return TEST_OK;
}

/* A file whose owner wishes no good. 0 or a failure */
static int check_refused(struct program *p)
{
	const size_t size = sizeof(*p);
	u8 print[FILE_PRINT_SIZE];
	ssize_t nr = print_of(p, size, SIZE_MAX, print);

	TEST_ASSERT_VAL("what is read", nr > (ssize_t)sizeof(p->packed) && nr < (ssize_t)size);
	TEST_ASSERT_EQUAL("just as much", (int)print_of(p, size, nr, print), (int)nr);
	TEST_ASSERT_EQUAL("too much", (int)print_of(p, size, nr - 1, print), -EFBIG);
	TEST_ASSERT_EQUAL("empty", (int)print_of(p, 0, SIZE_MAX, print), -ENOEXEC);
	TEST_ASSERT_EQUAL("cut", (int)print_of(p, offsetof(struct program, names), SIZE_MAX, print),
			  -ENOEXEC);

	p->ehdr.e_ident[EI_CLASS] = ELFCLASS32;
	TEST_ASSERT_EQUAL("of 32 bits", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	p->ehdr.e_shnum = 0;
	TEST_ASSERT_EQUAL("no sections", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	p->ehdr.e_shnum = UINT16_MAX;
	TEST_ASSERT_EQUAL("too many", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	p->ehdr.e_shoff = ~0ULL;
	TEST_ASSERT_EQUAL("sections nowhere", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	p->ehdr.e_shstrndx = NR_SECTIONS;
	TEST_ASSERT_EQUAL("names nowhere", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	p->sections[SYMTAB].sh_size = ~0ULL;
	TEST_ASSERT_EQUAL("symbols without end", (int)print_of(p, size, SIZE_MAX, print), -EFBIG);
	make_program(p);
	p->sections[STRTAB].sh_offset = ~0ULL - 8;
	TEST_ASSERT_EQUAL("strings nowhere", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	p->sections[TEXT].sh_name = ~0U;
	TEST_ASSERT_VAL("a name nowhere", print_of(p, size, SIZE_MAX, print) > 0);
	make_program(p);
	/* Its symbols are in a file of which nothing is known. */
	p->sections[PACKED].sh_name = name_at(".gnu_debuglink");
	TEST_ASSERT_EQUAL("a debuglink", (int)print_of(p, size, SIZE_MAX, print), -ENOEXEC);
	make_program(p);
	return TEST_OK;
}

static bool write_program(const char *path, const struct program *program)
{
	FILE *file = fopen(path, "w");
	bool ok = file && fwrite(program, sizeof(*program), 1, file) == 1;

	return file && !fclose(file) && ok;
}

/* @guest has a root directory, in which /program is @program, and /link leads out of it. */
static int check_root(struct kvm_guest *guest, struct program *program)
{
	char path[PATH_MAX], name[PATH_MAX];
	struct build_id print = { .size = FILE_PRINT_SIZE };

	scnprintf(path, sizeof(path), "%s/program", guest->root);
	TEST_ASSERT_VAL("write", write_program(path, program));
	TEST_ASSERT_VAL("print", print_of(program, sizeof(*program), SIZE_MAX, print.data) > 0);

	TEST_ASSERT_VAL("the same file",
			guest_file_name(guest, "/program", NULL, &print, name, sizeof(name)));
	TEST_ASSERT_VAL("its name", !strcmp(name, path));
	TEST_ASSERT_VAL("deleted in the guest, and still here",
			guest_file_name(guest, "/program (deleted)", NULL, &print, name,
					sizeof(name)));
	TEST_ASSERT_VAL("its name", !strcmp(name, path));
	TEST_ASSERT_VAL("not by a build-id of these bytes",
			!guest_file_name(guest, "/program", &print, NULL, name, sizeof(name)));
	TEST_ASSERT_VAL("no name of the host", strstarts(name, GUEST_FILE_PREFIX));
	TEST_ASSERT_VAL("not without a print",
			!guest_file_name(guest, "/program", NULL, NULL, name, sizeof(name)));
	TEST_ASSERT_VAL("none", !guest_file_name(guest, "/none", NULL, &print, name, sizeof(name)));
	TEST_ASSERT_VAL("out of the root",
			!guest_file_name(guest, "/link", NULL, &print, name, sizeof(name)));
	TEST_ASSERT_EQUAL("no other files so far", (int)guest->nr_other_files, 0);

	print.data[0] ^= 1;
	TEST_ASSERT_VAL("another file",
			!guest_file_name(guest, "/program", NULL, &print, name, sizeof(name)));
	TEST_ASSERT_VAL("another file where one was deleted",
			!guest_file_name(guest, "/program (deleted)", NULL, &print, name,
					 sizeof(name)));
	TEST_ASSERT_EQUAL("it is counted, too", (int)guest->nr_other_files, 2);
	TEST_ASSERT_VAL("again",
			!guest_file_name(guest, "/program", NULL, &print, name, sizeof(name)));
	TEST_ASSERT_EQUAL("it is counted once", (int)guest->nr_other_files, 2);
	return TEST_OK;
}

static int check_files(struct program *program)
{
	char dir[] = "/tmp/perf-test-XXXXXX", root[PATH_MAX], outside[PATH_MAX], path[PATH_MAX];
	struct kvm_guest guest = { .name = "vm1", .root = root };
	int ret;

	TEST_ASSERT_VAL("directory", mkdtemp(dir));
	scnprintf(root, sizeof(root), "%s/root", dir);
	scnprintf(outside, sizeof(outside), "%s/outside", dir);
	scnprintf(path, sizeof(path), "%s/link", root);
	ret = mkdir(root, 0700) || !write_program(outside, program) || symlink("../outside", path) ?
	      TEST_FAIL : check_root(&guest, program);
	kvm_guest__free_files(&guest);
	unlink(path);
	scnprintf(path, sizeof(path), "%s/program", root);
	unlink(path);
	unlink(outside);
	rmdir(root);
	rmdir(dir);
	return ret;
}

int test__file_print(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct program *program = malloc(sizeof(*program));
	int ret;

	TEST_ASSERT_VAL("memory", program);
	make_program(program);
	ret = check_same(program) ?: check_refused(program) ?: check_files(program);
	free(program);
	return ret;
}
