// SPDX-License-Identifier: GPL-2.0
/*
 * Code that runs from where no file is that one could look up: copied to a memfd,
 * to huge pages, or a whole program in a memfd.
 *
 * Usage: mapped memfd|huge|hugetlb|program     (until SIGTERM)
 *
 * huge: memory that the kernel makes huge pages of by itself; hugetlb: out of the
 * reserve (/proc/sys/vm/nr_hugepages). A line "mapped at ADDRESS" says where.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/workload.h"

#define HUGE_SIZE	(2UL << 20)

static BURN(mapped_spin)

/* It lies in a section of its own, which is copied: it calls nothing. */
__attribute__((noipa, section("code_to_copy"), no_stack_protector))
static void copied_spin(void)
{
	for (volatile int i = 0; i < 10000; i++)
		;
}

extern const char __start_code_to_copy[], __stop_code_to_copy[];

static size_t code_size(void)
{
	return __stop_code_to_copy - __start_code_to_copy;
}

static void *mapped(void *at)
{
	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

static void *in_memfd(void)
{
	int fd = memfd_create("mapped-code", MFD_CLOEXEC);

	if (fd < 0 || write(fd, __start_code_to_copy, code_size()) != (ssize_t)code_size())
		err(1, "memfd");
	return mapped(mmap(NULL, code_size(), PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0));
}

static void *in_huge_page(int flags)
{
	size_t size = flags ? HUGE_SIZE : 2 * HUGE_SIZE;
	uintptr_t at = (uintptr_t)mapped(mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
					      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));

	if (!flags) {
		at = (at + HUGE_SIZE - 1) & ~(HUGE_SIZE - 1);
		if (madvise((void *)at, HUGE_SIZE, MADV_HUGEPAGE))
			err(1, "madvise");
	}
	memcpy((void *)at, __start_code_to_copy, code_size());
	return (void *)at;
}

static void become_program(void)
{
	char *argv[] = { "mapped-program", NULL };
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("mapped-program", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || fd < 0 || fstat(from, &st) ||
	    sendfile(fd, from, NULL, st.st_size) != st.st_size)
		err(1, "memfd");
	fexecve(fd, argv, environ);
	err(1, "fexecve");
}

static void *place(const char *where)
{
	if (!strcmp(where, "memfd"))
		return in_memfd();
	if (!strcmp(where, "huge"))
		return in_huge_page(0);
	if (!strcmp(where, "hugetlb"))
		return in_huge_page(MAP_HUGETLB);
	errx(2, "usage: mapped memfd|huge|hugetlb|program");
}

int main(int argc, char **argv)
{
	void (*burn)(void) = mapped_spin;
	const char *where = argc > 1 ? argv[1] : "";

	if (!strcmp(where, "program"))
		become_program();
	if (strcmp(argv[0], "mapped-program")) {
		burn = (void (*)(void))((char *)place(where) +
			((char *)copied_spin - __start_code_to_copy));
		printf("mapped at %p\n", (void *)burn);
	}
	workload_ready(argv[0]);
	for (;;)
		burn();
}
