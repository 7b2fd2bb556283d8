// SPDX-License-Identifier: GPL-2.0
/*
 * A time line in the format of Chrome's trace events (JSON), which Perfetto and speedscope read: a
 * track for each CPU of the host, with the task or vCPU that it ran, and one for each vCPU, with
 * what it did. A slice of steal names who had the CPU, and an arrow leads from it to the CPU.
 *
 * Slices are written as the axis hands them out, so that memory does not grow with the profile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "util/json.h"
#include "util/session.h"
#include "kvm-unified/axis/host-walk.h"
#include "kvm-unified/axis/intervals.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/measure/measurement.h"
#include "kvm-unified/report/over-time.h"
#include "kvm-unified/report/print.h"
#include "kvm-unified/report/profile.h"
#include "kvm-unified/report/thieves.h"
#include "trace.h"

/* The host and each VM are processes there, and CPUs and vCPUs are their threads, from 1 on. */
#define HOST_PID	1U
#define FIRST_VM_PID	(HOST_PID + 1)
#define FIRST_TID	1U

/* Long enough for "vm1 vCPU 3", and for a task */
#define SLICE_NAME	(KVM_VM_NAME_LEN + 32)

/**
 * struct trace_slice - what goes on
 * @name: of it; NULL: it is called after @vcpu or @task
 * @vcpu: which one a CPU runs, its index, or TIME_AXIS_NONE
 * @task: the number of the one that a CPU runs instead, or TIME_AXIS_NONE
 * @cpu: where a vCPU had or wanted a CPU, or TIME_AXIS_NONE
 * @is_stolen: by @by; by several tasks if @by_several
 */
struct trace_slice {
	const char	*name;
	u32		vcpu;
	u32		task;
	u32		cpu;
	bool		is_stolen;
	bool		by_several;
	struct thief	by;
};

static const struct trace_slice unnamed_slice = {
	.vcpu = TIME_AXIS_NONE,
	.task = TIME_AXIS_NONE,
	.cpu = TIME_AXIS_NONE,
};

/**
 * struct trace_track - of a CPU or a vCPU
 * @slice: the last one, from @start to before @end; none if both are 0
 * @used: there has been one
 */
struct trace_track {
	struct trace_slice slice;
	u64	start;
	u64	end;
	bool	used;
};

/* The profile is read now, from its start. 0 or -errno */
int trace__begin(struct trace *trace)
{
	trace__exit(trace);
	return temp_file__open(&trace->slices) ?: temp_file__open(&trace->flows);
}

void trace__exit(struct trace *trace)
{
	temp_file__close(&trace->slices);
	temp_file__close(&trace->flows);
	free(trace->vcpus.entries);
	free(trace->cpus.entries);
	*trace = (struct trace) { };
}

/* Number @idx. NULL: no memory */
static struct trace_track *trace_tracks__findnew(struct trace_tracks *tracks, u32 idx)
{
	while (tracks->nr <= idx) {
		if (grow_array(tracks->entries, tracks->nr, tracks->allocated))
			return NULL;
		tracks->entries[tracks->nr++] = (struct trace_track) { };
	}
	return &tracks->entries[idx];
}

/* Times are us there. */
static void print_us(const char *name, u64 ns, FILE *fp)
{
	fprintf(fp, ",\"%s\":%" PRIu64 ".%03" PRIu64, name, (u64)(ns / NSEC_PER_USEC),
		(u64)(ns % NSEC_PER_USEC));
}

static void print_slice_name(const struct measurement *m, const struct trace_slice *slice, FILE *fp)
{
	const struct measured_task *task;
	const struct axis_vcpu *vcpu;
	char name[SLICE_NAME];

	if (slice->vcpu != TIME_AXIS_NONE) {
		vcpu = &m->axis.vcpus[slice->vcpu];
		scnprintf(name, sizeof(name), "%s vCPU %u", m->vms[vcpu->vm].name, vcpu->id);
	} else if (slice->task != TIME_AXIS_NONE) {
		task = m->tasks[slice->task];
		scnprintf(name, sizeof(name), "%s-%d", task->comm, task->tid);
	}
	json__fputs(slice->name ?: name, fp);
}

static void print_thief(const struct measurement *m, const struct trace_slice *slice, FILE *fp)
{
	char name[THIEF_OWNER_LEN] = "several tasks";

	if (!slice->by_several)
		thief__owner_name(m, &slice->by, name, sizeof(name));
	print_json_member("by", name, fp);
}

