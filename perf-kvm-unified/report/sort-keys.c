// SPDX-License-Identifier: GPL-2.0
/*
 * The keys that --sort and --fields know here and not in perf report: vm, vcpu, class, task
 * and exit_reason; and ipc, which is only shown.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "util/debug.h"
#include "util/evsel.h"
#include "util/hist.h"
#include "util/sort.h"
#include "util/strbuf.h"
#include "util/vcpu-sample.h"
#include "measurement.h"
#include "sort-keys.h"
#include "tables.h"

/* Names of VMs, and of exit reasons */
#define VM_WIDTH		16
#define VCPU_WIDTH		5
#define CLASS_WIDTH		7
#define TASK_WIDTH		22
#define EXIT_REASON_WIDTH	20
#define IPC_WIDTH		5

static int print_header(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp,
			struct hists *hists, int line __maybe_unused, int *span __maybe_unused)
{
	return scnprintf(hpp->buf, hpp->size, "%-*s", fmt->width(fmt, hpp, hists), fmt->name);
}

/* Shorter and longer than the column, as perf's own are; not padded before a separator */
static int print_value(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, const char *value)
{
	int width = symbol_conf.field_sep ? 0 : fmt->width(fmt, hpp, NULL);

	return scnprintf(hpp->buf, hpp->size, "%-*s", width, value);
}

static int vm_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
		    struct hists *hists __maybe_unused)
{
	return fmt->user_len ?: VM_WIDTH;
}

static int64_t vm_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
		      struct hist_entry *b)
{
	return strcmp(table_entry__info(b)->vm ?: "", table_entry__info(a)->vm ?: "");
}

static int vm_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, struct hist_entry *he)
{
	return print_value(fmt, hpp, table_entry__info(he)->vm ?: "");
}

static int vcpu_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
		      struct hists *hists __maybe_unused)
{
	return fmt->user_len ?: VCPU_WIDTH;
}

static int64_t vcpu_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			struct hist_entry *b)
{
	return (int64_t)table_entry__info(b)->vcpu - table_entry__info(a)->vcpu;
}

static int vcpu_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, struct hist_entry *he)
{
	char buf[16] = "";

	if (table_entry__info(he)->vcpu != TABLE_NO_VCPU)
		scnprintf(buf, sizeof(buf), "%u", table_entry__info(he)->vcpu);
	return print_value(fmt, hpp, buf);
}

static int class_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
		       struct hists *hists __maybe_unused)
{
	return fmt->user_len ?: CLASS_WIDTH;
}

static int64_t class_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			 struct hist_entry *b)
{
	return (int64_t)table_entry__info(b)->key.class - table_entry__info(a)->key.class;
}

static int class_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, struct hist_entry *he)
{
	return print_value(fmt, hpp, profile_class__name(table_entry__info(he)->key.class));
}

static int task_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
		      struct hists *hists __maybe_unused)
{
	return fmt->user_len ?: TASK_WIDTH;
}

static int64_t task_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *he_a,
			struct hist_entry *he_b)
{
	const struct measured_task *a = table_entry__info(he_a)->task;
	const struct measured_task *b = table_entry__info(he_b)->task;

	if (!a || !b)
		return !!b - !!a;
	return (int64_t)b->tid - a->tid ?: strcmp(b->comm, a->comm);
}

static int task_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, struct hist_entry *he)
{
	const struct measured_task *task = table_entry__info(he)->task;
	char buf[32] = "";

	if (task)
		scnprintf(buf, sizeof(buf), "%d:%s", task->tid, task->comm);
	return print_value(fmt, hpp, buf);
}

static int exit_reason_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
			     struct hists *hists __maybe_unused)
{
	return fmt->user_len ?: EXIT_REASON_WIDTH;
}

static int64_t exit_reason_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *he_a,
			       struct hist_entry *he_b)
{
	const struct table_info *a = table_entry__info(he_a), *b = table_entry__info(he_b);

	if (a->isa != b->isa)
		return (int64_t)b->isa - a->isa;
	return a->exit_reason == b->exit_reason ? 0 : a->exit_reason > b->exit_reason ? -1 : 1;
}

static int exit_reason_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp,
			     struct hist_entry *he)
{
	const struct table_info *info = table_entry__info(he);
	char buf[32];

	return print_value(fmt, hpp, info->isa ?
			   vcpu_exit_reason__name(info->isa, info->exit_reason, buf, sizeof(buf)) :
			   "");
}

static int ipc_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
		     struct hists *hists __maybe_unused)
{
	return fmt->user_len ?: IPC_WIDTH;
}

/* It tells no rows apart. */
static int64_t ipc_cmp(struct perf_hpp_fmt *fmt __maybe_unused,
		       struct hist_entry *a __maybe_unused, struct hist_entry *b __maybe_unused)
{
	return 0;
}

static bool counts_hardware(const struct evsel *evsel, u64 config)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	return attr->type == PERF_TYPE_HARDWARE && (attr->config & PERF_HW_EVENT_MASK) == config;
}

/* Of the events of the same row */
static int ipc_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, struct hist_entry *he)
{
	u64 cycles = 0, instructions = 0;
	struct hist_entry *pair;
	char buf[16] = "";

	list_for_each_entry(pair, &he->pairs.head, pairs.node) {
		const struct evsel *evsel = hists_to_evsel(pair->hists);

		if (counts_hardware(evsel, PERF_COUNT_HW_CPU_CYCLES))
			cycles += pair->stat.period;
		if (counts_hardware(evsel, PERF_COUNT_HW_INSTRUCTIONS))
			instructions += pair->stat.period;
	}
	if (cycles)
		scnprintf(buf, sizeof(buf), "%.2f", (double)instructions / cycles);
	return print_value(fmt, hpp, buf);
}

