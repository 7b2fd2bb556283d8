// SPDX-License-Identifier: GPL-2.0
/*
 * The keys that --sort and --fields know here and not in perf report: vm, vcpu, class, task
 * and exit_reason; and ipc, which is only shown. Of symoff, that it has rows that are no code.
 */
#include <inttypes.h>
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
#include "util/symbol.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/lib/sort.h"
#include "kvm-unified/measure/measurement.h"
#include "key-list.h"
#include "sort-keys.h"
#include "tables.h"

/**
 * struct sort_key - a key of ours
 * @text: what a row has in its column; @buf: for one that is made
 * @width: of the column, if nothing in it is longer
 */
struct sort_key {
	struct perf_hpp_fmt fmt;
	const char	*(*text)(const struct hist_entry *he, char *buf, size_t size);
	int		width;
};

/* A function and where in it; all others are shorter. */
#define TEXT_LEN	1024

static const struct sort_key *fmt__key(const struct perf_hpp_fmt *fmt);

/* The longest text of the rows, and of those below them in a hierarchy */
static size_t longest_text(const struct sort_key *key, const struct rb_root_cached *rows)
{
	char buf[TEXT_LEN];
	size_t len = 0;

	for (struct rb_node *node = rb_first_cached(rows); node; node = rb_next(node)) {
		const struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node);

		len = max(len, strlen(key->text(he, buf, sizeof(buf))));
		if (symbol_conf.report_hierarchy && !he->leaf)
			len = max(len, longest_text(key, &he->hroot_out));
	}
	return len;
}

/* perf prints no more of a line than its columns have room for. @hists: NULL for a row of it */
static int key_width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
		     struct hists *hists)
{
	const struct sort_key *key = fmt__key(fmt);

	if (hists && !fmt->user_len)
		fmt->len = max_t(size_t, key->width, longest_text(key, &hists->entries));
	return fmt->user_len ?: fmt->len ?: key->width;
}

static int print_header(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp,
			struct hists *hists, int line __maybe_unused, int *span __maybe_unused)
{
	return scnprintf(hpp->buf, hpp->size, "%-*s", fmt->width(fmt, hpp, hists), fmt->name);
}

/* Shorter and longer than the column, as perf's own are; not padded before a separator */
static int print_entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp, struct hist_entry *he)
{
	int width = symbol_conf.field_sep ? 0 : fmt->width(fmt, hpp, NULL);
	char buf[TEXT_LEN];

	return scnprintf(hpp->buf, hpp->size, "%-*s", width,
			 fmt__key(fmt)->text(he, buf, sizeof(buf)));
}

static int64_t vm_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
		      struct hist_entry *b)
{
	return strcmp(table_entry__info(b)->vm ?: "", table_entry__info(a)->vm ?: "");
}

static const char *vm_text(const struct hist_entry *he, char *buf __maybe_unused,
			   size_t size __maybe_unused)
{
	return table_entry__info(he)->vm ?: "";
}

static int64_t vcpu_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			struct hist_entry *b)
{
	return (int64_t)table_entry__info(b)->vcpu - table_entry__info(a)->vcpu;
}

static const char *vcpu_text(const struct hist_entry *he, char *buf, size_t size)
{
	if (table_entry__info(he)->vcpu == TABLE_NO_VCPU)
		return "";
	scnprintf(buf, size, "%u", table_entry__info(he)->vcpu);
	return buf;
}

static int64_t class_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			 struct hist_entry *b)
{
	return (int64_t)table_entry__info(b)->key.class - table_entry__info(a)->key.class;
}

static const char *class_text(const struct hist_entry *he, char *buf __maybe_unused,
			      size_t size __maybe_unused)
{
	return profile_class__name(table_entry__info(he)->key.class);
}

static int64_t thief_vcpu_cmp(const struct table_info *a, const struct table_info *b)
{
	if (!a->thief_vm || !b->thief_vm)
		return !!b->thief_vm - !!a->thief_vm;
	return strcmp(b->thief_vm, a->thief_vm) ?: (int64_t)b->thief_vcpu - a->thief_vcpu;
}

static int64_t task_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *he_a,
			struct hist_entry *he_b)
{
	const struct table_info *info_a = table_entry__info(he_a);
	const struct table_info *info_b = table_entry__info(he_b);
	const struct measured_task *a = info_a->task, *b = info_b->task;

