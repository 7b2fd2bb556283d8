// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample has hit: code of the host or of a guest, or a row that stands for what is no code.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/addr_location.h"
#include "util/annotate.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/evsel.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/guests/cgroups.h"
#include "kvm-unified/guests/guests.h"
#include "kvm-unified/guests/resolve.h"
#include "code.h"
#include "measurement.h"
#include "memo.h"

/* "[kernel]" for any kernel, else the name of the file that @map is of as perf report has it */
const char *map__module_name(const struct map *map)
{
	const struct dso *dso = map ? map__dso(map) : NULL;

	if (!dso)
		return UNKNOWN_NAME;
	if (dso__kernel(dso) && !dso__is_kmod(dso))
		return "[kernel]";
	return dso__short_name(dso);
}

static const char *function_name(const struct addr_location *al)
{
	return al->sym ? al->sym->name : UNKNOWN_NAME;
}

/* @al: NULL if it is no code */
static int measurement__hit(struct measurement *m, const struct perf_sample *sample,
			    const struct profile_key *key, const struct addr_location *al, u32 *hit)
{
	const struct hit *found = hits__findnew(&m->hits, key, sample->cpu, al);

	if (!found)
		return -ENOMEM;
	*hit = found->idx;
	return 0;
}

/*
 * Of old kernels, see vcpu_sample__interrupted_guest(): the interrupt came while KVM
 * handled another exit, which is the host's time.
 */
int measurement__relabel(struct measurement *m, const struct perf_sample *sample,
			 struct axis_sample *as)
{
	char function[64], reason[32];
	struct profile_key key = {
		.class = PROFILE_OS,
		.function = function,
		.module = "(exit handling)",
		.comm = "",
		.pid = -1,
	};

	scnprintf(function, sizeof(function), "[exit: %s]",
		  vcpu_exit_reason__name(vcpu_sample__isa(&sample->vcpu_ctx),
					 sample->vcpu_ctx.exit_reason, reason, sizeof(reason)));
	as->kind = AXIS_SAMPLE_EXIT;
	return measurement__hit(m, sample, &key, NULL, &as->hit);
}

/* The host's key of a VM's time; @pid: of the VMM. @row must stay. */
struct profile_key vm_row__key(struct vm_row *row, const char *name, pid_t pid)
{
	scnprintf(row->function, sizeof(row->function), "[%s]", name);
	scnprintf(row->module, sizeof(row->module), PROFILE_VM_MODULE "%d)", pid);
	return (struct profile_key) {
		.class = PROFILE_VM,
		.function = row->function,
		.module = row->module,
		.comm = "",
		.pid = -1,
	};
}

/* Guest time of a vCPU that is not known, or of a guest that is not; @pid: of its VMM */
int measurement__hit_vm(struct measurement *m, const struct perf_sample *sample,
			const struct kvm_guest *guest, pid_t pid, struct axis_sample *as)
{
	struct vm_row row;
	struct profile_key key = vm_row__key(&row, guest ? guest->name : "guest",
					     pid & GUEST_VM_PID_MASK);

	as->kind = AXIS_SAMPLE_HOST;
	as->vcpu = TIME_AXIS_NONE;
	return measurement__hit(m, sample, &key, NULL, &as->hit);
}

/* Whose a sample of @guest is, into @key; @thread: of the page tables */
static void profile_key__set_process(struct profile_key *key, const struct perf_sample *sample,
				     const struct kvm_guest *guest, struct thread *thread)
{
	key->comm = thread__comm_str(thread) ?: "";
	key->pid = (pid_t)sample->pid < KVM_GUEST_PSEUDO_PID ? (pid_t)sample->pid : -1;
	key->ns_pid = sample->ns_pid;
	key->cgroup = kvm_guest__cgroup(guest, thread);
}

static int measurement__hit_guest(struct measurement *m, const struct perf_sample *sample,
				  const struct kvm_guest *guest, const struct addr_location *al,
				  u32 *hit)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	struct profile_key key = {
		.class = guest->nested ? PROFILE_VM : user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = guest->nested ? guest->name : map__module_name(al->map),
		.comm = "",
		.pid = -1,
	};
	struct addr_location code = *al;

	/*
	 * A kernel thread borrows an address space: by that alone, it is not known which task the
	 * kernel works for. See measurement__add_chain(), too.
	 */
	if (user || kvm_guests__know_task(m->session))
		profile_key__set_process(&key, sample, guest, al->thread);
	else
		code.thread = NULL;
	return measurement__hit(m, sample, &key, &code, hit);
}

static int measurement__hit_host(struct measurement *m, const struct perf_sample *sample,
				 const struct addr_location *al, u32 *hit)
{
	bool user = sample->cpumode == PERF_RECORD_MISC_USER;
	struct profile_key key = {
		.class = user ? PROFILE_USER : PROFILE_OS,
		.function = function_name(al),
		.module = map__module_name(al->map),
		/* -1 is a task that has ended, whose number is gone. */
		.comm = (pid_t)sample->tid < 0 ? "" : thread__comm_str(al->thread) ?: "",
		.pid = (pid_t)sample->pid,
	};

	/* The idle task also runs interrupts; only where it waits is idle. */
	if (!user && !sample->pid && al->sym &&
	    symbol__is_idle(al->sym, map__dso(al->map), perf_session__env(m->session)))
		key.class = PROFILE_IDLE;
	return measurement__hit(m, sample, &key, al, hit);
}

