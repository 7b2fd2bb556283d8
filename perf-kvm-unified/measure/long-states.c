// SPDX-License-Identifier: GPL-2.0
/*
 * States of vCPUs that last for long. Their events come at their ends, when what happened
 * meanwhile has left the axis. So the file is looked through for them before it is read.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/data.h"
#include "util/event.h"
#include "util/header.h"
#include "util/session.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "long-states.h"

/*
 * A state that goes on at the end has no event. The looks that record has taken meanwhile are what
 * says that it had begun, if they are there.
 */
static bool has_looks(const struct perf_session *session)
{
	char path[PATH_MAX];

	scnprintf(path, sizeof(path), "%s/" VCPU_LOOKS_FILE, session->data->path);
	return !access(path, R_OK);
}

/* Is the file one that can be looked through? Else all of it is kept until the end. */
static bool can_look_through(const struct perf_session *session)
{
	const struct perf_header *header = &session->header;

	return has_looks(session) && !perf_data__is_pipe(session->data) && !session->data->dir.nr &&
	       !header->needs_swap && header->data_size &&
	       !perf_header__has_feat(header, HEADER_COMPRESSED);
}

/* 0: @states->map is set, if the file can be looked through; or -errno */
int long_states__map(struct long_states *states, const struct perf_session *session)
{
	int fd = perf_data__fd(session->data);
	struct stat st;
	void *map;

	if (!can_look_through(session) || fstat(fd, &st) ||
	    (u64)st.st_size < session->header.data_offset)
		return 0;
	states->size = min_t(u64, st.st_size,
			     session->header.data_offset + session->header.data_size);
	map = mmap(NULL, states->size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	states->map = map;
	return 0;
}

/*
 * The next record at @offset of the file, 0 at first, or NULL: there is none that makes
 * sense; what is wrong is said when the file is read. @offset moves after it.
 */
union perf_event *long_states__next_event(const struct long_states *states,
					  const struct perf_session *session, u64 *offset)
{
	union perf_event *event;

	*offset = *offset ?: session->header.data_offset;
	if (*offset > states->size || states->size - *offset < sizeof(event->header))
		return NULL;
	event = states->map + *offset;
	if (event->header.size < sizeof(event->header) ||
	    event->header.size > states->size - *offset)
		return NULL;
	*offset += event->header.size;
	return event;
}

/* 0 or -ENOMEM */
int long_states__add(struct long_states *states, const struct long_state *state)
{
	int ret = grow_array(states->entries, states->nr, states->allocated);

	if (!ret)
		states->entries[states->nr++] = *state;
	return ret;
}

static int long_state__cmp(const void *_a, const void *_b)
{
	const struct long_state *a = _a, *b = _b;

	return sort_cmp(a->begin, b->begin) ?: sort_cmp(a->end, b->end);
}

void long_states__sort(struct long_states *states)
{
	sort_array(states->entries, states->nr, sizeof(*states->entries), long_state__cmp);
}

void long_states__exit(struct long_states *states)
{
	if (states->map)
		munmap(states->map, states->size);
	free(states->entries);
	*states = (struct long_states) { };
}
