// SPDX-License-Identifier: GPL-2.0
/*
 * Modules of a guest's kernel, and BPF programs, that came or went while it was followed: they are
 * in its machine as long as they were in its kernel. What is not known to have been there at a
 * time has no name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/dso.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/maps.h"
#include "util/symbol.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/format/spaces.h"
#include "kvm-unified/lib/names.h"
#include "files.h"
#include "guest.h"
#include "modules.h"
#include "symbol-text.h"

/* More than come and go while a guest is measured */
#define GUEST_MAX_CHANGING_MODULES	4096

/**
 * struct guest_changing_module - a module, or BPF program, that was not there all the time
 * @from: @until: as in struct guest_symbols_module
 * @text: lines "offset size name", by offset in the module
 * @map: NULL: it was not there so far
 * @there: @map is in the guest's machine
 */
struct guest_changing_module {
	u64	start;
	u64	end;
	u64	from;
	u64	until;
	char	name[GUEST_MODULE_NAME_LEN];
	char	*text;
	size_t	len;
	struct map *map;
	bool	is_bpf;
	bool	there;
};

/* The module that the last record was of, if this is another one of it */
static struct guest_changing_module *last_module(const struct kvm_guest *guest,
						 const struct guest_symbols_module *module,
						 bool is_bpf)
{
	const struct guest_map_data *map = &guest->map;
	struct guest_changing_module *last;

	if (!map->nr_modules)
		return NULL;
	last = &map->modules[map->nr_modules - 1];
	return last->start == module->start && last->from == module->from &&
	       last->until == module->until && last->is_bpf == is_bpf ? last : NULL;
}

/* A module is called as perf calls it, a program by the name of its one function. */
static void set_name(struct guest_changing_module *module, const char *name)
{
	if (!module->is_bpf) {
		guest_module_name(name, module->name, sizeof(module->name));
		return;
	}
	strlcpy(module->name, name, sizeof(module->name));
	text__make_printable(module->name);
}

/**
 * kvm_guest__add_module - take what a guest's map tells of a module that came or went
 * @module: its name is not yet checked
 * @is_bpf: it is a BPF program
 * @text: the next lines of its functions
 *
 * 0, -EINVAL: there is no such module, -E2BIG: there are too many, or -ENOMEM
 */
int kvm_guest__add_module(struct kvm_guest *guest, const struct guest_symbols_module *module,
			  bool is_bpf, const char *text, size_t len)
{
	struct guest_changing_module *added = last_module(guest, module, is_bpf);
	struct guest_map_data *map = &guest->map;

	if (!added) {
		if (map->nr_modules >= GUEST_MAX_CHANGING_MODULES)
			return -E2BIG;
		added = reallocarray(map->modules, map->nr_modules + 1, sizeof(*added));
		if (!added)
			return -ENOMEM;
		map->modules = added;
		added += map->nr_modules++;
		*added = (struct guest_changing_module) {
			.start = module->start,
			.end = module->start + module->len,
			.from = module->from,
			.until = module->until,
			.is_bpf = is_bpf,
		};
		set_name(added, module->name);
	}
	return guest_text__append(&added->text, &added->len, text, len);
}

/* Is there a time at which a module that came or went has @address? */
bool kvm_guest__is_changing_module(const struct kvm_guest *guest, u64 address)
{
	for (size_t i = 0; i < guest->map.nr_modules; i++) {
		const struct guest_changing_module *module = &guest->map.modules[i];

		if (address >= module->start && address < module->end)
			return true;
	}
	return false;
}

/* 0 or -ENOMEM */
static int make_map(struct guest_changing_module *module)
{
	struct dso *dso = dso__new(module->name);
	int ret;

	if (!dso)
		return -ENOMEM;
	dso__set_kernel(dso, DSO_SPACE__KERNEL_GUEST);
	if (!module->is_bpf)
		dso__set_is_kmod(dso);
	ret = guest_text__load_symbols(dso, module->text, module->len);
	module->map = ret ? NULL : map__new2(module->start, dso);
	dso__put(dso);
	if (!module->map)
		return -ENOMEM;
	map__set_end(module->map, module->end);
	return 0;
}

/* Is the kernel itself there, or another of these modules? It cannot be, of a real one. */
static bool is_taken(const struct kvm_guest *guest, const struct guest_changing_module *module)
{
	const struct map *kernel = machine__kernel_map(guest->machine);

	if (kernel && map__start(kernel) < module->end && map__end(kernel) > module->start)
		return true;
	for (size_t i = 0; i < guest->map.nr_modules; i++) {
		const struct guest_changing_module *other = &guest->map.modules[i];

		if (other->there && other->start < module->end && other->end > module->start)
			return true;
	}
	return false;
}

/*
 * It is there from now on. What the kernel has as the size of another one is not that of its code
 * alone, and may reach to here. 0 or -errno
 */
static int add_map(struct kvm_guest *guest, struct guest_changing_module *module)
{
	int ret = 0;

	if (is_taken(guest, module))
		return 0;
	if (!module->map)
		ret = make_map(module);
	if (!ret)
		ret = maps__fixup_overlap_and_insert(machine__kernel_maps(guest->machine),
						     module->map);
	module->there = !ret;
	return ret;
}

static bool is_there_at(const struct guest_changing_module *module, u64 time)
{
	return time != GUEST_TIME_NONE && time >= module->from && time < module->until;
}

/* Sets the time around @time in which nothing comes or goes. */
static void set_window(struct guest_map_data *map, u64 time)
{
	map->modules_since = 0;
	map->modules_until = GUEST_TIME_NONE;
	for (size_t i = 0; i < map->nr_modules; i++) {
		const u64 changes[] = { map->modules[i].from, map->modules[i].until };

		for (size_t j = 0; j < ARRAY_SIZE(changes); j++) {
			if (changes[j] <= time)
				map->modules_since = max(map->modules_since, changes[j]);
			else
				map->modules_until = min(map->modules_until, changes[j]);
		}
	}
}

/**
 * kvm_guest__place_modules - have those modules in the guest's machine that it had at a time
 * @time: ns of the guest's CLOCK_BOOTTIME, or GUEST_TIME_NONE: nobody knows, so none of them
 *
 * 0 or -errno
 */
int kvm_guest__place_modules(struct kvm_guest *guest, u64 time)
{
	struct guest_map_data *map = &guest->map;
	int ret = 0;

	if (!map->nr_modules || (time == GUEST_TIME_NONE && !map->modules_until) ||
	    (time >= map->modules_since && time < map->modules_until))
		return 0;
	guest->nr_changes++;
	/* First those that go: others may be where they were. */
	for (size_t i = 0; i < map->nr_modules; i++) {
		struct guest_changing_module *module = &map->modules[i];

		if (module->there && !is_there_at(module, time)) {
			maps__remove(machine__kernel_maps(guest->machine), module->map);
			module->there = false;
		}
	}
	for (size_t i = 0; !ret && i < map->nr_modules; i++) {
		struct guest_changing_module *module = &map->modules[i];

		if (!module->there && is_there_at(module, time))
			ret = add_map(guest, module);
	}
	set_window(map, time);
	if (time == GUEST_TIME_NONE)
		map->modules_until = 0;
	return ret;
}

void kvm_guest__free_modules(struct kvm_guest *guest)
{
	for (size_t i = 0; i < guest->map.nr_modules; i++) {
		map__zput(guest->map.modules[i].map);
		free(guest->map.modules[i].text);
	}
	zfree(&guest->map.modules);
	guest->map.nr_modules = 0;
}
