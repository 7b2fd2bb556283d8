// SPDX-License-Identifier: GPL-2.0
/*
 * Options of perf report that perf kvm unified report does not have, those of perf diff and of
 * perf kvm unified report that perf kvm unified diff does not have, and those of the latter that
 * export does not have, each with what there is in place of it, or taken without a word where it
 * changes nothing. -h does not show them.
 */
#include <stdlib.h>
#include <linux/compiler.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "kvm-unified/lib/options.h"
#include "perf-only.h"

/* Tells what to use in place of the option, which is in its help text, and exits. */
static int tell(const struct option *opt, const char *arg __maybe_unused,
		int unset __maybe_unused)
{
	pr_err("--%s is not in perf kvm unified %s: %s\n", opt->long_name,
	       (const char *)opt->value, opt->help);
	exit(EXIT_USAGE);
}

/* It is done in any case. */
static int ignore(const struct option *opt __maybe_unused, const char *arg __maybe_unused,
		  int unset __maybe_unused)
{
	return 0;
}

#define ALWAYS(l)										\
	{ .type = OPTION_CALLBACK, .long_name = (l), .callback = ignore,			\
	  .flags = PARSE_OPT_HIDDEN | PARSE_OPT_NOARG }

#define NOT_IN(command, s, l, instead)								\
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .help = (instead),	\
	  .value = (void *)(command), .callback = tell,						\
	  .flags = PARSE_OPT_HIDDEN | PARSE_OPT_OPTARG }
#define PERF_ONLY(s, l, instead)	NOT_IN("report", s, l, instead)
#define DIFF_ONLY(s, l, instead)	NOT_IN("diff", s, l, instead)
#define REPORT_ONLY(s, l, instead)	NOT_IN("export", s, l, instead)

#define OF_RECORDS	"it is of records, and not of time. perf report has it, for the same profile"
#define OF_CODE		"perf kvm unified annotate has it"
#define OF_SAMPLES	"its rows are of time, and this is of what the hardware has with single samples.\n" \
			"perf report has it, for the same profile"
#define OF_PERF		"perf report has it, for the same profile"
#define IN_MAP		"the guest's map in the profile has it, or one that --guest-map gives"
#define BY_MODE		"use -F overhead_guest_sys,overhead_guest_us,sym or --sort class"

const struct option perf_only_options[] = {
	PERF_ONLY('o', "output", "send its output to a file: > FILE. --format html has -o"),
	PERF_ONLY('D', "dump-raw-trace", OF_RECORDS),
	PERF_ONLY(0, "stats", OF_RECORDS),
	PERF_ONLY(0, "tasks", OF_RECORDS),
	PERF_ONLY(0, "mmaps", OF_RECORDS),
	PERF_ONLY('T', "threads", OF_RECORDS),
	PERF_ONLY(0, "raw-trace", OF_RECORDS),
	PERF_ONLY(0, "source", OF_CODE),
	PERF_ONLY(0, "asm-raw", OF_CODE),
	PERF_ONLY('M', "disassembler-style", OF_CODE),
	PERF_ONLY(0, "prefix", OF_CODE),
	PERF_ONLY(0, "prefix-strip", OF_CODE),
	PERF_ONLY(0, "objdump", OF_CODE),
	PERF_ONLY(0, "percent-type", OF_CODE),
	PERF_ONLY('b', "branch-stack", OF_SAMPLES),
	PERF_ONLY(0, "branch-history", OF_SAMPLES),
	PERF_ONLY(0, "mem-mode", OF_SAMPLES),
	PERF_ONLY(0, "itrace", OF_SAMPLES),
	PERF_ONLY(0, "stitch-lbr", OF_SAMPLES),
	PERF_ONLY(0, "total-cycles", OF_SAMPLES),
	PERF_ONLY(0, "samples", OF_PERF),
	PERF_ONLY(0, "latency", OF_PERF),
	PERF_ONLY(0, "parallelism", OF_PERF),
	PERF_ONLY(0, "tid", "use --sort task for who had the CPU, or --pid for a guest's process"),
	PERF_ONLY(0, "socket-filter", "use --cpu with the CPUs of the socket, or --sort socket"),
	PERF_ONLY(0, "time-quantum", "use --interval, as in --interval 100ms"),
	PERF_ONLY(0, "switch-on", "use --time"),
	PERF_ONLY(0, "switch-off", "use --time"),
	PERF_ONLY(0, "show-on-off-events", "use --time"),
	PERF_ONLY(0, "addr2line-style", "use perf config addr2line.style"),
	PERF_ONLY(0, "ns", "use --show-total-period for ns, or --format json"),
	PERF_ONLY(0, "show-cpu-utilization", BY_MODE),
	PERF_ONLY(0, "showcpuutilization", BY_MODE),
	PERF_ONLY(0, "pretty", "use --format json or csv, or --stdio -t ,"),
	PERF_ONLY(0, "gtk", "use --tui or --stdio"),
	PERF_ONLY(0, "group-sort-idx", "rows are in the order of time; --tui has the keys 0 to 9"),
	PERF_ONLY(0, "disable-order", "time needs its order"),
	PERF_ONLY(0, "ignore-callees", "use --max-stack or --symbols"),
	PERF_ONLY(0, "guestmount", "use --guest-root"),
	PERF_ONLY(0, "guestkallsyms", IN_MAP),
	PERF_ONLY(0, "guestmodules", IN_MAP),
	PERF_ONLY(0, "guestvmlinux", IN_MAP),
	PERF_ONLY(0, "unwind-style", "use perf config unwind.style"),
	PERF_ONLY(0, "show-ref-call-graph", OF_PERF),
	ALWAYS("group"),
	ALWAYS("skip-empty"),
	OPT_END()
};

