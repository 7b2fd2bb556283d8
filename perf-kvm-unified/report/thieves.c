// SPDX-License-Identifier: GPL-2.0
/*
 * Who had a CPU that a vCPU wanted, and what to call it.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/cgroup.h"
#include "util/hashmap.h"
#include "util/session.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/timeline.h"
#include "kvm-unified/measure/who.h"
#include "thieves.h"

/* By what systemd's names of what it runs end */
static const char *const unit_endings[] = { ".service", ".scope", ".slice" };

/* 0 or -ENOMEM */
int thieves__init(struct thieves *thieves)
{
	*thieves = (struct thieves) {
		.by_comm = name_map__new(),
		.seen = number_map__new(),
	};
	return thieves->by_comm && thieves->seen ? 0 : -ENOMEM;
}

void thieves__exit(struct thieves *thieves)
{
	hashmap__free(thieves->by_comm);
	hashmap__free(thieves->seen);
	*thieves = (struct thieves) { };
}

/* Tasks that are told by their names alone are counted, each once. 0 or -ENOMEM */
int thieves__add(struct thieves *thieves, const struct thief *thief)
{
	long nr = 0;

	/* What has no name is no namesake. */
	if (thief->kind != THIEF_TASK || !thief->task->comm[0] ||
	    hashmap__find(thieves->seen, (long)thief->task, NULL))
		return 0;
	hashmap__find(thieves->by_comm, thief->task->comm, &nr);
	if (hashmap__add(thieves->seen, (long)thief->task, 1) ||
	    hashmap__set(thieves->by_comm, thief->task->comm, nr + 1, NULL, NULL))
		return -ENOMEM;
	return 0;
}

/* 0 or -ENOMEM */
int thief_sums__init(struct thief_sums *sums)
{
	*sums = (struct thief_sums) {
		.by_owner = name_map__new(),
		.by_task = number_map__new(),
	};
	return sums->by_owner && sums->by_task ? 0 : -ENOMEM;
}

void thief_sums__exit(struct thief_sums *sums)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (sums->by_owner) {
		hashmap__for_each_entry(sums->by_owner, entry, bkt)
			thief_sums__free(entry->pvalue, 1);
	}
	if (sums->by_task) {
		hashmap__for_each_entry(sums->by_task, entry, bkt)
			free(entry->pvalue);
	}
	hashmap__free(sums->by_owner);
	hashmap__free(sums->by_task);
	*sums = (struct thief_sums) { };
}

/* 0 or -ENOMEM */
static int thief_sums__add_task(struct thief_sums *sums, struct thief_sum *sum,
				const struct measured_task *task, u64 ns)
{
	struct thief_task *one;

	if (hashmap__find(sums->by_task, (long)task, &one)) {
		one->ns += ns;
		return 0;
	}
	one = zalloc(sizeof(*one));
	if (!one || hashmap__add(sums->by_task, (long)task, one)) {
		free(one);
		return -ENOMEM;
	}
	one->task = task;
	one->ns = ns;
	one->next = sum->all;
	sum->all = one;
	return 0;
}

