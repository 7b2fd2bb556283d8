// SPDX-License-Identifier: GPL-2.0
/*
 * A look at each vCPU's thread, once a second during a recording.
 *
 * kvm:kvm_vcpu_timeline tells of a state when it ends. One that lasts for long, such as the
 * halt of an idle vCPU, would not be heard of until then. So a thread that has not run since
 * the last look is written down, once for each such state, with what it is at. A reader
 * that has come past a state's first two seconds knows of it, or its first three if the
 * thread could run. Before the events are disabled, each thread that sleeps is written down.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <api/fs/fs.h>
#include <internal/cpumap.h>
#include <perf/cpumap.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/header.h"
#include "util/time-utils.h"
#include "util/tsc.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/write.h"
#include "looks.h"
#include "scan.h"

#define LOOK_SECONDS		1
/* New VMs are looked for in each so many looks. */
#define LOOKS_PER_SCAN		10
/*
 * A thread that could run, and has not: one that has a CPU to itself is charged for its
 * time by each tick only, of which there may be one a second (nohz_full).
 */
#define LOOKS_OF_RUNNABLE	2

/* What was seen of a thread at the last look */
struct thread_look {
	u64	cpu_ns;		/* CPU time of its life */
	u32	tid;
	u32	nr_same;	/* looks without more of it */
};

/* The thread's CPU time, ns, as in /proc/<pid>/task/<tid>/schedstat: sched-stats.rst */
static bool read_cpu_time(const char *proc, pid_t pid, u32 tid, u64 *ns)
{
	char path[PATH_MAX], *line = NULL;
	bool known;
	size_t len;

	scnprintf(path, sizeof(path), "%s/%d/task/%u/schedstat", proc, pid, tid);
	if (filename__read_str(path, &line, &len))
		return false;
	known = sscanf(line, "%" SCNu64, ns) == 1;
	free(line);
	return known;
}

static int write_look(struct vcpu_looks *looks, const struct kvm_vm *vm,
		      const struct guest_vcpu *vcpu, u32 flags, u64 tsc)
{
	struct perf_record_guest_vcpu_look look = {
		.header.type = PERF_RECORD_GUEST_VCPU_LOOK,
		.header.size = sizeof(look),
		.pid = vm->pid,
		.id = vcpu->id,
		.flags = flags,
		.tsc = tsc,
	};

	return write_all(looks->fd, &look, sizeof(look));
}

static int look_at(struct vcpu_looks *looks, const struct kvm_vm *vm,
		   const struct guest_vcpu *vcpu, struct thread_look *seen, u64 tsc)
{
	bool same_thread = seen->tid == vcpu->tid;
	pid_t vmm = kvm_vm__vmm(vm);
	u32 flags;
	u64 ns;

	if (!vcpu->tid || !read_cpu_time(looks->proc, vmm, vcpu->tid, &ns)) {
		seen->tid = 0;
		return 0;
	}
	seen->tid = vcpu->tid;
	if (!same_thread || ns != seen->cpu_ns) {
		seen->cpu_ns = ns;
		seen->nr_same = 0;
		return 0;
	}
	seen->nr_same++;
	if (seen->nr_same > LOOKS_OF_RUNNABLE)
		return 0;
	flags = kvm_vcpu__end_flag(looks->proc, vmm, vcpu->tid);
	/* It may have woken up, and run, while it was looked at. */
	if (!read_cpu_time(looks->proc, vmm, vcpu->tid, &ns) || ns != seen->cpu_ns)
		return 0;
	if (!flags && seen->nr_same < LOOKS_OF_RUNNABLE)
		return 0;
	/* Once for each state */
	seen->nr_same = LOOKS_OF_RUNNABLE;
	return write_look(looks, vm, vcpu, flags, tsc);
}

/*
 * Looks for VMs, and makes room for as many threads as they have. 0 or -ENOMEM: if nothing can
 * be opened now, there is a next time.
 */
