// SPDX-License-Identifier: GPL-2.0
/*
 * Looks at a guest from the host: what its kernel is, and which processes it has, out of its
 * physical memory and nothing else. Pure: nothing is opened and nothing asked but struct
 * guest_phys, so that it can run where nothing may be opened.
 *
 * Room: memory/, the questions of collector/, asked from the host of the guest's memory.
 * Calls: collector format lib
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/collector/tasks.h"
#include "kvm-unified/collector/walk.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/errors.h"
#include "cgroups.h"
#include "current.h"
#include "files.h"
#include "instant.h"
#include "kernel.h"
#include "lives.h"
#include "look.h"
#include "maps.h"
#include "modules.h"
#include "ram.h"
#include "write.h"

/* While a process is created or ends, a pass over the tasks may fail, or miss one. */
#define MAX_PASSES		5

/* In the middle of an execve(), a process has no maps: so often they are read again. */
#define MAX_MAP_TRIES		3

/* include/linux/pid_namespace.h */
#define MAX_PID_NS_LEVEL	32

/* Looks for hours, a few a second */
#define MAX_INSTANTS		32768

/**
 * struct guest_look - what is known of one guest
 * @kernel: once it was found: @found
 * @codes: @mm_ctx: what one process has mapped, and the number of that, while that is read
 * @cgroup: that it is in, meanwhile
 * @has_cgroups: the guest uses those of cgroup v2
 * @instant: a moment before this look
 */
struct guest_look {
	struct guest_ram ram;
	struct guest_kernel kernel;
	bool	found;
	struct guest_modules modules;
	struct guest_files files;
	struct guest_cgroups cgroups;
	struct guest_lives lives;
	struct guest_codes codes;
	u64	mm_ctx;
	struct guest_cgroup cgroup;
	bool	has_cgroups;
	struct guest_instant instant;
	struct guest_instant *instants;
	size_t	nr_instants;
	size_t	instants_allocated;
};

/**
 * guest_look__new - get ready to look at a guest
 * @phys: its memory
 * @max_gpa: the guest has no memory at this address and above
 * @late: what is to be named has been before the first look
 *
 * NULL: no memory
 */
struct guest_look *guest_look__new(struct guest_phys *phys, u64 max_gpa, bool late)
{
	struct guest_look *look = zalloc(sizeof(*look));

	if (look) {
		look->ram.phys = phys;
		look->ram.max_gpa = max_gpa;
		look->lives.late = late;
	}
	return look;
}

/**
 * guest_look__find_kernel - find the guest's kernel; the first thing to be done
 * @roots: CR3s that were seen in the guest; they may be of processes that are gone
 * @nr: of them; 0: it is looked for in all of a small guest's memory
 * @err: on error, one sentence for the user: what is the matter with the guest
 *
 * May be tried again, with other roots. Return: as guest_kernel__find()
 */
int guest_look__find_kernel(struct guest_look *look, const u64 *roots, size_t nr,
			    char *err, size_t errlen)
{
	int ret;

	if (look->found)
		return 0;
	guest_ram__refill(&look->ram);
	ret = guest_kernel__find(&look->kernel, &look->ram, roots, nr, err, errlen);
	look->found = !ret;
	look->ram.stats.symbols = look->kernel.symbols.nr;
	return ret;
}

/* All passes that it takes to see the whole list. 0 or -errno; @complete: it was seen */
static int walk_tasks(struct guest_look *look, struct guest_tasks *tasks, bool *complete)
{
	struct guest_kernel *k = &look->kernel;

	*complete = false;
	for (int i = 0; i < MAX_PASSES && !*complete; i++) {
		struct guest_tasks pass;
		int ret = guest_tasks__walk(&pass, &k->layout, &k->paging.mem, PID_MAX_LIMIT);

		if (ret && ret != -EAGAIN) {
			guest_tasks__exit(&pass);
			return ret;
		}
		*complete = !ret;
		look->ram.stats.torn += !!ret;
		ret = guest_tasks__merge(tasks, &pass, *complete);
		if (ret) {
			guest_tasks__exit(&pass);
			return ret;
		}
		if (look->ram.left == 0)
			return -EDQUOT;
	}
	return 0;
}

/*
 * Does the task still have the address space that was read? In execve(), it has it before it is
 * said that it has called that, and before it is called so.
 */
static bool is_still(struct guest_kernel *k, const struct guest_cgroup *cgroup,
		     struct guest_task *task)
{
	char comm[GUEST_TASK_COMM_LEN];
	u32 tgid, flags;
	u64 mm;

	guest_ram__forget(k->paging.ram);
	if (guest_kernel__read_u64(k, task->task + k->layout.task_mm, &mm) || mm != task->mm ||
	    guest_kernel__read_u32(k, task->task + k->layout.task_tgid, &tgid) ||
	    tgid != (u32)task->pid ||
	    guest_kernel__read_u32(k, task->task + k->layout.task_flags, &flags) ||
	    guest_kernel__read(k, task->task + k->layout.task_comm, comm, sizeof(comm)) ||
	    !guest_cgroup__has(cgroup, k, task->task))
		return false;
	if (task->execed || !guest_task__has_execed(flags))
		return true;
	/* A thread that is not the first one has a name of its own. */
	task->execed = true;
	comm[sizeof(comm) - 1] = '\0';
	memcpy(task->comm, comm, sizeof(comm));
	return true;
}