/* Is it known who had the CPU, and on which? */
static bool trace_slice__has_flow(const struct trace_slice *slice)
{
	if (!slice->is_stolen || slice->by_several || slice->cpu == TIME_AXIS_NONE)
		return false;
	switch (slice->by.kind) {
	case THIEF_VM:
	case THIEF_VCPU:
	case THIEF_VMM:
	case THIEF_TASK:
		return true;
	case THIEF_WAKING:
	case THIEF_QUOTA:
	case THIEF_SWITCHING:
	case THIEF_UNKNOWN:
	default:
		return false;
	}
}

/* An end of a flow, as the format calls an arrow from slice to slice */
static void print_flow_end(const char *what, u64 id, u32 pid, u32 tid, u64 time, FILE *fp)
{
	fprintf(fp, "{%s,\"id\":%" PRIu64 ",\"cat\":\"steal\",\"name\":\"steal\"", what, id);
	fprintf(fp, ",\"pid\":%u,\"tid\":%u", pid, tid);
	print_us("ts", time, fp);
	fputs("},\n", fp);
}

/* A flow from the middle of the slice of @track, of steal, to what its CPU did then */
static void add_flow(struct trace *trace, const struct trace_track *track, u32 pid, u32 tid)
{
	u64 middle = track->start + (track->end - track->start) / 2;

	print_flow_end("\"ph\":\"s\"", trace->nr_flows, pid, tid, middle, trace->flows.fp);
	/* "bp": it ends at the slice that is there then, and not at the next one. */
	print_flow_end("\"ph\":\"f\",\"bp\":\"e\"", trace->nr_flows, HOST_PID,
		       FIRST_TID + track->slice.cpu, middle, trace->flows.fp);
	trace->nr_flows++;
	temp_file__check(&trace->flows);
}

