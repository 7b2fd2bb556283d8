// SPDX-License-Identifier: GPL-2.0
/*
 * Which code of guests perf annotate cannot show, and what helps: samples tell it.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "util/addr_location.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/lib/warnings.h"
#include "annotate.h"
#include "files.h"
#include "guests.h"

#define CODE_IS_HERE	(-1L)

/* 0 or -ENOMEM */
int guest_code__init(struct guest_code *code)
{
	struct hashmap *by_dso = number_map__new();

	*code = (struct guest_code) { };
	if (!by_dso)
		return -ENOMEM;
	code->by_dso = by_dso;
	return 0;
}

void guest_code__exit(struct guest_code *code)
{
	for (size_t i = 0; i < code->nr; i++) {
		free(code->files[i].guest);
		free(code->files[i].root);
		free(code->files[i].name);
	}
	free(code->files);
	hashmap__free(code->by_dso);
}

/* perf's build-id cache goes by the build-id alone. */
static bool is_in_cache(struct dso *dso)
{
	char path[PATH_MAX], root[] = "";

	return !dso__read_binary_type_filename(dso, DSO_BINARY_TYPE__BUILD_ID_CACHE, root, path,
					       sizeof(path)) && !access(path, R_OK);
}

/* The number of the file @name, CODE_IS_HERE, too, if there is no memory for it */
static long add_file(struct guest_code *code, const struct kvm_guest *guest, const char *name)
{
	struct guest_code_file file = { };

	if (grow_array(code->files, code->nr, code->allocated))
		return CODE_IS_HERE;
	file.guest = strdup(guest->name);
	file.root = guest->root ? strdup(guest->root) : NULL;
	file.name = strdup(name);
	if (!file.guest || (guest->root && !file.root) || !file.name) {
		free(file.guest);
		free(file.root);
		free(file.name);
		return CODE_IS_HERE;
	}
	code->files[code->nr] = file;
	return code->nr++;
}

/**
 * guest_code__file - the file of @guest that @dso is of, if that is not here
 *
 * perf does not try to annotate it then. NULL: it is here, or is no file
 */
struct guest_code_file *guest_code__file(struct guest_code *code, const struct kvm_guest *guest,
					 struct dso *dso)
{
	const char *name;
	long nr;

	if (!hashmap__find(code->by_dso, (long)dso, &nr)) {
		name = guest_file__elsewhere(guest, dso);
		nr = name && !is_in_cache(dso) ? add_file(code, guest, name) : CODE_IS_HERE;
		if (hashmap__add(code->by_dso, (long)dso, nr))
			return NULL;
		if (nr != CODE_IS_HERE)
			dso__set_annotate_warned(dso);
	}
	return nr == CODE_IS_HERE ? NULL : &code->files[nr];
}

/* @guest: or NULL: a sample of the host */
static void count_location(struct guest_code *code, const struct kvm_guest *guest, u64 ip,
			   const struct addr_location *al)
{
	bool wanted = !code->symbol || (al->sym && !strcmp(al->sym->name, code->symbol));
	struct guest_code_file *file;

	if (guest && al->cpumode == PERF_RECORD_MISC_GUEST_KERNEL) {
		code->nr_kernel += wanted && ip >= guest->kernel_start && ip < guest->kernel_end;
		return;
	}
	file = guest ? guest_code__file(code, guest, map__dso(al->map)) : NULL;
	if (file) {
		file->nr_wanted += wanted;
		file->nr_samples++;
	} else {
		code->nr_shown += wanted;
	}
}

/* @sample: after kvm_guests__resolve() has told whose it is */
void guest_code__count(struct guest_code *code, struct perf_session *session,
		       const struct perf_sample *sample)
{
	const struct kvm_guest *guest = NULL;
	struct machine *machine = &session->machines.host;
	struct addr_location al;
	struct thread *thread;

	if (sample->machine_pid) {
		guest = kvm_guests__find(session, sample->machine_pid);
		if (!guest || !(sample->vcpu_ctx.flags & PERF_VCPU_IN_GUEST))
			return;
		machine = guest->machine;
	}
	thread = machine__find_thread(machine, sample->pid, sample->tid);
	if (!thread)
		return;
	addr_location__init(&al);
	thread__find_symbol(thread, sample->cpumode, sample->ip, &al);
	if (al.map)
		count_location(code, guest, sample->ip, &al);
	addr_location__exit(&al);
	thread__put(thread);
}

/* Files that are asked for come first, and of these the ones with most samples. */
static int cmp_files(const void *_a, const void *_b)
{
	const struct guest_code_file *a = _a, *b = _b;

	return sort_cmp(b->nr_wanted, a->nr_wanted) ?: sort_cmp(b->nr_samples, a->nr_samples) ?:
	       strcmp(a->name, b->name);
}

/* @nr: samples. 0 or -ENOMEM */
static int describe_file(const struct guest_code_file *file, u64 nr, struct strbuf *text)
{
	return strbuf_addf(text, "  %s of guest %s (%" PRIu64 " sample%s) is not %s%s: --guest-root %s=DIR\n",
			   file->name, file->guest, nr, nr == 1 ? "" : "s",
			   file->root ? "below " : "here", file->root ?: "", file->guest);
}

/* Describes what is wrong with the files. 0 or -ENOMEM */
static int describe_cause(const struct guest_code *code, bool wanted, struct strbuf *text)
{
	if (!wanted)
		return strbuf_addf(text, "No sample is known to be in %s. It may be in one of these files, which are missing:\n",
				   code->symbol);
	if (code->symbol)
		return strbuf_addf(text, "%s is not annotated where it is in a file that is missing:\n",
				   code->symbol);
	return strbuf_addstr(text, "Functions of files that are missing are not annotated:\n");
}

/**
 * guest_code__describe - which files are missing for what is asked for, and which option helps
 * @text: gets it, or nothing if none is
 *
 * All has been counted. 0 or -ENOMEM
 */
int guest_code__describe(struct guest_code *code, struct strbuf *text)
{
	bool wanted;
	size_t nr = 0;
	int ret;

	sort_array(code->files, code->nr, sizeof(*code->files), cmp_files);
	wanted = code->nr && code->files[0].nr_wanted;
	/* What was found is not said to be maybe somewhere else. */
	if (!code->nr || (!wanted && (code->nr_shown || code->nr_kernel)))
		return 0;
	ret = describe_cause(code, wanted, text);
	for (size_t i = 0; !ret && i < code->nr; i++) {
		const struct guest_code_file *file = &code->files[i];
		u64 nr_samples = wanted ? file->nr_wanted : file->nr_samples;

		if (nr_samples && nr++ < NAMES_SHOWN)
			ret = describe_file(file, nr_samples, text);
	}
	if (!ret && nr > NAMES_SHOWN)
		ret = strbuf_addf(text, "  ... and %zu more\n", nr - NAMES_SHOWN);
	return ret;
}

/* Warns when perf annotate has ended. Without memory, it tells less. */
void guest_code__warn(struct guest_code *code)
{
	struct strbuf text = STRBUF_INIT;

	if (code->nr_kernel)
		unified_warning("Functions of guests' kernels are not annotated: their code is in a vmlinux, which does not say\n"
				"where the guest has its kernel, and no option (--guestvmlinux, -k) is for it. Without\n"
				"samples, it is there: objdump -d --disassemble=FUNCTION VMLINUX\n"
				"Those of its programs are, if their files are below --guest-root.\n");
	guest_code__describe(code, &text);
	unified_warning("%s", text.buf);
	strbuf_release(&text);
}