/* @owner: copied; @task: another task of the host, or NULL. 0 or -ENOMEM */
int thief_sums__add(struct thief_sums *sums, const char *owner,
		    const struct measured_task *task, u64 ns)
{
	struct thief_sum *sum;

	if (hashmap__find(sums->by_owner, owner, &sum)) {
		sum->ns += ns;
		sum->several |= sum->task != task;
		return task ? thief_sums__add_task(sums, sum, task, ns) : 0;
	}
	sum = zalloc(sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	sum->owner = strdup(owner);
	sum->ns = ns;
	sum->task = task;
	if (sum->owner && !hashmap__add(sums->by_owner, sum->owner, sum))
		return task ? thief_sums__add_task(sums, sum, task, ns) : 0;
	thief_sums__free(sum, 1);
	return -ENOMEM;
}

/* The same, from VM number @vm: one VM after the other is told of. */
int thief_sums__add_from(struct thief_sums *sums, u32 vm, const char *owner,
			 const struct measured_task *task, u64 ns)
{
	int ret = thief_sums__add(sums, owner, task, ns);
	struct thief_sum *sum;

	if (ret || !hashmap__find(sums->by_owner, owner, &sum))
		return ret;
	if (!sum->nr_vms || sum->last_vm != vm)
		sum->nr_vms++;
	sum->last_vm = vm;
	return 0;
}

/* Most ns first, and the same order every time */
static int thief_task__cmp(const void *_a, const void *_b)
{
	const struct thief_task *a = _a, *b = _b;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return sort_cmp(a->task->tid, b->task->tid) ?:
	       sort_cmp(a->task->cgroup, b->task->cgroup);
}

/* Chooses those of several tasks that are told apart. 0 or -ENOMEM */
static int thief_sum__set_tasks(struct thief_sum *sum)
{
	struct thief_task *tasks;
	u32 nr = 0;

	if (!sum->several || !sum->all)
		return 0;
	for (const struct thief_task *one = sum->all; one; one = one->next)
		nr++;
	tasks = calloc(nr, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	nr = 0;
	for (const struct thief_task *one = sum->all; one; one = one->next)
		tasks[nr++] = *one;
	sort_array(tasks, nr, sizeof(*tasks), thief_task__cmp);
	sum->nr_tasks = min_t(u32, nr, THIEF_MAX_TASKS);
	sum->nr_more = nr - sum->nr_tasks;
	for (u32 i = sum->nr_tasks; i < nr; i++)
		sum->more_ns += tasks[i].ns;
	/* There may be many, and of many names for many VMs. */
	sum->tasks = reallocarray(tasks, sum->nr_tasks, sizeof(*tasks)) ?: tasks;
	return 0;
}

/* Most ns first, and the same order every time */
static int thief_sum__cmp(const void *_a, const void *_b)
{
	const struct thief_sum *a = _a, *b = _b;

	return a->ns == b->ns ? strcmp(a->owner, b->owner) : a->ns > b->ns ? -1 : 1;
}

/* @sorted: gets them, for thief_sums__free(). 0 or -ENOMEM */
int thief_sums__sorted(const struct thief_sums *sums, struct thief_sum **sorted, size_t *nr)
{
	struct hashmap_entry *entry;
	size_t bkt;

	*nr = 0;
	/* One more: none is not an error */
	*sorted = calloc(hashmap__size(sums->by_owner) + 1, sizeof(**sorted));
	if (!*sorted)
		return -ENOMEM;
	hashmap__for_each_entry(sums->by_owner, entry, bkt) {
		const struct thief_sum *sum = entry->pvalue;
		char *owner = strdup(sum->owner);

		if (!owner)
			return -ENOMEM;
		(*sorted)[*nr] = *sum;
		(*sorted)[*nr].owner = owner;
		if (thief_sum__set_tasks(&(*sorted)[(*nr)++]))
			return -ENOMEM;
	}
	sort_array(*sorted, *nr, sizeof(**sorted), thief_sum__cmp);
	return 0;
}

/* @top: gets the one with most, its name for free(), or nothing if there is none. 0 or -ENOMEM */
int thief_sums__top(const struct thief_sums *sums, struct thief_sum *top)
{
	const struct thief_sum *most = NULL;
	struct hashmap_entry *entry;
	size_t bkt;

	hashmap__for_each_entry(sums->by_owner, entry, bkt) {
		if (!most || thief_sum__cmp(entry->pvalue, most) < 0)
			most = entry->pvalue;
	}
	*top = (struct thief_sum) { };
	if (!most)
		return 0;
	top->owner = strdup(most->owner);
	top->ns = most->ns;
	return top->owner ? 0 : -ENOMEM;
}

void thief_sums__free(struct thief_sum *sorted, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(sorted[i].owner);
		free(sorted[i].tasks);
	}
	free(sorted);
}

static enum thief_kind thief__kind(const struct measurement *m, const struct thief *thief,
				   const struct axis_vcpu *self, bool woken)
{
	if (thief->vm != TIME_AXIS_NONE && thief->vm != self->vm)
		return THIEF_VM;
	if (thief->vcpu != TIME_AXIS_NONE && &m->axis.vcpus[thief->vcpu] != self)
		return THIEF_VCPU;
	if (!thief->task)
		return THIEF_UNKNOWN;
	/* Has the CPU already, and is not back in KVM_RUN yet */
	if (thief->vcpu != TIME_AXIS_NONE)
		return THIEF_SWITCHING;
	if (!thief->task->tid)
		return woken ? THIEF_WAKING : THIEF_QUOTA;
	return thief->vm != TIME_AXIS_NONE ? THIEF_VMM : THIEF_TASK;
}

/* The task that had the CPU in an interval of a vCPU that was preempted, or NULL */
static const struct measured_task *thief__task(const struct measurement *m,
					       const struct vcpu_interval *interval)
{
	if (interval->kind != VCPU_TIME_PREEMPTED || interval->task >= m->nr_tasks)
		return NULL;
	return m->tasks[interval->task];
}

/* A task of the host that works for no VM */
struct thief thief__of_task(const struct measured_task *task)
{
	return (struct thief) {
		.kind = THIEF_TASK,
		.vm = TIME_AXIS_NONE,
		.vcpu = TIME_AXIS_NONE,
		.task = task,
	};
}

/* Who had the CPU in an interval in which vCPU @self was preempted */
struct thief thief__find(const struct measurement *m, const struct axis_vcpu *self,
			 const struct vcpu_interval *interval)
{
	struct thief thief = {
		.vm = TIME_AXIS_NONE,
		.vcpu = interval->vcpu,
		.task = thief__task(m, interval),
	};

	if (thief.task) {
		thief.vcpu = thief.task->vcpu;
		thief.vm = measured_task__vm(m, thief.task);
	}
	if (thief.vcpu != TIME_AXIS_NONE)
		thief.vm = m->axis.vcpus[thief.vcpu].vm;
	thief.kind = thief__kind(m, &thief, self, interval->woken);
	return thief;
}

/* The name of what a thread does for its VM */
static const char *thread_name(const struct measured_task *task)
{
	return measured_task__is_vhost(task) ? "vhost" : task->comm[0] ? task->comm : "a thread";
}

/* The path of cgroup @id, or NULL: not recorded */
static const char *cgroup_path(const struct measurement *m, u64 id)
{
	const struct cgroup *cgroup = id ? cgroup__find(perf_session__env(m->session), id) : NULL;

	return cgroup ? cgroup->name : NULL;
}

/* The cgroup of a task: a systemd unit by its name, any other by its path. NULL: not recorded */
const char *measured_task__cgroup(const struct measurement *m, const struct measured_task *task)
{
	const char *path = cgroup_path(m, task->cgroup);
	const char *slash = path ? strrchr(path, '/') : NULL;

	for (size_t i = 0; slash && i < ARRAY_SIZE(unit_endings); i++) {
		if (str_ends_with(slash, unit_endings[i]))
			return slash + 1;
	}
	return path;
}

/* @path is cut to the cgroup that @other is in, too. "" is the root, as "/" is. */
void cgroup_path__cut(char *path, const char *other)
{
	size_t i = 0, end = 0;

	for (;; i++) {
		if ((!path[i] || path[i] == '/') && (!other[i] || other[i] == '/'))
			end = i;
		if (!path[i] || path[i] != other[i])
			break;
	}
	path[end] = '\0';
}

/* @paths: by VM, those that are known; one more thread of VM @vm is in @path. 0 or -ENOMEM */
static int add_path(char **paths, u32 vm, const char *path)
{
	if (!path)
		return 0;
	if (paths[vm])
		cgroup_path__cut(paths[vm], path);
	else
		paths[vm] = strdup(path);
	return paths[vm] ? 0 : -ENOMEM;
}

/* Adds the cgroups of all threads that are known to be of VMs' processes. 0 or -ENOMEM */
static int add_paths(char **paths, const struct measurement *m)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < m->nr_tasks; i++) {
		const struct measured_task *task = m->tasks[i];
		u32 vm = task->vcpu == TIME_AXIS_NONE ? measured_task__vm(m, task) :
							m->axis.vcpus[task->vcpu].vm;

		/* The kernel's own may be in any. */
		if (vm != TIME_AXIS_NONE && !task->kthread)
			ret = add_path(paths, vm, cgroup_path(m, task->cgroup));
	}
	for (u32 i = 0; !ret && i < m->axis.nr_vcpus; i++)
		ret = add_path(paths, m->axis.vcpus[i].vm,
			       cgroup_path(m, measurement__vcpu_cgroup(m, i)));
	return ret;
}

