// SPDX-License-Identifier: GPL-2.0
/*
 * Looks at guests, before, during and after a recording: what names the processes of those that no
 * collector runs in.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "util/debug.h"
#include "util/time-utils.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/guest-reasons.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/memory/current.h"
#include "kvm-unified/memory/looker.h"
#include "bpf-vcpu.h"
#include "collectors.h"
#include "guest-maps.h"
#include "guest-memory.h"
#include "interrupts.h"

#define KIB		1024UL

/*
 * A look that took so long is followed by a rest of the guest that is so many times as long, and
 * one of all guests: looks at one take 0.5 % of a CPU, all of them 5 %.
 */
#define REST_OF_GUEST	200
#define REST_OF_ALL	20
/* Or so long, if that is longer */
#define REST_MIN_NS	(50 * NSEC_PER_MSEC)

/* All first looks together, where there are many guests: those left out get theirs later. */
#define FIRST_LOOKS_NS	(10ULL * NSEC_PER_SEC)

/* Looks at the same time, each at another guest, if there are so many CPUs */
#define MAX_WORKERS	8U

/**
 * struct guest_view - what is known of a guest by looking at it
 * @vmm: @name: @tsc: of its VM
 * @looker: what looks at it, unless it @failed
 * @tasks_only: its map is a collector's: where it has its current tasks is all that is wanted
 * @began: its kernel is known
 * @why: the last look has failed, or the guest has no map
 * @rest_until: when the next look may be, ns
 */
struct guest_view {
	pid_t	      vmm;
	char	      name[KVM_VM_NAME_LEN];
	struct guest_tsc tsc;
	struct looker looker;
	bool	      tasks_only;
	bool	      failed;
	bool	      began;
	char	      why[256];
	u64	      rest_until;
};

/* Prints what looks have found, and what they cost. */
void looker__say(const struct looker *looker, const char *name)
{
	const struct guest_look_stats *stats = &looker->stats;

	if (quiet)
		return;
	fprintf(stderr,
		"[ perf kvm unified: %s, out of its memory: %" PRIu64 " kernel symbols, %" PRIu64
		" processes, %" PRIu64 " maps; %" PRIu64 " KiB read in %" PRIu64
		" looks and %" PRIu64 " ms of CPU time ]\n",
		name, stats->symbols, stats->processes, stats->maps,
		looker->mem.pages * GUEST_PAGE_SIZE / KIB, looker->nr_looks,
		looker->cpu_ns / NSEC_PER_MSEC);
}

void guest_memory__init(struct guest_memory *memory)
{
	*memory = (struct guest_memory) { .wanted = true, .look_seconds = LOOK_CPU_SECONDS };
	INIT_LIST_HEAD(&memory->reasons);
	INIT_LIST_HEAD(&memory->missing);
	INIT_LIST_HEAD(&memory->no_tasks);
	pthread_mutex_init(&memory->lock, NULL);
}

/* 0, or -EINVAL with a message */
int guest_memory__check(const struct guest_memory *memory)
{
	if (memory->look_seconds || !memory->wanted)
		return 0;
	pr_err("--guest-memory-time wants seconds of CPU time, at least 1. No looks at all: --no-guest-memory\n");
	return -EINVAL;
}

static struct guest_view *find(const struct guest_memory *memory, pid_t vmm)
{
	for (size_t i = 0; i < memory->nr; i++) {
		if (memory->guests[i].vmm == vmm)
			return &memory->guests[i];
	}
	return NULL;
}

static void add_reason(struct guest_memory *memory, struct list_head *reasons,
		       const struct guest_view *view, const char *why)
{
	pthread_mutex_lock(&memory->lock);
	guest_reasons__add(reasons, view->name, why);
	pthread_mutex_unlock(&memory->lock);
}

static void add_no_tasks(struct guest_memory *memory, const struct guest_view *view,
			 const char *why)
{
	add_reason(memory, &memory->no_tasks, view, why);
}

