/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_READING_H
#define __PERF_KVM_UNIFIED_REPORT_READING_H

#include "util/data.h"
#include "kvm-unified/guests/foreign.h"
#include "kvm-unified/measure/cpu-limit.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/measure/stream.h"
#include "sections.h"
#include "tables.h"
#include "times.h"

struct report_options;

/**
 * struct reading - a profile on its way from a file to tables
 * @opts: what is wanted of it
 * @begin: what the command has to do when it is known which guests there are, or NULL
 * @begin_events: ... and which events, and what is to be found out, or NULL
 * @data: the file
 * @foreign: maps in it that are of something else
 * @again: it is read once more, without these
 * @killed: its recorder did not come to its end
 * @window: the part of it that is its own, as --time has it, if that is not all of it
 */
struct reading {
	struct report_options *opts;
	int		(*begin)(struct reading *reading);
	int		(*begin_events)(struct reading *reading, struct measure_wants *wants);
	struct perf_data data;
	struct foreign_maps foreign;
	bool		again;
	bool		killed;
	char		window[TIMES_TEXT_LEN];
	struct cpu_limit cpu_limit;
	struct profile_stream stream;
	struct measurement m;
	struct sections	 sections;
	struct tables	 tables;
};

int readings__setup(void);
int reading__init(struct reading *reading, struct report_options *opts);
int reading__read(struct reading *reading);
int reading__finish(struct reading *reading);
int reading__run(struct reading *reading, struct report_options *opts);
bool reading__is_part(const struct reading *reading);
const char *reading__mode_reason(const struct reading *reading);
void reading__exit(struct reading *reading);

#endif /* __PERF_KVM_UNIFIED_REPORT_READING_H */