	if (!a || !b)
		return !!b - !!a ?: thief_vcpu_cmp(info_a, info_b);
	return (int64_t)b->tid - a->tid ?: strcmp(b->comm, a->comm);
}

static const char *task_text(const struct hist_entry *he, char *buf, size_t size)
{
	const struct table_info *info = table_entry__info(he);

	if (info->task)
		scnprintf(buf, size, "%d:%s", info->task->tid, info->task->comm);
	else if (info->thief_vm)
		scnprintf(buf, size, "VM %s: vcpu%u", info->thief_vm, info->thief_vcpu);
	else
		return "";
	return buf;
}

static const char *cgroup_of(const struct hist_entry *he)
{
	return table_entry__info(he)->key.cgroup ?: "";
}

static int64_t cgroup_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			  struct hist_entry *b)
{
	return strcmp(cgroup_of(b), cgroup_of(a));
}

static const char *cgroup_text(const struct hist_entry *he, char *buf __maybe_unused,
			       size_t size __maybe_unused)
{
	return cgroup_of(he);
}

static int64_t exit_reason_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *he_a,
			       struct hist_entry *he_b)
{
	const struct table_info *a = table_entry__info(he_a), *b = table_entry__info(he_b);

	if (a->isa != b->isa)
		return (int64_t)b->isa - a->isa;
	return a->exit_reason == b->exit_reason ? 0 : a->exit_reason > b->exit_reason ? -1 : 1;
}

static const char *exit_reason_text(const struct hist_entry *he, char *buf, size_t size)
{
	const struct table_info *info = table_entry__info(he);

	return info->isa ? vcpu_exit_reason__name(info->isa, info->exit_reason, buf, size) : "";
}

/* Compares functions, then addresses: an address of two files is two. */
static int64_t symoff_cmp(struct perf_hpp_fmt *fmt __maybe_unused, struct hist_entry *a,
			  struct hist_entry *b)
{
	const struct symbol *sym_a = a->ms.sym, *sym_b = b->ms.sym;

	if (sym_a == sym_b)
		return sort_cmp(b->ip, a->ip);
	/* A caller may have none. */
	return strcmp(sym_b ? sym_b->name : "", sym_a ? sym_a->name : "") ?:
	       sort_cmp(b->ip, a->ip) ?: sort_cmp((unsigned long)sym_b, (unsigned long)sym_a);
}

static const char *symoff_text(const struct hist_entry *he, char *buf, size_t size)
{
	const struct symbol *sym = he->ms.sym;

	if (!sym)
		scnprintf(buf, size, "[%c] 0x%" PRIx64, he->level, he->ip);
	else if (he->ip >= sym->start && he->ip < sym->end)
		scnprintf(buf, size, "[%c] %s+0x%" PRIx64, he->level, sym->name,
			  he->ip - sym->start);
	/* perf has addresses of callers as they are in memory; one that was made is none. */
	else if (he->level == TABLE_NO_CODE || table_entry__has_symbol(he) ||
		 he->ip == sym->start)
		scnprintf(buf, size, "[%c] %s", he->level, sym->name);
	else
		scnprintf(buf, size, "[%c] %s 0x%" PRIx64, he->level, sym->name, he->ip);
	return buf;
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

/* Instructions per cycle, as text, by the counts of the same row */
static const char *ipc_text(const struct hist_entry *he, char *buf, size_t size)
{
	u64 cycles = 0, instructions = 0;
	struct hist_entry *pair;

	list_for_each_entry(pair, &he->pairs.head, pairs.node) {
		const struct evsel *evsel = hists_to_evsel(pair->hists);

		if (counts_hardware(evsel, PERF_COUNT_HW_CPU_CYCLES))
			cycles += pair->stat.period;
		if (counts_hardware(evsel, PERF_COUNT_HW_INSTRUCTIONS))
			instructions += pair->stat.period;
	}
	if (!cycles)
		return "";
	scnprintf(buf, size, "%.2f", (double)instructions / cycles);
	return buf;
}

static bool is_same(struct perf_hpp_fmt *a, struct perf_hpp_fmt *b)
{
	return a->cmp == b->cmp;
}

#define SORT_KEY(_name, _fn, _width)			\
	{						\
		.fmt = {				\
			.name = (_name),		\
			.header = print_header,		\
			.width = key_width,		\
			.entry = print_entry,		\
			.cmp = _fn##_cmp,		\
			.collapse = _fn##_cmp,		\
			.sort = _fn##_cmp,		\
			.equal = is_same,		\
		},					\
		.text = _fn##_text,			\
		.width = (_width),			\
	}

static struct sort_key vm_key = SORT_KEY("VM", vm, 16);
static struct sort_key vcpu_key = SORT_KEY("vCPU", vcpu, 5);
static struct sort_key class_key = SORT_KEY("Class", class, 7);
static struct sort_key task_key = SORT_KEY("Task of the host", task, 22);
static struct sort_key cgroup_key = SORT_KEY("Cgroup in the guest", cgroup, 30);
static struct sort_key exit_reason_key = SORT_KEY("Exit reason", exit_reason, 20);
static struct sort_key ipc_key = SORT_KEY("IPC", ipc, 5);
static struct sort_key symoff_key = SORT_KEY("Symbol Offset", symoff, 30);

static struct hpp_dimension keys[] = {
	{ .name = "vm",		 .fmt = &vm_key.fmt },
	{ .name = "vcpu",	 .fmt = &vcpu_key.fmt },
	{ .name = "class",	 .fmt = &class_key.fmt },
	{ .name = "task",	 .fmt = &task_key.fmt },
	{ .name = "cgroup",	 .fmt = &cgroup_key.fmt },
	{ .name = "exit_reason", .fmt = &exit_reason_key.fmt },
	{ .name = "ipc",	 .fmt = &ipc_key.fmt },
	{ .name = "symoff",	 .fmt = &symoff_key.fmt },
};

/* The key of a format of ours, of which perf has made a copy */
static const struct sort_key *fmt__key(const struct perf_hpp_fmt *fmt)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(keys) - 1 && keys[i].fmt->cmp != fmt->cmp)
		i++;
	return container_of(keys[i].fmt, struct sort_key, fmt);
}