static bool is_kernel_of_unknown(const struct measurement *m, const struct perf_sample *sample)
{
	return sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL &&
	       !kvm_guests__know_task(m->session);
}

/* @chain: as long as it is wanted, or NULL: none is */
static bool leads_to_user(const struct measurement *m, struct perf_sample *sample,
			  struct thread *thread, const struct chain *chain)
{
	if (chain && (chain__has_user(chain) || m->wants.max_stack >= PERF_MAX_STACK_DEPTH))
		return chain__has_user(chain);
	return sample__leads_to_user(sample, thread);
}

/*
 * The callers of what a sample has hit, if they are wanted, and the program that a guest's kernel
 * was entered from. 0 or -ENOMEM
 */
static int measurement__add_chain(struct measurement *m, struct perf_sample *sample,
				  struct machine *machine, const struct kvm_guest *guest, u32 *hit)
{
	struct thread *thread = machine__findnew_thread(machine, sample->pid, sample->tid);
	const struct hit *callee = m->hits.by_idx[*hit], *called = callee;
	struct profile_key key = callee->key;
	const struct chain *chain = NULL;
	bool for_program = false;
	int ret = 0;

	if (!thread)
		return -ENOMEM;
	if (m->wants.chains)
		ret = chains__resolve(&m->chains, thread, sample, m->wants.max_stack, &chain);
	if (!ret && is_kernel_of_unknown(m, sample) && leads_to_user(m, sample, thread, chain)) {
		for_program = true;
		profile_key__set_process(&key, sample, guest, thread);
	}
	if (!ret && (chain || for_program)) {
		called = hits__with_chain(&m->hits, callee, chain, &key,
					  for_program ? thread : NULL);
		if (!called)
			ret = -ENOMEM;
	}
	thread__put(thread);
	if (!ret)
		*hit = called->idx;
	return ret;
}

/* For annotation. One outside of its function, or without memory for it, is left out. */
static void count_addr(const struct perf_sample *sample, struct evsel *evsel,
		       const struct hit *hit, u64 addr)
{
	struct perf_sample counted = *sample;
	struct addr_map_symbol at = {
		.ms = { .map = hit->map, .sym = hit->sym, .thread = hit->thread },
		.addr = sample->ip,
		.al_addr = addr,
	};

	counted.evsel = evsel;
	if (hit->sym)
		addr_map_symbol__inc_samples(&at, &counted);
}

static bool sample__has_stack(const struct perf_sample *sample)
{
	return sample->evsel->core.attr.sample_type & PERF_SAMPLE_STACK_USER;
}

/* Is there a chain in a sample that is wanted, or may show whom a guest's kernel worked for? */
static bool has_chain(const struct measurement *m, const struct perf_sample *sample,
		      const struct kvm_guest *guest)
{
	if (!guest)
		return m->wants.chains && sample->callchain;
	return sample->guest_callchain &&
	       (m->wants.chains || (sample__has_stack(sample) && is_kernel_of_unknown(m, sample)));
}

/* Finds what a sample has hit; @guest: whose it is, or NULL: the host's. 0 or -errno */
int measurement__resolve(struct measurement *m, struct perf_sample *sample,
			 struct machine *machine, const struct kvm_guest *guest, u32 column,
			 u32 *hit)
{
	const struct memo_key key = {
		.machine = machine,
		.ip = sample->ip,
		.changes = guest ? m->nr_changes + guest->nr_changes : m->nr_changes,
		.pid = sample->pid,
		.tid = sample->tid,
		.ns_pid = sample->ns_pid,
		.cpu = m->hits.keep_cpus ? sample->cpu : 0,
		.cpumode = sample->cpumode,
		.knows_task = guest && kvm_guests__know_task(m->session),
	};
	const struct memo_entry *known = memo__find(&m->memo, &key);
	bool has_symbol = known && known->has_symbol;
	u64 addr = known ? known->addr : 0;
	int ret = 0;

	if (known) {
		*hit = known->hit;
	} else {
		struct addr_location al;

		addr_location__init(&al);
		ret = machine__resolve(machine, &al, sample);
		if (!ret)
			ret = guest ? measurement__hit_guest(m, sample, guest, &al, hit) :
				      measurement__hit_host(m, sample, &al, hit);
		has_symbol = al.sym;
		addr = al.addr;
		if (!ret)
			memo__set(&m->memo, &key, *hit, addr, has_symbol);
		addr_location__exit(&al);
	}
	if (!ret && !guest && sample->cpumode != PERF_RECORD_MISC_USER) {
		m->nr_host_kernel++;
		m->nr_host_kernel_named += has_symbol;
		m->nr_idle_task += !sample->pid;
		m->nr_idle += m->hits.by_idx[*hit]->key.class == PROFILE_IDLE;
	}
	if (!ret && m->wants.addr_evsels)
		count_addr(sample, m->wants.addr_evsels[column], m->hits.by_idx[*hit], addr);
	if (!ret && has_chain(m, sample, guest))
		ret = measurement__add_chain(m, sample, machine, guest, hit);
	return ret;
}
