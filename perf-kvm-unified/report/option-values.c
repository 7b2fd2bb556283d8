// SPDX-License-Identifier: GPL-2.0
/*
 * What the values of options are that commands which read a profile have in common.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/intlist.h"
#include "util/strlist.h"
#include "kvm-unified/lib/patterns.h"
#include "option-values.h"
#include "sections.h"

static bool list_has_empty_item(const char *list)
{
	size_t len = strlen(list);

	return !len || list[0] == ',' || list[len - 1] == ',' || strstr(list, ",,");
}

/* Keeps what was given, to be shown as it was. The last one counts, as in perf. */
static void keep_string(const struct option *opt, const char *arg)
{
	if (opt->data)
		*(const char **)opt->data = arg;
}

/* A range of more than that is a typing error. */
#define LONGEST_RANGE	65536

/* Adds "3", or "0-3", which ends before a comma or the end. 0 or -errno */
static int add_numbers(struct intlist *list, const char *item, size_t len)
{
	char *end;
	unsigned long first = strtoul(item, &end, 10), last = first;
	int ret = 0;

	if (!isdigit(*item))
		return -EINVAL;
	if (*end == '-' && isdigit(end[1]))
		last = strtoul(end + 1, &end, 10);
	if (end != item + len || first > last || last > INT_MAX ||
	    last - first >= LONGEST_RANGE)
		return -EINVAL;
	for (unsigned long number = first; !ret && number <= last; number++)
		ret = intlist__add(list, number);
	return ret;
}

/* NULL if it cannot be, or is twice in it */
static struct intlist *parse_numbers(const char *arg)
{
	struct intlist *list = intlist__new(NULL);
	int ret = list ? 0 : -ENOMEM;
	size_t len;

	for (; !ret; arg += len + 1) {
		len = strcspn(arg, ",");
		ret = add_numbers(list, arg, len);
		if (ret || !arg[len])
			break;
	}
	if (!ret)
		return list;
	intlist__delete(list);
	return NULL;
}

int parse_option_numbers(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct intlist **list = opt->value;

	intlist__delete(*list);
	keep_string(opt, arg);
	*list = parse_numbers(arg);
	if (*list)
		return 0;
	pr_err("--%s wants numbers such as 1 or 0-3, each once, with commas between them, not '%s'\n",
	       opt->long_name, arg);
	return -EINVAL;
}

int parse_option_names(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct patterns **patterns = opt->value;

	patterns__delete(*patterns);
	keep_string(opt, arg);
	*patterns = patterns__parse(opt->long_name, arg);
	return *patterns ? 0 : -EINVAL;
}

/*
 * perf's parser takes 0- for CPU 0, and ends without a word at an item that does not begin
 * with a digit.
 */
static bool has_open_item(const char *cpus)
{
	for (size_t len; ; cpus += len + 1) {
		len = strcspn(cpus, ",");
		if (!len || !isdigit(cpus[0]) || !isdigit(cpus[len - 1]))
			return true;
		if (!cpus[len])
			return false;
	}
}

int parse_option_cpus(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	struct perf_cpu_map **cpus = opt->value;

	perf_cpu_map__put(*cpus);
	*cpus = NULL;
	keep_string(opt, arg);
	if (!has_open_item(arg))
		*cpus = perf_cpu_map__new(arg);
	if (*cpus)
		return 0;
	pr_err("--cpu wants a list of CPUs such as 0-3,8, not '%s'\n", arg);
	return -EINVAL;
}

int parse_option_levels(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	unsigned int *levels = opt->value;
	struct strlist *list = list_has_empty_item(arg) ? NULL : strlist__new(arg, NULL);
	unsigned int nr_known = 0;

	*levels = 0;
	for (int level = SECTION_HOST; list && level < SECTION_NR; level++) {
		if (!strlist__has_entry(list, section_level__name(level)))
			continue;
		*levels |= 1U << level;
		nr_known++;
	}
	if (nr_known && nr_known == strlist__nr_entries(list)) {
		strlist__delete(list);
		return 0;
	}
	strlist__delete(list);
	pr_err("--level knows host, guests, vm and vcpu, each once, but not '%s'\n", arg);
	return -EINVAL;
}

int parse_option_attribution(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	enum attribution *attribution = opt->value;

	if (!strcmp(arg, "cpu-switch")) {
		*attribution = ATTRIBUTION_CPU_SWITCH;
	} else if (!strcmp(arg, "domain-switch")) {
		*attribution = ATTRIBUTION_DOMAIN_SWITCH;
	} else {
		pr_err("--attribution knows cpu-switch and domain-switch, but not '%s'\n", arg);
		return -EINVAL;
	}
	return 0;
}
