/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_CONTINUOUS_H
#define __PERF_KVM_UNIFIED_RECORD_CONTINUOUS_H

#include <linux/types.h>

#include "segments.h"

/* Samples per second and CPU, if -F and -c do not say: what can go on for days */
#define CONTINUOUS_FREQ	"19"

/**
 * struct continuous - a recording without an end, as profiles of an interval each
 * @dir: of the profiles; NULL: it is not wanted
 * @interval: @keep: @max_size: as they were given
 * @on_profile: the command that each profile is handed on to, or NULL
 * @seconds: of each; @limits: what is kept of them: by continuous__check()
 * @clock: of the events, if that was given, or NULL
 * @segment: this process records one of the profiles: "FD,DIR", of exec_recorder(); or NULL
 */
struct continuous {
	const char *dir;
	const char *interval;
	const char *keep;
	const char *max_size;
	const char *on_profile;
	u64	seconds;
	struct segments_limits limits;
	const char *clock;
	const char *segment;
};

int continuous__check(struct continuous *continuous);
int continuous__run(const struct continuous *continuous, int argc, const char **argv);

const char *continuous__begin_segment(const struct continuous *continuous);

#endif /* __PERF_KVM_UNIFIED_RECORD_CONTINUOUS_H */
