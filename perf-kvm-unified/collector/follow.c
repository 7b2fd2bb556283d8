// SPDX-License-Identifier: GPL-2.0
/*
 * In a guest: take down which processes come and go while it is measured from
 * outside. The kernel's side band tells of their names and maps, as perf record
 * would be told; a BPF program adds the page table, which nothing else tells of a
 * process that lives for a few ms.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#ifdef HAVE_BPF_SKEL
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#endif
#include <perf/mmap.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/mmap.h"
#include "util/ordered-events.h"
#include "util/perf_api_probe.h"
#include "util/target.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/warnings.h"
#ifdef HAVE_BPF_SKEL
#include "kvm-unified/collector/bpf_skel/guest_tasks.h"
#include "kvm-unified/collector/bpf_skel/guest_tasks.skel.h"
#endif
#include "follow.h"
#include "history.h"
#include "layout.h"
#include "modules.h"

void guest_kernel_events__exit(struct guest_kernel_events *kernel)
{
	guest_module_events__exit(&kernel->modules);
	guest_bpf_events__exit(&kernel->programs);
}

#ifdef HAVE_BPF_SKEL

/* An hour with 200 processes a second, of three events each; they take 100 MiB. */
#define MAX_EVENTS		(1U << 21)

/* As many as a reader takes */
#define MAX_PROGRAM_EVENTS	4096

/* Room for the maps of 100 processes that begin on a CPU between two looks */
#define SIDE_BAND_PAGES		128

/*
 * @raw: pt_root is still the kernel's pgd: where that is in memory is known when
 *	 the processes have been read
 */
struct guest_follow {
	guest_follow_cb		cb;
	void			*arg;
	struct evlist		*evlist;
	struct ordered_events	oe;
	struct guest_tasks_bpf	*skel;
	struct ring_buffer	*ring;
	struct guest_history	raw;
	struct guest_kernel_events kernel;
	u64			nr_lost;
	long			nr_cpus;
};

static int on_module(struct guest_follow *follow, const struct guest_module_record *rec)
{
	struct guest_module_event event = { .time = rec->time, .gone = rec->gone };

	if (follow->kernel.modules.nr >= MAX_EVENTS) {
		follow->nr_lost++;
		return 0;
	}
	strlcpy(event.name, rec->name, sizeof(event.name));
	return guest_module_events__add(&follow->kernel.modules, &event);
}

static int on_record(void *arg, void *data, size_t size)
{
	const struct guest_task_record *rec = data;
	struct guest_follow *follow = arg;
	const struct guest_task_event event = {
		.time = rec->time,
		.pt_root = rec->pgd,
		.pid = rec->pid,
		.ns_pid = rec->ns_pid,
		.kind = rec->kind,
		.shared = rec->shared,
	};

	if (size >= sizeof(struct guest_module_record))
		return on_module(follow, data);
	if (size < sizeof(*rec))
		return -EINVAL;
	if (follow->raw.nr >= MAX_EVENTS) {
		follow->nr_lost++;
		return 0;
	}
	return guest_history__add(&follow->raw, &event);
}

/* A kernel may have no such tracepoints, as it has no modules: the rest is all the same. */
static void want_modules(struct guest_follow *follow)
{
	bool known = libbpf_find_vmlinux_btf_id("module_load", BPF_TRACE_RAW_TP) > 0 &&
		     libbpf_find_vmlinux_btf_id("module_free", BPF_TRACE_RAW_TP) > 0;

	follow->kernel.modules.known = known;
	bpf_program__set_autoload(follow->skel->progs.on_module_load, known);
	bpf_program__set_autoload(follow->skel->progs.on_module_free, known);
}

static int start_bpf(struct guest_follow *follow, char *err, size_t errlen)
{
	int ret;

	follow->skel = guest_tasks_bpf__open();
	if (follow->skel) {
		want_modules(follow);
		ret = guest_tasks_bpf__load(follow->skel);
		if (ret) {
			guest_tasks_bpf__destroy(follow->skel);
			follow->skel = NULL;
			errno = -ret;
		}
	}
	if (!follow->skel)
		return fail(err, errlen, -errno,
			    "the kernel does not take the BPF programs that watch for processes (%s): it needs CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_DEBUG_INFO_BTF, and must not be locked down",
			    strerror(errno));
	ret = guest_tasks_bpf__attach(follow->skel);
	if (ret)
		return fail(err, errlen, ret,
			    "the BPF programs cannot be attached to the scheduler's tracepoints: %s",
			    strerror(-ret));
	follow->ring = ring_buffer__new(bpf_map__fd(follow->skel->maps.records), on_record,
					follow, NULL);
	if (!follow->ring)
		return fail(err, errlen, -ENOMEM, "out of memory");
	return 0;
}

