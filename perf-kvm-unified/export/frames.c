// SPDX-License-Identifier: GPL-2.0
/*
 * The frames of what a row of the report is: whose it was, then the process, its callers, and the
 * function; of what is no code, what it was.
 *
 * All functions that put frames onto a stack return 0 or -ENOMEM.
 */
#include <string.h>
#include <sys/types.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "util/dso.h"
#include "util/map.h"
#include "util/symbol.h"
#include "kvm-unified/measure/chains.h"
#include "kvm-unified/measure/code.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/sections.h"
#include "kvm-unified/report/tables.h"
#include "frames.h"
#include "pprof.h"
#include "stacks.h"

#define HOST_FRAME	"[host]"
#define KERNEL_FRAME	"[kernel]"
/* A task of the host that had ended: perf's number for it is -1. */
#define NOBODY_FRAME	"-"
/* What the name of a kernel's function ends with, as flamegraph.pl colours it */
#define KERNEL_SUFFIX	"_[k]"

static int push_owner(struct strbuf *stack, const struct measurement *m,
		      const struct section *section)
{
	int ret;

	if (section->level == SECTION_HOST)
		return stack__push(stack, HOST_FRAME);
	ret = stack__push(stack, "%s", m->vms[section->vm].name);
	if (ret || section->level == SECTION_VM)
		return ret;
	return stack__push(stack, "vCPU %u", section->vcpu);
}

/* @sym: or NULL: only the module is known, or not even that */
static int push_function(struct strbuf *stack, const struct symbol *sym, const char *module,
			 bool kernel)
{
	const char *suffix = kernel ? KERNEL_SUFFIX : "";

	if (sym)
		return stack__push(stack, "%s%s", sym->name, suffix);
	if (!strcmp(module, UNKNOWN_NAME))
		return stack__push(stack, UNKNOWN_NAME "%s", suffix);
	return stack__push(stack, UNKNOWN_NAME " (%s)%s", module, suffix);
}

/* The innermost one comes first in @chain. */
static int push_chain(struct strbuf *stack, const struct chain *chain)
{
	int ret = 0;

	for (u32 i = chain->nr; !ret && i--; ) {
		const struct map_symbol *ms = &chain->nodes[i].ms;

		ret = push_function(stack, ms->sym, map__module_name(ms->map),
				    ms->map && dso__kernel(map__dso(ms->map)) != DSO_SPACE__USER);
	}
	return ret;
}

/**
 * struct task - whose code a hit is
 * @comm: NULL: a guest's kernel, and it is not known which process it worked for
 * @pid: or -1: it is not known
 */
struct task {
	const char *comm;
	pid_t	   pid;
};

/* What a guest's kernel works for is not always known: see measurement__hit_guest(). */
static struct task task_of(const struct hit *hit)
{
	if (hit->cpumode == PERF_RECORD_MISC_GUEST_KERNEL && !hit->key.comm[0])
		return (struct task) { .pid = -1 };
	if (!hit->key.comm[0] && hit->key.pid < 0)
		return (struct task) { NOBODY_FRAME, -1 };
	return (struct task) { hit->key.comm, hit->key.pid };
}

static int push_task(struct strbuf *stack, const struct task *task)
{
	if (!task->comm)
		return stack__push(stack, KERNEL_FRAME);
	if (task->pid < 0)
		return stack__push(stack, "%s", task->comm);
	return stack__push(stack, "%s-%d", task->comm, task->pid);
}

/* A guest of the guest is the module of its code. */
static int push_nested(struct strbuf *stack, const struct hit *hit)
{
	return hit->key.class == PROFILE_VM ? stack__push(stack, "[%s]", hit->key.module) : 0;
}

/* The callers, and what was hit */
static int push_calls(struct strbuf *stack, const struct hit *hit)
{
	bool kernel = hit->cpumode == PERF_RECORD_MISC_KERNEL ||
		      hit->cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	int ret = hit->chain ? push_chain(stack, hit->chain) : 0;

	/* A chain begins with what was hit, where that is known by the same address. */
	if (!ret && !(hit->chain && hit->chain->nodes[0].ms.sym == hit->sym))
		ret = push_function(stack, hit->sym, hit->key.module, kernel);
	return ret;
}

