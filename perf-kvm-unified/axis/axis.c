// SPDX-License-Identifier: GPL-2.0
/*
 * The time axis: what each vCPU and each CPU did, in intervals without a gap or
 * an overlap. States come from vcpu-states.c. Here, the samples say what ran in
 * them; who had the CPU when a vCPU had it not is known to cpu-tracks.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "axis.h"
#include "cells.h"
#include "states.h"
#include "tracks.h"

#define MIN_ALLOCATED	1024

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
	cpu_tracks__exit(ta);
	for (u32 i = 0; i < ta->nr_vcpus; i++)
		vcpu_intervals__exit(&ta->vcpus[i].intervals);
	free(ta->vcpus);
	hashmap__free(ta->vcpu_idx);
	free(ta->events);
	free(ta->samples);
	free(ta->gaps);
	free(ta->looks);
	free(ta->by_vcpu);
	*ta = (struct time_axis) { };
}

/* Room for one more in an array that doubles; its address may change */
static int make_room(void *array_ptr, size_t nr, size_t *allocated, size_t size)
{
	void **array = array_ptr, *grown;
	size_t want;

	if (nr < *allocated)
		return 0;
	want = *allocated ? *allocated * 2 : MIN_ALLOCATED;
	grown = reallocarray(*array, want, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*allocated = want;
	return 0;
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
	size_t allocated = ta->allocated_vcpus;
	int idx = time_axis__find_vcpu(ta, vm, id);

	if (idx >= 0)
		return idx;

	if (make_room(&ta->vcpus, ta->nr_vcpus, &allocated, sizeof(*ta->vcpus)))
		return -ENOMEM;
	ta->allocated_vcpus = allocated;
	if (hashmap__add(ta->vcpu_idx, vcpu_key(vm, id), ta->nr_vcpus))
		return -ENOMEM;
	ta->vcpus[ta->nr_vcpus] = (struct axis_vcpu) { .vm = vm, .id = id };
	return ta->nr_vcpus++;
}

int time_axis__add_event(struct time_axis *ta, const struct axis_event *event)
{
	int ret = make_room(&ta->events, ta->nr_events, &ta->allocated_events,
			    sizeof(*ta->events));

	if (!ret)
		ta->events[ta->nr_events++] = *event;
	return ret;
}

int time_axis__add_sample(struct time_axis *ta, const struct axis_sample *sample)
{
	int ret = make_room(&ta->samples, ta->nr_samples, &ta->allocated_samples,
			    sizeof(*ta->samples));

	if (!ret)
		ta->samples[ta->nr_samples++] = *sample;
	return ret;
}

int time_axis__add_gap(struct time_axis *ta, const struct axis_gap *gap)
{
	int ret = make_room(&ta->gaps, ta->nr_gaps, &ta->allocated_gaps, sizeof(*ta->gaps));

	if (!ret && gap->from < gap->until)
		ta->gaps[ta->nr_gaps++] = *gap;
	return ret;
}

int time_axis__add_look(struct time_axis *ta, const struct axis_look *look)
{
	int ret = make_room(&ta->looks, ta->nr_looks, &ta->allocated_looks, sizeof(*ta->looks));

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

	return axis_cmp(a->vcpu, b->vcpu) ?:
	       axis_cmp(a->time, b->time) ?:
	       axis_cmp(a->state, b->state) ?:
	       axis_cmp(a->waited, b->waited) ?:
	       axis_cmp(a->ended, b->ended) ?:
	       axis_cmp(a->after_lost, b->after_lost) ?:
	       axis_cmp(a->cpu, b->cpu) ?:
	       axis_cmp(a->why, b->why) ?:
	       axis_cmp(a->next_task, b->next_task) ?:
	       axis_cmp(a->exit_reason, b->exit_reason) ?:
	       axis_cmp(a->isa, b->isa);
}

static int sample__cmp_what(const struct axis_sample *a, const struct axis_sample *b)
{
	return axis_cmp(a->kind, b->kind) ?:
	       axis_cmp(a->task, b->task) ?:
	       axis_cmp(a->hit, b->hit) ?:
	       axis_cmp(a->vcpu, b->vcpu) ?:
	       axis_cmp(a->exit_reason, b->exit_reason) ?:
	       axis_cmp(a->isa, b->isa) ?:
	       axis_cmp(a->cpu, b->cpu);
}

static int sample__cmp_cpu(const void *_a, const void *_b)
{
	const struct axis_sample *a = _a, *b = _b;

	return axis_cmp(a->cpu, b->cpu) ?:
	       axis_cmp(a->time, b->time) ?:
	       sample__cmp_what(a, b);
}

static int sample__cmp_vcpu(const void *_a, const void *_b)
{
	const struct axis_sample *a = *(const struct axis_sample **)_a;
	const struct axis_sample *b = *(const struct axis_sample **)_b;

	return axis_cmp(a->vcpu, b->vcpu) ?:
	       axis_cmp(a->time, b->time) ?:
	       sample__cmp_what(a, b);
}

static int gap__cmp(const void *_a, const void *_b)
{
	const struct axis_gap *a = _a, *b = _b;

	return axis_cmp(a->cpu, b->cpu) ?:
	       axis_cmp(a->from, b->from) ?:
	       axis_cmp(a->until, b->until) ?:
	       axis_cmp(a->samples_only, b->samples_only);
}

static int look__cmp(const void *_a, const void *_b)
{
	const struct axis_look *a = _a, *b = _b;

	return axis_cmp(a->vcpu, b->vcpu) ?:
	       axis_cmp(a->time, b->time) ?:
	       axis_cmp(a->kind, b->kind);
}

/* Gives each vCPU its events, samples and looks. */
static int deal_out(struct time_axis *ta)
{
	size_t nr = 0, i;

	axis_sort(ta->events, ta->nr_events, sizeof(*ta->events), event__cmp);
	axis_sort(ta->samples, ta->nr_samples, sizeof(*ta->samples), sample__cmp_cpu);
	axis_sort(ta->gaps, ta->nr_gaps, sizeof(*ta->gaps), gap__cmp);
	axis_sort(ta->looks, ta->nr_looks, sizeof(*ta->looks), look__cmp);
	for (i = 0; i < ta->nr_gaps; i++) {
		struct axis_gap *gap = &ta->gaps[i];

		gap->reach = gap->until;
		if (i && gap[-1].cpu == gap->cpu)
			gap->reach = max(gap->reach, gap[-1].reach);
	}

	ta->by_vcpu = calloc(ta->nr_samples + 1, sizeof(*ta->by_vcpu));
	if (!ta->by_vcpu)
		return -ENOMEM;
	for (i = 0; i < ta->nr_samples; i++) {
		if (ta->samples[i].vcpu < ta->nr_vcpus)
			ta->by_vcpu[nr++] = &ta->samples[i];
	}
	axis_sort(ta->by_vcpu, nr, sizeof(*ta->by_vcpu), sample__cmp_vcpu);

	for (i = 0; i < nr; i++) {
		struct axis_vcpu *vcpu = &ta->vcpus[ta->by_vcpu[i]->vcpu];

		if (!vcpu->nr_samples++)
			vcpu->samples = &ta->by_vcpu[i];
	}
	for (i = 0; i < ta->nr_events; i++) {
		struct axis_vcpu *vcpu;

		if (ta->events[i].vcpu >= ta->nr_vcpus)
			continue;
		vcpu = &ta->vcpus[ta->events[i].vcpu];
		if (!vcpu->nr_events++)
			vcpu->events = &ta->events[i];
	}
	for (i = 0; i < ta->nr_looks; i++) {
		struct axis_vcpu *vcpu;

		if (ta->looks[i].vcpu >= ta->nr_vcpus)
			continue;
		vcpu = &ta->vcpus[ta->looks[i].vcpu];
		if (!vcpu->nr_looks++)
			vcpu->looks = &ta->looks[i];
	}
	return 0;
}

/* What a gap is compared with */
struct gap_key {
	u64	start;
	u32	cpu;
};

static bool gap__is_before(const void *_gap, const void *_key)
{
	const struct axis_gap *gap = _gap;
	const struct gap_key *key = _key;

	return gap->cpu == key->cpu ? gap->reach <= key->start : gap->cpu < key->cpu;
}

/**
 * time_axis__next_gap - the gaps of a CPU in a stretch of time, one after the other
 * @prev: the one before, or NULL
 *
 * The next one of @cpu that has a part from @start to before @end, or NULL. For
 * time_axis__build(), and after it.
 */
const struct axis_gap *time_axis__next_gap(const struct time_axis *ta,
					   const struct axis_gap *prev, u32 cpu,
					   u64 start, u64 end)
{
	const struct gap_key key = { .start = start, .cpu = cpu };
	size_t i;

	if (prev)
		i = prev + 1 - ta->gaps;
	else
		i = axis_find(ta->gaps, ta->nr_gaps, sizeof(*ta->gaps), &key, gap__is_before);
	for (; i < ta->nr_gaps; i++) {
		const struct axis_gap *gap = &ta->gaps[i];

		if (gap->cpu != cpu || gap->from >= end)
			break;
		if (gap->until > start)
			return gap;
	}
	return NULL;
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

static int name_waits(struct time_axis *ta, u32 self)
{
	struct axis_vcpu *vcpu = &ta->vcpus[self];
	struct vcpu_intervals named = { };
	int ret = 0;

	for (size_t i = 0; !ret && i < vcpu->intervals.nr; i++) {
		const struct vcpu_interval *interval = &vcpu->intervals.entries[i];

		if (interval->kind == VCPU_TIME_PREEMPTED && interval->cpu < ta->nr_cpus)
			ret = cpu_tracks__split_wait(ta, interval, self, &named);
		else
			ret = vcpu_intervals__add(&named, interval);
	}
	vcpu_intervals__exit(&vcpu->intervals);
	vcpu->intervals = named;
	return ret;
}

/**
 * time_axis__build - find out what each vCPU did
 *
 * To be called once, when all is added and @ta->start and @ta->end are set.
 * CPU numbers must be ones that an array can have. 0 or -ENOMEM
 */
int time_axis__build(struct time_axis *ta)
{
	int ret = deal_out(ta);

	/* Two of them have to fit, and more than this is as good as all time. */
	ta->period = min_t(u64, ta->period, LLONG_MAX);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++) {
		struct vcpu_intervals states = { };

		ret = vcpu_states__build(ta, &ta->vcpus[i], &states);
		if (!ret)
			ret = label_runs(&ta->vcpus[i], &states);
		vcpu_intervals__exit(&states);
	}
	if (!ret)
		ret = cpu_tracks__init(ta);
	for (u32 i = 0; !ret && i < ta->nr_vcpus; i++)
		ret = name_waits(ta, i);
	return ret;
}
