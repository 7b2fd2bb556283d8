// SPDX-License-Identifier: GPL-2.0
/*
 * The report in perf's own views, as perf report has them: text, or the terminal's whole
 * screen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "util/annotate.h"
#include "util/callchain.h"
#include "util/cache.h"
#include "util/debug.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/header.h"
#include "util/hist.h"
#include "util/session.h"
#include "util/sort.h"
#include "util/symbol.h"
#include "util/util.h"
#include "ui/ui.h"
#include "ui/util.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/measure/measurement.h"
#include "overview.h"
#include "print.h"
#include "row-columns.h"
#include "sections.h"
#include "sort-keys.h"
#include "tables.h"
#include "view.h"

/* More of what is to be said than that is not put on the screen, but follows when it is left. */
#define MESSAGES_ON_SCREEN	4096
#define MESSAGE_WIDTH		70
#define HELP_LINE_LEN		256

static int view__setup_chains(const struct view *view, struct perf_session *session,
			      struct measure_wants *wants)
{
	u64 sample_type = evlist__combined_sample_type(session->evlist);

	if (view->opts->inverted || (symbol_conf.cumulate_callchain && !callchain_param.order_set))
		callchain_param.order = ORDER_CALLER;
	if (!(sample_type & PERF_SAMPLE_CALLCHAIN)) {
		if (symbol_conf.use_callchain || perf_hpp_list.parent) {
			pr_err("There are no call chains in this profile: record with -g\n");
			return -EINVAL;
		}
		if (view->opts->inverted || view->opts->max_stack != PERF_MAX_STACK_DEPTH)
			unified_warning("There are no call chains in this profile: -G and --max-stack change nothing\n");
	} else if (!callchain_param.enabled && callchain_param.mode != CHAIN_NONE) {
		symbol_conf.use_callchain = true;
	}
	if (symbol_conf.use_callchain && callchain_register_param(&callchain_param) < 0) {
		pr_err("Cannot set up the call chains as -g says\n");
		return -EINVAL;
	}
	wants->chains = symbol_conf.use_callchain || symbol_conf.cumulate_callchain ||
			perf_hpp_list.parent;
	wants->max_stack = view->opts->max_stack;
	return 0;
}

/*
 * From here on the screen may be perf's. Messages would be lost there, or written over it:
 * they are kept until view__show() or view__end(); for perf there is no browser until then.
 */
static void view__begin(struct view *view)
{
	use_browser = view->tui;
	setup_browser(/*fallback_to_pager=*/view->opts->pager);
	view->tui = use_browser == 1;
	if (!view->tui)
		return;
	use_browser = 0;
	messages__keep(&view->messages);
}

/* Samples by address, for annotation: an event for each column. 0 or -ENOMEM */
static int view__count_addrs(struct view *view, struct measure_wants *wants)
{
	view->addr_evlist = evlist__new();
	if (!view->addr_evlist)
		return -ENOMEM;
	for (u32 column = 0; column < PROFILE_MAX_COLUMNS; column++) {
		struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE };
		struct evsel *evsel = evsel__new_idx(&attr, column);

		if (!evsel)
			return -ENOMEM;
		evlist__add(view->addr_evlist, evsel);
		view->addr_evsels[column] = evsel;
	}
	wants->addr_evsels = view->addr_evsels;
	return 0;
}

void view__init(struct view *view, const struct view_options *opts)
{
	*view = (struct view) { .opts = opts, .tui = opts->tui, .min_percent = opts->min_percent };
}

/* Reserves what symbols need room for, before they are set up. 0 or -ENOMEM */
int view__prepare(const struct view *view)
{
	if (!view->tui)
		return 0;
	if (symbol__annotation_init() < 0)
		return -ENOMEM;
	annotation_options__init();
	annotation_config__init();
	return 0;
}

/**
 * view__open - what has to be known before samples are read
 *
 * 0 or -errno, with a message
 */
int view__open(struct view *view, const struct measurement *m, struct section_opts *opts,
	       struct measure_wants *wants)
{
	struct perf_session *session = m->session;

