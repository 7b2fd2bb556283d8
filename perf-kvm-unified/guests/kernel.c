// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel of a guest without a map, or whose map came without its symbols, from
 * what the options of perf kvm name: --guestmount, or --guestkallsyms and --guestmodules
 * for all guests. These files are the user's.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <symbol/kallsyms.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/machine.h"
#include "util/symbol.h"
#include "util/symbol_conf.h"
#include "kvm-unified/lib/warnings.h"
#include "guest.h"
#include "kernel.h"
#include "machine.h"

/*
 * Where the kernel's text begins, by which it is seen how far KASLR has moved it: the first of
 * these that there is. And where it ends
 */
static const char *const text_symbols[] = { "_stext", "_text" };
#define TEXT_END_SYMBOL	"_etext"

/* perf takes the last function of a kernel for that long, after the page that it begins in. */
#define LAST_FUNCTION_LEN	4096

/* Symbols further apart are not those of one kernel. */
#define TEXT_MAX_SIZE		(1ULL << 30)

/* The path of a file of the guest's /proc, or of the one that stands in for it; or "" */
static void given_file(const struct kvm_guest *guest, const char *name, const char *instead,
		       char *path, size_t size)
{
	path[0] = '\0';
	if (symbol_conf.guestmount && guest->machine->root_dir && guest->machine->root_dir[0])
		scnprintf(path, size, "%s/proc/%s", guest->machine->root_dir, name);
	else if (instead)
		scnprintf(path, size, "%s", instead);
	if (path[0] && access(path, R_OK)) {
		pr_debug("guest %s: no %s\n", guest->name, path);
		path[0] = '\0';
	}
}

static void given_kallsyms(const struct kvm_guest *guest, char *path, size_t size)
{
	given_file(guest, "kallsyms", symbol_conf.default_guest_kallsyms, path, size);
}

/**
 * kvm_guest__take_kallsyms - name the functions of a guest's kernel from the file @path
 *
 * It is read when the first sample comes. False without memory: they have no names then.
 */
bool kvm_guest__take_kallsyms(struct kvm_guest *guest, const char *path)
{
	char *kallsyms = strdup(path);

	if (!kallsyms)
		return false;
	free(guest->machine->kallsyms_filename);
	guest->machine->kallsyms_filename = kallsyms;
	return true;
}

/* Remembers the function of the kernel, not of a module, with the highest address. */
static int note_last(void *_last, const char *name, char type, u64 start)
{
	u64 *last = _last;

	if (kallsyms__is_function(type) && !strchr(name, '\t') && start > *last)
		*last = start;
	return 0;
}

/**
 * kallsyms__find_text - where a kernel has its text, as a file like /proc/kallsyms has it
 * @text: gets it; of a file without _etext, as those of unikernels, it ends with the last function
 *
 * NULL, or what is wrong with the file, as the end of a sentence
 */
const char *kallsyms__find_text(const char *kallsyms, struct kernel_text *text)
{
	u64 last = 0;

	text->symbol = NULL;
	for (size_t i = 0; !text->symbol && i < ARRAY_SIZE(text_symbols); i++) {
		if (!kallsyms__get_function_start(kallsyms, text_symbols[i], &text->start))
			text->symbol = text_symbols[i];
	}
	if (!text->symbol)
		return "has neither _stext nor _text, by which the place of a kernel is known";
	/* Without privilege, all addresses in kallsyms are 0. */
	if (!text->start)
		return "has no kernel's symbols with addresses";
	if (kallsyms__get_symbol_start(kallsyms, TEXT_END_SYMBOL, &text->end)) {
		kallsyms__parse(kallsyms, &last, note_last);
		text->end = round_up(last, LAST_FUNCTION_LEN) + LAST_FUNCTION_LEN;
	}
	if (text->end <= text->start)
		return "has a kernel that ends before it begins";
	if (text->end - text->start > TEXT_MAX_SIZE)
		return "has functions that are too far from each other to be of one kernel";
	return NULL;
}

static bool find_text(const struct kvm_guest *guest, const char *kallsyms,
		      struct kernel_text *text)
{
	const char *problem = kallsyms__find_text(kallsyms, text);

	if (problem)
		unified_warning("Guest %s: %s %s, not used\n", guest->name, kallsyms, problem);
	return !problem;
}

static int add_module(void *guest, const char *name, u64 start, u64 size)
{
	const struct guest_mmap map = {
		.start = start, .len = size, .prot = PROT_EXEC, .name = name,
	};

	return kvm_guest__add_kernel_map(guest, &map);
}

/**
 * kvm_guest__use_given_kernel - name a guest's kernel from files that the user has named
 *
 * Does nothing if there are none.
 */
void kvm_guest__use_given_kernel(struct kvm_guest *guest)
{
	char kallsyms[PATH_MAX], modules[PATH_MAX], name[sizeof(KERNEL_MAP_NAME) + 32];
	struct guest_mmap map = { .prot = PROT_EXEC, .name = name, .is_given = true };
	struct kernel_text text;

	given_kallsyms(guest, kallsyms, sizeof(kallsyms));
	given_file(guest, "modules", symbol_conf.default_guest_modules,
		   modules, sizeof(modules));
	if (!kallsyms[0])
		return;

	if (!find_text(guest, kallsyms, &text))
		return;
	scnprintf(name, sizeof(name), KERNEL_MAP_NAME "%s", text.symbol);
	map.start = text.start;
	map.len = text.end - text.start;
	map.pgoff = text.start;
	if (kvm_guest__add_kernel_map(guest, &map))
		return;
	if (modules[0])
		modules__parse(modules, guest, add_module);
	kvm_guest__take_kallsyms(guest, kallsyms);
}

/**
 * kvm_guest__use_given_kallsyms - the names of a kernel whose place a map has told
 *
 * False if there is no such file, or it is of another kernel or boot: modules would have
 * the names of others then.
 */
bool kvm_guest__use_given_kallsyms(struct kvm_guest *guest)
{
	struct kernel_text text;
	char kallsyms[PATH_MAX];

	given_kallsyms(guest, kallsyms, sizeof(kallsyms));
	if (!kallsyms[0] || !find_text(guest, kallsyms, &text))
		return false;
	if (text.start != guest->kernel_start) {
		unified_warning("Guest %s: %s is of another kernel, or of another boot, not used\n",
				guest->name, kallsyms);
		return false;
	}
	return kvm_guest__take_kallsyms(guest, kallsyms);
}

/**
 * kvm_guest__end_kernel_at_text - do without the data that a map has with its kernel's text
 *
 * Samples are in that only by another guest's map.
 */
void kvm_guest__end_kernel_at_text(struct kvm_guest *guest)
{
	u64 end;

	if (!kallsyms__get_symbol_start(guest->machine->kallsyms_filename, TEXT_END_SYMBOL, &end) &&
	    end > guest->kernel_start && end < guest->kernel_end)
		guest->kernel_end = end;
}
