// SPDX-License-Identifier: GPL-2.0
/*
 * perf record --bpf-vcpu: a BPF program on each sampling event, which writes a record of the vCPU
 * before the sample. It goes away with the events.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <api/fs/fs.h>

#include "util/debug.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "kvm-unified/format/vcpu-context.h"
#include "kvm-unified/lib/bpf.h"
#include "kvm-unified/lib/errors.h"
#include "bpf-output.h"
#include "bpf-vcpu.h"

#ifdef HAVE_BPF_SKEL

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <internal/xyarray.h>

#include "util/bpf_counter.h"
#include "kvm-unified/memory/current.h"
#include "kvm-unified/memory/slots.h"
#include "kvm-unified/record/bpf_skel/current_task.h"
#include "kvm-unified/record/bpf_skel/vcpu_context.skel.h"
#include "current-task.h"

static struct vcpu_context_bpf *skel;
static bool want_tasks;

/* The program is to tell guests' current tasks, too. Before it is open */
void bpf_vcpu__want_tasks(void)
{
	want_tasks = true;
}

/* Tells the program what it must know of KVM. 0, or -errno with, in @err, the rest of a sentence */
static int describe_kvm(char *err, size_t errlen)
{
	bool nested_paging, protected, svm = cpu_has_svm();

	skel->rodata->with_tasks = want_tasks;
	/* A kernel that is built without has no such parameter. It is read for each sample then. */
	skel->rodata->may_be_protected =
		sysfs__read_bool(svm ? "module/kvm_amd/parameters/sev_es" :
				       "module/kvm_intel/parameters/tdx", &protected) || protected;
	/* It looks nothing up in there. */
	if (!want_tasks)
		bpf_map__set_max_entries(skel->maps.tasks, 1);
	if (!svm)
		return 0;
	if (sysfs__read_bool("module/kvm_amd/parameters/npt", &nested_paging))
		return fail(err, errlen, -ENODEV, "kvm_amd is not loaded");
	skel->rodata->is_svm = true;
	skel->rodata->has_nested_paging = nested_paging;
	return 0;
}

/* Rest of a sentence: why the kernel refuses the program */
static int explain(int ret, char *err, size_t errlen)
{
	if (ret == -ESRCH)
		return fail(err, errlen, ret,
			    "KVM does not describe its types: its module has no BTF (CONFIG_DEBUG_INFO_BTF_MODULES), or is not loaded");
	return bpf__explain_refusal(ret, "the BPF program", "CAP_BPF and CAP_PERFMON",
				    "CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS, and KVM of Linux 5.17 or later",
				    err, errlen);
}

/**
 * bpf_vcpu__open - load the BPF program
 *
 * To be closed by bpf_vcpu__close(). 0, or -errno with, in @err, the rest of a sentence: why not
 */