	/* What the browser runs scripts with */
	if (view->tui)
		input_name = session->data->path;
	/* A row with little time may have most of another event. */
	if (!view->opts->limit_given && m->nr_columns > PROFILE_TIME + 1)
		view->min_percent = 0;
	/* The formats of columns are perf's browser's from here on. */
	view__begin(view);
	if (!sort_order && !field_order)
		sort_order = sort_keys__default(m);
	/* Rows of the hierarchy have no callers' time. */
	if (symbol_conf.report_hierarchy) {
		if (symbol_conf.cumulate_callchain && view->opts->children_given)
			unified_warning("With --hierarchy there is no column of --children\n");
		perf_hpp_list.need_collapse = true;
		symbol_conf.cumulate_callchain = false;
	}
	symbol_conf.enable_latency = false;
	if (!(evlist__combined_sample_type(session->evlist) & PERF_SAMPLE_CALLCHAIN)) {
		if (symbol_conf.cumulate_callchain && view->opts->children_given)
			unified_warning("There are no call chains in this profile: --children changes nothing\n");
		symbol_conf.cumulate_callchain = false;
	}
	if (setup_sorting(session->evlist, perf_session__env(session)) < 0)
		return -EINVAL;
	if (sort_keys__lack_ipc(m))
		unified_warning("No row has an IPC: cycles and instructions were not both recorded (record -e cycles,instructions)\n");
	opts->by_vm = sort_keys__have_vm();
	opts->by_exit_reason = sort_keys__have_exit_reason();
	opts->by_cpu = sort_keys__have_cpu();
	return view__reopen(view, session, wants);
}

/*
 * ... and what is of one reading alone: the profile may be read once more, with the same columns.
 * 0 or -errno, with a message
 */
int view__reopen(struct view *view, struct perf_session *session, struct measure_wants *wants)
{
	int ret = view__setup_chains(view, session, wants);

	if (ret)
		return ret;
	wants->addrs = sort_keys__have_addr();
	wants->cpus = sort_keys__have_cpu();
	/* With the counts of a reading before */
	evlist__put(view->addr_evlist);
	view->addr_evlist = NULL;
	return view->tui && perf_hpp_list.sym ? view__count_addrs(view, wants) : 0;
}

/* Lines that are too long for a window on the screen get an end at a blank. */
static void wrap(char *text)
{
	char *start = text, *blank = NULL;

	for (char *c = text; *c; c++) {
		if (*c == ' ')
			blank = c;
		if (*c == '\n') {
			start = c + 1;
			blank = NULL;
		} else if (c - start >= MESSAGE_WIDTH && blank) {
			*blank = '\n';
			start = blank + 1;
			blank = NULL;
		}
	}
}

/* Shows the messages that came while nobody could see them. */
static void view__show_messages(const struct view *view)
{
	char buf[MESSAGES_ON_SCREEN];

	if (messages__peek(&view->messages, buf, sizeof(buf)) <= 0)
		return;
	wrap(buf);
	ui__warning("%s", buf);
}

/* Gives the terminal back, and says all that was kept. */
void view__end(struct view *view)
{
	if (view->tui) {
		use_browser = 1;
		exit_browser(/*wait_for_ok=*/false);
		use_browser = 0;
		view->tui = false;
	}
	messages__release(&view->messages, NULL);
	evlist__put(view->addr_evlist);
	view->addr_evlist = NULL;
}

/*
 * Entries that --percent-limit hides, what they have of the time and of the other events, and among
 * them VMs of the host
 */
struct hidden {
	size_t		nr;
	double		percent[PROFILE_MAX_COLUMNS];
	size_t		nr_vms;
	double		percent_vms;
	const char	*largest_vm;
};

static double entry__percent(const struct hist_entry *he)
{
	return 100.0 * he->stat.period / (hists__total_period(he->hists) ?: 1);
}

static struct hidden count_hidden(struct hists *hists, double limit)
{
	struct hidden hidden = { };
	struct rb_node *node;

	for (node = rb_first_cached(&hists->entries); node; node = rb_next(node)) {
		struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node);
		struct hist_entry *pair;
		double percent;

		if (he->filtered || hist_entry__get_percent_limit(he) >= (float)limit)
			continue;
		percent = entry__percent(he);
		hidden.nr++;
		hidden.percent[PROFILE_TIME] += percent;
		list_for_each_entry(pair, &he->pairs.head, pairs.node) {
			int column = hists_to_evsel(pair->hists)->core.idx;

			hidden.percent[column] += entry__percent(pair);
		}
		if (table_entry__info(he)->key.class != PROFILE_VM)
			continue;
		/* Those with most come first. */
		if (!hidden.nr_vms++)
			hidden.largest_vm = table_entry__info(he)->key.function;
		hidden.percent_vms += percent;
	}
	return hidden;
}

/*
 * "# 12 more below 0.10%: 0.31%"; where there are columns of other events, of which the same rows
 * may have most: "# 12 more below 0.10% of time: 0.31%, and 93.20% of cache-misses"
 */
