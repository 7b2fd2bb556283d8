// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: symbols of code that is in no file which the host could have, to be
 * put into the guest map: what JIT compilers tell of theirs, and the vDSO.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#ifdef HAVE_LIBELF_SUPPORT
#include <gelf.h>
#endif

#include "util/debug.h"
#include "util/event.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/lib/write.h"
#include "jitdump.h"
#include "open-regular.h"
#include "perf-map.h"
#include "symbols.h"

/* So many dumps of a process are read: each may be large, and a compiler has one. */
#define MAX_JITDUMPS	16

/* Two numbers, and a name */
#define SYMBOL_LINE_LEN	2048
#define SYMBOLS_CHUNK	(UINT16_MAX - sizeof(u64) - sizeof(struct perf_record_guest_symbols))

/* Writes @len bytes at rec->data, which has room for the padding. 0 or -errno */
int guest_symbols__write(int fd, struct perf_record_guest_symbols *rec, size_t len)
{
	rec->header.type = PERF_RECORD_GUEST_SYMBOLS;
	rec->header.size = PERF_ALIGN(sizeof(*rec) + len, sizeof(u64));
	rec->len = len;
	memset(rec->data + len, 0, rec->header.size - sizeof(*rec) - len);
	return write_all(fd, rec, rec->header.size);
}

/*
 * Writes what the process @pid has told of its own code in the file @in, its perf-<pid>.map,
 * and not more than @left bytes of it. 0, or -errno of @fd
 */
int guest_symbols__write_perf_map(int fd, pid_t pid, int in, size_t *left)
{
	struct perf_record_guest_symbols *rec = zalloc(UINT16_MAX);
	int ret = 0;

	if (!rec)
		return -ENOMEM;
	rec->pid = pid;
	while (!ret) {
		ssize_t n = read(in, rec->data, min(*left, SYMBOLS_CHUNK));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*left -= n;
		if (!*left)
			unified_warning("/" PERF_MAP_FMT ": not all of it is read, as the files of this kind have %u MiB\n",
					pid, GUEST_SYMBOLS_MAX_SIZE >> 20);
		ret = guest_symbols__write(fd, rec, n);
	}
	free(rec);
	return ret;
}

/**
 * struct symbol_lines - lines that are put into as few records as they fit in
 * @rec: of UINT16_MAX bytes, @len of its text are there
 * @left: how many bytes may be written
 */
struct symbol_lines {
	int    fd;
	struct perf_record_guest_symbols *rec;
	size_t len;
	size_t *left;
};

/* 0, -ENOSPC: no more of them, or -errno of the file */
static int symbol_lines__add(u64 start, u64 size, const char *name, void *arg)
{
	struct symbol_lines *lines = arg;
	char line[SYMBOL_LINE_LEN];
	size_t len = scnprintf(line, sizeof(line), "%" PRIx64 " %" PRIx64 " %s\n", start, size,
			       name);
	int ret = 0;

	if (len > *lines->left)
		return -ENOSPC;
	if (lines->len + len > SYMBOLS_CHUNK) {
		ret = guest_symbols__write(lines->fd, lines->rec, lines->len);
		lines->len = 0;
	}
	memcpy(lines->rec->data + lines->len, line, len);
	lines->len += len;
	*lines->left -= len;
	return ret;
}

static pid_t read_parent(pid_t pid)
{
	char path[PATH_MAX], line[256];
	pid_t parent = 0;
	FILE *file;

	scnprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file) && sscanf(line, "PPid: %d", &parent) != 1)
		;
	fclose(file);
	return parent;
}

/* Has the process the clocks that this one has? Kernels without time namespaces have one. */
static bool has_own_clocks(pid_t pid)
{
	struct stat own, others;
	char path[PATH_MAX];

	if (stat("/proc/self/ns/time", &own))
		return false;
	scnprintf(path, sizeof(path), "/proc/%d/ns/time", pid);
	return stat(path, &others) || others.st_ino != own.st_ino;
}

/* By how many ns CLOCK_BOOTTIME is ahead: it goes on while the machine is suspended. */
static u64 suspended_ns(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (boot.tv_sec - mono.tv_sec) * NSEC_PER_SEC + boot.tv_nsec - mono.tv_nsec;
}

/* Whose code the process has: that of a parent which is gone is not certain. */
static struct jitdump_process find_process(pid_t pid)
{
	const pid_t parent = read_parent(pid);
	struct jitdump_process process = { .pid = process__ns_pid(pid) };
	u64 start = process__read_start_ns(pid), suspended = suspended_ns();

	if (!parent || has_own_clocks(parent))
		return process;
	process.parent = process__ns_pid(parent);
	process.forked = start > suspended ? start - suspended : 0;
	return process;
}

/**
 * struct jitdumps - the dumps of a process, each of which is read once
 * @process: the same process, as it knows itself
 * @maps: its /proc/PID/maps
 * @own: those with its pid in their names are read now, or the others
 * @seen: those that were read
 * @records: so many may be read still
 */
struct jitdumps {
	pid_t	pid;
	struct jitdump_process process;
	FILE   *maps;
	bool	own;
	struct stat seen[MAX_JITDUMPS];
	size_t	nr_seen;
	u32	records;
};

static bool jitdumps__have_seen(const struct jitdumps *dumps, const struct stat *st)
{
	for (size_t i = 0; i < dumps->nr_seen; i++) {
		if (dumps->seen[i].st_dev == st->st_dev && dumps->seen[i].st_ino == st->st_ino)
			return true;
	}
	return false;
}