int bpf_vcpu__open(char *err, size_t errlen)
{
	int ret;

	if (skel)
		return 0;
	if (access(VMLINUX_BTF, R_OK))
		return fail(err, errlen, -ENOENT,
			    "this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	/* It prints the whole of a program that the kernel refuses. */
	if (!verbose)
		libbpf_set_print(NULL);
	set_max_rlimit();
	skel = vcpu_context_bpf__open();
	if (!skel)
		return fail(err, errlen, -errno, "the BPF program cannot be opened: %s",
			    strerror(errno));
	ret = describe_kvm(err, errlen);
	if (!ret) {
		ret = vcpu_context_bpf__load(skel);
		if (ret)
			explain(ret, err, errlen);
	}
	if (ret)
		bpf_vcpu__close();
	return ret;
}

void bpf_vcpu__close(void)
{
	vcpu_context_bpf__destroy(skel);
	skel = NULL;
}

/* Does KVM have the guest's CR3 in memory? The program is open. */
bool bpf_vcpu__knows_cr3(void)
{
	return skel->rodata->is_svm;
}

/**
 * bpf_vcpu__add_guest - tell the program where it finds a guest's current tasks
 * @vmm: the process that the guest runs in
 * @current: of its kernel
 * @mem: of its VMM
 *
 * The program is open. Several threads may do it. 0, or -errno: -E2BIG: there is no room for more
 */
int bpf_vcpu__add_guest(pid_t vmm, const struct guest_current *current,
			const struct kvm_memory *mem)
{
	struct current_task task;
	int ret = 0;

	current_task__init(&task, current, mem);
	for (u32 i = 0; !ret && i < current->nr_cpus; i++) {
		const struct current_task_key key = {
			.vmm = vmm,
			.vcpu_id = current->cpus[i].apic_id,
		};

		if (!current_task__set_pointer(&task, mem, current->cpus[i].gpa))
			ret = bpf_map__update_elem(skel->maps.tasks, &key, sizeof(key), &task,
						   sizeof(task), BPF_ANY);
	}
	return ret;
}

/* Can the program be on it? */
static bool is_sampled(const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	return attr->type != PERF_TYPE_TRACEPOINT && attr->sample_period &&
	       !(attr->type == PERF_TYPE_SOFTWARE &&
		 (attr->config == PERF_COUNT_SW_BPF_OUTPUT || attr->config == PERF_COUNT_SW_DUMMY));
}

/* 0, or -errno with a message */
static int attach_to(struct evsel *evsel)
{
	int prog = bpf_program__fd(skel->progs.tell_vcpu);

	for (int x = 0; x < xyarray__max_x(evsel->core.fd); x++) {
		for (int y = 0; y < xyarray__max_y(evsel->core.fd); y++) {
			int *fd = xyarray__entry(evsel->core.fd, x, y);

			if (!ioctl(*fd, PERF_EVENT_IOC_SET_BPF, prog))
				continue;
			if (errno == EEXIST)
				pr_err("Event %s has a BPF program already, as with --filter: no --bpf-vcpu then\n",
				       evsel__name(evsel));
			else
				pr_err("No BPF program can be on event %s: %m\n",
				       evsel__name(evsel));
			return -EINVAL;
		}
	}
	return 0;
}

/*
 * To all sampling events, which are open. What the program writes to is enabled before them: else
 * first samples would come without their vCPU. 0, or -errno with a message
 */
int bpf_vcpu__attach(struct evlist *evlist)
{
	struct evsel *evsel = bpf_output__connect(evlist, VCPU_CONTEXT_EVENT, skel->maps.contexts);
	int ret = 0;

	if (!evsel)
		return -EINVAL;
	if (evsel__enable(evsel)) {
		pr_err("Event %s cannot be enabled: %m\n", VCPU_CONTEXT_EVENT);
		return -EINVAL;
	}
	evlist__for_each_entry(evlist, evsel) {
		if (!ret && is_sampled(evsel))
			ret = attach_to(evsel);
	}
	return ret;
}

#else /* HAVE_BPF_SKEL */

int bpf_vcpu__open(char *err, size_t errlen)
{
	return fail(err, errlen, -EOPNOTSUPP,
		    "this perf was built without BPF skeletons (BUILD_BPF_SKEL=1, which needs clang)");
}

void bpf_vcpu__close(void)
{
}

void bpf_vcpu__want_tasks(void)
{
}

bool bpf_vcpu__knows_cr3(void)
{
	return false;
}

int bpf_vcpu__add_guest(pid_t vmm __maybe_unused,
			const struct guest_current *current __maybe_unused,
			const struct kvm_memory *mem __maybe_unused)
{
	return -EOPNOTSUPP;
}

int bpf_vcpu__attach(struct evlist *evlist __maybe_unused)
{
	return -EOPNOTSUPP;
}

#endif /* HAVE_BPF_SKEL */

/**
 * bpf_vcpu__prepare - load the program, and add the event that it writes to
 * @evlist: with the events that are to be sampled
 * @target: what is recorded
 *
 * 0, or -errno with a message
 */
int bpf_vcpu__prepare(struct evlist *evlist, const struct target *target)
{
	return bpf_output__prepare(evlist, target, "--bpf-vcpu", VCPU_CONTEXT_EVENT,
				   bpf_vcpu__open);
}
