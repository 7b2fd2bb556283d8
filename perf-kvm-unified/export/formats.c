// SPDX-License-Identifier: GPL-2.0
/*
 * The formats of export: what of a row is told apart in each, and who prints it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "util/env.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "kvm-unified/measure/hits.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/tables.h"
#include "kvm-unified/report/times.h"
#include "formats.h"
#include "frames.h"
#include "pprof.h"
#include "rows.h"
#include "speedscope.h"
#include "stacks.h"
#include "trace.h"

static int push_folded(struct strbuf *stack, const struct measurement *m,
		       const struct section *section, const struct table_row *row)
{
	int ret = frames__push_row(stack, m, section, row);

	if (!ret)
		stack__end(stack);
	return ret;
}

static int print_folded(struct export_data *data, FILE *fp)
{
	return stacks__print(&data->stacks, fp);
}

static int push_pprof(struct strbuf *stack, const struct measurement *m,
		      const struct section *section, const struct table_row *row)
{
	return frames__push_labels(stack, m, section, row) ?: frames__push_code(stack, row);
}

static struct chosen_time export_data__time(const struct export_data *data)
{
	return times__chosen(data->opts->times, data->opts->nr_times, &data->m->axis.span);
}

static int print_pprof(struct export_data *data, FILE *fp)
{
	const struct measurement *m = data->m;
	const struct pprof_about about = {
		.host = perf_session__env(m->session)->hostname,
		.duration = export_data__time(data).duration,
		.period = m->period,
	};

	return pprof__print(&data->stacks, &about, fp);
}

/* 0, or -errno with a message */
static int check_file(int err)
{
	if (err)
		pr_err("Cannot make a file in %s: %s\n", P_tmpdir, strerror(-err));
	return err;
}

/* Its callers, if there are any, are not told by anything else. */
static int push_row(struct strbuf *stack, const struct measurement *m __maybe_unused,
		    const struct section *section __maybe_unused, const struct table_row *row)
{
	return row->hit && row->hit->chain ? frames__push_code(stack, row) : 0;
}

static int begin_rows(struct export_data *data)
{
	return check_file(rows__begin(&data->rows));
}

static int add_row(struct export_data *data, const struct section *section,
		   const struct table_row *row, u64 ns, struct strbuf *stack)
{
	const struct chosen_time time = export_data__time(data);

	return rows__add(&data->rows, data->m, &time, section, row, ns, stack);
}

static int print_rows(struct export_data *data, FILE *fp)
{
	return rows__print(&data->rows, fp);
}

static void end_rows(struct export_data *data)
{
	rows__exit(&data->rows);
}

static int begin_speedscope(struct export_data *data)
{
	return check_file(speedscope__begin(&data->scope));
}

static int add_piece(const struct measurement *m, u32 vcpu, const struct vcpu_interval *interval,
		     const struct time_piece *piece, void *data)
{
	return speedscope__add(&((struct export_data *)data)->scope, m, vcpu, interval, piece);
}

static int print_speedscope(struct export_data *data, FILE *fp)
{
	return speedscope__print(&data->scope, data->m, fp);
}

static void end_speedscope(struct export_data *data)
{
	speedscope__exit(&data->scope);
}

static int begin_trace(struct export_data *data)
{
	return check_file(trace__begin(&data->trace));
}

static int add_vcpu_slice(const struct measurement *m, u32 vcpu,
			  const struct vcpu_interval *interval, const struct time_piece *piece,
			  void *data)
{
	return trace__add_vcpu(&((struct export_data *)data)->trace, m, vcpu, interval, piece);
}

static int add_cpu_slice(const struct measurement *m, const struct cpu_interval *interval,
			 u64 start, u64 end, void *data)
{
	return trace__add_cpu(&((struct export_data *)data)->trace, m, interval, start, end);
}

static int print_trace(struct export_data *data, FILE *fp)
{
	return trace__print(&data->trace, data->m, fp);
}

static void end_trace(struct export_data *data)
{
	trace__exit(&data->trace);
}

static const struct export_format formats[] = {
	{
		.name = "folded",
		.push = push_folded,
		.print = print_folded,
		.has_stacks = true,
	},
	{
		.name = "pprof",
		.push = push_pprof,
		.print = print_pprof,
		.has_stacks = true,
		.is_binary = true,
	},
	{
		.name = "rows",
		.begin = begin_rows,
		.push = push_row,
		.add = add_row,
		.print = print_rows,
		.end = end_rows,
		.has_stacks = true,
	},
	{
		.name = "speedscope",
		.begin = begin_speedscope,
		.slices = { .vcpu = add_piece },
		.print = print_speedscope,
		.end = end_speedscope,
		.has_stacks = true,
		.is_time_line = true,
		.has_no_host = true,
	},
	{
		.name = "trace",
		.begin = begin_trace,
		.slices = { .vcpu = add_vcpu_slice, .cpu = add_cpu_slice },
		.print = print_trace,
		.end = end_trace,
		.is_time_line = true,
	},
};

/* NULL: there is none of this name */
const struct export_format *export_format__find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

/* All of them, with commas between them */
void export_formats__names(char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		len += scnprintf(buf + len, size - len, "%s%s", i ? ", " : "", formats[i].name);
}

const struct export_format *export_format__default(void)
{
	return &formats[0];
}
