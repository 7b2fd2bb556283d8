// SPDX-License-Identifier: GPL-2.0
/*
 * Events that BPF programs write to: their records are in the buffers of all other events.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/parse-events.h"
#include "util/target.h"
#include "bpf-output.h"

/* Adds the event @name. 0, or -errno with a message */
static int add_event(struct evlist *evlist, const char *option, const char *name)
{
	char event[64];

	scnprintf(event, sizeof(event), "bpf-output/name=%s/", name);
	if (!parse_event(evlist, event))
		return 0;
	pr_err("The event for %s cannot be made\n", option);
	return -EINVAL;
}

/**
 * bpf_output__prepare - load programs, and add the event that they will write to
 * @target: what is recorded: whole CPUs, as a buffer that follows a task is not that of its CPU
 * @option: who wants it
 * @name: of the event
 * @load: loads the programs: 0, or -errno with, in @err, the rest of a sentence: why not
 *
 * 0, or -errno with a message
 */
int bpf_output__prepare(struct evlist *evlist, const struct target *target, const char *option,
			const char *name, int (*load)(char *err, size_t errlen))
{
	char err[256];
	int ret;

	if (!target__has_cpu(target)) {
		pr_err("%s wants whole CPUs: -a or -C\n", option);
		return -EINVAL;
	}
	ret = add_event(evlist, option, name);
	if (ret || !load(err, sizeof(err)))
		return ret;
	pr_err("No %s here: %s\n", option, err);
	return -EOPNOTSUPP;
}

#ifdef HAVE_BPF_SKEL

#include <bpf/libbpf.h>
#include <internal/xyarray.h>
#include <perf/cpumap.h>

/**
 * bpf_output__connect - have programs write to the event of the CPU that they run on
 * @map: of the programs
 *
 * The events are open. That event, or NULL, with a message
 */
struct evsel *bpf_output__connect(struct evlist *evlist, const char *name,
				  const struct bpf_map *map)
{
	struct evsel *evsel = evlist__find_evsel_by_str(evlist, name);
	int nr = evsel ? perf_cpu_map__nr(evsel->core.cpus) : 0, ret = evsel ? 0 : -ENOENT;

	for (int i = 0; !ret && i < nr; i++) {
		int *fd = xyarray__entry(evsel->core.fd, i, 0);
		int cpu = perf_cpu_map__cpu(evsel->core.cpus, i).cpu;

		ret = bpf_map__update_elem(map, &cpu, sizeof(cpu), fd, sizeof(*fd), BPF_ANY);
	}
	if (!ret)
		return evsel;
	pr_err("A BPF program has no buffer to write to: %s\n", strerror(-ret));
	return NULL;
}

#endif /* HAVE_BPF_SKEL */
