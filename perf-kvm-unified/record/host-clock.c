// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of perf's events, which is not one that clock_gettime() knows. The page of an event
 * that counts nothing has what the kernel makes of the TSC: struct perf_event_mmap_page.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/perf_event.h>
#include <linux/time64.h>
#include <subcmd/parse-options.h>

#include "perf-sys.h"
#include "util/clockid.h"
#include "util/record.h"
#include "host-clock.h"

static int use_clockid(struct host_clock *clock, const char *name)
{
	struct record_opts opts = { };
	const struct option option = { .value = &opts };
	struct timespec now;

	if (parse_clockid(&option, name, /*unset=*/0))
		return -EINVAL;
	clock->has_id = true;
	clock->id = opts.clockid;
	return clock_gettime(clock->id, &now) ? -errno : 0;
}

/**
 * host_clock__open - find out what the clock of the events is
 * @name: as perf record -k has it; NULL: the kernel's own
 *
 * 0, -EOPNOTSUPP: that one is not made of the TSC, or another -errno
 */
int host_clock__open(struct host_clock *clock, const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.exclude_kernel = 1,
	};
	long page = sysconf(_SC_PAGESIZE);
	int fd, ret;
	void *pc;

	*clock = (struct host_clock) { };
	if (name)
		return use_clockid(clock, name);
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	pc = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	ret = pc == MAP_FAILED ? -errno : perf_read_tsc_conversion(pc, &clock->tc);
	if (pc != MAP_FAILED)
		munmap(pc, page);
	close(fd);
	return ret;
}

/* ns, as events have them */
u64 host_clock__now(const struct host_clock *clock)
{
	struct perf_tsc_conversion tc = clock->tc;
	struct timespec now;

	if (clock->has_id) {
		clock_gettime(clock->id, &now);
		return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
	}
	return tsc_to_perf_time(rdtsc(), &tc);
}
