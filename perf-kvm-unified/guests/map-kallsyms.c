// SPDX-License-Identifier: GPL-2.0
/*
 * The /proc/kallsyms that is in a guest map: perf reads a kernel's symbols from a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <internal/lib.h>

#include "util/event.h"
#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/names.h"
#include "map-check.h"
#include "map-kallsyms.h"

/* Writes the text of @event, a PERF_RECORD_GUEST_KALLSYMS that was checked, to @fd. 0 or -errno */
int guest_kallsyms__write(const union perf_event *event, int fd)
{
	const struct perf_record_guest_kallsyms *rec = (const void *)event;
	char *data;
	int ret = 0;

	if (!rec->len)
		return 0;
	data = memdup(rec->data, rec->len);
	if (!data)
		return -ENOMEM;
	for (u32 i = 0; i < rec->len; i++) {
		if (data[i] != '\n' && data[i] != '\t')
			data[i] = char__printable(data[i]);
	}
	if (writen(fd, data, rec->len) != (ssize_t)rec->len)
		ret = -errno;
	free(data);
	return ret;
}

static int take_kallsyms(const union perf_event *event, u64 time __maybe_unused, void *fd)
{
	return event->header.type == PERF_RECORD_GUEST_KALLSYMS ?
	       guest_kallsyms__write(event, *(int *)fd) : 0;
}

/*
 * Writes the /proc/kallsyms that is in the map at @path to @fd. 0, or -errno and the rest of a
 * sentence about the map in @err
 */
int guest_map__extract_kallsyms(const char *path, int fd, char *err, size_t errlen)
{
	struct guest_map_reader reader = { .take = take_kallsyms, .arg = &fd };

	return guest_map__read(path, &reader, err, errlen);
}
