// SPDX-License-Identifier: GPL-2.0
/*
 * Guests whose processes are known, and the functions of these are not: their files are
 * missing, as a rule.
 */
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/warnings.h"
#include "hits.h"
#include "measurement.h"
#include "nameless.h"
#include "profile.h"
#include "sections.h"
#include "tally.h"

/* Percent of a guest's time in user mode: less is a program or two of many */
#define MUCH	20

/**
 * struct nameless - a VM's time in user mode, ns
 * @nameless: in files that have no symbols here
 * @most: what most of that is in, if any is
 */
struct nameless {
	u64	all;
	u64	nameless;
	u64	most_ns;
	const struct hit *most;
};

static void add_vcpu(struct nameless *vm, const struct measurement *m, const struct tally *tally)
{
	const struct tally_sum *sum;

	for (u32 i = 0; (sum = hit_sums__next(&tally->hits[PROFILE_TIME], &i)); i++) {
		const struct hit *hit = m->hits.by_idx[i];
		u64 ns = sum->sum;

		if (hit->key.class != PROFILE_USER)
			continue;
		vm->all += ns;
		/* Without a map, there is no file to look for. */
		if (hit->sym || !hit->map)
			continue;
		vm->nameless += ns;
		if (ns > vm->most_ns) {
			vm->most_ns = ns;
			vm->most = hit;
		}
	}
}

static void warn(const struct measurement *m, const struct nameless *vms)
{
	struct name_list names = { };
	u64 all = 0, nameless = 0;

	for (u32 vm = 0; vm < m->nr_vms; vm++) {
		char name[NAME_SHOWN_LEN];

		if (!vms[vm].most || percent_of(vms[vm].nameless, vms[vm].all) < MUCH)
			continue;
		all += vms[vm].all;
		nameless += vms[vm].nameless;
		scnprintf(name, sizeof(name), "%s (%s)", m->vms[vm].name,
			  vms[vm].most->key.module);
		name_list__add(&names, name);
	}
	if (names.nr)
		unified_warning("%.0f %% of their user time has no function names, as files of these guests are not here:\n"
				"%s. See -v, and --guest-root.\n",
				percent_of(nameless, all), name_list__end(&names));
}

/*
 * When all is known, if there are tables. The report is the same without these words, and without
 * memory for them.
 */
void sections__warn_nameless(const struct sections *sections)
{
	const struct measurement *m = sections->m;
	struct nameless *vms;

	if (!sections->nr)
		return;
	vms = calloc(m->nr_vms + 1, sizeof(*vms));
	if (!vms)
		return;
	for (u32 i = 0; i < sections->nr_vcpus; i++)
		add_vcpu(&vms[m->axis.vcpus[i].vm], m, &sections->vcpus[i]);
	warn(m, vms);
	free(vms);
}
