// SPDX-License-Identifier: GPL-2.0
/*
 * Who had each of the host's CPUs when: the vCPUs, in order, and the tasks that got a CPU from
 * them. Of a task only the switch to it is known: whose the window is that begins there, samples
 * in it show. A window without one is shared. waits.c and host-walk.c read what is found here.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "util/hashmap.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "cpu-track.h"
#include "intervals.h"
#include "runs.h"
#include "shares.h"
#include "tracks.h"
#include "types.h"

static void cpu_track__delete(struct cpu_track *track)
{
	free(track->fresh.entries);
	free(track->occupants.entries);
	free(track->marks.entries);
	free(track->samples.entries);
	shares__exit(&track->shares);
	hashmap__free(track->window.tasks);
	hashmap__free(track->shared);
	free(track);
}

void cpu_tracks__exit(struct cpu_tracks *tracks)
{
	for (u32 i = 0; i < tracks->nr_cpus; i++)
		cpu_track__delete(tracks->cpus[i]);
	free(tracks->cpus);
	free(tracks->shared);
	*tracks = (struct cpu_tracks) { };
}

static struct cpu_track *cpu_track__new(u32 cpu)
{
	struct cpu_track *track = zalloc(sizeof(*track));

	if (!track)
		return NULL;
	track->cpu = cpu;
	track->window.tasks = number_map__new();
	track->shared = number_map__new();
	if (!shares__init(&track->shares) && track->window.tasks && track->shared)
		return track;
	cpu_track__delete(track);
	return NULL;
}

/* NULL: no memory */
static struct cpu_track *cpu_tracks__findnew(struct cpu_tracks *tracks, u32 cpu)
{
	while (tracks->nr_cpus <= cpu) {
		struct cpu_track *track;

		if (grow_array(tracks->cpus, tracks->nr_cpus, tracks->allocated_cpus))
			return NULL;
		track = cpu_track__new(tracks->nr_cpus);
		if (!track)
			return NULL;
		track->done = tracks->start;
		tracks->cpus[tracks->nr_cpus++] = track;
	}
	return tracks->cpus[cpu];
}

/* Nothing is before @start. */
void cpu_tracks__begin(struct cpu_tracks *tracks, u64 start)
{
	tracks->start = start;
	for (u32 i = 0; i < tracks->nr_cpus; i++)
		tracks->cpus[i]->done = start;
}

static int occupant__cmp(const void *_a, const void *_b)
{
	const struct occupant *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?:
	       sort_cmp(a->end, b->end) ?:
	       sort_cmp(a->vcpu, b->vcpu);
}

static int mark__cmp(const void *_a, const void *_b)
{
	const struct mark *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?:
	       sort_cmp(a->who, b->who);
}

static int sample__cmp(const void *a, const void *b)
{
	return axis_sample__cmp(a, b);
}

static bool interval__has_cpu(const struct vcpu_interval *interval)
{
	return vcpu_interval__is_guest(interval) || interval->kind == VCPU_TIME_EXIT ||
	       interval->kind == VCPU_TIME_RUN || interval->kind == VCPU_TIME_HALT_POLL;
}

static bool event__is_switch(const struct axis_event *event)
{
	return event->next_task != TIME_AXIS_NONE &&
	       (event->state == VCPU_STATE_PREEMPTED || event->state == VCPU_STATE_BLOCKED ||
		event->state == VCPU_STATE_HALTED || event->state == VCPU_STATE_THROTTLED);
}

/* A sample of the CPU, of the host's or a guest's: the latter say that it was sampled. */
int cpu_tracks__add_sample(struct cpu_tracks *tracks, const struct axis_sample *sample)
{
	struct cpu_track *track = cpu_tracks__findnew(tracks, sample->cpu);

	if (!track)
		return -ENOMEM;
	track->is_sampled = true;
	track->last = max(track->last, sample->time);
	if (axis_sample__is_guest(sample))
		return 0;
	if (queue_len(&track->samples) &&
	    axis_sample__cmp(queue_last(&track->samples), sample) > 0)
		track->unsorted = true;
	return queue_add(&track->samples, sample);
}

/* A vCPU's event: who got the CPU from it? 0 or -ENOMEM */
int cpu_tracks__add_switch(struct cpu_tracks *tracks, const struct axis_event *event)
{
	const struct mark mark = {
		.time = event->time,
		.who = event->next_task,
		.vcpu = event->vcpu,
	};
	struct cpu_track *track = cpu_tracks__findnew(tracks, event->cpu);

	if (!track)
		return -ENOMEM;
	if (!event__is_switch(event))
		return 0;
	if (queue_len(&track->marks) && mark__cmp(queue_last(&track->marks), &mark) > 0)
		track->unsorted_marks = true;
	return queue_add(&track->marks, &mark);
}