/* @path is cut to the cgroup that it is in. Is it in one that is not the root? */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* 0 or -ENOMEM */
static int vm_cgroups__add(struct vm_cgroups *cgroups, const char *path, u32 vm)
{
	long owner = hashmap__find(cgroups->by_path, path, NULL) ? TIME_AXIS_NONE : vm;
	char *key, *old = NULL;

	/* Everything is a part of the root. */
	if (!path[0] || !path[1])
		return 0;
	key = strdup(path);
	if (!key || hashmap__set(cgroups->by_path, key, owner, &old, NULL)) {
		free(key);
		return -ENOMEM;
	}
	free(old);
	return 0;
}

/*
 * @paths: of VMs 0 to @nr - 1, each that of the cgroup which all threads of its process are in. One
 * in which another VM is, too, is no VM's. 0 or -ENOMEM
 */
int vm_cgroups__set(struct vm_cgroups *cgroups, char *const *paths, u32 nr)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < nr; i++)
		ret = paths[i] ? vm_cgroups__add(cgroups, paths[i], i) : 0;
	for (u32 i = 0; !ret && i < nr; i++) {
		char *path = paths[i] ? strdup(paths[i]) : NULL;

		if (paths[i] && !path)
			ret = -ENOMEM;
		while (!ret && path && to_parent(path)) {
			if (hashmap__find(cgroups->by_path, path, NULL))
				ret = vm_cgroups__add(cgroups, path, i);
		}
		free(path);
	}
	return ret;
}

