/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_LONG_STATES_H
#define __PERF_KVM_UNIFIED_MEASURE_LONG_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct evsel;
union perf_event;

/* The event at the end of a state that is too long to be waited for; times in ns */
struct long_state {
	u64	begin;
	u64	end;
	struct evsel *evsel;
	union perf_event *event;
};

/**
 * struct long_states - what a first look at the file has found
 * @entries: by their begins, @nr of them; those before @next are on the axis
 * @map: @size: the file, which they point into
 * @known: there are no others
 */
struct long_states {
	struct long_state *entries;
	size_t	nr, allocated;
	size_t	next;
	void	*map;
	size_t	size;
	bool	known;
};

struct perf_session;

int long_states__map(struct long_states *states, const struct perf_session *session);
union perf_event *long_states__next_event(const struct long_states *states,
					  const struct perf_session *session, u64 *offset);
int long_states__add(struct long_states *states, const struct long_state *state);
void long_states__sort(struct long_states *states);
void long_states__exit(struct long_states *states);

#endif /* __PERF_KVM_UNIFIED_MEASURE_LONG_STATES_H */
