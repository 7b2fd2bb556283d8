// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified export: what a report has, in formats of other tools.
 *
 * Room: export/, other tools' formats.
 * Calls: report measure guests axis lib
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "util/debug.h"
#include "util/evlist.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "util/symbol.h"
#include "kvm-unified/lib/output-file.h"
#include "kvm-unified/lib/write.h"
#include "kvm-unified/report/reading.h"
#include "export.h"
#include "formats.h"
#include "options.h"
#include "stacks.h"

/**
 * struct export - a profile on its way into the format of another tool
 * @stack: the row that is being put together
 * @unread: nobody reads it any more
 */
struct export {
	struct reading	reading;
	struct export_options opts;
	struct export_data data;
	struct strbuf	stack;
	bool		unread;
};

/* What ends perf while it writes */
static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* The file that is not whole yet, or NULL: a part of it must not be taken for all. */
static const char *volatile unfinished;

static void on_end(int sig)
{
	if (unfinished)
		unlink(unfinished);
	/* SA_RESETHAND: now it is for perf. */
	raise(sig);
}

/* As output_file__open(). The file goes if perf is ended before it is whole. */
static int open_output(const char *path, bool *created)
{
	const struct sigaction action = { .sa_handler = on_end, .sa_flags = SA_RESETHAND };
	sigset_t ending, unblocked;
	struct sigaction before;
	int fd;

	sigemptyset(&ending);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++) {
		sigaddset(&ending, ending_signals[i]);
		sigaction(ending_signals[i], &action, &before);
		if (before.sa_handler == SIG_IGN)
			sigaction(ending_signals[i], &before, NULL);
	}
	/* There is no file yet that may go, or it is known. */
	sigprocmask(SIG_BLOCK, &ending, &unblocked);
	fd = output_file__open(path, created);
	if (*created)
		unfinished = path;
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	return fd;
}

static int begin(struct reading *reading)
{
	struct export *exp = container_of(reading, struct export, reading);

	int ret = exp->opts.format->begin ? exp->opts.format->begin(&exp->data) : 0;

	if (ret || reading->again)
		return ret;
	return report_options__complete_vms(reading->opts, reading->m.session->kvm_guests);
}

/* Sets up what only stacks need: the host's threads and its call chains. 0 or -errno */
static int begin_events(struct reading *reading, struct measure_wants *wants)
{
	const struct export *exp = container_of(reading, struct export, reading);
	const struct measurement *m = &reading->m;
	u64 sample_type = evlist__combined_sample_type(m->session->evlist);

	if (!exp->opts.format->has_stacks || !(sample_type & PERF_SAMPLE_CALLCHAIN))
		return 0;
	symbol_conf.use_callchain = true;
	wants->chains = true;
	wants->max_stack = PERF_MAX_STACK_DEPTH;
	return 0;
}

/* 0 or -errno */
static int add_row(const struct section *section, const struct table_row *row, u64 ns, void *arg)
{
	struct export *exp = arg;
	struct strbuf *stack = &exp->stack;

	strbuf_setlen(stack, 0);
	if (!exp->opts.format->push)
		return 0;
	if (exp->opts.format->push(stack, &exp->reading.m, section, row))
		return -ENOMEM;
	if (exp->opts.format->add)
		return exp->opts.format->add(&exp->data, section, row, ns, stack);
	return stacks__add(&exp->data.stacks, stack->buf, ns);
}

/* 0, or -errno with a message: there is no file then, but perhaps one of before as FILE.old */
static int export__write(struct export *exp)
{
	const char *output = exp->opts.output;
	bool to_stdout = !strcmp(output, "-"), created = false;
	int fd = to_stdout ? STDOUT_FILENO : open_output(output, &created);
	FILE *fp;
	int ret;

	if (fd < 0)
		return fd;
	fp = to_stdout ? stdout : fdopen(fd, "w");
	ret = fp ? exp->opts.format->print(&exp->data, fp) ?: write_printed(fp) : -errno;
	if (!to_stdout && (fp ? fclose(fp) : close(fd)) && !ret)
		ret = -errno;
	unfinished = NULL;
	if (!ret)
		return 0;
	/* Who reads it has had enough, as head has. */
	exp->unread = ret == -EPIPE;
	if (!exp->unread)
		pr_err("Cannot write to %s: %s\n", to_stdout ? "standard output" : output,
		       strerror(-ret));
	if (created)
		unlink(output);
	return ret;
}

static int export__run(struct export *exp)
{
	const struct export_format *format = exp->opts.format;
	struct section_opts *sections = &exp->opts.report.sections;
	struct reading *reading = &exp->reading;
	int ret = stacks__init(&exp->data.stacks) ?: strbuf_init(&exp->stack, 0);

	if (ret) {
		pr_err("Out of memory\n");
		return ret;
	}
	reading->begin = begin;
	reading->begin_events = begin_events;
	exp->data.m = &reading->m;
	exp->data.opts = sections;
	/* What takes no rows needs no tables of them, either. */
	sections->row_sink = (struct row_sink) { .row = add_row, .arg = exp };
	sections->slices = format->slices;
	sections->slices.arg = &exp->data;
	ret = reading__run(reading, &exp->opts.report);
	return ret ?: export__write(exp);
}

int cmd_kvm_unified_export(int argc, const char **argv)
{
	struct export exp = { };
	int ret;

	if (readings__setup())
		return 1;
	ret = export_options__parse(&exp.opts, argc, argv);
	if (!ret) {
		ret = export__run(&exp);
		if (exp.reading.opts)
			reading__exit(&exp.reading);
		stacks__exit(&exp.data.stacks);
		if (exp.opts.format->end)
			exp.opts.format->end(&exp.data);
		strbuf_release(&exp.stack);
	}
	report_options__exit(&exp.opts.report);
	return exp.unread ? EXIT_UNREAD : ret ? 1 : 0;
}
