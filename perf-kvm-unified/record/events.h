/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_EVENTS_H
#define __PERF_KVM_UNIFIED_RECORD_EVENTS_H

#include <stdbool.h>

struct option;
struct record_args;

/**
 * enum kernel_mode - what tells the vCPU of samples, and with it the guest's process
 * @KERNEL_MODE_AUTO: the first of the following that there is
 * @KERNEL_MODE_SERIES: the kernel (PERF_SAMPLE_VCPU)
 * @KERNEL_MODE_BPF: a BPF program on the events
 * @KERNEL_MODE_PLAIN: nothing; only if it is asked for
 */
enum kernel_mode {
	KERNEL_MODE_AUTO,
	KERNEL_MODE_SERIES,
	KERNEL_MODE_BPF,
	KERNEL_MODE_PLAIN,
};

/**
 * struct record_events - what is wanted of the events
 * @freq: samples per second and CPU, as -F has it, or NULL
 * @period: events per sample, as -c has it, or NULL
 * @mode: not KERNEL_MODE_AUTO after record_events__check_kernel()
 * @sample_vcpu: false: as KERNEL_MODE_PLAIN
 * @guest_tasks: a BPF program tells the current tasks of guests, too
 * @asked_tasks: ... or does not, by an option; else if there is that program anyway
 * @guest_memory: guests are looked at, which that takes
 * @timeline: the kernel's event for what vCPUs do is recorded, too
 */
struct record_events {
	const char	*freq;
	const char	*period;
	enum kernel_mode mode;
	bool		sample_vcpu;
	bool		guest_tasks;
	bool		asked_tasks;
	bool		guest_memory;
	bool		timeline;
};

/**
 * struct perf_rights - what the process may do
 * @paranoid: sysctl kernel.perf_event_paranoid
 * @root: is root, perhaps one of a container, without capabilities
 * @perfmon: has CAP_PERFMON
 * @sys_admin: ... CAP_SYS_ADMIN
 */
struct perf_rights {
	int	paranoid;
	bool	root;
	bool	perfmon;
	bool	sys_admin;
};

const char *perf_rights__hint(const struct perf_rights *rights);

int record_events__parse_rate(const struct option *opt, const char *arg, int unset);
int record_events__parse_mode(const struct option *opt, const char *arg, int unset);
int record_events__check_rate(const struct record_events *events);
int record_events__read_max_freq(struct record_events *events);
int record_events__check_kernel(struct record_events *events);
void record_events__warn_no_callers(const struct record_events *events);
int record_events__write_format(const char *path);
int record_events__add(const struct record_events *events, struct record_args *args);

#endif /* __PERF_KVM_UNIFIED_RECORD_EVENTS_H */