static void print_hidden(const struct hidden *hidden, struct evsel *table, double limit, FILE *fp)
{
	struct evsel *evsel;

	if (!hidden->nr)
		return;
	fprintf(fp, "# %zu more below %.2f%%%s: %.2f%%", hidden->nr, limit,
		evsel__is_group_event(table) ? " of time" : "", hidden->percent[PROFILE_TIME]);
	if (evsel__is_group_event(table)) {
		for_each_group_member(evsel, table) {
			fprintf(fp, ", and %.2f%% of ", hidden->percent[evsel->core.idx]);
			print_padded(evsel__name(evsel), 0, fp);
		}
	}
	fputc('\n', fp);
	if (hidden->nr_vms > 1)
		fprintf(fp, "# of these, %zu VMs together: %.2f%%, the largest is %s\n",
			hidden->nr_vms, hidden->percent_vms, hidden->largest_vm);
}

/* Prints what the numbers in front of a row are, if there are several. */
static void print_columns(struct evsel *table, FILE *fp)
{
	struct evsel *evsel;

	if (!evsel__is_group_event(table))
		return;
	fputs("# Overhead: time", fp);
	for_each_group_member(evsel, table) {
		fputs(", ", fp);
		print_padded(evsel__name(evsel), 0, fp);
	}
	fputc('\n', fp);
}

static int view__print(const struct report_data *data, FILE *fp)
{
	const struct sections *sections = data->sections;
	const struct print_opts *opts = data->opts;
	const struct measurement *m = data->m;
	const struct view *view = data->view;
	int ret = 0;

	if (!quiet)
		print_report_header(m, sections->opts, opts, fp);
	/* Rows alone are wanted, if there are any. */
	if (!quiet || !sections->nr)
		ret = print_overview(m, sections, opts, fp);
	if (!ret && opts->costs)
		ret = print_costs(m, sections, fp);
	print_over_time(m, sections, opts, fp);
	ret = ret ?: print_stalls(m, sections, opts, fp);
	if (ret)
		return ret;
	for (u32 i = 0; i < sections->nr; i++) {
		const struct section *section = &sections->entries[i];
		struct hists *hists = evsel__hists(section->table);
		struct hidden hidden;

		/* Without it, nobody knows whose rows these are. */
		fputs("# ", fp);
		print_section_title(section, m->period, sections->opts, fp);
		if (!quiet) {
			print_columns(section->table, fp);
			fputs("#\n", fp);
		}
		hists__fprintf(hists, /*show_header=*/!quiet, 0, 0, view->min_percent, fp,
			       /*ignore_callchains=*/!symbol_conf.use_callchain);
		hidden = count_hidden(hists, view->min_percent);
		if (!quiet)
			print_hidden(&hidden, section->table, view->min_percent, fp);
		fputs("\n\n", fp);
	}
	return 0;
}

/* Below the tables in the terminal: who suffers most, and how all of the overview is shown */
static void help_line(const struct measurement *m, const struct overview *overview, char *buf,
		      size_t size)
{
	const struct overview_vm *most = overview->vms;
	u64 stolen = overview->nr ? most->profile.classes[PROFILE_STEAL] : 0;
	u64 throttled = overview->nr ? most->profile.classes[PROFILE_THROTTLED] : 0;
	int len = 0;

	if (stolen || throttled)
		len = scnprintf(buf, size, "%s: %s (%.2f %% of its time). ",
				stolen >= throttled ? "Stolen most from" : "Throttled most",
				m->vms[most->vm].name,
				profile__percent(&most->profile, max(stolen, throttled)));
	scnprintf(buf + len, size - len, "All VMs: perf kvm unified report --summary");
}

/* 0 or -errno */
int view__show(const struct report_data *data, FILE *fp)
{
	struct tables *tables = data->sections->tables;
	const struct view *view = data->view;
	char help[HELP_LINE_LEN];
	int key;

	if (!view->tui)
		return view__print(data, fp);
	use_browser = 1;
	view__show_messages(view);
	help_line(data->m, data->opts->overview, help, sizeof(help));
	do {
		key = evlist__tui_browse_hists(tables->evlist, help, NULL, view->min_percent,
					       perf_session__env(data->m->session),
					       /*warn_lost_event=*/false);
		/* The rows are to be in another event's order. */
		if (key == K_RELOAD)
			tables__sort_again(tables);
		/* A profile is a directory, and others are not perf kvm unified's. */
		if (key == K_SWITCH_INPUT_DATA)
			ui__error("Another profile is not opened from here. Leave this, and:\n"
				  "perf kvm unified report -i <directory>\n");
	} while (key == K_SWITCH_INPUT_DATA || key == K_RELOAD);
	use_browser = 0;
	return 0;
}
