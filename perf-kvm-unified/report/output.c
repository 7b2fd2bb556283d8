// SPDX-License-Identifier: GPL-2.0
/*
 * The forms that a report can have. A new one is a file that prints it, and an entry here.
 */
#include <stdbool.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/pager.h>

#include "output.h"
#include "print.h"
#include "view.h"

static int open_pager(struct view *view, const struct measurement *m __maybe_unused,
		      struct section_opts *opts __maybe_unused,
		      struct measure_wants *wants __maybe_unused)
{
	if (view->opts->pager)
		setup_pager();
	return 0;
}

static const struct output outputs[] = {
	{
		.for_people = true,
		.is_view = true,
		.prepare = view__prepare,
		.open = view__open,
		.reopen = view__reopen,
		.show = view__show,
		.end = view__end,
	},
	{
		.name = "table",
		.for_people = true,
		.open = open_pager,
		.show = print_table,
	},
	{
		.name = "json",
		.has_reasons = true,
		.has_stalls = true,
		.show = print_json,
	},
	{
		.name = "csv",
		.has_one_table = true,
		.show = print_csv,
	},
	{
		.name = "openmetrics",
		.has_no_rows = true,
		.has_stalls = true,
		.show = print_openmetrics,
	},
};

/* Perf's own */
const struct output *output__views(void)
{
	return &outputs[0];
}

/* NULL: there is none of this name */
const struct output *output__find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		if (outputs[i].name && !strcmp(outputs[i].name, name))
			return &outputs[i];
	}
	return NULL;
}

/* All that --format knows, with commas after each of them */
void outputs__names(char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		if (outputs[i].name)
			len += scnprintf(buf + len, size - len, "%s, ", outputs[i].name);
	}
}