/*
 * Whose they are at the end. As long as it is not known where each VM is, any may be one more VM's.
 * 0 or -ENOMEM; the caller ends @cgroups in any case.
 */
int vm_cgroups__init(struct vm_cgroups *cgroups, const struct measurement *m)
{
	char **paths = calloc(m->nr_vms + 1, sizeof(*paths));
	bool known = true;
	int ret;

	cgroups->by_path = name_map__new();
	ret = cgroups->by_path && paths ? add_paths(paths, m) : -ENOMEM;
	for (u32 i = 0; !ret && i < m->nr_vms; i++)
		known &= paths[i] || m->vms[i].left_out;
	if (!ret && known)
		ret = vm_cgroups__set(cgroups, paths, m->nr_vms);
	for (u32 i = 0; paths && i < m->nr_vms; i++)
		free(paths[i]);
	free(paths);
	return ret;
}

void vm_cgroups__exit(struct vm_cgroups *cgroups)
{
	struct hashmap_entry *entry;
	size_t bkt;

	if (cgroups->by_path) {
		hashmap__for_each_entry(cgroups->by_path, entry, bkt)
			free((void *)entry->pkey);
	}
	hashmap__free(cgroups->by_path);
	cgroups->by_path = NULL;
}

/* The VM whose cgroup @path is, or a part of it; TIME_AXIS_NONE: none's, or not one's alone */
u32 vm_cgroups__find(const struct vm_cgroups *cgroups, const char *path)
{
	char parent[PATH_MAX];
	long vm;

	if (strlcpy(parent, path, sizeof(parent)) >= sizeof(parent))
		return TIME_AXIS_NONE;
	do {
		if (hashmap__find(cgroups->by_path, parent, &vm))
			return vm;
	} while (to_parent(parent));
	return TIME_AXIS_NONE;
}

/* The VM that a task of the host works for, by the cgroup that both are in, or TIME_AXIS_NONE */
u32 measured_task__helped_vm(const struct measurement *m, const struct measured_task *task,
			     const struct vm_cgroups *cgroups)
{
	const char *path = cgroup_path(m, task->cgroup);

	return path ? vm_cgroups__find(cgroups, path) : TIME_AXIS_NONE;
}

/* ", in cron.service", if that is known */
static void print_cgroup(const struct measurement *m, const struct measured_task *task,
			 char *buf, size_t size)
{
	const char *cgroup = measured_task__cgroup(m, task);

	buf[0] = '\0';
	if (cgroup)
		scnprintf(buf, size, ", in %s", cgroup);
}

/* "task rsync, pid 301, in backup.service": with what there is to act on, where it is one task */
const char *thief_sum__name(const struct measurement *m, const struct thief_sum *sum, char *buf,
			    size_t size)
{
	char cgroup[128];

	if (!sum->task || sum->several)
		return sum->owner;
	print_cgroup(m, sum->task, cgroup, sizeof(cgroup));
	if (sum->task->comm[0])
		scnprintf(buf, size, "%s, pid %d%s", sum->owner, sum->task->tid, cgroup);
	else
		scnprintf(buf, size, "%s%s", sum->owner, cgroup);
	return buf;
}

/**
 * thief__name - "on VM gamma: vcpu3"
 * @thieves: among whom it is; NULL: without pids and numbers, which are others in each recording
 * @name: gets it, @size bytes of it at most
 */
