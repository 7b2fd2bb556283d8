// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of an axis are up to half of what a report takes. Here they go on in a thread, while
 * the caller reads what comes next. Between the two are two queues of chunks: records for the
 * thread, and pieces of time for the caller.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <linux/stddef.h>
#include <linux/zalloc.h>

#include "util/mutex.h"
#include "worker.h"

/* A chunk has so many records: to wake up the thread costs as much as some hundred. */
#define RECORDS		4096
/* So many chunks wait for the thread, and then the caller does. A wide host's step takes long. */
#define MOST_RECORDS	32

/* A chunk has so many pieces. */
#define PIECES		512
/* So many chunks wait for the caller, and then the thread does. */
#define MOST_PIECES	32

/* One call of the sink */
struct axis_piece {
	bool	is_vcpus;
	u32	vcpu;
	union {
		struct vcpu_interval of_vcpu;
		struct {
			struct cpu_interval of_cpu;
			struct axis_sample sample;
		};
	};
};

struct chunk {
	struct chunk *next;
	size_t	nr;
	union {
		__DECLARE_FLEX_ARRAY(struct axis_record, records);
		__DECLARE_FLEX_ARRAY(struct axis_piece, pieces);
	};
};

/* The oldest one first */
struct chunks {
	struct chunk *first, *last;
	size_t	nr;
};

/* What is not in use. The last one is taken first: it is in the CPU's cache still. */
struct spare_chunks {
	struct chunk *last;
};

/**
 * struct axis_worker - see axis_worker__new()
 * @coming: the caller adds to it, or NULL
 * @filling: the thread adds to it, or NULL
 * @changed: some of it did
 * @records: to be worked on
 * @pieces: to be taken by the caller
 * @spare_records: for @coming
 * @spare_pieces: for @filling
 * @busy: the thread works
 * @waited_for: the caller takes nothing until the thread is idle
 * @ended: there is nothing to come
 * @ret: of @work, the first that was not 0: nothing is done after that
 */
struct axis_worker {
	axis_work_fn	work;
	void		*arg;
	pthread_t	thread;
	struct chunk	*coming;
	struct chunk	*filling;
	struct mutex	lock;	/* of all that follows */
	struct cond	changed;
	struct chunks	records;
	struct chunks	pieces;
	struct spare_chunks spare_records;
	struct spare_chunks spare_pieces;
	bool		busy;
	bool		waited_for;
	bool		ended;
	int		ret;
};

static void chunks__add(struct chunks *chunks, struct chunk *chunk)
{
	chunk->next = NULL;
	if (chunks->nr++)
		chunks->last->next = chunk;
	else
		chunks->first = chunk;
	chunks->last = chunk;
}

/* NULL: there is none */
static struct chunk *chunks__take(struct chunks *chunks)
{
	struct chunk *chunk = chunks->nr ? chunks->first : NULL;

	if (chunk) {
		chunks->first = chunk->next;
		chunks->nr--;
	}
	return chunk;
}

static void chunks__free(struct chunks *chunks)
{
	struct chunk *chunk;

	while ((chunk = chunks__take(chunks)))
		free(chunk);
}

static void spare_chunks__add(struct spare_chunks *spare, struct chunk *chunk)
{
	chunk->next = spare->last;
	spare->last = chunk;
}

/* NULL: there is none */
static struct chunk *spare_chunks__take(struct spare_chunks *spare)
{
	struct chunk *chunk = spare->last;

	if (chunk)
		spare->last = chunk->next;
	return chunk;
}

static void spare_chunks__free(struct spare_chunks *spare)
{
	struct chunk *chunk;

	while ((chunk = spare_chunks__take(spare)))
		free(chunk);
}

/* An empty one of @size bytes, of @spare if there is one; NULL: no memory */
static struct chunk *new_chunk(struct axis_worker *worker, struct spare_chunks *spare, size_t size)
{
	struct chunk *chunk;

