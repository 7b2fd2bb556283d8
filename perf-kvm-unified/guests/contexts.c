// SPDX-License-Identifier: GPL-2.0
/*
 * The vCPUs of samples that a BPF program tells, see kvm-unified/record/bpf-vcpu.c.
 *
 * The program writes a record into the buffer of the sample, right before that. So a record is
 * matched to its sample when both are read, in the order of the buffer. The sample may be delivered
 * much later, in the order of time, and gets its vCPU then. An NMI may come between the two, with a
 * record and a sample of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <perf/event.h>

#include "perf.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/session.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/format/vcpu-context.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/queue.h"
#include "contexts.h"
#include "guests.h"
#include "machine.h"
#include "resolve.h"

/* Records of a CPU without their samples: one for each level of interrupts, and more than that */
#define MAX_WAITING	8U

/* As PERF_SAMPLE_VCPU has them: the page table, the vCPU with its VPID, the exit reason */
#define VCPU_WORDS	3ULL

struct told_contexts	{ DECLARE_QUEUE(struct told_context); };

/**
 * struct cpu_contexts - those of one CPU
 * @ready: their samples were read, and are to be delivered
 * @waiting: @nr_waiting whose samples have not come
 */
struct cpu_contexts {
	struct told_contexts ready;
	struct told_context waiting[MAX_WAITING];
	u32 nr_waiting;
};

/**
 * struct vcpu_contexts - of a session whose profile has them
 * @cpus: @nr_cpus, by number
 * @nr_waiting: of all CPUs
 * @nr_alone: records without a sample
 * @nr_bad: records that make no sense
 */
struct vcpu_contexts {
	struct cpu_contexts *cpus;
	u32 nr_cpus;
	size_t nr_waiting;
	u64 nr_alone;
	u64 nr_bad;
};

struct vcpu_contexts *vcpu_contexts__new(void)
{
	return zalloc(sizeof(struct vcpu_contexts));
}

void vcpu_contexts__delete(struct vcpu_contexts *contexts)
{
	if (!contexts)
		return;
	if (contexts->nr_alone || contexts->nr_bad)
		pr_debug("vCPUs of samples by BPF: %" PRIu64 " without a sample, %" PRIu64 " that make no sense\n",
			 contexts->nr_alone, contexts->nr_bad);
	for (u32 i = 0; i < contexts->nr_cpus; i++)
		free(contexts->cpus[i].ready.entries);
	free(contexts->cpus);
	free(contexts);
}

/* NULL: no memory */
static struct cpu_contexts *findnew_cpu(struct vcpu_contexts *contexts, u32 cpu)
{
	struct cpu_contexts *cpus;

	if (cpu < contexts->nr_cpus)
		return &contexts->cpus[cpu];
	cpus = reallocarray(contexts->cpus, cpu + 1, sizeof(*cpus));
	if (!cpus)
		return NULL;
	memset(&cpus[contexts->nr_cpus], 0, (cpu + 1 - contexts->nr_cpus) * sizeof(*cpus));
	contexts->cpus = cpus;
	contexts->nr_cpus = cpu + 1;
	return &cpus[cpu];
}

static void drop_waiting(struct vcpu_contexts *contexts, struct cpu_contexts *cpu, u32 i)
{
	cpu->nr_waiting--;
	memmove(&cpu->waiting[i], &cpu->waiting[i + 1],
		(cpu->nr_waiting - i) * sizeof(cpu->waiting[0]));
	contexts->nr_waiting--;
}

/* As the kernel would have it in the sample */
static struct vcpu_sample vcpu_of(const struct vcpu_context *context)
{
	u64 isa = context->flags & VCPU_CONTEXT_SVM ? PERF_VCPU_ISA_SVM : PERF_VCPU_ISA_VMX;
	struct vcpu_sample vcpu = {
		.flags = PERF_VCPU_LOADED | isa << PERF_VCPU_ISA_SHIFT |
			 VCPU_WORDS << PERF_VCPU_WORDS_SHIFT,
		.vcpu_id = context->vcpu_id,
		.vpid = context->vpid,
	};

	if (context->flags & VCPU_CONTEXT_IN_GUEST)
		vcpu.flags |= PERF_VCPU_IN_GUEST;
	if (context->flags & VCPU_CONTEXT_NESTED)
		vcpu.flags |= PERF_VCPU_NESTED;
	if (context->flags & VCPU_CONTEXT_PROTECTED)
		vcpu.flags |= PERF_VCPU_PROTECTED;
	if (context->flags & VCPU_CONTEXT_PT_ROOT) {
		vcpu.flags |= PERF_VCPU_PT_ROOT_VALID;
		vcpu.pt_root = context->pt_root;
	} else if (context->flags & VCPU_CONTEXT_TASK && context->task_root) {
		/* On VMX, the program cannot read CR3. */
		vcpu.flags |= PERF_VCPU_PT_ROOT_VALID;
		vcpu.pt_root = context->task_root;
	}
	if (context->flags & VCPU_CONTEXT_EXIT) {
		vcpu.flags |= PERF_VCPU_EXIT_REASON_VALID;
		vcpu.exit_reason = context->exit_reason;
	}
	return vcpu;
}