static int find_vms(struct vcpu_looks *looks)
{
	struct thread_look *threads;
	u32 nr = 0;
	int ret;

	ret = kvm_vms__scan_debugfs(&looks->vms, looks->proc, looks->debugfs);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		pr_debug("Cannot look for VMs: %s\n", strerror(-ret));
	for (size_t i = 0; i < looks->vms.nr; i++)
		nr += looks->vms.entries[i].nr_vcpus;
	if (nr <= looks->nr_threads)
		return 0;
	threads = reallocarray(looks->threads, nr, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	/*
	 * A vCPU that comes moves those after it: of all, the next look is the first, and a
	 * state that goes on is told once more.
	 */
	memset(threads, 0, nr * sizeof(*threads));
	looks->threads = threads;
	looks->nr_threads = nr;
	return 0;
}

/**
 * vcpu_looks__look - look at all threads once
 * @tsc: now
 *
 * A vCPU's thread whose CPU time is what it was at the look before is written down, unless it
 * was for this state. 0 or -errno: there are no looks from then on
 */
int vcpu_looks__look(struct vcpu_looks *looks, u64 tsc)
{
	struct thread_look *seen;
	int ret;

	pthread_mutex_lock(&looks->lock);
	ret = -looks->failed;
	if (!ret && looks->nr_looks++ % LOOKS_PER_SCAN == 0)
		ret = find_vms(looks);
	seen = looks->threads;
	for (size_t i = 0; !ret && i < looks->vms.nr; i++) {
		const struct kvm_vm *vm = &looks->vms.entries[i];

		for (u32 v = 0; !ret && v < vm->nr_vcpus; v++)
			ret = look_at(looks, vm, &vm->vcpus[v], seen++, tsc);
	}
	looks->failed = -ret;
	pthread_mutex_unlock(&looks->lock);
	return ret;
}

/* Writes down what the thread is at, if it sleeps. 0 or -errno */
static int look_at_sleeper(struct vcpu_looks *looks, const struct kvm_vm *vm,
			   const struct guest_vcpu *vcpu, u64 tsc)
{
	pid_t vmm = kvm_vm__vmm(vm);
	u64 before, ns;
	u32 flags;

	if (!vcpu->tid || !read_cpu_time(looks->proc, vmm, vcpu->tid, &before))
		return 0;
	flags = kvm_vcpu__end_flag(looks->proc, vmm, vcpu->tid);
	if (!flags || !read_cpu_time(looks->proc, vmm, vcpu->tid, &ns) || ns != before)
		return 0;
	return write_look(looks, vm, vcpu, flags | GUEST_VCPU_AT_PAUSE, tsc);
}

/**
 * vcpu_looks__look_before_pause - look at all threads when the events are about to be disabled
 * @tsc: now
 *
 * Each thread that sleeps is written down: what it is at has no event if it goes on. By the time
 * that perf record has written its file, it may be awake. As vcpu_looks__look()
 */
int vcpu_looks__look_before_pause(struct vcpu_looks *looks, u64 tsc)
{
	int ret;

	pthread_mutex_lock(&looks->lock);
	ret = -looks->failed;
	for (size_t i = 0; !ret && i < looks->vms.nr; i++) {
		const struct kvm_vm *vm = &looks->vms.entries[i];

		for (u32 v = 0; !ret && v < vm->nr_vcpus; v++)
			ret = look_at_sleeper(looks, vm, &vm->vcpus[v], tsc);
	}
	looks->failed = -ret;
	pthread_mutex_unlock(&looks->lock);
	return ret;
}

/* Begins the file at @path. 0 or -errno */
int vcpu_looks__open(struct vcpu_looks *looks, const char *path, const char *proc,
		     const char *debugfs)
{
	int ret;

	*looks = (struct vcpu_looks) { .proc = proc, .debugfs = debugfs };
	pthread_mutex_init(&looks->lock, NULL);
	looks->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (looks->fd < 0)
		return -errno;
	if (perf_header__write_pipe(looks->fd) >= 0)
		return 0;
	ret = -errno;
	close(looks->fd);
	return ret;
}

/* Ends the file, and frees what belongs to @looks. 0 or -errno */
int vcpu_looks__close(struct vcpu_looks *looks)
{
	int ret = guest_stream__write_end(looks->fd);

	if (close(looks->fd) && !ret)
		ret = -errno;
	kvm_vms__exit(&looks->vms);
	zfree(&looks->threads);
	pthread_mutex_destroy(&looks->lock);
	return ret;
}

/* Whether CPUs are online that are not in @before, false where one of the two is not known */
bool cpus__have_come(const struct perf_cpu_map *before)
{
	struct perf_cpu_map *online = perf_cpu_map__new_online_cpus();
	bool came = online && before && !perf_cpu_map__is_subset(before, online);

	perf_cpu_map__put(online);
	return came;
}

static void look_each_second(void *arg)
{
	struct vcpu_looks *looks = arg;
	u64 due = rdclock();

	while (!vcpu_looks__look(looks, rdtsc())) {
		/* A CPU may be gone again by the end. */
		looks->cpus_came |= cpus__have_come(looks->online);
		due += LOOK_SECONDS * NSEC_PER_SEC;
		if (!background__wait(&looks->bg, due))
			break;
	}
}

/* Looks from now on, in a thread of its own, until vcpu_looks__stop(). 0 or -errno */
int vcpu_looks__start(struct vcpu_looks *looks)
{
	return background__start(&looks->bg, look_each_second, looks);
}

void vcpu_looks__stop(struct vcpu_looks *looks)
{
	background__stop(&looks->bg);
}