	mutex_lock(&worker->lock);
	chunk = spare_chunks__take(spare);
	mutex_unlock(&worker->lock);
	if (!chunk)
		chunk = malloc(sizeof(*chunk) + size);
	if (chunk)
		chunk->nr = 0;
	return chunk;
}

/* Lets the caller have what there is; in the thread */
static void hand_on(struct axis_worker *worker)
{
	if (!worker->filling)
		return;
	mutex_lock(&worker->lock);
	while (worker->pieces.nr >= MOST_PIECES && !worker->waited_for)
		cond_wait(&worker->changed, &worker->lock);
	chunks__add(&worker->pieces, worker->filling);
	cond_broadcast(&worker->changed);
	mutex_unlock(&worker->lock);
	worker->filling = NULL;
}

/* Room for one more, or NULL */
static struct axis_piece *new_piece(struct axis_worker *worker)
{
	if (worker->filling && worker->filling->nr == PIECES)
		hand_on(worker);
	if (!worker->filling)
		worker->filling = new_chunk(worker, &worker->spare_pieces,
					    PIECES * sizeof(struct axis_piece));
	return worker->filling ? &worker->filling->pieces[worker->filling->nr++] : NULL;
}

static int put_vcpu(u32 vcpu, const struct vcpu_interval *interval, void *arg)
{
	struct axis_piece *piece = new_piece(arg);

	if (!piece)
		return -ENOMEM;
	piece->is_vcpus = true;
	piece->vcpu = vcpu;
	piece->of_vcpu = *interval;
	return 0;
}

/* The sample is the axis's own, and may be gone when the caller gets it. */
static int put_cpu(const struct cpu_interval *interval, void *arg)
{
	struct axis_piece *piece = new_piece(arg);

	if (!piece)
		return -ENOMEM;
	piece->is_vcpus = false;
	piece->of_cpu = *interval;
	if (interval->sample)
		piece->sample = *interval->sample;
	return 0;
}

/* Where the thread is to hand out what it makes */
struct axis_sink axis_worker__sink(struct axis_worker *worker)
{
	return (struct axis_sink) { .vcpu = put_vcpu, .cpu = put_cpu, .arg = worker };
}

static int do_chunk(struct axis_worker *worker, const struct chunk *chunk)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < chunk->nr; i++)
		ret = worker->work(&chunk->records[i], worker->arg);
	return ret;
}