/*
 * Pushes what is no code: "[steal] (on task rsync)" is a frame for the state, and one for the
 * thief in it.
 */
int frames__push_state(struct strbuf *stack, const char *name)
{
	const char *end = strstr(name, "] (");
	int ret;

	if (!end)
		return stack__push(stack, "%s", name);
	end++;
	ret = stack__push(stack, "%.*s", (int)(end - name), name);
	return ret ?: stack__push(stack, "%s", end + 1);
}

/* Is it code that a sample has hit? */
static bool is_code(const struct table_row *row)
{
	return row->hit && row->hit->cpumode;
}

/* What a sample has hit, in its process */
int frames__push_hit(struct strbuf *stack, const struct hit *hit)
{
	const struct task task = task_of(hit);

	return push_nested(stack, hit) ?: push_task(stack, &task) ?: push_calls(stack, hit);
}

/* @row of @section, with its owner outermost */
int frames__push_row(struct strbuf *stack, const struct measurement *m,
		     const struct section *section, const struct table_row *row)
{
	int ret = push_owner(stack, m, section);

	if (ret)
		return ret;
	return is_code(row) ? frames__push_hit(stack, row->hit) :
			      frames__push_state(stack, row->key->function);
}

/* ... without the owner and the process, which are labels there */
int frames__push_code(struct strbuf *stack, const struct table_row *row)
{
	if (!is_code(row))
		return frames__push_state(stack, row->key->function);
	return push_nested(stack, row->hit) ?: push_calls(stack, row->hit);
}

/* @text: NULL or "": there is none */
static int push_label(struct strbuf *stack, const char *text)
{
	return text && text[0] ? stack__push(stack, PPROF_LABEL "%s", text) :
				 stack__push(stack, PPROF_NO_LABEL);
}

/* PPROF_COMM, PPROF_PID and PPROF_CGROUP */
static int push_task_labels(struct strbuf *stack, const struct table_row *row)
{
	const struct task task = is_code(row) ? task_of(row->hit) : (struct task) { .pid = -1 };
	int ret = push_label(stack, task.comm);

	if (!ret && task.pid >= 0)
		ret = stack__push(stack, PPROF_LABEL "%d", task.pid);
	else if (!ret)
		ret = push_label(stack, NULL);
	return ret ?: push_label(stack, row->key->cgroup);
}

/* Which of a sample's values the time of a class is */
static const char *value_of(enum profile_class class)
{
	static const char *const values[PROFILE_NR_CLASSES] = {
		[PROFILE_OS]		= PPROF_CPU,
		[PROFILE_USER]		= PPROF_CPU,
		[PROFILE_VM]		= PPROF_CPU,
		[PROFILE_HOST]		= PPROF_CPU,
		[PROFILE_IDLE]		= PPROF_IDLE,
		[PROFILE_HALT_POLL]	= PPROF_IDLE,
		[PROFILE_STEAL]		= PPROF_STEAL,
	};

	return values[class] ?: PPROF_OTHER;
}

/* The labels of a row, as enum pprof_label has them */
int frames__push_labels(struct strbuf *stack, const struct measurement *m,
			const struct section *section, const struct table_row *row)
{
	int ret = stack__push(stack, PPROF_LABEL "%s", section_level__name(section->level));

	if (!ret)
		ret = push_label(stack, section->level == SECTION_HOST ?
					NULL : m->vms[section->vm].name);
	if (!ret && section->level == SECTION_VCPU)
		ret = stack__push(stack, PPROF_LABEL "%u", section->vcpu);
	else if (!ret)
		ret = push_label(stack, NULL);
	if (!ret)
		ret = push_task_labels(stack, row);
	return ret ?: stack__push(stack, "%s", value_of(row->key->class));
}
