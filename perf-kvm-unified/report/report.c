// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified report: the overview and the tables of a profile.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/lib/write.h"
#include "options.h"
#include "output.h"
#include "overview.h"
#include "page.h"
#include "reading.h"
#include "report.h"
#include "script-command.h"
#include "stall-lines.h"
#include "view.h"

/* With more tables than that, the overview is shown alone. */
#define MAX_TABLES		8

struct report {
	struct reading	 reading;
	struct overview	 overview;
	struct stall_lines stalls;
	struct report_options opts;
	struct view	 view;
	struct strbuf	 script_options;
	bool		 unread;
};

static int report__print(struct report *rep)
{
	struct report_options *opts = &rep->opts;
	const struct measurement *m = &rep->reading.m;
	struct sections *sections = &rep->reading.sections;
	const struct report_data data = {
		.m = m, .sections = sections, .opts = &opts->print, .view = &rep->view,
	};
	char selection[SELECTION_LEN], rows_of[SELECTION_LEN];
	int ret;

	opts->print.mode_reason = reading__mode_reason(&rep->reading);
	opts->print.is_part = reading__is_part(&rep->reading);
	report_options__selection(opts, selection, sizeof(selection));
	opts->print.selection = selection;
	report_options__rows_of(opts, rows_of, sizeof(rows_of));
	opts->print.rows_of = rows_of;
	ret = overview__build(&rep->overview, sections, m);
	opts->print.overview = &rep->overview;
	if (!ret && opts->sections.stalls) {
		ret = stall_lines__build(&rep->stalls, sections, m);
		opts->print.stalls = &rep->stalls;
	}
	/* It needs the times, which are known now. */
	if (!ret && rep->view.tui)
		ret = script_command__set(&rep->script_options, opts);
	if (!ret)
		ret = opts->output->show(&data, stdout);
	if (!ret)
		ret = write_printed(stdout);
	/* Who reads it has had enough, as head has. */
	rep->unread = ret == -EPIPE;
	if (ret && !rep->unread)
		pr_err("Cannot print the report: %s\n", strerror(-ret));
	return ret;
}

/*
 * Which tables, if that was not asked for: programs want all, and people no more than they can
 * look through; then the overview is all there is, as text.
 */
static void report__choose_levels(struct report *rep, const struct kvm_guests *guests)
{
	struct report_options *opts = &rep->opts;
	struct section_opts *sections = &opts->sections;
	size_t nr_tables = 1;

	opts->print.overview_alone = opts->summary;
	if (opts->summary)
		rep->view.tui = false;
	if (opts->summary || sections->levels)
		return;
	for (size_t i = 0; guests && i < guests->vms.nr; i++) {
		u32 nr_vcpus = guests->vms.entries[i].nr_vcpus;

		if (kvm_vm__is_left_out(&guests->vms.entries[i]))
			continue;
		nr_tables += nr_vcpus > 1 ? 1 + nr_vcpus : 1;
	}
	if (nr_tables <= MAX_TABLES || report_options__wants_tables(opts)) {
		sections->levels = SECTIONS_ALL;
		return;
	}
	opts->print.overview_alone = true;
	opts->print.nr_left_out = nr_tables;
	rep->view.tui = false;
}

static int begin(struct reading *reading)
{
	struct report *rep = container_of(reading, struct report, reading);
	const struct kvm_guests *guests = reading->m.session->kvm_guests;
	int ret;

	if (reading->again)
		return 0;
	ret = report_options__complete_vms(&rep->opts, guests);
	if (ret)
		return ret;
	report__choose_levels(rep, guests);
	return rep->opts.output->prepare ? rep->opts.output->prepare(&rep->view) : 0;
}

static int begin_events(struct reading *reading, struct measure_wants *wants)
{
	struct report *rep = container_of(reading, struct report, reading);
	struct report_options *opts = &rep->opts;
	const struct output *output = opts->output;
	const struct measurement *m = &reading->m;

	if (reading->again)
		return output->reopen ? output->reopen(&rep->view, m->session, wants) : 0;
	return output->open ? output->open(&rep->view, m, &opts->sections, wants) : 0;
}

static int report__run(struct report *rep)
{
	struct reading *reading = &rep->reading;
	int ret;

	reading->begin = begin;
	reading->begin_events = begin_events;
	ret = reading__run(reading, &rep->opts);
	return ret || rep->opts.header_only ? ret : report__print(rep);
}

int cmd_kvm_unified_report(int argc, const char **argv)
{
	struct report rep = { .script_options = STRBUF_INIT };
	int ret;

	if (page__is_wanted(argc, argv))
		return page__run(argc, argv) ? 1 : 0;
	if (readings__setup())
		return 1;
	ret = report_options__parse(&rep.opts, argc, argv);
	if (!ret) {
		view__init(&rep.view, &rep.opts.view);
		ret = report__run(&rep);
		if (rep.opts.output->end)
			rep.opts.output->end(&rep.view);
		stall_lines__exit(&rep.stalls);
		overview__exit(&rep.overview);
		reading__exit(&rep.reading);
	}
	strbuf_release(&rep.script_options);
	report_options__exit(&rep.opts);
	return rep.unread ? EXIT_UNREAD : ret ? 1 : 0;
}
