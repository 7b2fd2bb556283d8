// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a sample: whose it is and what it has hit, and then onto the axis, or to what its
 * event has counted.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/env.h"
#include "util/event.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/lib/array.h"
#include "code.h"
#include "measurement.h"
#include "memo.h"
#include "samples.h"
#include "who.h"

/* Makes sure that there is room for what is known of the CPU. 0 or -ENOMEM */
static int measurement__add_cpu(struct measurement *m, u32 cpu)
{
	struct measured_cpu *cpus;

	if (cpu < m->nr_cpus)
		return 0;
	cpus = reallocarray(m->cpus, cpu + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	memset(cpus + m->nr_cpus, 0, (cpu + 1 - m->nr_cpus) * sizeof(*cpus));
	m->cpus = cpus;
	m->nr_cpus = cpu + 1;
	return 0;
}

static bool is_guest_mode(u8 cpumode)
{
	return cpumode == PERF_RECORD_MISC_GUEST_USER || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/* Who had the CPU when the sample was taken; @as->vcpu is known */
static enum axis_sample_kind measurement__kind(const struct measurement *m,
					       const struct perf_sample *sample,
					       const struct axis_sample *as)
{
	switch (sample->cpumode) {
	case PERF_RECORD_MISC_GUEST_USER:
		return AXIS_SAMPLE_GUEST_USER;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return AXIS_SAMPLE_GUEST_KERNEL;
	default:
		break;
	}
	if (sample->vcpu_ctx.flags & PERF_VCPU_LOADED)
		return AXIS_SAMPLE_EXIT;
	if (as->vcpu == TIME_AXIS_NONE)
		return sample->tid ? AXIS_SAMPLE_HOST : AXIS_SAMPLE_IDLE;
	/* Without contexts in the data, KVM and a system call look the same. */
	return sample->cpumode == PERF_RECORD_MISC_USER ||
	       measurement__vcpus_by(m) != VCPUS_BY_NOTHING ?
	       AXIS_SAMPLE_VMM : AXIS_SAMPLE_EXIT;
}

/* Numbers that are beyond reason are not followed: the file is damaged. */
int measurement__place(struct measurement *m, struct perf_sample *sample)
{
	const struct perf_env *env = &m->session->header.env;

	/* The kernel's times are signed; none at all is -1. */
	if (sample->time > LLONG_MAX || sample->cpu == (u32)-1)
		return -ERANGE;
	/* machine__resolve() looks it up in a table of the CPUs there are. */
	if (sample->cpu >= TIME_AXIS_MAX_CPUS ||
	    (env->nr_cpus_avail > 0 && sample->cpu >= (u32)env->nr_cpus_avail)) {
		sample->cpu = -1;
		return -ERANGE;
	}
	return measurement__add_cpu(m, sample->cpu);
}

static int measurement__axis_sample(struct measurement *m, struct perf_sample *sample,
				    struct machine *machine, u32 column,
				    struct axis_sample *as)
{
	const struct vcpu_sample *ctx = &sample->vcpu_ctx;
	bool in_guest = is_guest_mode(sample->cpumode);
	pid_t pid = in_guest ? machine->pid : (pid_t)sample->pid;
	struct memo_thread *thread = measurement__thread(m, in_guest, pid, sample->tid);
	struct kvm_guest *guest = thread->guest;
	int ret;

	/* The guest's time, of which the event is not to tell. */
	if (ctx->flags & PERF_VCPU_EXCLUDED)
		return measurement__hit_vm(m, sample, guest, sample->pid, as);
	if (!in_guest) {
		as->vcpu = measurement__vcpu_of_tid(m, sample->tid);
		/* A thread that was reaped has no number any more. */
		if ((pid_t)sample->tid >= 0)
			as->task = measurement__task(m, thread, machine, as->vcpu);
		if (sample->cgroup && as->task != TIME_AXIS_NONE)
			m->tasks[as->task]->cgroup = sample->cgroup;
	}
	if (ctx->flags & PERF_VCPU_EXIT_REASON_VALID) {
		as->exit_reason = ctx->exit_reason;
		as->isa = vcpu_sample__isa(ctx);
	}
	if (guest && vcpu_sample__has_id(ctx)) {
		ret = measurement__vcpu(m, thread, guest, ctx->vcpu_id);
		if (ret == -ENOMEM)
			return ret;
		if (ret == -ERANGE)
			m->nr_unplaced++;
		as->vcpu = ret < 0 ? TIME_AXIS_NONE : (u32)ret;
		/* Events know better: other ioctls load a vCPU, too. */
		if (!in_guest && ret >= 0 && !m->has_timeline)
			hashmap__set(m->vcpu_by_tid, sample->tid, ret, NULL, NULL);
	} else if (guest && in_guest) {
		/* Recorded without its id: the thread tells, see kvm_guests__resolve() */
		ret = measurement__findnew_vcpu(m, guest, sample->vcpu);
		if (ret == -ENOMEM)
			return ret;
		as->vcpu = ret < 0 ? TIME_AXIS_NONE : (u32)ret;
	}

	if (in_guest) {
		if ((ctx->flags & PERF_VCPU_LOADED) && !vcpu_sample__interrupted_guest(ctx))
			return measurement__relabel(m, sample, as);
		if (!guest || as->vcpu == TIME_AXIS_NONE)
			return measurement__hit_vm(m, sample, guest,
						   machine->pid ?: (pid_t)sample->pid, as);
	}

	as->kind = measurement__kind(m, sample, as);
	ret = measurement__resolve(m, sample, machine, in_guest ? guest : NULL, column, &as->hit);
	if (!ret && as->kind == AXIS_SAMPLE_GUEST_KERNEL && m->hits.by_idx[as->hit]->key.comm[0])
		m->vms[m->axis.vcpus[as->vcpu].vm].names_kernel = true;
	return ret;
}

/* A CPU is sampled again, ns: it may not have been since. 0 or -ENOMEM */
int measurement__end_throttle(struct measurement *m, u32 cpu, u64 time)
{
	struct axis_gap gap = {
		.from = m->cpus[cpu].throttled,
		.until = time,
		.cpu = cpu,
		.samples_only = true,
	};

	m->cpus[cpu].throttled = 0;
	return gap.from ? time_axis__add_gap(&m->axis, &gap) : 0;
}

/* How far apart samples are: of a CPU that is busy, as far as the first ones show */
static void measurement__add_distance(struct measurement *m, u32 cpu, u64 time)
{
	u64 last = m->cpus[cpu].last_sample;

	m->cpus[cpu].last_sample = time;
	if (last && time > last && m->nr_distances < NR_DISTANCES)
		m->distances[m->nr_distances++] = time - last;
}

/* A thread that runs no vCPU may work for a VM, whose vCPUs may wait for that. 0 or -ENOMEM */
static int measurement__add_work(struct measurement *m, const struct axis_sample *as)
{
	u32 vm;

	if (as->kind != AXIS_SAMPLE_HOST || as->task == TIME_AXIS_NONE)
		return 0;
	vm = measured_task__vm(m, m->tasks[as->task]);
	return vm == TIME_AXIS_NONE ? 0 : time_axis__add_work(&m->axis, vm, as->time);
}

/* A sample of the counted event, put on the axis. What makes no sense is counted. 0 or -errno */
int measurement__add_sample(struct measurement *m, struct perf_sample *sample,
			    struct machine *machine)
{
	struct axis_sample as = {
		.time = sample->time,
		.vcpu = TIME_AXIS_NONE,
		.task = TIME_AXIS_NONE,
	};
	bool in_guest;
	int ret;

	m->nr_samples++;
	ret = measurement__place(m, sample);
	if (ret == -ERANGE) {
		m->nr_unplaced++;
		return 0;
	}
	if (ret)
		return ret;

	as.cpu = sample->cpu;
	m->first = min(m->first, sample->time);
	m->last = max(m->last, sample->time);
	m->now = max(m->now, sample->time);
	m->cpus[sample->cpu].nr_samples++;
	m->cpus[sample->cpu].last_record = sample->time;
	measurement__add_distance(m, sample->cpu, sample->time);
	/* It goes on, even if the record that says so was lost. */
	ret = measurement__end_throttle(m, sample->cpu, sample->time);
	if (ret)
		return ret;

	in_guest = is_guest_mode(sample->cpumode);
	ret = measurement__axis_sample(m, sample, machine, PROFILE_TIME, &as) ?:
	      measurement__add_work(m, &as);
	if (ret)
		return ret;
	m->nr_guest_samples += in_guest && !(sample->vcpu_ctx.flags & PERF_VCPU_EXCLUDED);
	m->nr_relabelled += in_guest && as.kind == AXIS_SAMPLE_EXIT;
	return time_axis__add_sample(&m->axis, &as);
}

/*
 * If @sample is of an event that has a column: what it has counted goes there, and not on
 * the axis. 0 or -errno
 */
int measurement__add_count(struct measurement *m, struct perf_sample *sample,
			   struct machine *machine)
{
	struct axis_sample as = {
		.time = sample->time,
		.vcpu = TIME_AXIS_NONE,
		.task = TIME_AXIS_NONE,
	};
	u32 column = measurement__column(m, sample->evsel);
	int ret;

	if (column >= m->nr_columns) {
		m->nr_other += !measurement__is_counted(m, sample->evsel);
		return 0;
	}
	ret = measurement__place(m, sample);
	if (ret == -ERANGE) {
		m->nr_unplaced += !measurement__is_counted(m, sample->evsel);
		return 0;
	}
	if (ret)
		return ret;
	as.cpu = sample->cpu;
	ret = measurement__axis_sample(m, sample, machine, column, &as);
	return ret ?: m->wants.counts.count(&as, column, sample->period,
					   m->wants.counts.arg);
}
