/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_PROFILE_H
#define __PERF_KVM_UNIFIED_FORMAT_PROFILE_H

#include <string.h>

#include "util/data.h"

/* What a profile of perf kvm unified record has besides perf's own */

/* What vCPUs did when they did not run, if the kernel has it */
#define KVM_TIMELINE_SYSTEM	"kvm"
#define KVM_TIMELINE_NAME	"kvm_vcpu_timeline"
#define KVM_TIMELINE_EVENT	KVM_TIMELINE_SYSTEM ":" KVM_TIMELINE_NAME

/* Files of the perf.data directory: records.h says what is in them */
#define KVM_GUESTS_VMS		"vms"
#define VCPU_LOOKS_FILE		"vcpu_looks"
/* The end of the name of one that is written, of a recording without an end: record/segments.c */
#define SEGMENT_WHOLE		".data"
/* Which part of it is its own: format/window.c */
#define PROFILE_WINDOW_FILE	"data.window"
/* As tracefs has it: for profiles whose recorder does not come to write its own header */
#define KVM_TIMELINE_FORMAT_FILE "data.timeline_format"
/* The table of VMs while it is written. perf removes what is called data.* with a profile. */
#define KVM_GUESTS_VMS_NEW	"data.vms"
#define KVM_GUEST_MAP_PREFIX	"guest_map__"
#define KVM_GUEST_MAP_FMT	KVM_GUEST_MAP_PREFIX "%d"
#define KVM_GUEST_KALLSYMS_FMT	"kcore_dir__%d"	/* and /kallsyms in it */

/* The profile's name in messages */
static inline const char *profile__name(const struct perf_data *data)
{
	return data->path && strcmp(data->path, "-") ? data->path : "standard input";
}

#endif /* __PERF_KVM_UNIFIED_FORMAT_PROFILE_H */