/* Adds what vCPU @vcpu did to the track of the CPU that it had, if it had one. 0 or -ENOMEM */
int cpu_tracks__add_vcpu(struct cpu_tracks *tracks, u32 vcpu, const struct vcpu_interval *interval)
{
	const struct occupant occupant = {
		.start = interval->start,
		.end = interval->end,
		.vcpu = vcpu,
		.guest = vcpu_interval__is_guest(interval),
	};

	if (!interval__has_cpu(interval) || interval->cpu >= tracks->nr_cpus)
		return 0;
	return queue_add(&tracks->cpus[interval->cpu]->fresh, &occupant);
}

/*
 * The occupants that begin before @until, when all of them are known. A CPU has one at a
 * time: where samples of two vCPUs say otherwise, or a missing event, the first one stays.
 */
static int settle_occupants(struct cpu_track *track, u64 until)
{
	/* One vCPU's have come after the other's: few runs of them. */
	int ret = sort_runs(queue_first(&track->fresh), queue_len(&track->fresh),
			    sizeof(struct occupant), occupant__cmp);

	while (!ret && queue_len(&track->fresh) && queue_first(&track->fresh)->start < until) {
		struct occupant o = *queue_first(&track->fresh);

		queue_drop(&track->fresh, 1);
		o.start = max(o.start, track->occupied);
		if (o.start >= o.end)
			continue;
		track->occupied = o.end;
		ret = queue_add(&track->occupants, &o);
	}
	queue_trim(&track->fresh);
	return ret;
}

static bool occupant__is_before(const void *occupant, const void *time)
{
	return ((const struct occupant *)occupant)->start < *(const u64 *)time;
}

/* Where the window ends that begins with mark number @mark, or the last one before */
static u64 window_end(const struct cpu_track *track, u64 start, size_t next_mark, u64 end)
{
	size_t o = find_occupant(track, start, occupant__is_before);

	if (o < queue_len(&track->occupants))
		end = min(end, queue_first(&track->occupants)[o].start);
	if (next_mark < queue_len(&track->marks))
		end = min(end, queue_first(&track->marks)[next_mark].time);
	return max(end, start);
}

static bool sample__names_other(const struct axis_sample *sample, u32 vcpu)
{
	return sample__is_of_other(sample, vcpu) && sample->task != TIME_AXIS_NONE;
}

/* Adds to the window what the samples before @end show. 0 or -ENOMEM */
static int window__learn(struct cpu_track *track, u64 end)
{
	struct mark_window *w = &track->window;
	size_t i = first_sample(track, w->pos);

	for (; i < queue_len(&track->samples); i++) {
		const struct axis_sample *sample = queue_first(&track->samples) + i;
		long nr = 0;

		if (sample->time >= end)
			break;
		if (!sample__names_other(sample, w->vcpu))
			continue;
		hashmap__find(w->tasks, (long)sample->task, &nr);
		if (hashmap__set(w->tasks, (long)sample->task, nr + 1, NULL, NULL))
			return -ENOMEM;
		w->nr++;
	}
	w->pos = max(w->pos, end);
	return 0;
}

static int window__close(struct cpu_track *track, u64 end)
{
	struct mark_window *w = &track->window;
	struct hashmap_entry *entry;
	u64 time = end - w->start;
	size_t bkt;
	int ret;

	ret = window__learn(track, end);
	if (!ret)
		ret = shares__add_window(&track->shares, w->first, w->nr, time);
	if (!ret && w->nr) {
		hashmap__for_each_entry(w->tasks, entry, bkt) {
			ret = ret ?: shares__add_samples(&track->shares, w->first, entry->key,
							 entry->value,
							 time / w->nr * entry->value);
		}
		hashmap__clear(w->tasks);
	}
	w->open = false;
	return ret;
}

/* The window that is open, until @until or its end. 0 or -ENOMEM */
static int window__go_on(struct cpu_track *track, size_t next_mark, u64 until)
{
	u64 end;

	if (!track->window.open)
		return 0;
	end = window_end(track, track->window.start, next_mark, ~0ULL);
	return end <= until ? window__close(track, end) : window__learn(track, until);
}

/* The number of the windows of the CPU that begin with a switch to @first; -ENOMEM */
static int findnew_shared(struct cpu_tracks *tracks, struct cpu_track *track, u32 first)
{
	long shared;

	if (hashmap__find(track->shared, (long)first, &shared))
		return shared;
	if (grow_array(tracks->shared, tracks->nr_shared, tracks->allocated_shared) ||
	    hashmap__add(track->shared, (long)first, tracks->nr_shared))
		return -ENOMEM;
	tracks->shared[tracks->nr_shared] = (struct shared_windows) {
		.cpu = track->cpu,
		.first = first,
	};
	return tracks->nr_shared++;
}

/*
 * Says of the window of mark number @i whose it is: the first sample that is near decides
 * alone; if there is none, it is shared. 0 or -ENOMEM
 */