static void fail_view(struct guest_memory *memory, struct guest_view *view, const char *why)
{
	view->failed = true;
	looker__end(&view->looker);
	if (why != view->why)
		strlcpy(view->why, why, sizeof(view->why));
	if (view->tasks_only)
		add_no_tasks(memory, view, why);
	else
		add_reason(memory, &memory->reasons, view, why);
}

/* Why guests have no map is kept with their VMs. */
static void keep_reasons(const struct guest_memory *memory, struct kvm_vms *vms)
{
	for (size_t i = 0; i < memory->nr; i++) {
		const struct guest_view *view = &memory->guests[i];

		if (view->failed && !view->tasks_only)
			kvm_vms__set_no_map(vms, view->vmm, view->why);
	}
}

/**
 * struct work - the same with each guest, by several threads
 * @until: when no more of it is begun, ns
 * @dir: the profile, as far as it is needed
 * @next: guest that nobody has begun with
 */
struct work {
	struct guest_memory *memory;
	void	   (*with_one)(struct work *work, struct guest_view *view);
	u64	   until;
	const char *dir;
	size_t	   next;
};

static void *work_on(void *arg)
{
	struct work *work = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->memory->nr)
		work->with_one(work, &work->memory->guests[i]);
	return NULL;
}

static size_t nr_workers(const struct guest_memory *memory)
{
	size_t cpus = max(sysconf(_SC_NPROCESSORS_ONLN), 1L);

	cpus = min_t(size_t, cpus, MAX_WORKERS);
	return min(memory->nr, cpus);
}

/* Ends when all is done. This thread is one of those that do it. */
static void do_work(struct work *work)
{
	pthread_t threads[MAX_WORKERS];
	size_t nr = 0, wanted = nr_workers(work->memory);

	while (nr + 1 < wanted && !create_quiet_thread(&threads[nr], work_on, work))
		nr++;
	work_on(work);
	while (nr)
		pthread_join(threads[--nr], NULL);
}

/*
 * Those that are recorded and have no collector, or have current tasks that are to be found. 0 or
 * -ENOMEM
 */
static int add_guests(struct guest_memory *memory, const struct collectors *collectors,
		      const struct kvm_vms *vms)
{
	for (size_t i = 0; i < vms->nr; i++) {
		const struct kvm_vm *vm = &vms->entries[i];
		bool tasks_only = !collectors__leave_to_memory(collectors, vm);
		struct guest_view *view;

		if ((tasks_only && !memory->current_tasks) || find(memory, vm->pid))
			continue;
		if (grow_array(memory->guests, memory->nr, memory->allocated))
			return -ENOMEM;
		view = &memory->guests[memory->nr++];
		*view = (struct guest_view) {
			.vmm = vm->pid, .tsc = vm->tsc, .looker.mem.pagemap = -1,
			.tasks_only = tasks_only,
		};
		strlcpy(view->name, vm->name, sizeof(view->name));
		/* KVM's memory slots are found by process. */
		if (kvm_vm__shares_process(vm))
			fail_view(memory, view, "its process runs several VMs");
	}
	return 0;
}

/* Starts lookers for the guests that have none. There must be no other thread. */
static void start_lookers(struct guest_memory *memory, bool late, u64 until)
{
	for (size_t i = 0; i < memory->nr && rdclock() < until && !interrupts__came(); i++) {
		struct guest_view *view = &memory->guests[i];
		char err[256];

		if (view->failed || view->looker.pid || (late && view->tasks_only))
			continue;
		if (looker__start(&view->looker, memory->reader, view->vmm, &view->tsc, late,
				  memory->look_seconds, err, sizeof(err)))
			fail_view(memory, view, err);
	}
}

/* There was no time for a first look at these before the measurement. */
static void restart_late(struct guest_memory *memory)
{
	for (size_t i = 0; i < memory->nr; i++) {
		if (!memory->guests[i].began)
			looker__end(&memory->guests[i].looker);
	}
}

