/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_BACKGROUND_H
#define __PERF_KVM_UNIFIED_RECORD_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <linux/types.h>

/**
 * struct background - a thread beside perf record, until it is told to stop
 * @work: what it does, with @arg
 * @running: it was started
 */
struct background {
	void		(*work)(void *arg);
	void		*arg;
	bool		running;
	bool		stop;
	pthread_t	thread;
	pthread_mutex_t	lock;
	pthread_cond_t	stopped;
};

int background__start(struct background *bg, void (*work)(void *arg), void *arg);
bool background__wait(struct background *bg, u64 until);
void background__stop(struct background *bg);

int create_quiet_thread(pthread_t *thread, void *(*fn)(void *), void *arg);

#endif /* __PERF_KVM_UNIFIED_RECORD_BACKGROUND_H */
