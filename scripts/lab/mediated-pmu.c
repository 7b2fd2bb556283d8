// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into perf in the lab, whose emulated CPUs have no PMU: a host with one.
 *
 * MEDIATED_PMU=refuses: as while a VM with a mediated vPMU exists. An event of the CPU that
 * includes guests is refused, as mediated_pmu_account_event() of kernel/events/core.c does.
 * MEDIATED_PMU=takes: as while there is none. All events of the CPU are opened.
 *
 * What is not refused is opened as cpu-clock, with a rate that it can have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#define NR_ARGS		6
#define CLOCK_PERIOD_NS	1000000

typedef long (*syscall_fn)(long nr, long a, long b, long c, long d, long e, long f);

long syscall(long nr, ...)
{
	syscall_fn real = (syscall_fn)dlsym(RTLD_NEXT, "syscall");
	const char *mode = getenv("MEDIATED_PMU");
	struct perf_event_attr *attr;
	long arg[NR_ARGS];
	va_list args;

	va_start(args, nr);
	for (int i = 0; i < NR_ARGS; i++)
		arg[i] = va_arg(args, long);
	va_end(args);

	attr = (struct perf_event_attr *)arg[0];
	if (nr == __NR_perf_event_open && mode && attr->type == PERF_TYPE_HARDWARE) {
		struct perf_event_attr clock = *attr;

		if (!strcmp(mode, "refuses") && !attr->exclude_guest) {
			errno = EOPNOTSUPP;
			return -1;
		}
		clock.type = PERF_TYPE_SOFTWARE;
		clock.config = PERF_COUNT_SW_CPU_CLOCK;
		clock.freq = 0;
		clock.precise_ip = 0;
		clock.sample_period = CLOCK_PERIOD_NS;
		return real(nr, (long)&clock, arg[1], arg[2], arg[3], arg[4], arg[5]);
	}
	return real(nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
