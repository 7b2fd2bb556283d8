// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: the tables by which the kernel unwinds itself (ORC, see
 * Documentation/arch/x86/orc-unwinder.rst). The host unwinds copies of its stack with them. They
 * are in the kernel's memory; where, /proc/kallsyms tells for the kernel, and sysfs for modules.
 *
 * All is left out that cannot be read: the kernel's functions have names without it, and only
 * their callers are missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <api/fs/fs.h>
#include <internal/lib.h>
#include <symbol/kallsyms.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/guest-orc.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/write.h"
#include "kcore.h"
#include "modules.h"
#include "orc.h"

#ifdef HAVE_LIBELF_SUPPORT

/* Of the kernel's table: Linux, include/asm-generic/vmlinux.lds.h, ORC_UNWIND_TABLE */
static const char *const kernel_symbols[] = {
	"__start_orc_unwind_ip", "__stop_orc_unwind_ip", "__start_orc_unwind", "__stop_orc_unwind",
};

/* Kernels since 6.4 have it, and the layout of that one. */
#define HEADER_SYMBOL	"orc_header"

/* An offset and an entry of the table */
#define OFFSET_SIZE	sizeof(s32)
#define ENTRY_SIZE	sizeof(struct guest_orc_entry)

/* What a record has room for */
#define CHUNK_ENTRIES	((UINT16_MAX - sizeof(u64) - sizeof(struct perf_record_guest_orc)) / \
			 (OFFSET_SIZE + ENTRY_SIZE))
/* Large kernels have half of that. */
#define MAX_ENTRIES	(1U << 20)

struct orc_place {
	u64	offsets;	/* [offsets, offsets_end) */
	u64	offsets_end;
	u64	entries;
	u64	entries_end;
	bool	has_header;
};

static int note_symbol(void *_place, const char *name, char type __maybe_unused, u64 start)
{
	struct orc_place *place = _place;
	u64 *fields[] = {
		&place->offsets, &place->offsets_end, &place->entries, &place->entries_end,
	};

	if (!strcmp(name, HEADER_SYMBOL))
		place->has_header = true;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_symbols); i++) {
		if (!strcmp(name, kernel_symbols[i]))
			*fields[i] = start;
	}
	return 0;
}

static enum guest_orc_layout layout_of(const struct orc_place *kernel)
{
	unsigned int version = 0, patchlevel = 0;
	struct utsname uts;

	if (kernel->has_header)
		return GUEST_ORC_TYPE3;
	if (!uname(&uts))
		sscanf(uts.release, "%u.%u", &version, &patchlevel);
	/* Linux 6.3 alone has none, and a layout between the two. */
	return version > 6 || (version == 6 && patchlevel >= 3) ? GUEST_ORC_TYPE2_SIGNAL :
								  GUEST_ORC_TYPE2_END;
}

/**
 * struct orc_writer - writes tables to @fd
 * @rec: with room for CHUNK_ENTRIES
 */
struct orc_writer {
	struct guest_kcore kcore;
	int	fd;
	enum guest_orc_layout layout;
	struct perf_record_guest_orc *rec;
};

/* 0, -EFAULT: it cannot be read, or -errno of the file */
static int write_chunk(struct orc_writer *w, u64 offsets, u64 entries, u32 nr)
{
	struct perf_record_guest_orc *rec = w->rec;
	size_t size = sizeof(*rec) + nr * (OFFSET_SIZE + ENTRY_SIZE);
	int ret;

	*rec = (struct perf_record_guest_orc) {
		.header.type = PERF_RECORD_GUEST_ORC,
		.header.size = PERF_ALIGN(size, sizeof(u64)),
		.addr = offsets,
		.nr = nr,
		.layout = w->layout,
	};
	ret = w->kcore.mem.read(&w->kcore.mem, offsets, rec->data, nr * OFFSET_SIZE);
	if (!ret)
		ret = w->kcore.mem.read(&w->kcore.mem, entries, rec->data + nr * OFFSET_SIZE,
					nr * ENTRY_SIZE);
	if (ret)
		return -EFAULT;
	memset((char *)rec + size, 0, rec->header.size - size);
	return write_all(w->fd, rec, rec->header.size);
}

static int write_table(struct orc_writer *w, const char *name, const struct orc_place *place)
{
	u64 nr = (place->offsets_end - place->offsets) / OFFSET_SIZE;
	int ret = 0;

	if (!kernel_ptr(place->offsets & ~7ULL) || place->offsets_end <= place->offsets ||
	    nr > MAX_ENTRIES || place->entries_end - place->entries != nr * ENTRY_SIZE) {
		pr_debug("No ORC table of %s\n", name);
		return 0;
	}
	for (u64 at = 0; !ret && at < nr; at += CHUNK_ENTRIES)
		ret = write_chunk(w, place->offsets + at * OFFSET_SIZE,
				  place->entries + at * ENTRY_SIZE,
				  min_t(u64, CHUNK_ENTRIES, nr - at));
	if (ret == -EFAULT)
		pr_debug("The ORC table of %s cannot be read\n", name);
	return ret == -EFAULT ? 0 : ret;
}

