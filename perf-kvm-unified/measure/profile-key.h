/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEASURE_PROFILE_KEY_H
#define __PERF_KVM_UNIFIED_MEASURE_PROFILE_KEY_H

#include <sys/types.h>

/*
 * What a table counts: the first column is time, in ns, the others are events. Of a profile
 * with more events than that, the rest is left out.
 */
#define PROFILE_TIME		0U
#define PROFILE_MAX_COLUMNS	9U

/*
 * What time was spent for, seen from the level that a profile is of. At guest level, those
 * from PROFILE_STEAL to PROFILE_BLOCKED are what a vCPU did not get of the time that it wanted.
 */
enum profile_class {
	PROFILE_OS,
	PROFILE_USER,
	PROFILE_IDLE,
	PROFILE_HALT_POLL, /* idle, and KVM kept the CPU to wait for the end of that */
	PROFILE_VM,	/* a VM ran; at guest level, one of the guest's own */
	PROFILE_HOST,	/* guest level: the host worked for the guest */
	PROFILE_STEAL,	/* wanted a CPU, and something else had it */
	PROFILE_EXIT,	/* KVM, or an interrupt of the host */
	PROFILE_VMM,	/* in the VMM, as KVM_RUN had to return for the guest */
	PROFILE_STOPPED, /* in the VMM, as a signal has made KVM_RUN return */
	PROFILE_THROTTLED, /* wanted a CPU, and a limit of its own forbade it */
	PROFILE_BLOCKED, /* waited in KVM for the host */
	PROFILE_LOST,
	PROFILE_UNKNOWN,
	PROFILE_NR_CLASSES
};

/* How the module of a VM begins, at host level: the pid of its VMM comes after it. */
#define PROFILE_VM_MODULE	"(VM pid "

/**
 * struct profile_key - what time was spent on
 * @function: @module, @comm: as in the table
 * @comm: @pid: "" and -1 where rows are not per process
 * @ns_pid: the pid in the process's own pid namespace, 0: no other
 * @cgroup: of a guest's process, the guest's: one pointer for each path; NULL: not known
 */
struct profile_key {
	enum profile_class class;
	const char	*function;
	const char	*module;
	const char	*comm;
	pid_t		pid;
	pid_t		ns_pid;
	const char	*cgroup;
};

#endif /* __PERF_KVM_UNIFIED_MEASURE_PROFILE_KEY_H */