/* Opens the file that is mapped there, whatever its path is or was. NULL: it cannot be read */
static FILE *open_mapped(struct jitdumps *dumps, u64 start, u64 end)
{
	char path[PATH_MAX];
	struct stat st;
	FILE *file;
	int fd;

	scnprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, dumps->pid,
		  start, end);
	fd = open_regular(AT_FDCWD, path, /*flags=*/0, &st);
	if (fd < 0)
		return NULL;
	file = jitdumps__have_seen(dumps, &st) ? NULL : fdopen(fd, "r");
	if (file)
		dumps->seen[dumps->nr_seen++] = st;
	else
		close(fd);
	return file;
}

/* The next file that the process has mapped as a sign that it writes one, or NULL */
static FILE *jitdumps__next(struct jitdumps *dumps)
{
	char line[PATH_MAX + 128];
	FILE *file = NULL;
	u64 start, end;
	pid_t pid;

	while (!file && dumps->nr_seen < MAX_JITDUMPS && fgets(line, sizeof(line), dumps->maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (jitdump__is_marker(line, &start, &end, &pid) &&
		    (dumps->own ? pid == dumps->process.pid : pid != dumps->process.pid))
			file = open_mapped(dumps, start, end);
	}
	return file;
}

/* Reads one file. 0, -ENOSPC: no room for more, or -errno of where @lines go */
static int read_jitdump(FILE *file, struct jitdumps *dumps, struct symbol_lines *lines)
{
	const pid_t pid = dumps->pid;
	int ret = -ENOMEM;

	if (!lines->rec)
		lines->rec = zalloc(UINT16_MAX);
	if (lines->rec) {
		lines->rec->pid = pid;
		ret = jitdump__each_symbol(file, &dumps->process, &dumps->records,
					   symbol_lines__add, lines);
	}
	if (ret == -EINVAL) {
		unified_warning("Process %d: its jitdump is not one that can be read\n", pid);
		ret = 0;
	}
	if (ret == -ENOSPC)
		unified_warning("Process %d: not all of its jitdump is read, as the files of this kind have %u MiB\n",
				pid, GUEST_SYMBOLS_MAX_SIZE >> 20);
	return ret;
}

/* All that are own ones, or all others. As read_jitdump() */
static int read_jitdumps(struct jitdumps *dumps, bool own, struct symbol_lines *lines)
{
	FILE *file;
	int ret = 0;

	dumps->own = own;
	rewind(dumps->maps);
	while (!ret && (file = jitdumps__next(dumps))) {
		ret = read_jitdump(file, dumps, lines);
		fclose(file);
	}
	return ret;
}

/*
 * Writes what the process @pid has told of its own code in jitdumps, if anything, and not more
 * than @left bytes of it. 0, or -errno of @fd
 */
int guest_symbols__write_jitdumps(int fd, pid_t pid, size_t *left)
{
	struct symbol_lines lines = { .fd = fd, .left = left };
	struct jitdumps dumps = { .pid = pid, .records = JITDUMP_MAX_RECORDS };
	char path[PATH_MAX];
	int ret;

	scnprintf(path, sizeof(path), "/proc/%d/maps", pid);
	dumps.maps = fopen(path, "re");
	if (!dumps.maps)
		return 0;
	dumps.process = find_process(pid);
	/* Where it has code of its own, that has taken the place of what it was forked with. */
	ret = read_jitdumps(&dumps, /*own=*/false, &lines) ?:
	      read_jitdumps(&dumps, /*own=*/true, &lines);
	fclose(dumps.maps);
	if (ret == -ENOSPC)
		ret = 0;
	if (!ret && lines.len)
		ret = guest_symbols__write(fd, lines.rec, lines.len);
	free(lines.rec);
	return ret;
}

#ifdef HAVE_LIBELF_SUPPORT

/* Opens the image that the kernel maps into this process and into all others. */
static Elf *open_vdso(void)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	char *image = (char *)address;
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)image;

	if (!image || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	/* The section headers are last. */
	return elf_memory(image, ehdr->e_shoff + ehdr->e_shnum * ehdr->e_shentsize);
}

static size_t print_symbols(Elf *elf, char *buf, size_t size)
{
	Elf_Scn *scn = NULL;
	size_t len = 0;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNSYM || !shdr.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		for (size_t i = 0; data && i < shdr.sh_size / shdr.sh_entsize; i++) {
			const char *name;

			if (!gelf_getsym(data, i, &sym) || !sym.st_size ||
			    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
				continue;
			name = elf_strptr(elf, shdr.sh_link, sym.st_name);
			if (name)
				len += scnprintf(buf + len, size - len,
						 "%" PRIx64 " %" PRIx64 " %s\n",
						 (u64)sym.st_value, (u64)sym.st_size, name);
		}
	}
	return len;
}

/* Writes the symbols of the vDSO of 64-bit processes, if there is one. 0 or -errno */
int guest_symbols__write_vdso(int fd)
{
	struct perf_record_guest_symbols *rec = zalloc(UINT16_MAX);
	Elf *elf = open_vdso();
	int ret = 0;
	size_t len;

	if (!rec)
		ret = -ENOMEM;
	if (rec && elf) {
		len = print_symbols(elf, rec->data, SYMBOLS_CHUNK);
		if (len)
			ret = guest_symbols__write(fd, rec, len);
	}
	elf_end(elf);
	free(rec);
	return ret;
}

#else

int guest_symbols__write_vdso(int fd __maybe_unused)
{
	return 0;
}

#endif