void thief__name(const struct measurement *m, const struct thief *thief,
		 const struct thieves *thieves, char *name, size_t size)
{
	const struct measured_task *task = thief->task;
	char cgroup[128];
	long nr = 0;

	switch (thief->kind) {
	case THIEF_VM:
		if (thief->vcpu != TIME_AXIS_NONE)
			scnprintf(name, size, "on VM %s: vcpu%u", m->vms[thief->vm].name,
				  m->axis.vcpus[thief->vcpu].id);
		else
			scnprintf(name, size, "on VM %s: %s", m->vms[thief->vm].name,
				  thread_name(task));
		break;
	case THIEF_VCPU:
		scnprintf(name, size, "on vcpu%u", m->axis.vcpus[thief->vcpu].id);
		break;
	case THIEF_VMM:
		scnprintf(name, size, "on its VMM: %s", thread_name(task));
		break;
	case THIEF_TASK:
		if (!thieves) {
			scnprintf(name, size, "on task %s", task->comm[0] ? task->comm : "[unknown]");
			break;
		}
		hashmap__find(thieves->by_comm, task->comm, &nr);
		if (nr > 1) {
			scnprintf(name, size, "on %ld tasks %s", nr, task->comm);
			break;
		}
		print_cgroup(m, task, cgroup, sizeof(cgroup));
		scnprintf(name, size, "on task %s%spid %d%s", task->comm,
			  task->comm[0] ? ", " : "", task->tid, cgroup);
		break;
	case THIEF_WAKING:
	case THIEF_QUOTA:
	case THIEF_SWITCHING:
		thief__owner_name(m, thief, name, size);
		break;
	case THIEF_UNKNOWN:
	default:
		strlcpy(name, "on something not sampled", size);
		break;
	}
}

/* The same, as far as it is of use where many are told of: whose it is */
void thief__owner_name(const struct measurement *m, const struct thief *thief, char *name,
		       size_t size)
{
	switch (thief->kind) {
	case THIEF_VM:
		scnprintf(name, size, "VM %s", m->vms[thief->vm].name);
		break;
	case THIEF_VCPU:
		strlcpy(name, "its other vCPUs", size);
		break;
	case THIEF_VMM:
		strlcpy(name, "its VMM", size);
		break;
	case THIEF_TASK:
		if (thief->task->comm[0])
			scnprintf(name, size, "task %s", thief->task->comm);
		else
			scnprintf(name, size, "task %d", thief->task->tid);
		break;
	case THIEF_WAKING:
		strlcpy(name, "waking up", size);
		break;
	case THIEF_QUOTA:
		strlcpy(name, "CPU idle: quota", size);
		break;
	case THIEF_SWITCHING:
		strlcpy(name, "switching", size);
		break;
	case THIEF_UNKNOWN:
	default:
		strlcpy(name, "something not sampled", size);
		break;
	}
}

/* The same, where it is not said from which VM: a VM's own threads are called by its name. */
void thief__owner_of_any(const struct measurement *m, const struct thief *thief, char *name,
			 size_t size)
{
	switch (thief->kind) {
	case THIEF_VCPU:
		scnprintf(name, size, "own vCPUs of VM %s", m->vms[thief->vm].name);
		break;
	case THIEF_VMM:
		scnprintf(name, size, "own VMM of VM %s", m->vms[thief->vm].name);
		break;
	case THIEF_VM:
	case THIEF_TASK:
	case THIEF_WAKING:
	case THIEF_QUOTA:
	case THIEF_SWITCHING:
	case THIEF_UNKNOWN:
	default:
		thief__owner_name(m, thief, name, size);
		break;
	}
}

/*
 * Is it called as one of @patterns: as thief__owner_name() has it, or by the name of the task or VM
 * alone, or by the task's pid? @several: it is one of several tasks of that name, whichever.
 */
bool thief__is_of(const struct measurement *m, const struct thief *thief,
		  struct patterns *patterns, bool several)
{
	char name[THIEF_OWNER_LEN], pid[16] = "";
	const char *alone = "";

	thief__owner_name(m, thief, name, sizeof(name));
	if (thief->kind == THIEF_VM)
		alone = m->vms[thief->vm].name;
	if (thief->kind == THIEF_TASK) {
		alone = thief->task->comm;
		if (!several)
			scnprintf(pid, sizeof(pid), "%d", thief->task->tid);
	}
	/* All of them: each marks what it is called by. */
	return patterns__match(patterns, name) | patterns__match(patterns, alone) |
	       patterns__match(patterns, pid);
}
