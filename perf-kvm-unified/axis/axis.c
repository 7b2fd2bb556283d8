// SPDX-License-Identifier: GPL-2.0
/*
 * The time axis: what each vCPU and each CPU did, in intervals without a gap or
 * an overlap. States come from states.c. Here, the samples say what ran in them;
 * who had the CPU when a vCPU had it not is known to tracks.c.
 *
 * Room: axis/, pure: from events and samples to what each vCPU and each CPU did when.
 * Calls: lib
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/err.h>
#include <linux/kernel.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "axis.h"
#include "cells.h"
#include "gaps.h"
#include "intervals.h"
#include "runs.h"
#include "states.h"
#include "tracks.h"
#include "types.h"
#include "vcpu.h"

/* 0 or -ENOMEM */
int time_axis__init(struct time_axis *ta)
{
	*ta = (struct time_axis) { };
	ta->vcpu_idx = number_map__new();
	if (!IS_ERR(ta->vcpu_idx))
		return 0;
	ta->vcpu_idx = NULL;
	return -ENOMEM;
}

void time_axis__exit(struct time_axis *ta)
{
	cpu_tracks__exit(&ta->tracks);
	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		vcpu_intervals__exit(&ta->vcpus[i].intervals);
		free(ta->vcpus[i].events);
	}
	for (u32 i = 0; i < ta->nr_cpus; i++)
		free(ta->cpus[i].samples);
	free(ta->vcpus);
	free(ta->cpus);
	hashmap__free(ta->vcpu_idx);
	free(ta->gaps);
	free(ta->looks);
	free(ta->by_vcpu);
	*ta = (struct time_axis) { };
}

static long vcpu_key(u32 vm, u32 id)
{
	return (long)vm * TIME_AXIS_MAX_CPUS + id;
}

/* The index of vCPU @id of the VM with number @vm; both below TIME_AXIS_MAX_CPUS. -ENOENT */
int time_axis__find_vcpu(const struct time_axis *ta, u32 vm, u32 id)
{
	long idx;

	return hashmap__find(ta->vcpu_idx, vcpu_key(vm, id), &idx) ? idx : -ENOENT;
}

/* The same, of a new one if there is none: it was not there at either end. -ENOMEM */
int time_axis__findnew_vcpu(struct time_axis *ta, u32 vm, u32 id)
{
	int idx = time_axis__find_vcpu(ta, vm, id);

	if (idx >= 0)
		return idx;

	if (grow_array(ta->vcpus, ta->nr_vcpus, ta->allocated_vcpus))
		return -ENOMEM;
	if (hashmap__add(ta->vcpu_idx, vcpu_key(vm, id), ta->nr_vcpus))
		return -ENOMEM;
	ta->vcpus[ta->nr_vcpus] = (struct axis_vcpu) { .vm = vm, .id = id };
	return ta->nr_vcpus++;
}

/* Of a vCPU that there is. 0 or -ENOMEM */
int time_axis__add_event(struct time_axis *ta, const struct axis_event *event)
{
	struct axis_vcpu *vcpu = &ta->vcpus[event->vcpu];
	int ret = grow_array(vcpu->events, vcpu->nr_events, vcpu->allocated_events);

	if (!ret)
		vcpu->events[vcpu->nr_events++] = *event;
	return ret;
}

/* Of a CPU whose number is below TIME_AXIS_MAX_CPUS. 0 or -ENOMEM */
int time_axis__add_sample(struct time_axis *ta, const struct axis_sample *sample)
{
	struct axis_cpu *cpu;
	int ret;

	while (ta->nr_cpus <= sample->cpu) {
		if (grow_array(ta->cpus, ta->nr_cpus, ta->allocated_cpus))
			return -ENOMEM;
		ta->cpus[ta->nr_cpus++] = (struct axis_cpu) { };
	}
	cpu = &ta->cpus[sample->cpu];
	ret = grow_array(cpu->samples, cpu->nr_samples, cpu->allocated_samples);
	if (!ret)
		cpu->samples[cpu->nr_samples++] = *sample;
	return ret;
}