/* The number of its address space, 0: not known */
static u64 read_mm_ctx(struct guest_kernel *k, u64 mm)
{
	u64 ctx;

	return k->offsets.mm_ctx != GUEST_NO_MEMBER &&
	       !guest_kernel__read_u64(k, mm + k->offsets.mm_ctx, &ctx) ? ctx : 0;
}

/*
 * Reads its mappings into look->codes, and its cgroup: none if they cannot be read. 0, -EDQUOT,
 * -ENOMEM
 */
static int read_codes(struct guest_look *look, struct guest_task *task)
{
	int ret = -EAGAIN;

	look->codes.nr = 0;
	look->mm_ctx = 0;
	look->cgroup.set = 0;
	if (!task->mm)
		return 0;
	for (int i = 0; i < MAX_MAP_TRIES && ret; i++) {
		ret = guest_codes__read(&look->codes, &look->kernel, &look->files, task->mm);
		if (!ret)
			look->mm_ctx = read_mm_ctx(&look->kernel, task->mm);
		if (!ret && look->has_cgroups)
			guest_cgroup__read(&look->cgroup, &look->cgroups, &look->kernel,
					   task->task);
		if (!ret && !is_still(&look->kernel, &look->cgroup, task))
			ret = -EAGAIN;
		if (ret == -EDQUOT || ret == -ENOMEM)
			return ret;
		look->ram.stats.torn += !!ret;
	}
	if (ret) {
		look->codes.nr = 0;
		look->mm_ctx = 0;
		look->cgroup.set = 0;
		look->ram.stats.refused++;
	}
	return 0;
}

/* Its pid in its own namespace, if that is not the first one: include/linux/pid.h */
static pid_t read_ns_pid(struct guest_kernel *k, const struct guest_task *task)
{
	const struct guest_offsets *o = &k->offsets;
	u32 level, nr, first;
	u64 pid;

	if (guest_kernel__read_u64(k, task->task + o->task_thread_pid, &pid) ||
	    guest_kernel__read_u32(k, pid + o->pid_level, &level) || !level ||
	    level > MAX_PID_NS_LEVEL ||
	    guest_kernel__read_u32(k, pid + o->pid_numbers + o->upid_nr, &first) ||
	    guest_kernel__read_u32(k, pid + o->pid_numbers + level * o->upid_size + o->upid_nr,
				   &nr))
		return 0;
	return first == (u32)task->pid && nr && nr <= PID_MAX_LIMIT ? nr : 0;
}

/*
 * Has the guest mounted cgroup v2's hierarchy? Else all are in its root, which tells nothing. If
 * that is not known, neither are the cgroups.
 */
static bool uses_cgroups(struct guest_kernel *k)
{
	u64 at = kernel_symbols__find(&k->symbols, "cgrp_dfl_visible");
	u8 visible;

	return at && !guest_kernel__read(k, at, &visible, sizeof(visible)) && visible;
}

/* The guest's time now, as far as it is known */
static u64 now(const struct guest_look *look)
{
	return guest_instant__time_at(&look->instant, guest_ram__tsc(&look->ram));
}

static int see_tasks(struct guest_look *look, struct guest_tasks *tasks)
{
	look->has_cgroups = uses_cgroups(&look->kernel);
	for (size_t i = 0; i < tasks->nr; i++) {
		struct guest_task *task = &tasks->entries[i];
		int ret = read_codes(look, task);

		if (!ret) {
			task->ns_pid = task->mm ? read_ns_pid(&look->kernel, task) : 0;
			task->cgroup = guest_cgroups__findnew(&look->cgroups, &look->cgroup);
			look->ram.stats.maps += look->codes.nr;
			ret = guest_lives__see(&look->lives, task, look->mm_ctx, now(look),
					       &look->codes);
		}
		if (ret)
			return ret;
	}
	return 0;
}

/* The number of the youngest address space that there was up to now, 0: not known */
static u64 read_last_ctx(struct guest_kernel *k)
{
	u64 at = kernel_symbols__find(&k->symbols, "last_mm_ctx_id"), ctx;

	return at && !guest_kernel__read_u64(k, at, &ctx) ? ctx : 0;
}