/* Starts to read what becomes of processes, on all CPUs. 0 or -errno */
static int start_side_band(struct guest_follow *follow)
{
	struct target target = { .system_wide = true };
	struct perf_event_attr *attr;
	struct evsel *evsel;
	int ret;

	follow->evlist = evlist__new();
	if (!follow->evlist || evlist__add_dummy(follow->evlist))
		return -ENOMEM;
	evsel = evlist__first(follow->evlist);
	attr = &evsel->core.attr;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_id_all = 1;
	attr->task = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	/*
	 * Asked for before: evsel__open() would take it for anything but this that the
	 * kernel has not.
	 */
	attr->build_id = perf_can_record_build_id();
	attr->ksymbol = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_BOOTTIME;
	attr->disabled = 1;
	/* The collector looks now and then: no process shall wake it. */
	attr->watermark = 1;
	attr->wakeup_watermark = ~0U;

	if (!attr->build_id)
		unified_warning("This kernel says no build-ids of programs (since 5.12): functions of those that\n"
				"run only for a moment in a container, or from a new file, may have no names\n");

	ret = evlist__create_maps(follow->evlist, &target);
	if (ret)
		return ret;
	ret = evsel__open(evsel, evlist__core(follow->evlist)->user_requested_cpus,
			  evlist__core(follow->evlist)->threads);
	if (ret < 0)
		return ret;
	/* Since 5.1; evsel__open() does without. */
	follow->kernel.programs.known = attr->ksymbol;
	ret = evlist__do_mmap(follow->evlist, SIDE_BAND_PAGES);
	if (ret < 0)
		return ret;
	evlist__enable(follow->evlist);
	return 0;
}

static int deliver(struct ordered_events *oe, struct ordered_event *event)
{
	struct guest_follow *follow = oe->data;

	return follow->cb(event->event, event->timestamp, follow->arg);
}

static int on_ksymbol(struct guest_follow *follow, const union perf_event *event, u64 time)
{
	struct guest_bpf_events *programs = &follow->kernel.programs;

	if (programs->nr < MAX_PROGRAM_EVENTS)
		return guest_bpf_events__add(programs, event, time);
	if (programs->known)
		unified_warning("BPF programs have come or gone more than %d times: none of those gets its name.\n",
				MAX_PROGRAM_EVENTS);
	programs->known = false;
	return 0;
}

/*
 * Takes over a record of the side band. Behind it is the sample id, here of a TID
 * pair and the time, which the map's readers do not know of.
 */
static int queue(struct guest_follow *follow, union perf_event *event)
{
	const size_t id_size = 2 * sizeof(u64);
	u64 time;

	switch (event->header.type) {
	case PERF_RECORD_LOST:
		follow->nr_lost += event->lost.lost;
		return 0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_KSYMBOL:
		break;
	default:
		return 0;
	}
	if (event->header.size < sizeof(event->header) + id_size)
		return 0;
	event->header.size -= id_size;
	memcpy(&time, (char *)event + event->header.size + sizeof(u64), sizeof(time));
	if (event->header.type == PERF_RECORD_KSYMBOL)
		return on_ksymbol(follow, event, time);
	return ordered_events__queue(&follow->oe, event, time, 0, NULL);
}

static int read_side_band(struct guest_follow *follow)
{
	char buf[UINT16_MAX] __aligned(8);
	int ret = 0;

	for (int i = 0; !ret && i < evlist__core(follow->evlist)->nr_mmaps; i++) {
		struct mmap *map = &evlist__mmap(follow->evlist)[i];
		union perf_event *event;

		if (perf_mmap__read_init(&map->core))
			continue;
		while (!ret && (event = perf_mmap__read_event(&map->core))) {
			/* In the ring it is read only. */
			memcpy(buf, event, event->header.size);
			ret = queue(follow, (union perf_event *)buf);
			perf_mmap__consume(&map->core);
		}
		perf_mmap__read_done(&map->core);
	}
	return ret;
}

/**
 * guest_follow__drain - make room for what will happen
 *
 * To be called several times a second: what there is no room for gets lost. 0 or
 * -errno.
 */
int guest_follow__drain(struct guest_follow *follow)
{
	int ret = ring_buffer__consume(follow->ring);

	return ret < 0 ? ret : read_side_band(follow);
}