int time_axis__add_gap(struct time_axis *ta, const struct axis_gap *gap)
{
	int ret = grow_array(ta->gaps, ta->nr_gaps, ta->allocated_gaps);

	if (!ret && gap->from < gap->until)
		ta->gaps[ta->nr_gaps++] = *gap;
	return ret;
}

int time_axis__add_look(struct time_axis *ta, const struct axis_look *look)
{
	int ret = grow_array(ta->looks, ta->nr_looks, ta->allocated_looks);

	if (!ret)
		ta->looks[ta->nr_looks++] = *look;
	return ret;
}

/*
 * What has the same time is put in an order of its own, so that the result does
 * not depend on the one in which it came.
 */
static int event__cmp(const void *_a, const void *_b)
{
	const struct axis_event *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->state, b->state) ?:
	       sort_cmp(a->waited, b->waited) ?:
	       sort_cmp(a->ended, b->ended) ?:
	       sort_cmp(a->after_lost, b->after_lost) ?:
	       sort_cmp(a->cpu, b->cpu) ?:
	       sort_cmp(a->why, b->why) ?:
	       sort_cmp(a->next_task, b->next_task) ?:
	       sort_cmp(a->exit_reason, b->exit_reason) ?:
	       sort_cmp(a->isa, b->isa);
}

static int sample__cmp_what(const struct axis_sample *a, const struct axis_sample *b)
{
	return sort_cmp(a->kind, b->kind) ?:
	       sort_cmp(a->task, b->task) ?:
	       sort_cmp(a->hit, b->hit) ?:
	       sort_cmp(a->vcpu, b->vcpu) ?:
	       sort_cmp(a->exit_reason, b->exit_reason) ?:
	       sort_cmp(a->isa, b->isa) ?:
	       sort_cmp(a->cpu, b->cpu);
}

static int sample__cmp_cpu(const void *_a, const void *_b)
{
	const struct axis_sample *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?: sample__cmp_what(a, b);
}

static int sample__cmp_vcpu(const void *_a, const void *_b)
{
	return sample__cmp_cpu(*(const struct axis_sample **)_a,
			       *(const struct axis_sample **)_b);
}

static int look__cmp(const void *_a, const void *_b)
{
	const struct axis_look *a = _a, *b = _b;

	return sort_cmp(a->vcpu, b->vcpu) ?:
	       sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->kind, b->kind);
}

static int sort_input(struct time_axis *ta)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < ta->nr_cpus; i++)
		ret = sort_runs(ta->cpus[i].samples, ta->cpus[i].nr_samples,
				sizeof(*ta->cpus[i].samples), sample__cmp_cpu);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++)
		ret = sort_runs(ta->vcpus[i].events, ta->vcpus[i].nr_events,
				sizeof(*ta->vcpus[i].events), event__cmp);
	sort_array(ta->looks, ta->nr_looks, sizeof(*ta->looks), look__cmp);
	return ret;
}

/* The vCPU whose the sample is, or NULL */
static struct axis_vcpu *sample__vcpu(const struct time_axis *ta, const struct axis_sample *sample)
{
	return sample->vcpu < ta->nr_vcpus ? &ta->vcpus[sample->vcpu] : NULL;
}

/* Gives each vCPU its samples: one CPU's, then the next one's, so in few runs. */
static int deal_out_samples(struct time_axis *ta)
{
	const struct axis_sample **next;
	size_t nr = 0;
	int ret = 0;

	for (u32 i = 0; i < ta->nr_cpus; i++) {
		for (size_t s = 0; s < ta->cpus[i].nr_samples; s++) {
			struct axis_vcpu *vcpu = sample__vcpu(ta, &ta->cpus[i].samples[s]);

			if (vcpu)
				vcpu->nr_samples++;
			nr += !!vcpu;
		}
	}
	ta->by_vcpu = calloc(nr + 1, sizeof(*ta->by_vcpu));
	if (!ta->by_vcpu)
		return -ENOMEM;
	next = ta->by_vcpu;
	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		ta->vcpus[i].samples = next;
		next += ta->vcpus[i].nr_samples;
		ta->vcpus[i].nr_samples = 0;
	}
	for (u32 i = 0; i < ta->nr_cpus; i++) {
		for (size_t s = 0; s < ta->cpus[i].nr_samples; s++) {
			const struct axis_sample *sample = &ta->cpus[i].samples[s];
			struct axis_vcpu *vcpu = sample__vcpu(ta, sample);

			if (vcpu)
				vcpu->samples[vcpu->nr_samples++] = sample;
		}
	}
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++)
		ret = sort_runs(ta->vcpus[i].samples, ta->vcpus[i].nr_samples,
				sizeof(*ta->vcpus[i].samples), sample__cmp_vcpu);
	return ret;
}