/* The first look: what it is, and what it has. */
static void begin(struct guest_memory *memory, struct guest_view *view)
{
	char err[256];
	int ret;

	ret = looker__find_kernel(&view->looker, err, sizeof(err));
	if (!ret && !view->tasks_only)
		ret = looker__all(&view->looker, err, sizeof(err));
	view->began = !ret;
	if (ret)
		fail_view(memory, view, err);
}

/* Tells the BPF program on the events how to tell the guest's processes apart. */
static void tell_current_tasks(struct guest_memory *memory, struct guest_view *view)
{
	struct guest_current *current = malloc(sizeof(*current));
	char err[256];
	int ret;

	ret = current ? looker__current(&view->looker, current, err, sizeof(err)) :
			fail(err, sizeof(err), -ENOMEM, "out of memory");
	if (!ret) {
		ret = bpf_vcpu__add_guest(view->vmm, current, &view->looker.mem.kvm);
		if (ret)
			fail(err, sizeof(err), ret, "the BPF program cannot be told: %s",
			     strerror(-ret));
	}
	free(current);
	if (ret)
		add_no_tasks(memory, view, err);
}

/* ... at one that there was none at, if there is time */
static void begin_in_time(struct work *work, struct guest_view *view)
{
	if (view->began || view->failed || !view->looker.pid || rdclock() >= work->until ||
	    interrupts__came())
		return;
	begin(work->memory, view);
	if (view->began && work->memory->current_tasks)
		tell_current_tasks(work->memory, view);
	if (view->tasks_only)
		looker__end(&view->looker);
}

/* Is there a way to guests' memory? It is said if not. */
static bool can_look(struct guest_memory *memory)
{
	char err[256];

	if (memory->reader)
		return true;
	memory->reader = kvm_reader__new(err, sizeof(err));
	memory->wanted = memory->reader;
	if (!memory->reader)
		unified_warning("The memory of guests cannot be read: %s.\n"
				"Without it, or --guest-cmd, their functions have no names.\n",
				err);
	return memory->wanted;
}

/* As far as there is time, and until it is interrupted */
static void look_first(struct guest_memory *memory)
{
	struct work work = {
		.memory = memory,
		.with_one = begin_in_time,
		.until = rdclock() + FIRST_LOOKS_NS,
	};
	struct interrupt_handlers before = interrupts__note();

	start_lookers(memory, /*late=*/false, work.until);
	do_work(&work);
	interrupts__leave_to(&before);
}

/**
 * guest_memory__start - look at the guests that are to be recorded, for the first time
 * @collectors: which of them have a collector
 * @vms: those that run
 *
 * What cannot be known this way is said at the end of the recording. 0, or -EINTR: it is not to be
 */
int guest_memory__start(struct guest_memory *memory, const struct collectors *collectors,
			const struct kvm_vms *vms)
{
	if (!memory->wanted)
		return 0;
	if (add_guests(memory, collectors, vms)) {
		unified_warning("Out of memory: guests are not looked at\n");
		memory->wanted = false;
	} else if (memory->nr && can_look(memory)) {
		look_first(memory);
	}
	return interrupts__came() ? -EINTR : 0;
}

/* The one whose rest is over first, or NULL: there is none to look at */
static struct guest_view *next_view(struct guest_memory *memory)
{
	struct guest_view *next = NULL;

	for (size_t i = 0; i < memory->nr; i++) {
		struct guest_view *view = &memory->guests[i];

		if (view->began && view->looker.pid &&
		    (!next || view->rest_until < next->rest_until))
			next = view;
	}
	return next;
}

static void look(struct guest_memory *memory, struct guest_view *view)
{
	u64 now;

	/* What fails now may not at the end, if it has not ended. */
	looker__tasks(&view->looker, view->why, sizeof(view->why));
	now = rdclock();
	view->rest_until = now + max(REST_OF_GUEST * view->looker.last_ns, (u64)REST_MIN_NS);
	memory->rest_until = now + REST_OF_ALL * view->looker.last_ns;
}

static void look_now_and_then(void *arg)
{
	struct guest_memory *memory = arg;
	struct guest_view *view = next_view(memory);

	while (view && background__wait(&memory->bg, max(view->rest_until, memory->rest_until))) {
		look(memory, view);
		view = next_view(memory);
	}
}