/* The time of this look: of the guest's clock, if that can be read */
static int begin_look(struct guest_look *look)
{
	struct guest_instant *last = &look->instant, instant;
	u64 ctx, tsc = guest_ram__tsc(&look->ram);
	int ret = guest_instant__read(&look->kernel, &instant);

	/* What it was at the last look and the TSC say it, too. */
	if (ret || (!instant.has_tsc && last->has_tsc))
		instant = *last;
	if (instant.time < last->time || (last->has_tsc && tsc && tsc < last->tsc))
		return -ESTALE;
	if (instant.has_tsc && tsc > instant.tsc) {
		instant.time = guest_instant__time_at(&instant, tsc);
		instant.tsc = tsc;
	}
	if (instant.has_tsc && look->nr_instants < MAX_INSTANTS &&
	    (!look->nr_instants || instant.tsc > look->instants[look->nr_instants - 1].tsc)) {
		if (grow_array(look->instants, look->nr_instants, look->instants_allocated))
			return -ENOMEM;
		look->instants[look->nr_instants++] = instant;
	}
	look->instant = instant;
	ctx = read_last_ctx(&look->kernel);
	ret = guest_files__begin_look(&look->files);
	return ret ?: guest_lives__begin_look(&look->lives, now(look), ctx);
}

static void count(struct guest_look *look, const struct guest_tasks *tasks)
{
	struct guest_look_stats *stats = &look->ram.stats;

	stats->processes = 0;
	for (size_t i = 0; i < tasks->nr; i++)
		stats->processes += tasks->entries[i].pt_root && tasks->entries[i].pid;
	stats->files = look->files.nr_programs;
	stats->build_ids = 0;
	for (size_t i = 0; i < look->files.nr; i++)
		stats->build_ids += !!look->files.entries[i].build_id.size;
}

/**
 * guest_look__tasks - look at the guest's processes
 * @modules: and at its modules and BPF programs: those of the last such look are written
 * @err: on error, one sentence for the user
 *
 * As often as it is wanted: what was seen in earlier looks is kept. Return: 0; -ENOENT: the
 * kernel was not found; -ESTALE: its time goes back; -EDQUOT: it takes too long: what was found is
 * kept; -EBADMSG, -EAGAIN
 * and so on: the list of tasks cannot be read; -ENOMEM
 */
int guest_look__tasks(struct guest_look *look, bool modules, char *err, size_t errlen)
{
	struct guest_tasks tasks = { };
	bool complete;
	int ret;

	if (!look->found)
		return fail(err, errlen, -ENOENT, "its kernel is not known");
	guest_ram__refill(&look->ram);
	guest_paging__flush(&look->kernel.paging);
	look->ram.stats.maps = 0;
	ret = begin_look(look);
	if (!ret)
		ret = walk_tasks(look, &tasks, &complete);
	if (!ret)
		ret = see_tasks(look, &tasks);
	if (!ret)
		guest_lives__end_look(&look->lives, complete);
	if (!ret && modules)
		ret = guest_modules__read(&look->modules, &look->kernel);
	count(look, &tasks);
	guest_tasks__exit(&tasks);
	if (ret == -ESTALE)
		return fail(err, errlen, ret, "it was booted again meanwhile");
	if (ret == -EDQUOT)
		return fail(err, errlen, ret, "looking at its processes takes too long");
	if (ret)
		return fail(err, errlen, ret, "its processes cannot be read: %s", strerror(-ret));
	return 0;
}

/**
 * guest_look__write - write a guest map of all that was found
 * @fd: for write()
 * @orc: with the tables by which its kernel is unwound
 * @err: on error, one sentence for the user
 *
 * Return: 0; -ENOENT: the kernel was not found; or -errno
 */
int guest_look__write(struct guest_look *look, int fd, bool orc, char *err, size_t errlen)
{
	const struct guest_found found = {
		.kernel = &look->kernel,
		.modules = &look->modules,
		.files = &look->files,
		.cgroups = &look->cgroups,
		.lives = &look->lives,
		.instants = look->instants,
		.nr_instants = look->nr_instants,
		.orc = orc,
	};
	int ret;

	if (!look->found)
		return fail(err, errlen, -ENOENT, "its kernel is not known");
	guest_ram__refill(&look->ram);
	ret = guest_found__write(&found, fd);
	return ret ? fail(err, errlen, ret, "its map cannot be written: %s", strerror(-ret)) : 0;
}

/**
 * guest_look__current - find where the guest has the tasks that run
 * @err: on error, one sentence for the user
 *
 * Return: as guest_current__find(), or -ENOENT: the kernel was not found
 */
int guest_look__current(struct guest_look *look, struct guest_current *current,
			char *err, size_t errlen)
{
	int ret;

	if (!look->found)
		return fail(err, errlen, -ENOENT, "its kernel is not known");
	guest_ram__refill(&look->ram);
	ret = guest_current__find(current, &look->kernel);
	if (ret == -EDQUOT)
		return fail(err, errlen, ret, "finding its current tasks takes too long");
	return ret ? fail(err, errlen, ret, "where it has its current tasks is not known") : 0;
}

const struct guest_look_stats *guest_look__stats(const struct guest_look *look)
{
	return &look->ram.stats;
}

void guest_look__delete(struct guest_look *look)
{
	if (!look)
		return;
	guest_lives__exit(&look->lives);
	guest_cgroups__exit(&look->cgroups);
	guest_codes__exit(&look->codes);
	guest_files__exit(&look->files);
	guest_modules__exit(&look->modules);
	guest_kernel__exit(&look->kernel);
	free(look->instants);
	free(look);
}
