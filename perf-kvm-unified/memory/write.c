// SPDX-License-Identifier: GPL-2.0
/*
 * All that looks have found in a guest, as a guest map: first what was there at the first look,
 * then what came later, in the order of time, then whose address spaces were where, and symbols.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <perf/event.h>

#include "kvm-unified/format/records.h"
#include "kvm-unified/lib/sort.h"
#include "cgroups.h"
#include "files.h"
#include "instant.h"
#include "kernel.h"
#include "lives.h"
#include "modules.h"
#include "orc.h"
#include "vdso.h"
#include "write.h"
#include "writer.h"

/* As perf calls it, with the symbol that pgoff is the address of */
#define KERNEL_MAP_NAME		"[kernel.kallsyms]_stext"

/* A kernel with 154,000 symbols has 7 MiB. */
#define MAX_KALLSYMS_SIZE	(48U << 20)
#define MAX_VDSO_SYMBOLS	(64U << 10)
#define MAX_LINE		640

/* Something that became true at a time: a process came (no @code), or it mapped code. */
struct event {
	u64	time;
	u32	life;
	u32	code;		/* 1 + its index, 0: the process itself */
};

/*
 * Writes what kind of map it is: what several looks have seen is true between the first and the
 * last.
 */
static void write_kind(struct guest_writer *w, const struct guest_kernel *k,
		       const struct guest_lives *lives)
{
	struct perf_record_guest_map rec = {
		.flags = (k->pti ? GUEST_MAP_PTI : 0) |
			 (lives->looks > 1 && !lives->late ? GUEST_MAP_FOLLOWED : 0),
	};

	guest_writer__record(w, PERF_RECORD_GUEST_MAP, &rec, sizeof(rec));
}

static void write_clock(struct guest_writer *w, const struct guest_instant *instant)
{
	struct perf_record_guest_clock rec = { .tsc = instant->tsc, .time = instant->time };

	if (instant->has_tsc)
		guest_writer__record(w, PERF_RECORD_GUEST_CLOCK, &rec, sizeof(rec));
}

static void write_kernel(struct guest_writer *w, const struct guest_found *found)
{
	const struct guest_kernel *k = found->kernel;
	const struct guest_code text = {
		.start = k->text, .len = k->text_end - k->text, .pgoff = k->text,
	};

	guest_writer__map(w, PERF_RECORD_MISC_KERNEL, -1, &text, KERNEL_MAP_NAME, &k->build_id);
	for (size_t i = 0; i < found->modules->nr; i++) {
		const struct guest_module *module = &found->modules->entries[i];
		const struct guest_code code = { .start = module->base, .len = module->size };
		char name[GUEST_MODULE_NAME + 2];

		snprintf(name, sizeof(name), "[%s]", module->name);
		guest_writer__map(w, PERF_RECORD_MISC_KERNEL, -1, &code, name, &module->build_id);
	}
}

static void write_code(struct guest_writer *w, const struct guest_found *found, pid_t pid,
		       const struct guest_code *code)
{
	const struct guest_file *file;

	switch (code->file) {
	case GUEST_MAP_ANON:
		guest_writer__map(w, PERF_RECORD_MISC_USER, pid, code, "//anon", NULL);
		break;
	case GUEST_MAP_VDSO:
		guest_writer__map(w, PERF_RECORD_MISC_USER, pid, code, "[vdso]", NULL);
		break;
	default:
		file = &found->files->entries[code->file];
		guest_writer__map(w, PERF_RECORD_MISC_USER, pid, code, file->path, &file->build_id);
		break;
	}
}

static int event__cmp(const void *_a, const void *_b)
{
	const struct event *a = _a, *b = _b;

	return sort_cmp(a->time, b->time) ?: sort_cmp(a->life, b->life) ?:
	       sort_cmp(a->code, b->code);
}

static void write_process(struct guest_writer *w, const struct guest_found *found,
			  const struct guest_life *life)
{
	const char *cgroup = guest_cgroups__path(found->cgroups, life->task.cgroup);

	guest_writer__comm(w, life->task.pid, life->task.comm, !life->first);
	if (cgroup)
		guest_writer__cgroup(w, life->task.pid, cgroup);
}

/* Processes in the order of their times; what there was at the first look has none. */
static int write_lives(struct guest_writer *w, const struct guest_found *found)
{
	const struct guest_lives *lives = found->lives;
	size_t nr = 0, max = lives->nr + lives->nr_codes;
	struct event *events = calloc(max ?: 1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < lives->nr; i++) {
		const struct guest_life *life = &lives->entries[i];
		u64 from = life->first ? 0 : life->from;

		events[nr++] = (struct event) { .time = from, .life = i };
		for (size_t j = 0; j < life->codes.nr; j++) {
			const struct guest_code *code = &life->codes.entries[j];

			events[nr++] = (struct event) {
				.time = max(from, code->since), .life = i, .code = j + 1,
			};
		}
	}
	sort_array(events, nr, sizeof(*events), event__cmp);
	for (size_t i = 0; i < nr; i++) {
		const struct guest_life *life = &lives->entries[events[i].life];
		pid_t pid = life->task.pid;

		guest_writer__set_time(w, events[i].time);
		if (events[i].code)
			write_code(w, found, pid, &life->codes.entries[events[i].code - 1]);
		else
			write_process(w, found, life);
	}
	free(events);
	return 0;
}