static struct told_task task_of(const struct vcpu_context *context)
{
	struct told_task task = { };

	if (!(context->flags & VCPU_CONTEXT_TASK) || !guest_pid__is_valid(context->tgid) ||
	    !context->tgid)
		return task;
	task.pt_root = context->task_root;
	task.tgid = context->tgid;
	task.tid = context->tid;
	BUILD_BUG_ON(sizeof(task.comm) != sizeof(context->comm));
	memcpy(task.comm, context->comm, sizeof(task.comm));
	task.comm[sizeof(task.comm) - 1] = '\0';
	text__make_printable(task.comm);
	return task;
}

static u16 cpumode_of(const struct vcpu_context *context)
{
	if (!(context->flags & VCPU_CONTEXT_CPL))
		return 0;
	return context->flags & VCPU_CONTEXT_USER ? PERF_RECORD_MISC_GUEST_USER :
						    PERF_RECORD_MISC_GUEST_KERNEL;
}

/**
 * vcpu_contexts__add - a record of the BPF program was read
 * @tid: the thread that it was written in
 * @raw: its data, @size bytes
 *
 * Return: 0 or -ENOMEM. What makes no sense is counted.
 */
int vcpu_contexts__add(struct vcpu_contexts *contexts, u32 cpu, u32 tid, const void *raw,
		       size_t size)
{
	struct vcpu_context context;
	struct cpu_contexts *on;

	if (cpu >= MAX_NR_CPUS || !vcpu_context__read(&context, raw, size)) {
		contexts->nr_bad++;
		return 0;
	}
	on = findnew_cpu(contexts, cpu);
	if (!on)
		return -ENOMEM;
	if (on->nr_waiting == MAX_WAITING) {
		drop_waiting(contexts, on, 0);
		contexts->nr_alone++;
	}
	on->waiting[on->nr_waiting++] = (struct told_context) {
		.time = context.time,
		.tid = tid,
		.cpumode = cpumode_of(&context),
		.vcpu = vcpu_of(&context),
		.task = task_of(&context),
	};
	contexts->nr_waiting++;
	return 0;
}

/*
 * Which record is of the sample, or -1. One that does not have the sample's time is of the next
 * one: the record of an NMI between the two has been followed by the NMI's sample.
 */
static int find_waiting(const struct cpu_contexts *cpu, u32 tid, u64 time)
{
	for (int i = (int)cpu->nr_waiting - 1; i >= 0; i--) {
		const struct told_context *told = &cpu->waiting[i];

		if (told->tid == tid && (!told->time || told->time == time))
			return i;
		if (!told->time)
			break;
	}
	return -1;
}

/**
 * vcpu_contexts__read_sample - a sample was read, of an event that such a program is on
 *
 * Return: 1: there is a record of it, which vcpu_contexts__take() has from now on; 0; -ENOMEM
 */
int vcpu_contexts__read_sample(struct vcpu_contexts *contexts, u32 cpu, u32 tid, u64 time)
{
	struct cpu_contexts *on = cpu < contexts->nr_cpus ? &contexts->cpus[cpu] : NULL;
	int i = on ? find_waiting(on, tid, time) : -1;
	struct told_context told;

	if (i < 0)
		return 0;
	told = on->waiting[i];
	told.time = time;
	drop_waiting(contexts, on, i);
	return queue_add(&on->ready, &told) ?: 1;
}

/* Records of the CPU were lost: the samples of those that wait may be among them. */
void vcpu_contexts__lost(struct vcpu_contexts *contexts, u32 cpu)
{
	struct cpu_contexts *on = cpu < contexts->nr_cpus ? &contexts->cpus[cpu] : NULL;

	if (!on)
		return;
	contexts->nr_alone += on->nr_waiting;
	contexts->nr_waiting -= on->nr_waiting;
	on->nr_waiting = 0;
}

/**
 * vcpu_contexts__take - a sample is delivered
 * @told: gets its vCPU
 *
 * Those of a CPU are delivered by time. An NMI's was read before the one that it has interrupted,
 * and may be later. Return: is there a record of it?
 */
bool vcpu_contexts__take(struct vcpu_contexts *contexts, u32 cpu, u32 tid, u64 time,
			 struct told_context *told)
{
	struct cpu_contexts *on = cpu < contexts->nr_cpus ? &contexts->cpus[cpu] : NULL;
	struct told_context *first, *one;
	size_t nr;

