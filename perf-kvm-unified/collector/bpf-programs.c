// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: BPF programs that come or go while it is followed. A map has those of its end, out
 * of the kernel's symbols: of one that was not there all the time, it gets when it was there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/event.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/sort.h"
#include "bpf-programs.h"
#include "symbols.h"

/* "offset size name" */
#define LINE_LEN	(2 * sizeof("ffffffffffffffff ") + GUEST_MODULE_NAME_LEN)

/**
 * guest_bpf_events__add - take down what a record tells of a BPF program
 * @event: PERF_RECORD_KSYMBOL, without the sample id after it; other code's is left out
 * @time: ns of CLOCK_BOOTTIME
 *
 * 0 or -ENOMEM
 */
int guest_bpf_events__add(struct guest_bpf_events *events, const union perf_event *event,
			  u64 time)
{
	const struct perf_record_ksymbol *ksymbol = &event->ksymbol;
	size_t head = offsetof(struct perf_record_ksymbol, name);
	struct guest_bpf_event *added;

	if (event->header.size <= head || ksymbol->ksym_type != PERF_RECORD_KSYMBOL_TYPE_BPF)
		return 0;
	if (grow_array(events->entries, events->nr, events->allocated))
		return -ENOMEM;
	added = &events->entries[events->nr++];
	*added = (struct guest_bpf_event) {
		.time = time,
		.start = ksymbol->addr,
		.len = ksymbol->len,
		.gone = ksymbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
	};
	scnprintf(added->name, sizeof(added->name), "%.*s", (int)(event->header.size - head),
		  ksymbol->name);
	return 0;
}

void guest_bpf_events__exit(struct guest_bpf_events *events)
{
	zfree(&events->entries);
	events->nr = 0;
	events->allocated = 0;
}

struct program_record {
	struct perf_record_guest_symbols rec;
	struct guest_symbols_module program;
	char	line[PERF_ALIGN(LINE_LEN, sizeof(u64))];
};

/* The program of @event was there from @from to @until. 0 or -errno */
static int write_program(const struct guest_bpf_event *event, u64 from, u64 until, int fd)
{
	struct program_record record = {
		.rec.pid = GUEST_SYMBOLS_OF_BPF,
		.program = {
			.start = event->start, .len = event->len, .from = from, .until = until,
		},
	};
	size_t len;

	strlcpy(record.program.name, event->name, sizeof(record.program.name));
	len = scnprintf(record.line, sizeof(record.line), "0 %x %s\n", event->len, event->name);
	return guest_symbols__write(fd, &record.rec, sizeof(record.program) + len);
}

static int event__cmp(const void *_a, const void *_b)
{
	const struct guest_bpf_event *a = _a, *b = _b;

	return sort_cmp(a->start, b->start) ?: sort_cmp(a->time, b->time);
}

/* Writes what became of the @nr programs that began at one address in turn. 0 or -errno */
static int write_address(const struct guest_bpf_event *events, size_t nr, int fd)
{
	const struct guest_bpf_event *there = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++) {
		if (there || events[i].gone)
			ret = write_program(there ?: &events[i], there ? there->time : 0,
					    events[i].time, fd);
		there = events[i].gone ? NULL : &events[i];
	}
	return ret || !there ? ret : write_program(there, there->time, ~0ULL, fd);
}

/**
 * guest_bpf_events__write - write what a reader needs of BPF programs that came or went
 *
 * Sorts them. If not all that has happened is known, it is written of each that nothing is.
 * 0 or -errno
 */
int guest_bpf_events__write(struct guest_bpf_events *events, int fd)
{
	int ret = 0;

	sort_array(events->entries, events->nr, sizeof(*events->entries), event__cmp);
	for (size_t i = 0, nr; !ret && i < events->nr; i += nr) {
		const struct guest_bpf_event *first = &events->entries[i];

		for (nr = 1; i + nr < events->nr && first[nr].start == first->start; nr++)
			;
		ret = events->known ? write_address(first, nr, fd) :
				      write_program(first, 0, 0, fd);
	}
	return ret;
}