/**
 * guest_follow__look - take over what has happened since the last look
 *
 * Also drains it. 0, -errno, or what the callback returned.
 */
int guest_follow__look(struct guest_follow *follow)
{
	int ret = guest_follow__drain(follow);

	return ret ?: ordered_events__flush(&follow->oe, OE_FLUSH__ROUND);
}

/**
 * guest_follow__end - have a last look
 * @layout: of the kernel, as guest_tasks__read() has found it
 * @history: what has happened to processes is added to it
 * @kernel: gets what has happened to code of the kernel
 * @nr_lost: how many events there was no room for
 *
 * 0 or as guest_follow__look()
 */
int guest_follow__end(struct guest_follow *follow, const struct guest_task_layout *layout,
		      struct guest_history *history, struct guest_kernel_events *kernel,
		      u64 *nr_lost)
{
	int ret;

	evlist__disable(follow->evlist);
	guest_tasks_bpf__detach(follow->skel);
	ret = guest_follow__look(follow);
	if (!ret)
		ret = ordered_events__flush(&follow->oe, OE_FLUSH__FINAL);
	*nr_lost = follow->nr_lost + follow->skel->bss->nr_lost;
	/* Nothing is known of how many events the CPU had that was not there before. */
	if (sysconf(_SC_NPROCESSORS_ONLN) != follow->nr_cpus)
		++*nr_lost;

	*kernel = follow->kernel;
	kernel->modules.known = kernel->modules.known && !*nr_lost;
	kernel->programs.known = kernel->programs.known && !*nr_lost;
	follow->kernel = (struct guest_kernel_events) { };

	for (size_t i = 0; !ret && i < follow->raw.nr; i++) {
		struct guest_task_event *event = &follow->raw.events[i];

		/* Not a page table: a process without one; its pid has changed hands. */
		if (event->kind != GUEST_TASK_EXIT &&
		    guest_task_layout__root(layout, event->pt_root, &event->pt_root))
			event->pt_root = 0;
		ret = guest_history__add(history, event);
	}
	return ret;
}

void guest_follow__delete(struct guest_follow *follow)
{
	if (!follow)
		return;
	ordered_events__free(&follow->oe);
	evlist__put(follow->evlist);
	ring_buffer__free(follow->ring);
	guest_tasks_bpf__destroy(follow->skel);
	guest_history__exit(&follow->raw);
	guest_kernel_events__exit(&follow->kernel);
	free(follow);
}

/**
 * guest_follow__start - begin to take down what processes do
 *
 * Returns NULL with, in @err, a sentence that says what to do.
 */
struct guest_follow *guest_follow__start(guest_follow_cb cb, void *arg, char *err, size_t errlen)
{
	struct guest_follow *follow = zalloc(sizeof(*follow));
	int ret;

	if (!follow) {
		fail(err, errlen, -ENOMEM, "out of memory");
		return NULL;
	}
	follow->cb = cb;
	follow->arg = arg;
	follow->nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ordered_events__init(&follow->oe, deliver, follow);
	ordered_events__set_copy_on_queue(&follow->oe, true);

	ret = start_bpf(follow, err, errlen);
	if (!ret) {
		ret = start_side_band(follow);
		if (ret)
			fail(err, errlen, ret, "perf events of all processes cannot be opened: %s",
			     strerror(-ret));
	}
	if (ret) {
		guest_follow__delete(follow);
		return NULL;
	}
	return follow;
}

#else /* HAVE_BPF_SKEL */

struct guest_follow *guest_follow__start(guest_follow_cb cb __maybe_unused,
					 void *arg __maybe_unused, char *err, size_t errlen)
{
	fail(err, errlen, -EOPNOTSUPP,
	     "this perf was built without BPF skeletons (BUILD_BPF_SKEL=1, which needs clang)");
	return NULL;
}

int guest_follow__drain(struct guest_follow *follow __maybe_unused)
{
	return -EOPNOTSUPP;
}

int guest_follow__look(struct guest_follow *follow __maybe_unused)
{
	return -EOPNOTSUPP;
}

int guest_follow__end(struct guest_follow *follow __maybe_unused,
		      const struct guest_task_layout *layout __maybe_unused,
		      struct guest_history *history __maybe_unused,
		      struct guest_kernel_events *kernel __maybe_unused,
		      u64 *nr_lost __maybe_unused)
{
	return -EOPNOTSUPP;
}

void guest_follow__delete(struct guest_follow *follow __maybe_unused)
{
}

#endif /* HAVE_BPF_SKEL */