	if (!on)
		return false;
	while (queue_len(&on->ready) && queue_first(&on->ready)->time < time)
		queue_drop(&on->ready, 1);
	first = queue_first(&on->ready);
	nr = min_t(size_t, queue_len(&on->ready), MAX_WAITING);
	for (one = first; one < first + nr; one++) {
		if (one->time != time || one->tid != tid)
			continue;
		*told = *one;
		memmove(first + 1, first, (one - first) * sizeof(*first));
		queue_drop(&on->ready, 1);
		return true;
	}
	return false;
}

bool evsel__is_vcpu_context(struct evsel *evsel)
{
	return evsel__is_bpf_output(evsel) && evsel__name_is(evsel, VCPU_CONTEXT_EVENT);
}

/* Programs are on all sampling events but tracepoints, and not on those that they write to. */
static bool can_have_context(struct evsel *evsel)
{
	return evsel && evsel->core.attr.type != PERF_TYPE_TRACEPOINT &&
	       !evsel__is_bpf_output(evsel);
}

/* Finds the events of contexts, whenever events are known. 0 or -ENOMEM */
int perf_session__open_contexts(struct perf_session *session)
{
	struct evsel *evsel;

	if (session->vcpu_contexts || !session->evlist)
		return 0;
	evlist__for_each_entry(session->evlist, evsel) {
		if (!evsel__is_vcpu_context(evsel))
			continue;
		session->vcpu_contexts = vcpu_contexts__new();
		return session->vcpu_contexts ? 0 : -ENOMEM;
	}
	return 0;
}

static void dump_context(const struct perf_sample *sample, const struct told_context *told)
{
	printf("\n%u %" PRIu64 " vCPU by BPF: ", sample->cpu, sample->time);
	vcpu_sample__fprintf(&told->vcpu, stdout);
	if (told->cpumode)
		printf(", in %s mode",
		       told->cpumode == PERF_RECORD_MISC_GUEST_USER ? "user" : "kernel");
	if (told->task.tgid)
		printf(", task cr3 %#" PRIx64 " %u/%u %s", told->task.pt_root, told->task.tgid,
		       told->task.tid, told->task.comm);
	printf("\n");
}

static int note_sample(struct vcpu_contexts *contexts, const struct perf_sample *sample)
{
	int ret = vcpu_contexts__read_sample(contexts, sample->cpu, sample->tid, sample->time);

	if (ret > 0 && dump_trace)
		dump_context(sample, queue_last(&contexts->cpus[sample->cpu].ready));
	return min(ret, 0);
}

/**
 * perf_session__note_context - an event was read
 *
 * Return: 1: it is a record of the BPF program, and for nobody else; 0: any other; -ENOMEM
 */
int perf_session__note_context(struct perf_session *session, union perf_event *event)
{
	struct vcpu_contexts *contexts = session->vcpu_contexts;
	struct evsel *evsel = evlist__event2evsel(session->evlist, event);
	bool is_sample = event->header.type == PERF_RECORD_SAMPLE;
	bool is_context = is_sample && evsel && evsel__is_vcpu_context(evsel);
	bool can_match = evsel && contexts->nr_waiting &&
			 (is_sample ? can_have_context(evsel) :
				      event->header.type == PERF_RECORD_LOST);
	struct perf_sample sample;
	int ret = 0;

	if (!is_context && !can_match)
		return 0;
	perf_sample__init(&sample, /*all=*/false);
	if (!evsel__parse_sample(evsel, event, &sample)) {
		if (is_context)
			ret = vcpu_contexts__add(contexts, sample.cpu, sample.tid,
						 sample.raw_data, sample.raw_size);
		else if (is_sample)
			ret = note_sample(contexts, &sample);
		else
			vcpu_contexts__lost(contexts, sample.cpu);
	}
	perf_sample__exit(&sample);
	return ret ?: is_context;
}

static bool is_guests(u16 cpumode)
{
	return cpumode == PERF_RECORD_MISC_GUEST_USER || cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/* Gives a sample that is delivered its vCPU, unless the kernel has. */
void perf_session__apply_context(struct perf_session *session, struct perf_sample *sample)
{
	struct vcpu_contexts *contexts = session->vcpu_contexts;
	struct told_context told;

	if (!contexts)
		return;
	kvm_guests__tell_task(session, NULL);
	if (!can_have_context(sample->evsel) ||
	    !vcpu_contexts__take(contexts, sample->cpu, sample->tid, sample->time, &told))
		return;
	kvm_guests__tell_task(session, &told.task);
	if (sample->evsel->core.attr.sample_type & PERF_SAMPLE_VCPU)
		return;
	sample->vcpu_ctx = told.vcpu;
	if (told.cpumode && is_guests(sample->cpumode))
		sample->cpumode = told.cpumode;
}