static bool is_asked_for(struct sort_key *key)
{
	struct perf_hpp_fmt *fmt;

	perf_hpp_list__for_each_format(&perf_hpp_list, fmt) {
		if (is_same(fmt, &key->fmt))
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
	"symbol", "sym", "symbol_size", "parent", "cpu", "socket", "srcline",
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

/* Prints what there is in place of a key of perf's that is not here. */
static void pr_hint(const char *key, size_t len)
{
	static const struct {
		const char *key;
		const char *hint;
	} hints[] = {
		{ "time",	"--interval tells when, as in --interval 100ms" },
		{ "tid",	"pid is a guest's process; task is who had the CPU of the host" },
		{ "addr",	"symoff tells where in a function" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (!strncasecmp(hints[i].key, key, len)) {
			pr_err("%s\n", hints[i].hint);
			return;
		}
	}
}

/* The keys of @list, or NULL: perf takes a + in front of what is to be added to its default. */
static const char *without_plus(const char *list)
{
	return list ? list + strspn(list, "+ ") : NULL;
}

/* @list: of @option, or NULL. False, with a message, if there is one that is of no use */
bool sort_keys__are_known(const char *option, const char *list)
{
	size_t len;

	key_list__for_each(without_plus(list), key, len) {
		if (is_known(key, len))
			continue;
		pr_err("%s: there is no '%.*s' here; there are:", option, (int)len, key);
		for (size_t i = 0; i < ARRAY_SIZE(perfs_keys); i++)
			pr_err(" %s", perfs_keys[i]);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			pr_err(" %s", keys[i].name);
		pr_err("\n");
		pr_hint(key, len);
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

/* Is it one of those of @list, which are known? As for perf, a beginning of it is as good. */
static bool list_has(const char *list, const char *name)
{
	size_t len;

	key_list__for_each(without_plus(list), key, len) {
		if (!strncasecmp(name, key, len))
			return true;
	}
	return false;
}

static bool lists_have(const char *name)
{
	return list_has(sort_order ?: default_sort_order, name) || list_has(field_order, name);
}

/* Are rows told apart by the host's CPU? */
bool sort_keys__have_cpu(void)
{
	return lists_have("cpu") || lists_have("socket");
}

/* ... by addresses in functions? */
bool sort_keys__have_addr(void)
{
	return is_asked_for(&symoff_key) || lists_have("srcline");
}

/* Are rows to be told apart by guests' processes, other than by default? */
bool sort_keys__ask_for_process(void)
{
	static const char *const process_keys[] = { "pid", "tgid", "comm" };

	for (size_t i = 0; i < ARRAY_SIZE(process_keys); i++) {
		if (list_has(sort_order, process_keys[i]) || list_has(field_order, process_keys[i]))
			return true;
	}
	return false;
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