/* Puts events and samples into order, and gives each vCPU its samples and looks. */
static int deal_out(struct time_axis *ta)
{
	int ret = sort_input(ta) ?: deal_out_samples(ta);

	for (size_t i = 0; !ret && i < ta->nr_looks; i++) {
		struct axis_vcpu *vcpu;

		if (ta->looks[i].vcpu >= ta->nr_vcpus)
			continue;
		vcpu = &ta->vcpus[ta->looks[i].vcpu];
		if (!vcpu->nr_looks++)
			vcpu->looks = &ta->looks[i];
	}
	return ret;
}

/* Each sample of the vCPU that is in a piece of KVM_RUN */
static int run_cells(const struct axis_vcpu *vcpu, const struct vcpu_intervals *states,
		     struct cells *cells)
{
	u64 base = 0;
	size_t s = 0;

	cells->cells = calloc(vcpu->nr_samples + 1, sizeof(*cells->cells));
	if (!cells->cells)
		return -ENOMEM;

	for (size_t i = 0; i < states->nr; i++) {
		const struct vcpu_interval *state = &states->entries[i];

		if (state->kind != VCPU_TIME_RUN)
			continue;
		for (; s < vcpu->nr_samples && vcpu->samples[s]->time <= state->end; s++) {
			const struct axis_sample *sample = vcpu->samples[s];

			if (sample->time < state->start || !axis_sample__in_run(sample))
				continue;
			cells->cells[cells->nr++] = (struct cell) {
				.pos = base + sample->time - state->start,
				.sample = sample,
			};
		}
		base += state->end - state->start;
	}
	return 0;
}

static void interval__hit(struct vcpu_interval *interval, const struct axis_sample *sample)
{
	if (!sample)
		return;

	interval->hit = sample->hit;
	if (sample->isa) {
		interval->exit_reason = sample->exit_reason;
		interval->isa = sample->isa;
	}
	switch (sample->kind) {
	case AXIS_SAMPLE_GUEST_USER:
		interval->kind = VCPU_TIME_GUEST_USER;
		break;
	case AXIS_SAMPLE_GUEST_KERNEL:
		interval->kind = VCPU_TIME_GUEST_KERNEL;
		break;
	case AXIS_SAMPLE_EXIT:
	case AXIS_SAMPLE_VMM:
	case AXIS_SAMPLE_HOST:
	case AXIS_SAMPLE_IDLE:
	default:
		interval->kind = VCPU_TIME_EXIT;
		break;
	}
}

/* Splits time in KVM_RUN by what the samples in it have hit. */
static int label_runs(struct axis_vcpu *vcpu, const struct vcpu_intervals *states)
{
	struct cells cells = { };
	u64 base = 0;
	int ret;

	ret = run_cells(vcpu, states, &cells);
	for (size_t i = 0; !ret && i < states->nr; i++) {
		const struct vcpu_interval *state = &states->entries[i];
		u64 end, pos;

		if (state->kind != VCPU_TIME_RUN) {
			ret = vcpu_intervals__add(&vcpu->intervals, state);
			continue;
		}
		for (pos = state->start; !ret && pos < state->end; pos = end) {
			struct vcpu_interval part = *state;

			interval__hit(&part, cells__at(&cells, base + pos - state->start, &end));
			end = end - base < state->end - state->start ?
			      state->start + (end - base) : state->end;
			part.start = pos;
			part.end = end;
			ret = vcpu_intervals__add(&vcpu->intervals, &part);
		}
		base += state->end - state->start;
	}
	free(cells.cells);
	return ret;
}