static bool is_same(struct perf_hpp_fmt *a, struct perf_hpp_fmt *b)
{
	return a->entry == b->entry;
}

#define SORT_KEY(_name, _fn)			\
	{					\
		.name = (_name),		\
		.header = print_header,		\
		.width = _fn##_width,		\
		.entry = _fn##_entry,		\
		.cmp = _fn##_cmp,		\
		.collapse = _fn##_cmp,		\
		.sort = _fn##_cmp,		\
		.equal = is_same,		\
	}

static struct perf_hpp_fmt vm_key = SORT_KEY("VM", vm);
static struct perf_hpp_fmt vcpu_key = SORT_KEY("vCPU", vcpu);
static struct perf_hpp_fmt class_key = SORT_KEY("Class", class);
static struct perf_hpp_fmt task_key = SORT_KEY("Task of the host", task);
static struct perf_hpp_fmt exit_reason_key = SORT_KEY("Exit reason", exit_reason);

static struct perf_hpp_fmt ipc_key = SORT_KEY("IPC", ipc);

static struct hpp_dimension keys[] = {
	{ .name = "vm",		 .fmt = &vm_key },
	{ .name = "vcpu",	 .fmt = &vcpu_key },
	{ .name = "class",	 .fmt = &class_key },
	{ .name = "task",	 .fmt = &task_key },
	{ .name = "exit_reason", .fmt = &exit_reason_key },
	{ .name = "ipc",	 .fmt = &ipc_key },
};

static bool is_asked_for(struct perf_hpp_fmt *key)
{
	struct perf_hpp_fmt *fmt;

	perf_hpp_list__for_each_format(&perf_hpp_list, fmt) {
		if (is_same(fmt, key))
			return true;
	}
	return false;
}

/* Make them known to --sort, --fields and their help. */
void sort_keys__add(void)
{
	sort__set_command_dimensions(keys, ARRAY_SIZE(keys));
}

/* perf's keys that tell something of a row here; of any other, all rows would have the same. */
static const char *const perfs_keys[] = {
	"overhead", "overhead_sys", "overhead_us", "overhead_guest_sys", "overhead_guest_us",
	"overhead_children", "sample", "period", "pid", "tgid", "comm", "dso", "dso_size",
	"symbol", "sym", "symbol_size", "parent",
};

/* As perf looks keys up: by the beginnings of their names */
static bool is_known(const char *key, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) == len && !strncmp(keys[i].name, key, len))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(perfs_keys); i++) {
		if (!strncasecmp(perfs_keys[i], key, len))
			return true;
	}
	return false;
}

/* As long as perf's own lines of keys are, and how the next ones begin */
#define HELP_COLUMNS	75
#define HELP_INDENT	"\n\t\t\t "
#define HELP_INDENT_LEN	25

static void help__add(struct strbuf *help, const char *key, size_t *len)
{
	if (*len >= HELP_COLUMNS) {
		strbuf_addstr(help, HELP_INDENT);
		*len = HELP_INDENT_LEN;
	}
	strbuf_addf(help, " %s", key);
	*len += strlen(key) + 1;
}

/* @about and the keys that sort_keys__are_known() takes, for -h; free() it. NULL: no memory */
char *sort_keys__help(const char *about)
{
	size_t len = strlen(about) + HELP_INDENT_LEN;
	struct strbuf help = STRBUF_INIT;

	strbuf_addstr(&help, about);
	for (size_t i = 0; i < ARRAY_SIZE(perfs_keys); i++)
		help__add(&help, perfs_keys[i], &len);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		help__add(&help, keys[i].name, &len);
	return strbuf_detach(&help, NULL);
}

/* @list: of @option, or NULL. False, with a message, if there is one that is of no use */
bool sort_keys__are_known(const char *option, const char *list)
{
	/* perf takes a + in front of what is to be added to its default. */
	const char *key = list ? list + strspn(list, "+ ") : "";

	for (size_t len; *key; key += len + strspn(key + len, ", ")) {
		len = strcspn(key, ", ");
		if (is_known(key, len))
			continue;
		pr_err("%s: rows are not told apart by '%.*s' here, but by", option, (int)len, key);
		for (size_t i = 0; i < ARRAY_SIZE(perfs_keys); i++)
			pr_err(" %s", perfs_keys[i]);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			pr_err(" %s", keys[i].name);
		pr_err("\n");
		return false;
	}
	return true;
}

/* Are rows of the host to be told apart by what they were done for? */
bool sort_keys__have_vm(void)
{
	return is_asked_for(&vm_key) || is_asked_for(&vcpu_key);
}

bool sort_keys__have_exit_reason(void)
{
	return is_asked_for(&exit_reason_key);
}

static bool measurement__has_hardware(const struct measurement *m, u64 config)
{
	for (u32 column = PROFILE_TIME + 1; column < m->nr_columns; column++) {
		if (counts_hardware(m->columns[column], config))
			return true;
	}
	return false;
}

static bool measurement__has_ipc(const struct measurement *m)
{
	return measurement__has_hardware(m, PERF_COUNT_HW_CPU_CYCLES) &&
	       measurement__has_hardware(m, PERF_COUNT_HW_INSTRUCTIONS);
}

/* Is IPC asked for, of a profile that has none? */
bool sort_keys__lack_ipc(const struct measurement *m)
{
	return is_asked_for(&ipc_key) && !measurement__has_ipc(m);
}

/* The keys if none are asked for: IPC where it can be told. NULL: no memory; never freed */
const char *sort_keys__default(const struct measurement *m)
{
	char *with_ipc;

	if (!measurement__has_ipc(m))
		return default_sort_order;
	return asprintf(&with_ipc, "%s,ipc", default_sort_order) < 0 ? NULL : with_ipc;
}
