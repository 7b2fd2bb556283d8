// SPDX-License-Identifier: GPL-2.0
/*
 * Threads beside perf record, which must not be in its way.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <linux/time64.h>

#include "background.h"

/* A thread that gets no signals: these are for perf record. 0 or -errno */
int create_quiet_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(thread, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static void *run(void *arg)
{
	struct background *bg = arg;

	/*
	 * perf record enters other mount namespaces, which it may not while a thread shares
	 * its fs.
	 */
	unshare(CLONE_FS);
	bg->work(bg->arg);
	return NULL;
}

/* Has @work done in a thread of its own, until background__stop(). 0 or -errno */
int background__start(struct background *bg, void (*work)(void *arg), void *arg)
{
	pthread_condattr_t attr;
	int ret;

	*bg = (struct background) { .work = work, .arg = arg };
	pthread_mutex_init(&bg->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&bg->stopped, &attr);
	pthread_condattr_destroy(&attr);
	ret = create_quiet_thread(&bg->thread, run, bg);
	bg->running = !ret;
	return ret;
}

/* Waits in the thread for a time, ns of CLOCK_MONOTONIC. false: the thread must stop */
bool background__wait(struct background *bg, u64 until)
{
	const struct timespec due = { until / NSEC_PER_SEC, until % NSEC_PER_SEC };
	bool stop;

	pthread_mutex_lock(&bg->lock);
	while (!bg->stop && pthread_cond_timedwait(&bg->stopped, &bg->lock, &due) != ETIMEDOUT)
		;
	stop = bg->stop;
	pthread_mutex_unlock(&bg->lock);
	return !stop;
}

/* Does nothing if it was not started. */
void background__stop(struct background *bg)
{
	if (!bg->running)
		return;
	pthread_mutex_lock(&bg->lock);
	bg->stop = true;
	pthread_cond_signal(&bg->stopped);
	pthread_mutex_unlock(&bg->lock);
	pthread_join(bg->thread, NULL);
	bg->running = false;
}
