// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of a guest's programs, as it has them in memory: for files that the host has not
 * got, neither below the guest's root nor in perf's build-id cache.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/dso.h"
#include "util/dsos.h"
#include "util/machine.h"
#include "util/symbol.h"
#include "util/util.h"
#include "files.h"
#include "guest.h"
#include "programs.h"
#include "symbol-text.h"

/* A map with more is none: see MAX_PROGRAMS of the side that writes. */
#define GUEST_MAX_PROGRAMS	4096

static struct guest_program *find_program(struct kvm_guest *guest, const struct build_id *bid)
{
	struct guest_map_data *map = &guest->map;

	/* The last one is the one that gets more. */
	for (size_t i = map->nr_programs; i--;) {
		struct guest_program *program = &map->programs[i];

		if (program->bid.size == bid->size &&
		    !memcmp(program->bid.data, bid->data, bid->size))
			return program;
	}
	return NULL;
}

static struct guest_program *new_program(struct kvm_guest *guest, const struct build_id *bid)
{
	struct guest_map_data *map = &guest->map;
	struct guest_program *grown;

	grown = reallocarray(map->programs, map->nr_programs + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	map->programs = grown;
	grown += map->nr_programs++;
	*grown = (struct guest_program) { .bid = *bid };
	return grown;
}

/**
 * kvm_guest__add_program - take the next lines of the functions of the file with @bid
 *
 * 0, -E2BIG: there are too many files, or -ENOMEM
 */
int kvm_guest__add_program(struct kvm_guest *guest, const struct build_id *bid,
			   const char *text, size_t len)
{
	struct guest_program *program = find_program(guest, bid);

	if (!program && guest->map.nr_programs >= GUEST_MAX_PROGRAMS)
		return -E2BIG;
	if (!program)
		program = new_program(guest, bid);
	return program ? guest_text__append(&program->text, &program->len, text, len) : -ENOMEM;
}

/* Does the host have the file, or its debug information, by the build-id? */
static bool host_has(struct dso *dso)
{
	static const enum dso_binary_type types[] = {
		DSO_BINARY_TYPE__BUILD_ID_CACHE,
		DSO_BINARY_TYPE__BUILD_ID_CACHE_DEBUGINFO,
		DSO_BINARY_TYPE__BUILDID_DEBUGINFO,
	};
	char path[PATH_MAX], root[] = "";

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!dso__read_binary_type_filename(dso, types[i], root, path, sizeof(path)) &&
		    is_regular_file(path))
			return true;
	}
	return false;
}

static int load_dso(struct dso *dso, void *_guest)
{
	struct kvm_guest *guest = _guest;
	const struct guest_program *program;

	if (dso__loaded(dso) || !dso__has_build_id(dso) ||
	    !strstarts(dso__long_name(dso), GUEST_FILE_PREFIX))
		return 0;
	program = find_program(guest, dso__bid(dso));
	return program && !host_has(dso) ?
	       guest_text__load_symbols(dso, program->text, program->len) : 0;
}

/**
 * kvm_guest__load_program - the file @name is mapped: it gets the functions that are known
 * @name: as perf knows it
 *
 * Nothing before the first sample: see kvm_guest__load_symbols(). 0 or -ENOMEM
 */
int kvm_guest__load_program(struct kvm_guest *guest, const char *name, const struct build_id *bid)
{
	struct dso_id id = { .mmap2_valid = false, .build_id = *bid };
	struct dso *dso;
	int ret;

	if (!guest->loaded || !find_program(guest, bid))
		return 0;
	dso = machine__findnew_dso_id(guest->machine, name, &id);
	if (!dso)
		return -ENOMEM;
	ret = load_dso(dso, guest);
	dso__put(dso);
	return ret;
}

/* All files that are mapped. 0 or -ENOMEM */
int kvm_guest__load_programs(struct kvm_guest *guest)
{
	if (!guest->map.nr_programs)
		return 0;
	return dsos__for_each_dso(&guest->machine->dsos, load_dso, guest);
}

void kvm_guest__free_programs(struct kvm_guest *guest)
{
	for (size_t i = 0; i < guest->map.nr_programs; i++)
		free(guest->map.programs[i].text);
	zfree(&guest->map.programs);
	guest->map.nr_programs = 0;
}
