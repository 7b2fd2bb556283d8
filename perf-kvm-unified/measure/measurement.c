// SPDX-License-Identifier: GPL-2.0
/*
 * A measurement: what is kept of a session, and what can be told of it.
 *
 * Room: measure/, from a session to what its samples have hit, and to the time axis.
 * Calls: axis format guests lib
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/session.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/number-map.h"
#include "measurement.h"

/* Of so many samples of the idle task by a clock, some are where it waits. */
#define MANY_IDLE_SAMPLES	100

/* On one CPU, a thread for the axis would only cost. */
static bool has_several_cpus(void)
{
	cpu_set_t cpus;

	/* More than a set has room for is several. */
	return sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) > 1;
}

int measurement__init(struct measurement *m)
{
	m->first = ~0ULL;
	m->first_event = ~0ULL;
	m->mixed_vcpu = TIME_AXIS_NONE;
	m->silent_cpu = TIME_AXIS_NONE;
	m->wants.timeline = true;
	if (time_axis__init(&m->axis))
		return -ENOMEM;
	m->axis.threads = has_several_cpus();
	m->task_by_tid = number_map__new();
	m->name_idx = name_map__new();
	m->vcpu_by_tid = number_map__new();
	m->vm_by_pid = number_map__new();
	if (!m->task_by_tid || !m->name_idx || !m->vcpu_by_tid || !m->vm_by_pid ||
	    memo__init(&m->memo) || chains__init(&m->chains))
		return -ENOMEM;
	return hits__init(&m->hits);
}

void measurement__exit(struct measurement *m)
{
	time_axis__exit(&m->axis);
	hits__exit(&m->hits);
	chains__exit(&m->chains);
	memo__exit(&m->memo);
	hashmap__free(m->task_by_tid);
	hashmap__free(m->name_idx);
	hashmap__free(m->vcpu_by_tid);
	zfree(&m->timeline_last);
	long_states__exit(&m->long_states);
	free(m->looks.entries);
	hashmap__free(m->vm_by_pid);
	for (u32 i = 0; i < m->nr_tasks; i++)
		free(m->tasks[i]);
	free(m->tasks);
	for (u32 i = 0; i < m->nr_names; i++)
		free(m->names[i]);
	free(m->names);
	free(m->distances);
	free(m->vms);
	free(m->cpus);
}

/* On a machine with CPUs of several kinds, an event of the CPU is one for each kind. */
static bool is_same_event(const struct evsel *evsel_a, const struct evsel *evsel_b)
{
	const struct perf_event_attr *a = &evsel_a->core.attr, *b = &evsel_b->core.attr;

	return evsel_a == evsel_b ||
	       (a->type == PERF_TYPE_HARDWARE && b->type == PERF_TYPE_HARDWARE &&
		(a->config & PERF_HW_EVENT_MASK) == (b->config & PERF_HW_EVENT_MASK));
}

/* Do its samples go on the time axis? */
bool measurement__is_counted(const struct measurement *m, const struct evsel *evsel)
{
	return m->evsel && is_same_event(m->evsel, evsel);
}

/* The column of what @evsel counts; @m->nr_columns: it has none */
u32 measurement__column(const struct measurement *m, const struct evsel *evsel)
{
	u32 column = PROFILE_TIME + 1;

	while (column < m->nr_columns && !is_same_event(m->columns[column], evsel))
		column++;
	return column;
}

bool measurement__has_column(const struct measurement *m, const struct evsel *evsel)
{
	return measurement__column(m, evsel) < m->nr_columns;
}

/* Are what vCPUs did to be told by events, and are there any? */
bool measurement__uses_timeline(const struct measurement *m)
{
	return m->has_timeline && m->wants.timeline;
}

/* What tells the vCPU of the samples that the time is charged by? */
enum vcpus_by measurement__vcpus_by(const struct measurement *m)
{
	if (m->evsel && (m->evsel->core.attr.sample_type & PERF_SAMPLE_VCPU))
		return VCPUS_BY_KERNEL;
	return m->session->vcpu_contexts ? VCPUS_BY_BPF : VCPUS_BY_NOTHING;
}

/*
 * Has the host's kernel symbols here, so that idle time is known to be that? Not those of another
 * kernel: a clock finds the idle task where that waits, sooner or later.
 */
bool measurement__knows_idle(const struct measurement *m)
{
	bool clock = m->evsel && m->evsel->core.attr.type == PERF_TYPE_SOFTWARE;

	if (clock && m->nr_idle_task >= MANY_IDLE_SAMPLES && !m->nr_idle)
		return false;
	return m->nr_host_kernel_named >= m->nr_host_kernel / 2;
}

/* CPUs that have a sample */
u32 measurement__nr_cpus(const struct measurement *m)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->nr_cpus; i++)
		nr += !!m->cpus[i].nr_samples;
	return nr;
}

/*
 * The kernel counts a lost sample twice: in the buffer's count, together with
 * other records, and in the event's, if it is asked for that.
 */
u64 measurement__lost(const struct measurement *m)
{
	if (m->evsel && (m->evsel->core.attr.read_format & PERF_FORMAT_LOST))
		return m->nr_lost_samples;
	return m->nr_lost;
}

u64 measurement__duration(const struct measurement *m)
{
	return m->axis.span.end - m->axis.span.start;
}

u32 measurement__nr_vcpus(const struct measurement *m, u32 vm)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->axis.nr_vcpus; i++)
		nr += m->axis.vcpus[i].vm == vm;
	return nr;
}
