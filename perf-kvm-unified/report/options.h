/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_OPTIONS_H
#define __PERF_KVM_UNIFIED_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "kvm-unified/guests/options.h"
#include "kvm-unified/lib/patterns.h"
#include "changes.h"
#include "print.h"
#include "sections.h"
#include "view.h"

struct kvm_guests;
struct measurement;
struct output;
struct perf_session;

/**
 * struct report_options - what the user wants of a report
 * @sections: which sections, of which time, with which rows
 * @print: how to print them
 * @output: ... and in which form
 * @view: how perf's own views are to be
 * @tui: the terminal was asked for
 * @summary: the overview alone
 * @show_header: @show_info: begin with that of the file, the latter with all of it;
 *	@header_only: end with it
 * @guests: what to use for names of guests
 * @use_timeline: use kvm:kvm_vcpu_timeline if it is there
 * @input: where the profile is
 * @force: whoever owns it
 * @relative_by_config: percentages are of what is shown, but not because an option says so
 * @filter: what @sections has a pointer to, if it was given
 * @vms: @vcpus: @cpus: @times: those of @sections as they were given, or NULL
 */
struct report_options {
	struct section_opts sections;
	struct print_opts print;
	const struct output *output;
	struct view_options view;
	bool		 tui;
	bool		 no_tui;
	bool		 summary;
	bool		 show_header;
	bool		 show_info;
	bool		 header_only;
	struct kvm_guests_options guests;
	bool		 use_timeline;
	const char	 *input;
	bool		 force;
	bool		 relative_by_config;
	struct pattern	 filter;
	const char	 *vms;
	const char	 *vcpus;
	const char	 *cpus;
	const char	 *times;
	const char	 *pids;
	const char	 *comms;
	const char	 *dsos;
	const char	 *syms;
};

/**
 * struct diff_options - what the user wants to compare
 * @report: of both profiles; what is one's own is set before that is read
 * @print_fn: how to print it
 * @inputs: where the profiles are
 * @old_times: of the old one, if not those of @report
 * @keep_pids: processes are told apart by their pids
 * @host_processes: ... and those of the host at all
 */
struct diff_options {
	struct report_options report;
	print_diff_fn	 print_fn;
	const char	 *inputs[DIFF_NR_SIDES];
	const char	 *old_times;
	bool		 keep_pids;
	bool		 host_processes;
};

/* Whose work is charged to whom. For tables of options */
#define OPTS_CHARGING(opts)									\
	OPT_CALLBACK(0, "attribution", &(opts)->sections.attribution,				\
		     "cpu-switch|domain-switch",						\
		     "charge the host's work for a guest to host (default) or guest",		\
		     parse_option_attribution),							\
	OPT_BOOLEAN(0, "timeline", &(opts)->use_timeline,					\
		    "use kvm:kvm_vcpu_timeline events if there are any (default)")

/* Which VMs and vCPUs. For tables of options */
#define OPTS_VCPUS(opts)									\
	OPT_LIST(0, "vm", &(opts)->sections.vms, &(opts)->vms, "pattern[,pattern...]",		\
		 "only these VMs", parse_option_names),						\
	OPT_LIST(0, "vcpu", &(opts)->sections.vcpus, &(opts)->vcpus, "id[,id...]",		\
		 "only these vCPUs of each VM, such as 0,2 or 0-3", parse_option_numbers)

/* Which processes, of the host and of guests; @letter: of --comms. For tables of options */
#define OPTS_PROCESSES(opts, letter)								\
	OPT_LIST(0, "pid", &(opts)->sections.pids, &(opts)->pids, "pid[,pid...]",		\
		 "only what processes with these pids executed", parse_option_numbers),		\
	OPT_LIST(letter, "comms", &(opts)->sections.comms, &(opts)->comms,			\
		 "pattern[,pattern...]",							\
		 "only what processes of these names executed", parse_option_names)

/* Which code. For tables of options */
#define OPTS_CODE(opts)										\
	OPT_LIST('d', "dsos", &(opts)->sections.dsos, &(opts)->dsos, "pattern[,pattern...]",	\
		 "only rows of these modules", parse_option_names),				\
	OPT_LIST('S', "symbols", &(opts)->sections.syms, &(opts)->syms, "pattern[,pattern...]",	\
		 "only rows of these functions", parse_option_names)

/* Which part of the measurement. For tables of options */
#define OPTS_WHERE_AND_WHEN(opts)								\
	OPT_LIST('C', "cpu", &(opts)->sections.cpus, &(opts)->cpus, "cpu",			\
		 "only what was on these CPUs of the host", parse_option_cpus),			\
	OPT_STRING(0, "time", &(opts)->times, "start,stop",					\
		   "only this time, as in perf report, or \"+10,+15\" or \"-10s,\"")

/* Which files to read, with perf's own names for them; how much to say. For tables of options */
#define OPTS_READING(opts)									\
	OPTS_KVM_GUESTS(&(opts)->guests),							\
	OPT_STRING('k', "vmlinux", &symbol_conf.vmlinux_name, "file",				\
		   "vmlinux of the host"),							\
	OPT_BOOLEAN(0, "ignore-vmlinux", &symbol_conf.ignore_vmlinux,				\
		    "do not look for one"),							\
	OPT_STRING(0, "kallsyms", &symbol_conf.kallsyms_name, "file",				\
		   "kallsyms of the host"),							\
	OPT_CALLBACK(0, "symfs", NULL, "directory[,layout]",					\
		     "look for the host's files below this directory",				\
		     symbol__config_symfs),							\
	OPT_BOOLEAN('f', "force", &(opts)->force, "don't complain, do it"),			\
	OPT_INCR('v', "verbose", &verbose, "be more verbose"),					\
	OPT_BOOLEAN('q', "quiet", &quiet, "do not show any warnings")

#define SYMFS_HIDES_ROOTS \
	"--symfs goes before all paths, also those of --guest-root: give -k for the host's kernel instead\n"

int report_options__parse(struct report_options *opts, int argc, const char **argv);
bool report_options__wants_tables(const struct report_options *opts);
const char *report_options__default_input(void);
bool report_options__symfs_hides_roots(const struct report_options *opts);
int report_options__check(const struct report_options *opts);
void report_options__exit(struct report_options *opts);
void report_options__selection(const struct report_options *opts, char *buf, size_t size);
void report_options__rows_of(const struct report_options *opts, char *buf, size_t size);

int report_options__parse_times(struct report_options *opts, struct perf_session *session);
int report_options__complete_vms(const struct report_options *opts,
				 const struct kvm_guests *guests);
int report_options__check_vms(const struct report_options *opts,
			      const struct measurement *const ms[], u32 nr);
int report_options__check_selection(const struct report_options *opts,
				    const struct measurement *m);

int diff_options__parse(struct diff_options *opts, int argc, const char **argv);

#endif /* __PERF_KVM_UNIFIED_REPORT_OPTIONS_H */