static void write_spaces(struct guest_writer *w, const struct guest_lives *lives)
{
	for (size_t i = 0; i < lives->nr; i++) {
		const struct guest_life *life = &lives->entries[i];
		struct perf_record_guest_space rec = {
			.pt_root = life->task.pt_root,
			.from = life->from,
			.until = guest_life__until(lives, life),
			.pid = life->task.pid,
			.ns_pid = life->task.ns_pid,
		};

		if (rec.pt_root)
			guest_writer__record(w, PERF_RECORD_GUEST_SPACE, &rec, sizeof(rec));
	}
}

static bool is_word(const char *name)
{
	for (; *name; name++) {
		if (!isgraph((unsigned char)*name))
			return false;
	}
	return true;
}

static int kallsyms_text(const struct guest_found *found, struct guest_text *text)
{
	const struct kernel_symbols *s = &found->kernel->symbols;
	const struct guest_text *modules = &found->modules->symbols;
	char line[MAX_LINE];

	for (size_t i = 0; i < s->nr; i++) {
		const char *name = kernel_symbols__name(s, i);
		int n, ret;

		if (!isgraph((unsigned char)s->entries[i].type) || !is_word(name))
			continue;
		n = snprintf(line, sizeof(line), "%016" PRIx64 " %c %s\n", s->entries[i].addr,
			     s->entries[i].type, name);
		ret = guest_text__add(text, line, min_t(int, n, sizeof(line) - 1));
		if (ret)
			return ret;
	}
	return modules->len ? guest_text__add(text, modules->data, modules->len) : 0;
}

static int write_kallsyms(struct guest_writer *w, const struct guest_found *found)
{
	struct perf_record_guest_kallsyms head = { };
	struct guest_text text = { .max = MAX_KALLSYMS_SIZE };
	int ret = kallsyms_text(found, &text);

	if (!ret)
		guest_writer__text(w, PERF_RECORD_GUEST_KALLSYMS, &head, sizeof(head),
				   offsetof(struct perf_record_guest_kallsyms, len),
				   text.data, text.len);
	guest_text__exit(&text);
	return ret;
}

static int write_vdso(struct guest_writer *w, struct guest_kernel *k)
{
	struct perf_record_guest_symbols head = { };
	struct guest_text text = { .max = MAX_VDSO_SYMBOLS };
	int ret = guest_vdso__symbols(k, &text);

	if (!ret)
		guest_writer__text(w, PERF_RECORD_GUEST_SYMBOLS, &head, sizeof(head),
				   offsetof(struct perf_record_guest_symbols, len),
				   text.data, text.len);
	guest_text__exit(&text);
	return ret == -E2BIG ? 0 : ret;
}

static void write_programs(struct guest_writer *w, const struct guest_files *files)
{
	for (size_t i = 0; i < files->nr_programs; i++) {
		const struct guest_program *program = &files->programs[i];
		struct {
			struct perf_record_guest_symbols symbols;
			struct guest_symbols_file file;
		} head = {
			.symbols.pid = GUEST_SYMBOLS_OF_FILE,
			.symbols.len = sizeof(head.file),
			.file.build_id_size = program->build_id.size,
		};

		memcpy(head.file.build_id, program->build_id.data, program->build_id.size);
		guest_writer__text(w, PERF_RECORD_GUEST_SYMBOLS, &head, sizeof(head),
				   offsetof(struct perf_record_guest_symbols, len),
				   program->symbols.data, program->symbols.len);
	}
}

static void write_missed(struct guest_writer *w, const struct guest_lives *lives)
{
	struct perf_record_guest_missed rec = {
		.spaces = lives->nr_unread,
		.events = lives->nr_dropped,
	};

	guest_writer__record(w, PERF_RECORD_GUEST_MISSED, &rec, sizeof(rec));
}

static int write_all_of(struct guest_writer *w, const struct guest_found *found)
{
	int ret;

	guest_writer__head(w);
	write_kind(w, found->kernel, found->lives);
	for (size_t i = 0; i < found->nr_instants; i++)
		write_clock(w, &found->instants[i]);
	write_kernel(w, found);
	ret = write_lives(w, found);
	if (ret)
		return ret;
	write_spaces(w, found->lives);
	ret = write_kallsyms(w, found);
	if (!ret)
		ret = write_vdso(w, found->kernel);
	if (!ret && found->orc)
		ret = guest_orc__write(w, found->kernel, found->modules);
	if (ret)
		return ret;
	write_programs(w, found->files);
	write_missed(w, found->lives);
	guest_writer__end(w);
	return w->ret;
}

/**
 * guest_found__write - write a guest map
 *
 * Return: 0; -E2BIG: the kernel has too many symbols; -ENOMEM; or as write() has failed
 */
int guest_found__write(const struct guest_found *found, int fd)
{
	struct guest_writer *w = malloc(sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->ret = 0;
	w->time = 0;
	w->len = 0;
	ret = write_all_of(w, found);
	free(w);
	return ret;
}