static int name_mark(struct cpu_tracks *tracks, struct cpu_track *track,
		     const struct axis_span *span, size_t i)
{
	struct mark *mark = queue_first(&track->marks) + i;
	u64 end = window_end(track, mark->time, i + 1, span->end);
	struct mark_window *w = &track->window;
	int shared;

	*w = (struct mark_window) {
		.start = mark->time,
		.pos = mark->time,
		.first = mark->who,
		.vcpu = mark->vcpu,
		.open = true,
		.tasks = w->tasks,
	};
	for (size_t s = first_sample(track, mark->time); s < queue_len(&track->samples); s++) {
		const struct axis_sample *sample = queue_first(&track->samples) + s;

		if (sample->time >= end || sample->time - mark->time > span->near)
			break;
		if (sample__names_other(sample, mark->vcpu)) {
			mark->who = sample->task;
			return 0;
		}
	}
	shared = findnew_shared(tracks, track, mark->who);
	if (shared < 0)
		return shared;
	mark->who = shared;
	mark->is_shared = true;
	return 0;
}

/* Is all known of the window of mark number @i: has it ended, or is it long enough? */
static bool mark__is_due(const struct cpu_track *track, const struct tracks_until *until, size_t i)
{
	u64 time = queue_first(&track->marks)[i].time;

	return until->final || time <= until->time ||
	       window_end(track, time, i + 1, ~0ULL) < until->occupied;
}

static int name_marks(struct cpu_tracks *tracks, struct cpu_track *track,
		      const struct axis_span *span, const struct tracks_until *until)
{
	u64 end = until->final ? span->end : until->occupied;
	int ret = 0;

	for (; !ret && track->nr_named < queue_len(&track->marks); track->nr_named++) {
		if (!mark__is_due(track, until, track->nr_named))
			break;
		/* If single tasks are sampled, they would get the time of those that are not. */
		if (span->per_task)
			continue;
		ret = window__go_on(track, track->nr_named, ~0ULL);
		if (!ret)
			ret = name_mark(tracks, track, span, track->nr_named);
	}
	if (!ret)
		ret = window__go_on(track, track->nr_named, end);
	if (!ret && until->final && track->window.open)
		ret = window__close(track, max(end, track->window.start));
	return ret;
}

static int sort_track(struct cpu_track *track)
{
	int ret = 0;

	if (track->unsorted)
		ret = sort_runs(queue_first(&track->samples), queue_len(&track->samples),
				sizeof(struct axis_sample), sample__cmp);
	if (!ret && track->unsorted_marks)
		ret = sort_runs(queue_first(&track->marks) + track->nr_named,
				queue_len(&track->marks) - track->nr_named,
				sizeof(struct mark), mark__cmp);
	track->unsorted = false;
	track->unsorted_marks = false;
	return ret;
}

/**
 * cpu_tracks__settle - put into order who had the CPUs, and name the tasks
 *
 * When all vCPUs' intervals have been added that begin before @until->occupied.
 * 0 or -ENOMEM
 */
int cpu_tracks__settle(struct cpu_tracks *tracks, const struct axis_span *span,
		       const struct tracks_until *until)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < tracks->nr_cpus; i++) {
		struct cpu_track *track = tracks->cpus[i];

		ret = sort_track(track) ?:
		      settle_occupants(track, until->final ? ~0ULL : until->occupied);
		if (!ret)
			ret = name_marks(tracks, track, span, until);
		if (!ret && until->final)
			shares__weigh(&track->shares);
	}
	return ret;
}

/* Until when a CPU is not needed any more, of which all but that is not before @time */
static u64 track__forget_until(const struct cpu_track *track, u64 time)
{
	if (track->is_sampled)
		time = min(time, track->done);
	if (track->nr_named < queue_len(&track->marks))
		time = min(time, queue_first(&track->marks)[track->nr_named].time);
	return time;
}

/* Forgets what is before @time and has been told. */
void cpu_tracks__forget(struct cpu_tracks *tracks, u64 time)
{
	for (u32 i = 0; i < tracks->nr_cpus; i++) {
		struct cpu_track *track = tracks->cpus[i];
		u64 until = track__forget_until(track, time);
		size_t nr = 0;

		while (nr < track->nr_named && queue_first(&track->marks)[nr].time < time)
			nr++;
		queue_drop(&track->marks, nr);
		track->nr_named -= nr;
		queue_drop(&track->occupants, find_occupant(track, until, occupant__is_gone));
		queue_drop(&track->samples, first_sample(track, until));
		queue_trim(&track->marks);
		queue_trim(&track->occupants);
		queue_trim(&track->samples);
	}
}

/* How many samples there are after @time that are the host's */
u64 cpu_tracks__samples_after(const struct cpu_tracks *tracks, u64 time)
{
	u64 nr = 0;

	for (u32 i = 0; i < tracks->nr_cpus; i++) {
		const struct cpu_track *track = tracks->cpus[i];

		for (size_t s = 0; s < queue_len(&track->samples); s++)
			nr += queue_first(&track->samples)[s].time > time;
	}
	return nr;
}

/**
 * cpu_tracks__share - share time of waits that no sample has seen
 * @shared: of the wait
 * @time: ns
 *
 * When there is no more to come. As shares__split()
 */
int cpu_tracks__share(const struct cpu_tracks *tracks, u32 shared, u64 time, share_cb cb,
		      void *arg)
{
	const struct shared_windows *windows = &tracks->shared[shared];

	return shares__split(&tracks->cpus[windows->cpu]->shares, windows->first, time, cb, arg);
}