/* The slice that @track has, if any: it has ended. */
static void end_slice(struct trace *trace, const struct measurement *m, struct trace_track *track,
		      u32 pid, u32 tid)
{
	const struct trace_slice *slice = &track->slice;
	bool has_args = slice->cpu != TIME_AXIS_NONE || slice->is_stolen;
	FILE *fp = trace->slices.fp;

	if (track->start == track->end)
		return;
	fprintf(fp, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u", pid, tid);
	print_us("ts", track->start, fp);
	print_us("dur", track->end - track->start, fp);
	fputs(",\"name\":", fp);
	print_slice_name(m, slice, fp);
	if (has_args)
		fputs(",\"args\":{", fp);
	if (slice->cpu != TIME_AXIS_NONE)
		fprintf(fp, "\"cpu\":%u%s", slice->cpu, slice->is_stolen ? "," : "");
	if (slice->is_stolen)
		print_thief(m, slice, fp);
	fputs(has_args ? "}},\n" : "},\n", fp);
	temp_file__check(&trace->slices);
	if (trace_slice__has_flow(slice))
		add_flow(trace, track, pid, tid);
	track->start = track->end;
}

static bool thief__is_same(const struct thief *a, const struct thief *b)
{
	return a->kind == b->kind && a->vm == b->vm && a->vcpu == b->vcpu && a->task == b->task;
}

/* Words are compared by their addresses: each stands in one place. */
static bool trace_slice__is_same(const struct trace_slice *a, const struct trace_slice *b)
{
	return a->name == b->name && a->vcpu == b->vcpu && a->task == b->task &&
	       a->cpu == b->cpu && a->is_stolen == b->is_stolen &&
	       a->by_several == b->by_several && thief__is_same(&a->by, &b->by);
}

/* @slice, from @start to before @end, comes after what there is. */
static void add_slice(struct trace *trace, const struct measurement *m, struct trace_track *track,
		      u32 pid, u32 tid, const struct trace_slice *slice, u64 start, u64 end)
{
	if (track->end == start && trace_slice__is_same(&track->slice, slice)) {
		track->end = end;
		return;
	}
	end_slice(trace, m, track, pid, tid);
	track->slice = *slice;
	track->start = start;
	track->end = end;
	track->used = true;
}

static u32 vcpu_pid(const struct measurement *m, u32 vcpu)
{
	return FIRST_VM_PID + m->axis.vcpus[vcpu].vm;
}

static u32 vcpu_tid(const struct measurement *m, u32 vcpu)
{
	return FIRST_TID + m->axis.vcpus[vcpu].id;
}

/* Code is one thing: which functions it was, is not for a time line. */
static const char *vcpu_slice_name(enum profile_class class)
{
	switch ((int)class) {
	case PROFILE_OS:
	case PROFILE_USER:
	case PROFILE_VM:
		return "running";
	case PROFILE_IDLE:
		return "idle";
	default:
		return profile_class__name(class);
	}
}

/* 0 or -ENOMEM */
int trace__add_vcpu(struct trace *trace, const struct measurement *m, u32 vcpu,
		    const struct vcpu_interval *interval, const struct time_piece *piece)
{
	struct trace_track *track = trace_tracks__findnew(&trace->vcpus, vcpu);
	struct trace_slice slice = unnamed_slice;

	if (!track)
		return -ENOMEM;
	slice.name = vcpu_slice_name(piece->class);
	slice.is_stolen = piece->class == PROFILE_STEAL;
	/* Whose the short waits are is known when all has been read. */
	slice.by_several = slice.is_stolen && interval->shared != TIME_AXIS_NONE;
	if (slice.is_stolen && !slice.by_several)
		slice.by = thief__find(m, &m->axis.vcpus[vcpu], interval);
	if (piece->class != PROFILE_IDLE && piece->class != PROFILE_UNKNOWN &&
	    piece->class != PROFILE_LOST)
		slice.cpu = interval->cpu;
	add_slice(trace, m, track, vcpu_pid(m, vcpu), vcpu_tid(m, vcpu), &slice, piece->start,
		  piece->end);
	return 0;
}

/* Names what a CPU did when it ran no guest. */
static void name_host_slice(struct trace_slice *slice, const struct axis_sample *sample)
{
	if (sample->kind == AXIS_SAMPLE_IDLE)
		slice->name = "swapper";
	else if (sample->task == TIME_AXIS_NONE)
		slice->name = "unknown";
	else
		slice->task = sample->task;
}

/* 0 or -ENOMEM */
int trace__add_cpu(struct trace *trace, const struct measurement *m,
		   const struct cpu_interval *interval, u64 start, u64 end)
{
	struct trace_track *track = trace_tracks__findnew(&trace->cpus, interval->cpu);
	struct trace_slice slice = unnamed_slice;

	if (!track)
		return -ENOMEM;
	switch (interval->kind) {
	case CPU_TIME_GUEST:
		slice.vcpu = interval->vcpu;
		break;
	case CPU_TIME_SAMPLE:
		name_host_slice(&slice, interval->sample);
		break;
	case CPU_TIME_LOST:
		slice.name = "lost";
		break;
	case CPU_TIME_UNCOUNTED:
	default:
		slice.name = "unknown";
		break;
	}
	add_slice(trace, m, track, HOST_PID, FIRST_TID + interval->cpu, &slice, start, end);
	return 0;
}

/* Prints the name of a process or a thread of the format, with a comma before it. */
static void print_name(const char *what, u32 pid, u32 tid, const char *name, FILE *fp)
{
	fprintf(fp, ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{", pid, tid,
		what);
	print_json_member("name", name, fp);
	fputs("}}", fp);
}

static void print_names(const struct trace *trace, const struct measurement *m, FILE *fp)
{
	char name[32];

	for (u32 i = 0; i < trace->cpus.nr; i++) {
		if (!trace->cpus.entries[i].used)
			continue;
		scnprintf(name, sizeof(name), "CPU %u", i);
		print_name("thread_name", HOST_PID, FIRST_TID + i, name, fp);
	}
	for (u32 i = 0; i < m->nr_vms; i++)
		print_name("process_name", FIRST_VM_PID + i, 0, m->vms[i].name, fp);
	for (u32 i = 0; i < trace->vcpus.nr; i++) {
		if (!trace->vcpus.entries[i].used)
			continue;
		scnprintf(name, sizeof(name), "vCPU %u", m->axis.vcpus[i].id);
		print_name("thread_name", vcpu_pid(m, i), vcpu_tid(m, i), name, fp);
	}
}

/* All has been read. 0 or -errno: what is still in the buffer of @fp may fail later. */
int trace__print(struct trace *trace, const struct measurement *m, FILE *fp)
{
	int ret;

	for (u32 i = 0; i < trace->cpus.nr; i++)
		end_slice(trace, m, &trace->cpus.entries[i], HOST_PID, FIRST_TID + i);
	for (u32 i = 0; i < trace->vcpus.nr; i++)
		end_slice(trace, m, &trace->vcpus.entries[i], vcpu_pid(m, i),
			  vcpu_tid(m, i));
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", fp);
	ret = temp_file__copy(&trace->slices, fp);
	/* Without tracks of CPUs there is nowhere to lead to. */
	if (!ret && trace->cpus.nr)
		ret = temp_file__copy(&trace->flows, fp);
	fprintf(fp, "{\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"host\"}}",
		HOST_PID);
	print_names(trace, m, fp);
	fputs("\n]}\n", fp);
	return ret;
}