/* While perf records, in a thread of its own. Without one, there is the look at the end. */
void guest_memory__look_on(struct guest_memory *memory)
{
	if (!memory->wanted || !memory->nr)
		return;
	for (size_t i = 0; i < memory->nr; i++)
		memory->guests[i].rest_until = rdclock() + REST_MIN_NS;
	background__start(&memory->bg, look_now_and_then, memory);
}

void guest_memory__look_no_more(struct guest_memory *memory)
{
	background__stop(&memory->bg);
}

/* Its map, into the profile. 0, or -errno with @err */
static int take_map(struct guest_memory *memory, struct guest_view *view, const char *dir,
		    char *err, size_t errlen)
{
	int fd = guest_map__open_new(view->vmm, dir), ret;
	char why[192];

	if (fd < 0)
		return fail(err, errlen, fd, "its map cannot be stored: %s", strerror(-fd));
	ret = looker__write(&view->looker, fd, memory->callers, err, errlen);
	close(fd);
	if (ret) {
		guest_map__drop(view->vmm, dir);
		return ret;
	}
	pthread_mutex_lock(&memory->lock);
	ret = guest_map__take(view->vmm, dir, why, sizeof(why));
	pthread_mutex_unlock(&memory->lock);
	return ret ? fail(err, errlen, ret, "a map that %s", why) : 0;
}

/* Looks once more. Of a VM that has ended, or takes too long, what was seen before remains. */
static void look_last(struct guest_memory *memory, struct guest_view *view)
{
	if (looker__all(&view->looker, view->why, sizeof(view->why)) != -EDQUOT)
		return;
	add_reason(memory, &memory->missing, view, view->why);
}

static void finish(struct work *work, struct guest_view *view)
{
	struct guest_memory *memory = work->memory;
	char err[256];

	if (view->failed)
		return;
	if (memory->current_tasks && !view->began)
		add_no_tasks(memory, view, "it was not looked at before the recording began");
	if (view->tasks_only)
		return;
	if (view->began && !view->looker.pid)
		fail_view(memory, view, view->why);
	else if (!view->looker.pid || rdclock() > work->until)
		fail_view(memory, view, interrupts__came() ?
			  "interrupted" : "there was no time to look at it");
	else if (!view->began)
		begin(memory, view);
	else
		look_last(memory, view);
	if (view->failed)
		return;
	if (take_map(memory, view, work->dir, err, sizeof(err))) {
		fail_view(memory, view, err);
		return;
	}
	looker__say(&view->looker, view->name);
	looker__end(&view->looker);
}

/**
 * guest_memory__take - have a last look, and write the maps
 * @vms: also with those that have come since the start; gets why there are no maps
 * @dir: the profile
 */
void guest_memory__take(struct guest_memory *memory, const struct collectors *collectors,
			struct kvm_vms *vms, const char *dir)
{
	struct work work = {
		.memory = memory,
		.with_one = finish,
		.until = rdclock() + FIRST_LOOKS_NS,
		.dir = dir,
	};

	if (!memory->wanted)
		return;
	add_guests(memory, collectors, vms);
	if (!memory->nr || !can_look(memory))
		return;
	restart_late(memory);
	start_lookers(memory, /*late=*/true, work.until);
	do_work(&work);
	keep_reasons(memory, vms);
	guest_reasons__warn(&memory->reasons, "No names out of the memory of");
	guest_reasons__warn(&memory->missing, "Not all names out of the memory of");
	guest_reasons__warn(&memory->no_tasks, "Current tasks are not known of");
}

void guest_memory__exit(struct guest_memory *memory)
{
	for (size_t i = 0; i < memory->nr; i++)
		looker__end(&memory->guests[i].looker);
	free(memory->guests);
	guest_reasons__free(&memory->reasons);
	guest_reasons__free(&memory->missing);
	guest_reasons__free(&memory->no_tasks);
	kvm_reader__delete(memory->reader);
}