/* Where a section of a module is; 0: not known */
static u64 section_addr(const char *module, const char *section)
{
	char path[PATH_MAX], *text = NULL;
	u64 addr = 0;
	size_t len;

	scnprintf(path, sizeof(path), "%s/module/%s/sections/%s",
		  sysfs__mountpoint() ?: "/sys", module, section);
	if (filename__read_str(path, &text, &len))
		return 0;
	addr = strtoull(text, NULL, 16);
	free(text);
	return addr;
}

/*
 * What begins and ends with code of the module. Its table also has what it was begun with, which is
 * no more: its place may be another module's. 0, -EFAULT: it cannot be read, or -ENOMEM
 */
static int cut_to_code(struct orc_writer *w, const struct guest_module *module,
		       struct orc_place *place)
{
	u64 nr = (place->offsets_end - place->offsets) / OFFSET_SIZE, first = 0, end = nr;
	s32 *offsets = calloc(nr, OFFSET_SIZE);

	if (!offsets)
		return -ENOMEM;
	if (w->kcore.mem.read(&w->kcore.mem, place->offsets, offsets, nr * OFFSET_SIZE)) {
		free(offsets);
		return -EFAULT;
	}
	while (first < nr && place->offsets + first * OFFSET_SIZE + offsets[first] < module->start)
		first++;
	while (end > first && place->offsets + (end - 1) * OFFSET_SIZE + offsets[end - 1] >
			      module->start + module->len)
		end--;
	free(offsets);
	place->offsets_end = place->offsets + end * OFFSET_SIZE;
	place->entries_end = place->entries + end * ENTRY_SIZE;
	place->offsets += first * OFFSET_SIZE;
	place->entries += first * ENTRY_SIZE;
	return 0;
}

/*
 * Nobody tells how many entries there are. But objtool makes the section of the entries, and then
 * that of the offsets, and so they are in memory, with nothing in between but what aligns them. If
 * they are not, this is no table, and who reads the map sees that.
 */
static int write_module(struct orc_writer *w, const struct guest_module *module)
{
	struct orc_place place = {
		.offsets = section_addr(module->name, ".orc_unwind_ip"),
		.entries = section_addr(module->name, ".orc_unwind"),
	};
	u64 nr = (place.offsets - place.entries) / ENTRY_SIZE;
	int ret;

	if (!place.entries || place.offsets <= place.entries || nr > MAX_ENTRIES)
		return 0;
	place.offsets_end = place.offsets + nr * OFFSET_SIZE;
	place.entries_end = place.entries + nr * ENTRY_SIZE;
	ret = cut_to_code(w, module, &place);
	if (ret)
		return ret == -EFAULT ? 0 : ret;
	return write_table(w, module->name, &place);
}

static int write_modules(struct orc_writer *w)
{
	struct module_look modules;
	char path[PATH_MAX];
	int ret;

	scnprintf(path, sizeof(path), "%s/modules", procfs__mountpoint() ?: "/proc");
	ret = module_look__list(&modules, path);
	for (size_t i = 0; !ret && i < modules.nr; i++)
		ret = write_module(w, &modules.entries[i]);
	module_look__exit(&modules);
	return ret;
}

/**
 * guest_orc__write_own - write the ORC tables of the kernel that this runs on to @fd
 *
 * 0 or -errno of @fd, or -ENOMEM
 */
int guest_orc__write_own(int fd)
{
	struct orc_place kernel = { };
	struct orc_writer w = { .fd = fd };
	char path[PATH_MAX], err[256];
	int ret;

	scnprintf(path, sizeof(path), "%s/kallsyms", procfs__mountpoint() ?: "/proc");
	if (kallsyms__parse(path, &kernel, note_symbol) < 0 || !kernel.offsets)
		return 0;
	w.layout = layout_of(&kernel);
	if (guest_kcore__open(&w.kcore, err, sizeof(err))) {
		pr_debug("No ORC tables: %s\n", err);
		return 0;
	}
	w.rec = malloc(UINT16_MAX);
	ret = w.rec ? write_table(&w, "the kernel", &kernel) : -ENOMEM;
	if (!ret)
		ret = write_modules(&w);
	free(w.rec);
	guest_kcore__close(&w.kcore);
	return ret;
}

#else

int guest_orc__write_own(int fd __maybe_unused)
{
	return 0;
}

#endif /* HAVE_LIBELF_SUPPORT */
