// SPDX-License-Identifier: GPL-2.0
/*
 * perf record --bpf-vcpu-timeline: BPF programs on functions of KVM, which write a record for each
 * state of a vCPU in which it does not run. They go away with the process.
 */
#include <errno.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "kvm-unified/format/vcpu-timeline.h"
#include "kvm-unified/lib/bpf.h"
#include "kvm-unified/lib/errors.h"
#include "bpf-output.h"
#include "bpf-timeline.h"

#ifdef HAVE_BPF_SKEL

#include <bpf/libbpf.h>

#include "util/bpf_counter.h"
#include "kvm-unified/memory/slots.h"
#include "kvm-unified/record/bpf_skel/vcpu_timeline.skel.h"

static struct vcpu_timeline_bpf *skel;

/**
 * bpf_timeline__open - load the BPF programs
 *
 * To be closed by bpf_timeline__close(). 0, or -errno with, in @err, the rest of a sentence: why
 * not
 */
int bpf_timeline__open(char *err, size_t errlen)
{
	int ret;

	if (skel)
		return 0;
	/* It prints the whole of a program that the kernel refuses. */
	if (!verbose)
		libbpf_set_print(NULL);
	set_max_rlimit();
	skel = vcpu_timeline_bpf__open();
	if (!skel)
		return fail(err, errlen, -errno, "the BPF programs cannot be opened: %s",
			    strerror(errno));
	skel->rodata->is_svm = cpu_has_svm();
	ret = vcpu_timeline_bpf__load(skel);
	if (!ret)
		return 0;
	bpf_timeline__close();
	return bpf__explain_refusal(ret, "BPF programs on functions of KVM",
				    "CAP_BPF and CAP_PERFMON",
				    "BTF, CONFIG_FUNCTION_TRACER and CONFIG_DYNAMIC_FTRACE", err,
				    errlen);
}

void bpf_timeline__close(void)
{
	vcpu_timeline_bpf__destroy(skel);
	skel = NULL;
}

/* Attaches the programs to KVM, when the events are open. 0, or -errno with a message */
int bpf_timeline__attach(struct evlist *evlist)
{
	int ret;

	if (!bpf_output__connect(evlist, VCPU_TIMELINE_EVENT, skel->maps.states))
		return -EINVAL;
	ret = vcpu_timeline_bpf__attach(skel);
	if (ret)
		pr_err("BPF programs cannot be on functions of KVM: %s\n", strerror(-ret));
	return ret;
}

#else /* HAVE_BPF_SKEL */

int bpf_timeline__open(char *err, size_t errlen)
{
	return fail(err, errlen, -EOPNOTSUPP,
		    "this perf was built without BPF skeletons (BUILD_BPF_SKEL=1, which needs clang)");
}

void bpf_timeline__close(void)
{
}

int bpf_timeline__attach(struct evlist *evlist __maybe_unused)
{
	return -EOPNOTSUPP;
}

#endif /* HAVE_BPF_SKEL */

/**
 * bpf_timeline__prepare - load the programs, and add the event that they write to
 * @target: what is recorded
 *
 * 0, or -errno with a message
 */
int bpf_timeline__prepare(struct evlist *evlist, const struct target *target)
{
	return bpf_output__prepare(evlist, target, "--bpf-vcpu-timeline", VCPU_TIMELINE_EVENT,
				   bpf_timeline__open);
}
