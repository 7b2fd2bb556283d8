// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs of a guest's kernel. They are in no file, and a guest map has no maps of them: its
 * kallsyms have where each begins.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <perf/event.h>
#include <symbol/kallsyms.h>

#include "util/event.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/maps.h"
#include "util/sample.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/sort.h"
#include "bpf.h"
#include "guest.h"
#include "modules.h"

/* How kallsyms end the lines of BPF's code: bpf_get_kallsym() in kernel/bpf/core.c */
#define BPF_MODULE		"\t[bpf]"

/* More than any kernel has; what there is besides is left out. */
#define BPF_MAX_PROGRAMS	65536

/*
 * The code of the largest programs that are known has some 60 KB. Where the next one begins
 * further away, so much is taken for a program's own.
 */
#define BPF_MAX_SIZE		(64U << 10)

struct bpf_program {
	u64	start;
	char	*name;
};

struct bpf_programs {
	struct bpf_program *entries;
	size_t	nr;
	size_t	allocated;
};

static int note_program(void *_programs, const char *name, char type __maybe_unused, u64 start)
{
	struct bpf_programs *programs = _programs;
	const char *module = strstr(name, BPF_MODULE);
	char *copy;

	if (!module || module == name || programs->nr >= BPF_MAX_PROGRAMS)
		return 0;
	if (grow_array(programs->entries, programs->nr, programs->allocated))
		return -ENOMEM;
	copy = strndup(name, min((size_t)(module - name), (size_t)KSYM_NAME_LEN - 1));
	if (!copy)
		return -ENOMEM;
	programs->entries[programs->nr++] = (struct bpf_program) { start, copy };
	return 0;
}

static int program__cmp(const void *_a, const void *_b)
{
	const struct bpf_program *a = _a, *b = _b;

	return sort_cmp(a->start, b->start);
}

/*
 * Where the kernel itself or a module is, there is none, whatever a guest makes of it; nor in the
 * lower half of the address space.
 */
static bool is_free(struct kvm_guest *guest, u64 start)
{
	struct map *map = maps__find(machine__kernel_maps(guest->machine), start);

	map__put(map);
	/* When it came is not known: a module may have been there before it. */
	return !map && (s64)start < 0 && !kvm_guest__is_changing_module(guest, start);
}

/* As if the host's kernel had told of it. 0 or -errno */
static int add_program(struct kvm_guest *guest, const struct bpf_program *program, u64 end)
{
	struct perf_sample sample = { };
	union perf_event event = {
		.ksymbol = {
			.header.type = PERF_RECORD_KSYMBOL,
			.header.size = sizeof(event.ksymbol),
			.header.misc = PERF_RECORD_MISC_GUEST_KERNEL,
			.addr = program->start,
			.len = min_t(u64, end - program->start, BPF_MAX_SIZE),
			.ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF,
		},
	};

	strlcpy(event.ksymbol.name, program->name, sizeof(event.ksymbol.name));
	text__make_printable(event.ksymbol.name);
	return machine__process_ksymbol(guest->machine, &event, &sample);
}

static int add_programs(struct kvm_guest *guest, const struct bpf_programs *programs)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < programs->nr; i++) {
		const struct bpf_program *program = &programs->entries[i];
		u64 end = i + 1 < programs->nr ? program[1].start : program->start + BPF_MAX_SIZE;

		/* Two with one address: none of them is known to be there. */
		if (end > program->start && is_free(guest, program->start))
			ret = add_program(guest, program, end);
	}
	return ret;
}

/**
 * kvm_guest__load_bpf - add the BPF programs of a guest's kernel to its machine
 *
 * After its maps: what is in one of them is none. 0 or -ENOMEM
 */
int kvm_guest__load_bpf(struct kvm_guest *guest)
{
	const char *kallsyms = guest->machine->kallsyms_filename;
	struct bpf_programs programs = { };
	struct stat st;
	int ret = 0;

	if (!kallsyms || !*kallsyms || stat(kallsyms, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (kallsyms__parse(kallsyms, &programs, note_program) == -ENOMEM)
		ret = -ENOMEM;
	sort_array(programs.entries, programs.nr, sizeof(*programs.entries), program__cmp);
	if (!ret)
		ret = add_programs(guest, &programs);
	for (size_t i = 0; i < programs.nr; i++)
		free(programs.entries[i].name);
	free(programs.entries);
	return ret;
}