static int name_waits(struct time_axis *ta, const struct axis_span *span, u32 self)
{
	struct axis_vcpu *vcpu = &ta->vcpus[self];
	struct vcpu_intervals named = { };
	int ret = 0;

	for (size_t i = 0; !ret && i < vcpu->intervals.nr; i++) {
		const struct vcpu_interval *interval = &vcpu->intervals.entries[i];

		if (interval->kind == VCPU_TIME_PREEMPTED && interval->cpu < ta->tracks.nr_cpus)
			ret = cpu_tracks__split_wait(&ta->tracks, span, interval, self, &named);
		else
			ret = vcpu_intervals__add(&named, interval);
	}
	vcpu_intervals__exit(&vcpu->intervals);
	vcpu->intervals = named;
	return ret;
}

static struct axis_span time_axis__span(const struct time_axis *ta)
{
	return (struct axis_span) {
		.start = ta->start,
		.end = ta->end,
		.period = ta->period,
		.clock = ta->clock,
		.per_task = ta->per_task,
		.timeline = ta->timeline,
	};
}

static struct axis_gaps time_axis__gaps(const struct time_axis *ta)
{
	return (struct axis_gaps) { .entries = ta->gaps, .nr = ta->nr_gaps };
}

static int build_tracks(struct time_axis *ta, const struct axis_span *span)
{
	const struct cpu_tracks_input in = {
		.vcpus = ta->vcpus,
		.nr_vcpus = ta->nr_vcpus,
		.cpus = ta->cpus,
		.nr_cpus = ta->nr_cpus,
	};

	return cpu_tracks__init(&ta->tracks, span, &in);
}

/* How many samples there are behind @time */
u64 time_axis__samples_after(const struct time_axis *ta, u64 time)
{
	u64 nr = 0;

	for (u32 i = 0; i < ta->nr_cpus; i++) {
		for (size_t s = 0; s < ta->cpus[i].nr_samples; s++)
			nr += ta->cpus[i].samples[s].time > time;
	}
	return nr;
}

/* How many events there are behind @time */
u64 time_axis__events_after(const struct time_axis *ta, u64 time)
{
	u64 nr = 0;

	for (u32 i = 0; i < ta->nr_vcpus; i++) {
		for (size_t e = 0; e < ta->vcpus[i].nr_events; e++)
			nr += ta->vcpus[i].events[e].time > time;
	}
	return nr;
}

/**
 * time_axis__build - find out what each vCPU did
 *
 * To be called once, when all is added and @ta->start and @ta->end are set.
 * CPU numbers must be ones that an array can have. 0 or -ENOMEM
 */
int time_axis__build(struct time_axis *ta)
{
	struct axis_gaps gaps = time_axis__gaps(ta);
	struct axis_span span;
	int ret;

	axis_gaps__sort(&gaps);
	ret = deal_out(ta);

	/* Two of them have to fit, and more than this is as good as all time. */
	ta->period = min_t(u64, ta->period, LLONG_MAX);
	span = time_axis__span(ta);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++) {
		struct vcpu_intervals states = { };

		ret = vcpu_states__build(&span, &gaps, &ta->vcpus[i], &states);
		if (!ret)
			ret = label_runs(&ta->vcpus[i], &states);
		vcpu_intervals__exit(&states);
	}
	if (!ret)
		ret = build_tracks(ta, &span);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++)
		ret = name_waits(ta, &span, i);
	return ret;
}

/**
 * time_axis__walk_cpu - what CPU @cpu of the host did
 *
 * For after time_axis__build(). As cpu_tracks__walk()
 */
int time_axis__walk_cpu(struct time_axis *ta, u32 cpu, cpu_interval_cb cb, void *arg)
{
	const struct axis_span span = time_axis__span(ta);
	const struct axis_gaps gaps = time_axis__gaps(ta);

	return cpu_tracks__walk(&ta->tracks, &span, &gaps, cpu, cb, arg);
}
