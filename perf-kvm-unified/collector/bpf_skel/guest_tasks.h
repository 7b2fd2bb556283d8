/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What guest_tasks.bpf.c tells kvm-unified/collector/follow.c */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_GUEST_TASKS_H
#define __PERF_KVM_UNIFIED_COLLECTOR_GUEST_TASKS_H

enum guest_task_event_kind {
	GUEST_TASK_FORK,
	GUEST_TASK_EXEC,
	GUEST_TASK_EXIT,
};

struct guest_task_record {
	u64	time;		/* ns of CLOCK_BOOTTIME */
	u64	pgd;		/* kernel address */
	u32	pid;
	u32	ns_pid;		/* 0: in the initial pid namespace */
	u32	kind;		/* enum guest_task_event_kind */
	u32	shared;		/* of a fork: with the parent, as by vfork() */
};

/* MODULE_NAME_LEN of include/linux/module.h is a bit less. */
#define GUEST_MODULE_RECORD_NAME_LEN	64

/* A module of the kernel came, before its first code, or goes, after its last. */
struct guest_module_record {
	u64	time;		/* ns of CLOCK_BOOTTIME */
	u32	gone;
	u32	reserved;
	char	name[GUEST_MODULE_RECORD_NAME_LEN];
};

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_GUEST_TASKS_H */