#define BY_POINTS	"rows are in the order of their points, which are of the VM's time"
#define OF_EACH		"have perf kvm unified report of each of the two"
#define OLD_AND_NEW	"--format json and csv have the old and the new time of each row, in ns"

const struct option perf_diff_only_options[] = {
	DIFF_ONLY('c', "compute", BY_POINTS),
	DIFF_ONLY('o', "order", BY_POINTS),
	DIFF_ONLY('F', "formula", BY_POINTS),
	DIFF_ONLY('b', "baseline-only", OLD_AND_NEW),
	DIFF_ONLY('p', "period", OLD_AND_NEW),
	DIFF_ONLY('t', "field-separator", "use --format csv"),
	DIFF_ONLY(0, "cycles-hist", OF_SAMPLES),
	DIFF_ONLY(0, "stream", OF_SAMPLES),
	DIFF_ONLY('D', "dump-raw-trace", OF_RECORDS),
	DIFF_ONLY('m', "modules", "use -k or --kallsyms"),
	DIFF_ONLY(0, "percentage", "percent are of all that a VM has had"),
	DIFF_ONLY(0, "tid", "use --pid, or --comms for a name"),
	DIFF_ONLY(0, "summary", "it begins with that; --format json has it as classes"),
	DIFF_ONLY(0, "level", "it has the host and each VM; --vm selects"),
	DIFF_ONLY(0, "vcpu", OF_EACH),
	DIFF_ONLY(0, "interval", OF_EACH),
	DIFF_ONLY(0, "stalls", OF_EACH),
	DIFF_ONLY(0, "thief", OF_EACH),
	DIFF_ONLY(0, "costs", OF_EACH),
	DIFF_ONLY(0, "exit-reasons", OF_EACH),
	DIFF_ONLY('i', "input", "name both profiles: <old> <new>"),
	DIFF_ONLY(0, "tui", "it has no browser"),
	DIFF_ONLY(0, "stdio", "it has no browser, and prints a table: see --format"),
	OPT_END()
};

#define OF_ROWS		"who reads it puts rows together. --format rows has all of them, for a database"
#define OF_CHOICE	"it has all functions: choose in what reads it"
#define OF_REPORT	"perf kvm unified report has it"
#define ONE_FORM	"it is no table: see --format"

const struct option report_only_options[] = {
	REPORT_ONLY('s', "sort", OF_ROWS),
	REPORT_ONLY('F', "fields", OF_ROWS),
	REPORT_ONLY('H', "hierarchy", OF_ROWS),
	REPORT_ONLY(0, "percent-limit", OF_ROWS),
	REPORT_ONLY(0, "percentage", OF_ROWS),
	REPORT_ONLY('d', "dsos", OF_CHOICE),
	REPORT_ONLY('S', "symbols", OF_CHOICE),
	REPORT_ONLY(0, "symbol-filter", OF_CHOICE),
	REPORT_ONLY('g', "call-graph", "call chains are there if they were recorded"),
	REPORT_ONLY(0, "children", "call chains are there if they were recorded"),
	REPORT_ONLY(0, "max-stack", "chains are whole there"),
	REPORT_ONLY('G', "inverted", "chains begin with the outermost caller"),
	REPORT_ONLY('m', "modules", "use --kallsyms with a copy of the host's"),
	REPORT_ONLY(0, "interval", "--format trace has a time line"),
	REPORT_ONLY(0, "thief", "--format trace has who had the CPU"),
	REPORT_ONLY(0, "summary", OF_REPORT),
	REPORT_ONLY(0, "costs", OF_REPORT),
	REPORT_ONLY(0, "stalls", OF_REPORT),
	REPORT_ONLY(0, "exit-reasons", OF_REPORT),
	REPORT_ONLY(0, "header", OF_REPORT),
	REPORT_ONLY(0, "header-only", OF_REPORT),
	REPORT_ONLY('t', "field-separator", ONE_FORM),
	REPORT_ONLY(0, "tui", ONE_FORM),
	REPORT_ONLY(0, "stdio", ONE_FORM),
	OPT_END()
};
