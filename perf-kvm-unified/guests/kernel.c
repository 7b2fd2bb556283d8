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

#include "util/debug.h"
#include "util/event.h"
#include "util/machine.h"
#include "util/symbol.h"
#include "util/symbol_conf.h"
#include "kvm-unified/lib/warnings.h"
#include "guest.h"
#include "kernel.h"
#include "machine.h"

/* Where the kernel's text begins, by which it is seen how far KASLR has moved it, and ends */
#define TEXT_SYMBOL	"_stext"
#define TEXT_END_SYMBOL	"_etext"

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

/* Without privilege, all addresses in kallsyms are 0. */
static bool find_text(const struct kvm_guest *guest, const char *kallsyms, u64 *start, u64 *end)
{
	if (!kallsyms__get_function_start(kallsyms, TEXT_SYMBOL, start) &&
	    !kallsyms__get_symbol_start(kallsyms, TEXT_END_SYMBOL, end) && *end > *start)
		return true;
	unified_warning("Guest %s: %s has no kernel's symbols with addresses, not used\n",
			guest->name, kallsyms);
	return false;
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
	struct guest_mmap map = { .prot = PROT_EXEC, .name = KERNEL_MAP_NAME TEXT_SYMBOL };
	char kallsyms[PATH_MAX], modules[PATH_MAX];
	u64 end;

	given_kallsyms(guest, kallsyms, sizeof(kallsyms));
	given_file(guest, "modules", symbol_conf.default_guest_modules,
		   modules, sizeof(modules));
	if (!kallsyms[0])
		return;

	if (!find_text(guest, kallsyms, &map.start, &end))
		return;
	map.len = end - map.start;
	map.pgoff = map.start;
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
	char kallsyms[PATH_MAX];
	u64 start, end;

	given_kallsyms(guest, kallsyms, sizeof(kallsyms));
	if (!kallsyms[0] || !find_text(guest, kallsyms, &start, &end))
		return false;
	if (start != guest->kernel_start) {
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