/* After each chunk, as the next one may be long in coming, the caller gets what there is. */
static void *run(void *arg)
{
	struct axis_worker *worker = arg;

	mutex_lock(&worker->lock);
	for (;;) {
		struct chunk *chunk = chunks__take(&worker->records);
		int ret = worker->ret;

		worker->busy = chunk;
		cond_broadcast(&worker->changed);
		if (!chunk && worker->ended)
			break;
		if (!chunk) {
			cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		mutex_unlock(&worker->lock);
		ret = ret ?: do_chunk(worker, chunk);
		hand_on(worker);
		mutex_lock(&worker->lock);
		worker->ret = ret;
		spare_chunks__add(&worker->spare_records, chunk);
	}
	mutex_unlock(&worker->lock);
	return NULL;
}

/* Signals are for the caller's thread. 0 or -errno */
static int start(struct axis_worker *worker)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	err = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (err)
		return -err;
	err = pthread_create(&worker->thread, NULL, run, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void axis_worker__free(struct axis_worker *worker)
{
	chunks__free(&worker->records);
	chunks__free(&worker->pieces);
	spare_chunks__free(&worker->spare_records);
	spare_chunks__free(&worker->spare_pieces);
	free(worker->filling);
	free(worker->coming);
	cond_destroy(&worker->changed);
	mutex_destroy(&worker->lock);
	free(worker);
}

/* NULL: no memory, or no more threads: the caller does the work itself then. */
struct axis_worker *axis_worker__new(axis_work_fn work, void *arg)
{
	struct axis_worker *worker = zalloc(sizeof(*worker));

	if (!worker)
		return NULL;
	worker->work = work;
	worker->arg = arg;
	mutex_init(&worker->lock);
	cond_init(&worker->changed);
	if (!start(worker))
		return worker;
	axis_worker__free(worker);
	return NULL;
}

static int deliver_piece(struct axis_piece *piece, const struct axis_sink *sink)
{
	if (piece->is_vcpus)
		return sink->vcpu(piece->vcpu, &piece->of_vcpu, sink->arg);
	if (piece->of_cpu.sample)
		piece->of_cpu.sample = &piece->sample;
	return sink->cpu(&piece->of_cpu, sink->arg);
}

/* The caller's part: hands out what is ready. @lock is held, but not meanwhile. 0 or what failed */
static int deliver(struct axis_worker *worker, const struct axis_sink *sink)
{
	struct chunk *chunk;
	int ret = 0;

	while (!ret && (chunk = chunks__take(&worker->pieces))) {
		cond_broadcast(&worker->changed);
		mutex_unlock(&worker->lock);
		for (size_t i = 0; !ret && i < chunk->nr; i++)
			ret = deliver_piece(&chunk->pieces[i], sink);
		mutex_lock(&worker->lock);
		spare_chunks__add(&worker->spare_pieces, chunk);
	}
	return ret ?: worker->ret;
}

static bool is_idle(const struct axis_worker *worker)
{
	return !worker->busy && !worker->records.nr;
}

static bool has_room(const struct axis_worker *worker)
{
	return worker->records.nr < MOST_RECORDS;
}

/* Hands out what comes until @done. @lock is held. 0 or what failed */
static int deliver_until(struct axis_worker *worker, const struct axis_sink *sink,
			 bool (*done)(const struct axis_worker *worker))
{
	int ret = deliver(worker, sink);

	while (!ret && !done(worker)) {
		cond_wait(&worker->changed, &worker->lock);
		ret = deliver(worker, sink);
	}
	return ret;
}

/* Gives the thread what has come, if there is something. @lock is held. */
static void give(struct axis_worker *worker)
{
	if (!worker->coming)
		return;
	chunks__add(&worker->records, worker->coming);
	worker->coming = NULL;
	cond_broadcast(&worker->changed);
}

/* Something for the thread to do. 0, -ENOMEM or what the sink returned */
int axis_worker__add(struct axis_worker *worker, const struct axis_record *record,
		     const struct axis_sink *sink)
{
	int ret;

	if (!worker->coming)
		worker->coming = new_chunk(worker, &worker->spare_records,
					   RECORDS * sizeof(struct axis_record));
	if (!worker->coming)
		return -ENOMEM;
	worker->coming->records[worker->coming->nr++] = *record;
	if (worker->coming->nr < RECORDS)
		return 0;
	mutex_lock(&worker->lock);
	give(worker);
	ret = deliver_until(worker, sink, has_room);
	mutex_unlock(&worker->lock);
	return ret;
}

/* Waits until the thread is idle, and keeps what it hands out. @lock is held. */
static void wait_for_thread(struct axis_worker *worker)
{
	worker->waited_for = true;
	cond_broadcast(&worker->changed);
	while (!is_idle(worker))
		cond_wait(&worker->changed, &worker->lock);
	worker->waited_for = false;
}

/* Waits until the thread has done all that it has to do, and keeps what it hands out. */
void axis_worker__wait(struct axis_worker *worker)
{
	mutex_lock(&worker->lock);
	give(worker);
	wait_for_thread(worker);
	mutex_unlock(&worker->lock);
}

/* The same, and hands all out. 0 or what failed */
int axis_worker__catch_up(struct axis_worker *worker, const struct axis_sink *sink)
{
	int ret;

	mutex_lock(&worker->lock);
	give(worker);
	ret = deliver_until(worker, sink, is_idle);
	mutex_unlock(&worker->lock);
	return ret;
}

void axis_worker__delete(struct axis_worker *worker)
{
	if (!worker)
		return;
	mutex_lock(&worker->lock);
	wait_for_thread(worker);
	worker->ended = true;
	cond_broadcast(&worker->changed);
	mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	axis_worker__free(worker);
}
