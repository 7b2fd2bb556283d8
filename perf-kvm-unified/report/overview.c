// SPDX-License-Identifier: GPL-2.0
/*
 * A line for each VM: where the time of its vCPUs went, and who has stolen of it. Made of the
 * sums alone, without any table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hist.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/timeline.h"
#include "overview.h"
#include "sections.h"

/* What add_vm() needs; @thieves: from all VMs */
struct overview_arg {
	struct overview *overview;
	struct sections *sections;
	const struct measurement *m;
	struct thief_sums thieves;
};

/* What the calls of sections__each_time() need */
struct vcpu_sums {
	struct sections		*sections;
	const struct measurement *m;
	const struct axis_vcpu	*vcpu;
	struct profile		profile;
	struct thief_sums	*thieves;	/* from this VM */
	struct thief_sums	*all_thieves;	/* from all */
};

static int add_time(const struct vcpu_interval *interval, u64 time, void *arg)
{
	struct vcpu_sums *sums = arg;
	enum profile_class class = vcpu_interval__class(sums->m, sums->sections->opts->attribution,
							interval);
	const struct measured_task *task;
	struct thief thief;
	char owner[THIEF_OWNER_LEN];
	int ret;

	profile__add(&sums->profile, class, PROFILE_TIME, time);
	if (class != PROFILE_STEAL || !time)
		return 0;
	thief = thief__find(sums->m, sums->vcpu, interval);
	thief__owner_name(sums->m, &thief, owner, sizeof(owner));
	task = thief.kind == THIEF_TASK ? thief.task : NULL;
	ret = thief_sums__add(sums->thieves, owner, task, time);
	if (ret)
		return ret;
	thief__owner_of_any(sums->m, &thief, owner, sizeof(owner));
	return thief_sums__add_from(sums->all_thieves, sums->vcpu->vm, owner, task, time);
}

static void add_hits(struct profile *p, const struct measurement *m, const struct hit_sums *hits)
{
	const struct tally_sum *sum;

	for (u32 hit = 0; (sum = hit_sums__next(hits, &hit)); hit++)
		profile__add(p, m->hits.by_idx[hit]->key.class, PROFILE_TIME, sum->sum);
}

/* Percent that was stolen; of no time, nothing was. */
double overview_vcpu__percent(const struct overview_vcpu *vcpu)
{
	return profile__percent(&vcpu->profile, vcpu->profile.classes[PROFILE_STEAL]);
}

/* There is room for it. */
static int overview_vm__add_vcpu(struct overview_vm *vm, struct overview_arg *oa,
				 const struct axis_vcpu *vcpu, struct thief_sums *thieves)
{
	struct sections *sections = oa->sections;
	const struct measurement *m = oa->m;
	const struct tally *tally = sections__tally(sections, vcpu - m->axis.vcpus);
	struct vcpu_sums sums = {
		.sections = sections, .m = m, .vcpu = vcpu,
		.thieves = thieves, .all_thieves = &oa->thieves,
	};
	struct overview_vcpu *line = &vm->vcpus[vm->nr_vcpus];
	int ret;

	if (!tally)
		return -ENOMEM;
	add_hits(&sums.profile, m, &tally->hits[PROFILE_TIME]);
	ret = sections__each_time(sections, m, vcpu, add_time, &sums);
	if (ret)
		return ret;
	*line = (struct overview_vcpu) { .id = vcpu->id, .profile = sums.profile };
	if (overview_vcpu__percent(line) > overview_vcpu__percent(&vm->vcpus[vm->worst]))
		vm->worst = vm->nr_vcpus;
	if (overview_vcpu__percent(line) < overview_vcpu__percent(&vm->vcpus[vm->least]))
		vm->least = vm->nr_vcpus;
	vm->nr_vcpus++;
	vm->guest_steal += measurement__guest_steal(m, vcpu - m->axis.vcpus);
	for (int class = 0; class < PROFILE_NR_CLASSES; class++)
		profile__add(&vm->profile, class, PROFILE_TIME, sums.profile.classes[class]);
	return 0;
}

static int overview_vm__init(struct overview_vm *vm, struct overview_arg *oa,
			     const struct vm_vcpus *vcpus)
{
	struct thief_sums thieves;
	int ret = thief_sums__init(&thieves);

	*vm = (struct overview_vm) {
		.vm = vcpus->vm,
		.vcpus = calloc(vcpus->nr + 1, sizeof(*vm->vcpus)),
	};
	if (!vm->vcpus)
		ret = -ENOMEM;
	for (u32 i = 0; !ret && i < vcpus->nr; i++)
		ret = overview_vm__add_vcpu(vm, oa, vcpus->vcpus[i], &thieves);
	if (!ret)
		ret = thief_sums__sorted(&thieves, &vm->thieves, &vm->nr_thieves);
	thief_sums__exit(&thieves);
	return ret;
}

/* Percent in which it could have run, but another had the CPU, or a limit of its own forbade it */
static double overview_vm__withheld(const struct overview_vm *vm)
{
	const u64 *classes = vm->profile.classes;

	return profile__percent(&vm->profile,
				classes[PROFILE_STEAL] + classes[PROFILE_THROTTLED]);
}

/* The VM from which most was withheld is first, then by number: the order is always the same. */
static int vm__cmp(const void *_a, const void *_b)
{
	const struct overview_vm *a = _a, *b = _b;
	double withheld_a = overview_vm__withheld(a), withheld_b = overview_vm__withheld(b);

	if (withheld_a != withheld_b)
		return withheld_a > withheld_b ? -1 : 1;
	return sort_cmp(a->vm, b->vm);
}

static int add_vm(const struct vm_vcpus *vcpus, void *arg)
{
	struct overview_arg *oa = arg;
	struct overview *overview = oa->overview;
	struct overview_vm *vms = reallocarray(overview->vms, overview->nr + 1, sizeof(*vms));

	if (!vms)
		return -ENOMEM;
	overview->vms = vms;
	return overview_vm__init(&vms[overview->nr++], oa, vcpus);
}

/**
 * overview__build - of the VMs and vCPUs that are wanted
 *
 * When the axis is at its end. 0 or -ENOMEM; the caller ends @overview in any case.
 */
int overview__build(struct overview *overview, struct sections *sections,
		    const struct measurement *m)
{
	struct overview_arg arg = { .overview = overview, .sections = sections, .m = m };
	int ret = thief_sums__init(&arg.thieves) ?: sections__each_vm(sections, m, add_vm, &arg);

	overview->knows_guest_steal = m->axis.span.timeline && !sections->opts->nr_times &&
				      !sections->opts->cpus;
	if (!ret)
		ret = thief_sums__sorted(&arg.thieves, &overview->thieves, &overview->nr_thieves);
	thief_sums__exit(&arg.thieves);
	if (!ret)
		ret = vm_cgroups__init(&overview->cgroups, m);
	if (!ret)
		sort_array(overview->vms, overview->nr, sizeof(*overview->vms), vm__cmp);
	return ret;
}

void overview__exit(struct overview *overview)
{
	for (u32 i = 0; i < overview->nr; i++) {
		thief_sums__free(overview->vms[i].thieves, overview->vms[i].nr_thieves);
		free(overview->vms[i].vcpus);
	}
	thief_sums__free(overview->thieves, overview->nr_thieves);
	vm_cgroups__exit(&overview->cgroups);
	zfree(&overview->vms);
	overview->nr = 0;
}
