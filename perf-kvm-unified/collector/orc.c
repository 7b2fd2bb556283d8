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
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/write.h"
#include "kcore.h"
#include "modules.h"
#include "orc.h"
#include "orc-table.h"

#ifdef HAVE_LIBELF_SUPPORT

/* What the kernel has of a table, see ORC_OFFSETS */
struct orc_symbols {
	u64	offsets;
	u64	offsets_end;
	u64	entries;
	u64	entries_end;
	bool	has_header;
};

static int note_symbol(void *_kernel, const char *name, char type __maybe_unused, u64 start)
{
	struct orc_symbols *kernel = _kernel;
	const struct {
		const char *name;
		u64 *field;
	} symbols[] = {
		{ ORC_OFFSETS, &kernel->offsets },
		{ ORC_OFFSETS_END, &kernel->offsets_end },
		{ ORC_ENTRIES, &kernel->entries },
		{ ORC_ENTRIES_END, &kernel->entries_end },
	};

	if (!strcmp(name, ORC_HEADER))
		kernel->has_header = true;
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		if (!strcmp(name, symbols[i].name))
			*symbols[i].field = start;
	}
	return 0;
}

/* Writes tables to @fd */
struct orc_writer {
	struct guest_kcore kcore;
	int	fd;
	enum guest_orc_layout layout;
};

static int write_record(void *arg, struct perf_record_guest_orc *rec)
{
	const struct orc_writer *w = arg;

	return write_all(w->fd, rec, rec->header.size);
}

static int write_table(struct orc_writer *w, const struct orc_place *place)
{
	return orc_place__write(place, &w->kcore.mem, w->layout, write_record, w);
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
 * Nobody tells how many entries there are. But objtool makes the section of the entries, and then
 * that of the offsets, and so they are in memory, with nothing in between but what aligns them. If
 * they are not, this is no table, and who reads the map sees that.
 */
static int write_module(struct orc_writer *w, const struct guest_module *module)
{
	u64 offsets = section_addr(module->name, ".orc_unwind_ip");
	u64 entries = section_addr(module->name, ".orc_unwind");
	struct orc_place place;
	int ret;

	if (!entries || offsets <= entries)
		return 0;
	place = orc_place__of(offsets, entries, (offsets - entries) / ORC_ENTRY_SIZE);
	ret = orc_place__cut(&place, &w->kcore.mem, module->start, module->start + module->len);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	return write_table(w, &place);
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
	struct orc_symbols kernel = { };
	struct orc_writer w = { .fd = fd };
	struct orc_place place;
	char path[PATH_MAX], err[256];
	struct utsname uts;
	int ret;

	scnprintf(path, sizeof(path), "%s/kallsyms", procfs__mountpoint() ?: "/proc");
	if (kallsyms__parse(path, &kernel, note_symbol) < 0 || !kernel.offsets)
		return 0;
	w.layout = orc_layout(kernel.has_header, uname(&uts) ? "" : uts.release);
	if (guest_kcore__open(&w.kcore, err, sizeof(err))) {
		pr_debug("No ORC tables: %s\n", err);
		return 0;
	}
	place = orc_place__between(kernel.offsets, kernel.offsets_end, kernel.entries,
				   kernel.entries_end);
	ret = write_table(&w, &place) ?: write_modules(&w);
	guest_kcore__close(&w.kcore);
	return ret;
}

#else

int guest_orc__write_own(int fd __maybe_unused)
{
	return 0;
}

#endif /* HAVE_LIBELF_SUPPORT */
