// SPDX-License-Identifier: GPL-2.0
/*
 * Guests whose processes are known, and the functions of these are not: their files are
 * missing, as a rule.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "util/map.h"
#include "kvm-unified/guests/files.h"
#include "kvm-unified/guests/guest.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "nameless.h"
#include "profile.h"
#include "sections.h"
#include "tally.h"

/* Percent of a guest's time in user mode: less is a program or two of many */
#define MUCH	20
/* The same where it is known that nothing but another program would help */
#define MUCH_WITHOUT_BUILD_ID	1.0

/* Why functions have no names, but for files without a build-id, and what helps */
enum {
	NAMELESS_FILE,
	NAMELESS_JIT,
	NR_NAMELESS,
};

static const struct {
	const char *cause;
	const char *help;
} nameless_why[] = {
	[NAMELESS_FILE] = {
		"these files are not here", "See -v, and --guest-root.",
	},
	[NAMELESS_JIT] = {
		"programs made it while they ran and wrote no symbols",
		"What runs them is to write /tmp/perf-<pid>.map or a jitdump, as for perf in the guest.",
	},
};

/**
 * struct nameless_time - that has no names of functions, for one of the causes
 * @ns: all of it
 * @most: what most of that is in, if any is
 * @most_ns: so much of it
 */
struct nameless_time {
	u64	ns;
	u64	most_ns;
	const struct hit *most;
};

/**
 * struct nameless - a VM's time in user mode, ns
 * @without_build_id: files without a build-id that are not here
 * @times: in others that have no symbols here, and in code without a file
 */
struct nameless {
	struct nameless_files without_build_id;
	u64	all;
	struct nameless_time times[NR_NAMELESS];
};

/* 0 or -ENOMEM; as a file may be in @files several times, so may its time */
int nameless_files__add(struct nameless_files *files, const char *name, u64 ns)
{
	if (grow_array(files->entries, files->nr, files->allocated))
		return -ENOMEM;
	files->entries[files->nr++] = (struct nameless_file) { .name = name, .ns = ns };
	files->ns += ns;
	return 0;
}

void nameless_files__exit(struct nameless_files *files)
{
	free(files->entries);
}

static int nameless_file__cmp_names(const void *a, const void *b)
{
	return strcmp(((const struct nameless_file *)a)->name,
		      ((const struct nameless_file *)b)->name);
}

/* Most first */
static int nameless_file__cmp(const void *_a, const void *_b)
{
	const struct nameless_file *a = _a, *b = _b;

	return a->ns != b->ns ? sort_cmp(b->ns, a->ns) : strcmp(a->name, b->name);
}

/* Each once, with all of its time, and the largest first */
static void nameless_files__sort(struct nameless_files *files)
{
	size_t nr = 0;

	sort_array(files->entries, files->nr, sizeof(*files->entries), nameless_file__cmp_names);
	for (size_t i = 0; i < files->nr; i++) {
		const struct nameless_file *file = &files->entries[i];

		if (nr && !strcmp(files->entries[nr - 1].name, file->name))
			files->entries[nr - 1].ns += file->ns;
		else
			files->entries[nr++] = *file;
	}
	files->nr = nr;
	sort_array(files->entries, nr, sizeof(*files->entries), nameless_file__cmp);
}

/**
 * nameless_files__describe - what the files cost a guest, and what to do
 * @files: not empty; each is in it once afterwards
 * @guest: its name
 * @all_ns: its time in user mode
 * @nr_others: so many files of the guest's root directory have such names, and are others
 * @advise: not only what they cost
 */
void nameless_files__describe(struct nameless_files *files, const char *guest, u64 all_ns,
			      u64 nr_others, bool advise, char *buf, size_t size)
{
	char others[96] = "";
	struct name_list names = { };

	nameless_files__sort(files);
	if (nr_others)
		scnprintf(others, sizeof(others),
			  "; %" PRIu64 " of such names %s below --guest-root, and not the guest's",
			  nr_others, nr_others == 1 ? "is" : "are");
	for (size_t i = 0; i < files->nr; i++) {
		const char *name = files->entries[i].name;
		size_t len = strlen(name);

		/* What a path ends with says more. */
		name_list__add(&names, len > NAME_SHOWN_LEN ? name + len - NAME_SHOWN_LEN : name);
	}
	scnprintf(buf, size,
		  "%.1f %% of %s's user time is in %zu file%s without a build-id: %s;\n"
		  "%s functions have no names%s%s.\n",
		  percent_of(files->ns, all_ns), guest, files->nr, files->nr == 1 ? "" : "s",
		  name_list__end(&names), files->nr == 1 ? "its" : "their", others,
		  advise ? ". Link with --build-id (Go: -ldflags=-B=gobuildid),\n"
			   "or have the same files below --guest-root" : "");
}

/* 0 or -ENOMEM */
static int add_vcpu(struct nameless *vm, const struct kvm_guest *guest,
		    const struct measurement *m, const struct tally *tally)
{
	const struct tally_sum *sum;

	for (u32 i = 0; (sum = hit_sums__next(&tally->hits[PROFILE_TIME], &i)); i++) {
		const struct hit *hit = m->hits.by_idx[i];
		struct nameless_time *time;
		const char *file;
		u64 ns = sum->sum;

		if (hit->key.class != PROFILE_USER)
			continue;
		vm->all += ns;
		/* Without a map, there is no file to look for. */
		if (hit->sym || !hit->map)
			continue;
		file = guest_file__without_build_id(guest, map__dso(hit->map));
		if (file) {
			if (nameless_files__add(&vm->without_build_id, file, ns))
				return -ENOMEM;
			continue;
		}
		time = &vm->times[strstarts(hit->key.module, GUEST_JIT_MODULE) ? NAMELESS_JIT :
									   NAMELESS_FILE];
		time->ns += ns;
		if (ns > time->most_ns) {
			time->most_ns = ns;
			time->most = hit;
		}
	}
	return 0;
}

/* A line or two for each of the first guests, and what to do once */
static void warn_without_build_id(const struct measurement *m, struct nameless *vms)
{
	u32 nr = 0;

	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		struct nameless_files *files = &vms[vm].without_build_id;
		char buf[1024];

		if (percent_of(files->ns, vms[vm].all) < MUCH_WITHOUT_BUILD_ID || !files->nr ||
		    nr++ >= NAMES_SHOWN)
			continue;
		nameless_files__describe(files, m->vms[vm].name, vms[vm].all,
					 m->vms[vm].guest ? m->vms[vm].guest->nr_other_files : 0,
					 /*advise=*/nr == 1, buf, sizeof(buf));
		unified_warning("%s", buf);
	}
	if (nr > NAMES_SHOWN)
		unified_warning("%u more guests have such files.\n", nr - NAMES_SHOWN);
}

/* One sentence for all guests of which much is nameless for this cause */
static void warn(const struct measurement *m, const struct nameless *vms, u32 why)
{
	struct name_list names = { };
	u64 all = 0, nameless = 0;

	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		const struct nameless_time *time = &vms[vm].times[why];
		char name[NAME_SHOWN_LEN];

		if (!time->most || percent_of(time->ns, vms[vm].all) < MUCH)
			continue;
		all += vms[vm].all;
		nameless += time->ns;
		scnprintf(name, sizeof(name), "%s (%s)", m->vms[vm].name, time->most->key.module);
		name_list__add(&names, name);
	}
	if (names.nr)
		unified_warning("%s:\n%.0f %% of the user time has no function names, as %s. %s\n",
				name_list__end(&names), percent_of(nameless, all),
				nameless_why[why].cause, nameless_why[why].help);
}

/*
 * When all is known, if there are tables. The report is the same without these words, and without
 * memory for them.
 */
void sections__warn_nameless(const struct sections *sections)
{
	const struct measurement *m = sections->m;
	struct nameless *vms;
	int ret = 0;

	if (!sections->nr)
		return;
	vms = calloc(m->nr_vms + 1, sizeof(*vms));
	if (!vms)
		return;
	for (u32 i = 0; !ret && i < sections->nr_vcpus; i++) {
		u32 vm = m->axis.vcpus[i].vm;

		if (!section_opts__wants_vm(sections->opts, m->vms[vm].name))
			continue;
		ret = add_vcpu(&vms[vm], m->vms[vm].guest, m, &sections->vcpus[i]);
	}
	if (!ret) {
		for (u32 why = 0; why < NR_NAMELESS; why++)
			warn(m, vms, why);
		warn_without_build_id(m, vms);
	}
	for (u32 vm = 0; vm < m->nr_vms; vm++)
		nameless_files__exit(&vms[vm].without_build_id);
	free(vms);
}
