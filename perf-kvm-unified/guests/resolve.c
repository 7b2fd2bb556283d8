// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of guests: one that comes with the pid of the VMM and a CR3 leaves with the guest's
 * pid. After that all of perf knows it.
 */
#include <stdio.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/tsc.h"
#include "util/vcpu-sample.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/lib/x86.h"
#include "annotate.h"
#include "bpf.h"
#include "guests.h"
#include "kernel.h"
#include "load.h"
#include "machine.h"
#include "modules.h"
#include "resolve.h"

/* What has no pseudo pid of its own any more, as there are too many */
#define OTHER_PSEUDO_PID	(KVM_GUEST_PSEUDO_PID + KVM_GUEST_MAX_PSEUDO)
#define OTHER_COMM		"[other cr3]"

/*
 * From the host's TSC to the clock of the samples: known once the first of them is read, as
 * it is in their own stream, in front of them. What is not has no time_mult.
 */
struct perf_tsc_conversion kvm_guests__tsc_conversion(const struct perf_session *session)
{
	const struct perf_record_time_conv *rec = &session->time_conv;
	struct perf_tsc_conversion tc = {
		.time_shift = rec->time_shift,
		.time_mult = rec->time_mult,
		.time_zero = rec->time_zero,
		.cap_user_time_zero = true,
	};

	if (event_contains(*rec, time_cycles)) {
		tc.time_cycles = rec->time_cycles;
		tc.time_mask = rec->time_mask;
		tc.cap_user_time_zero = rec->cap_user_time_zero;
		tc.cap_user_time_short = rec->cap_user_time_short;
	}
	return tc;
}

/*
 * Whether the guest's time of samples is known, and that of the map's clock. A guest that began to
 * be followed after the last sample has a map of the end, like one that was asked for then.
 */
static void kvm_guest__settle_clock(struct perf_session *session, struct kvm_guest *guest)
{
	const struct perf_tsc_conversion tc = kvm_guests__tsc_conversion(session);
	const struct kvm_vm *vm = kvm_vms__find_pid(&session->kvm_guests->vms, guest->pid);
	u64 end = evlist__last_sample_time(session->evlist);
	struct guest_map_data *map = &guest->map;

	guest->asked_clock = true;
	if (!vm || map->bad_clock || guest_clock__set(&map->clock, &vm->tsc, &tc))
		return;
	if (end && map->clock.host[0] > end)
		map->followed = false;
	/*
	 * Of clocks that were read before and after the change, some are wrong: earlier than they
	 * were, as those that would be later go back, see guest_clock__add().
	 */
	guest->has_clock = !(vm->tsc_changed && map->followed);
}

/* The guest's time of a sample, or GUEST_TIME_NONE */
static u64 kvm_guest__time(struct perf_session *session, struct kvm_guest *guest, u64 time)
{
	if (!guest->asked_clock)
		kvm_guest__settle_clock(session, guest);
	return guest->has_clock ? guest_clock__time(&guest->map.clock, time) : GUEST_TIME_NONE;
}

/*
 * Is @time, of the guest's CLOCK_BOOTTIME, from before that began? A map that is made later has
 * other processes, and a kernel that may be somewhere else.
 */
static bool is_before_boot(u64 time)
{
	return time != GUEST_TIME_NONE && (s64)time < 0;
}

/*
 * Does the map hold at @time? If the guest was followed, it is not known who began or ended before
 * or after that.
 */
static bool kvm_guest__is_followed_at(const struct kvm_guest *guest, u64 time)
{
	const struct guest_clock *clock = &guest->map.clock;

	return !guest->map.followed || time == GUEST_TIME_NONE ||
	       (time >= clock->pairs[0].time && time <= clock->pairs[clock->nr - 1].time);
}

/*
 * The owner of an address space, or NULL. Without a time, a pid that several had in turn
 * says nothing: its names and maps are those of the last one.
 */
static const struct guest_space *kvm_guest__find_space(struct kvm_guest *guest, u64 cr3, u64 time,
						       bool *ambiguous)
{
	const struct guest_space *space;

	space = guest_spaces__find(&guest->map.spaces, cr3, time, ambiguous);
	if (space && guest->map.followed && time == GUEST_TIME_NONE &&
	    hashmap__find(guest->map.several, (long)space->pid, NULL)) {
		*ambiguous = true;
		return NULL;
	}
	return space;
}

/* The pseudo pid of @key, or -1: no memory. @is_new: it has no name yet */
static pid_t kvm_guest__pseudo_pid(struct kvm_guest *guest, long key, bool *is_new)
{
	size_t nr = hashmap__size(guest->unnamed);
	long pid;

	*is_new = false;
	if (hashmap__find(guest->unnamed, key, &pid))
		return pid;
	*is_new = true;
	if (nr >= KVM_GUEST_MAX_PSEUDO)
		return OTHER_PSEUDO_PID;
	pid = KVM_GUEST_PSEUDO_PID + nr;
	return hashmap__add(guest->unnamed, key, pid) ? -1 : pid;
}

/* The pseudo process of a CR3 that no process is known to own, or -1 */
static pid_t kvm_guest__pid_of_root(struct kvm_guest *guest, u64 cr3)
{
	long pt_root = guest_spaces__root(&guest->map.spaces, cr3);
	char comm[32];
	bool is_new;
	pid_t pid = kvm_guest__pseudo_pid(guest, pt_root, &is_new);

	if (pid < 0 || !is_new)
		return pid;
	if (pid == OTHER_PSEUDO_PID)
		scnprintf(comm, sizeof(comm), OTHER_COMM);
	else
		scnprintf(comm, sizeof(comm), GUEST_UNNAMED_COMM "%#lx]", pt_root);
	return kvm_guest__comm(guest, pid, comm, false) ? -1 : pid;
}

enum called {
	IS_UNKNOWN,
	IS_CALLED_SO,
	IS_CALLED_ELSE,
};

/* How is the process called now? */
static enum called kvm_guest__called(struct kvm_guest *guest, pid_t pid, const char *comm)
{
	struct thread *thread = machine__find_thread(guest->machine, pid, pid);
	enum called called = IS_UNKNOWN;

	if (thread)
		called = strcmp(thread__comm_str(thread), comm) ? IS_CALLED_ELSE : IS_CALLED_SO;
	thread__put(thread);
	return called;
}

/* Gives the process that name from now on, unless it has it already. 0 or -errno */
static int kvm_guest__call(struct kvm_guest *guest, pid_t pid, const char *comm)
{
	enum called called = kvm_guest__called(guest, pid, comm);

	if (called == IS_CALLED_SO)
		return 0;
	/* What was found out by its other name does not hold. */
	guest->nr_changes += called == IS_CALLED_ELSE;
	guest->nr_told++;
	return kvm_guest__comm(guest, pid, comm, false);
}

/**
 * kvm_guests__tell_task - tell of the next sample which task its guest has as the current one
 * @task: or NULL: it is not known
 */
void kvm_guests__tell_task(struct perf_session *session, const struct told_task *task)
{
	if (session->kvm_guests)
		session->kvm_guests->task = task ? *task : (struct told_task) { };
}

static const struct told_task *told_task(const struct perf_session *session)
{
	const struct told_task *task = &session->kvm_guests->task;

	return task->tgid ? task : NULL;
}

/* Is the process of the sample that is delivered the one that the guest's kernel works for? */
bool kvm_guests__know_task(const struct perf_session *session)
{
	return session->kvm_guests && told_task(session);
}

/* A key in @unnamed beside those of page table roots, none of which is odd */
static long told_key(const struct told_task *task)
{
	return (long)task->tgid << 1 | 1;
}

/*
 * A process that no CR3 leads to, and that was told with the sample; or -1. What the map has for
 * its number are the functions of another process, or of another program that it was: in user
 * mode, it gets another number.
 */
static pid_t kvm_guest__pid_of_task(struct kvm_guest *guest, const struct told_task *task,
				    bool user)
{
	const char *comm = task->comm;
	pid_t pid = task->tgid;
	bool is_new;

	if (guest->has_map && hashmap__find(guest->map.until_of_pid, (long)pid, NULL) &&
	    (user || kvm_guest__called(guest, pid, comm) != IS_CALLED_SO))
		pid = kvm_guest__pseudo_pid(guest, told_key(task), &is_new);
	if (guest->nr_told >= KVM_GUEST_MAX_TOLD &&
	    kvm_guest__called(guest, pid, comm) != IS_CALLED_SO)
		pid = OTHER_PSEUDO_PID;
	if (pid == OTHER_PSEUDO_PID)
		comm = OTHER_COMM;
	return pid < 0 || kvm_guest__call(guest, pid, comm) ? -1 : pid;
}

/**
 * told_task__takes - is a sample the task's that was told, and not the CR3's owner's?
 * @task: or NULL: none was told
 * @owner: who had the CR3 then, or NULL: it is not known
 * @user: the sample is in user mode
 * @ambiguous: others have that CR3, too, or had it
 *
 * A kernel thread has the address space of another, and an address space that is used again may
 * not be told apart from the one before. One that is shared has the functions.
 */
bool told_task__takes(const struct told_task *task, const struct guest_space *owner, bool user,
		      bool ambiguous)
{
	if (!task || !owner)
		return task;
	return owner->pid != (pid_t)task->tgid && !(user && ambiguous);
}

/*
 * What can be done only when samples come. The kernel's symbols are in one file with
 * those of its modules, and perf puts them where they belong when it loads the kernel.
 */
static void kvm_guest__first_sample(struct kvm_guest *guest)
{
	struct map *map;

	guest->loaded = true;
	if (!guest->has_map && !guest->nested && !guest->earlier)
		kvm_guest__use_given_kernel(guest);
	map = machine__kernel_map(guest->machine);
	if (map && guest->machine->kallsyms_filename)
		map__load(map);
	if (guest->has_map)
		kvm_guest__end_kernel_at_text(guest);
	if (kvm_guest__load_bpf(guest))
		unified_warning("Guest %s: no memory for the names of its BPF programs\n",
				guest->name);
	if (kvm_guest__load_symbols(guest))
		unified_warning("Guest %s: no memory for the symbols of its JIT compilers\n",
				guest->name);
}

static void kvm_guest__count(struct kvm_guest *guest, bool user, bool named, bool told, u64 ip)
{
	if (user) {
		guest->nr_user++;
		guest->nr_user_named += named;
		guest->nr_user_told += told && !named;
	} else if (ip >= X86_KERNEL_IMAGE_START && ip < X86_KERNEL_IMAGE_END) {
		guest->nr_kernel++;
		guest->nr_kernel_named += ip >= guest->kernel_start && ip < guest->kernel_end;
	}
}

/* Without a context, the thread tells the vCPU, if it was known then. Or -1 */
static u32 vcpu_of_thread(struct perf_session *session, const struct perf_sample *sample)
{
	struct kvm_vms *vms = &session->kvm_guests->vms;
	pid_t key = kvm_vms__key_of_thread(vms, sample->pid, sample->tid);
	const struct kvm_vm *vm = kvm_vms__find_pid(vms, key);
	const struct guest_vcpu *vcpu = vm ? kvm_vm__find_tid(vm, sample->tid) : NULL;

	return vcpu ? vcpu->id : (u32)-1;
}

/*
 * @sample: of a guest, with a vCPU context; all others are left alone
 *
 * Afterwards sample->machine_pid is the VMM, sample->vcpu the vCPU and
 * sample->pid and ->tid the guest's process: the one that owned the address space
 * at that time; sample->ns_pid is its pid in its own pid namespace, or 0: no other.
 * A kernel thread borrows the address space of the process that ran before it and
 * is not told apart from it, unless the task was told with the sample.
 */
static void resolve(struct perf_session *session, struct perf_sample *sample)
{
	const struct vcpu_sample *vcpu = &sample->vcpu_ctx;
	const struct told_task *task = told_task(session);
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	const struct guest_space *space = NULL;
	u64 time = GUEST_TIME_NONE;
	struct kvm_guest *guest;
	bool ambiguous = false, followed, has_root;

	if (sample->machine_pid || (!user && sample->cpumode != PERF_RECORD_MISC_GUEST_KERNEL))
		return;

	kvm_guests__load(session, NULL, NULL);
	guest = kvm_guests__findnew_thread(session, sample->pid, sample->tid);
	if (guest && (vcpu->flags & PERF_VCPU_NESTED))
		guest = kvm_guests__findnew_nested(session, guest);
	if (guest && guest->has_map)
		time = kvm_guest__time(session, guest, sample->time);
	if (is_before_boot(time)) {
		guest = kvm_guests__findnew_earlier(session, guest);
		time = GUEST_TIME_NONE;
	}
	if (!guest)
		return;

	guest->nr_samples++;
	sample->machine_pid = guest->pid;
	if (vcpu_sample__has_id(vcpu))
		sample->vcpu = vcpu->vcpu_id;
	else
		sample->vcpu = vcpu_of_thread(session, sample);
	/* The VMM's pid means nothing in the guest. */
	sample->pid = -1;
	sample->tid = -1;
	if (!guest->loaded)
		kvm_guest__first_sample(guest);
	/* Where the clock jumps, the time comes with the next sample that has one. */
	if (guest->has_map && (time != GUEST_TIME_NONE || !guest->has_clock))
		kvm_guest__replay(guest, time);
	followed = kvm_guest__is_followed_at(guest, time);
	if (kvm_guest__place_modules(guest, followed ? time : GUEST_TIME_NONE))
		pr_debug("guest %s: a module could not be placed\n", guest->name);
	has_root = vcpu->flags & PERF_VCPU_PT_ROOT_VALID;
	if (has_root && followed)
		space = kvm_guest__find_space(guest, vcpu->pt_root, time, &ambiguous);
	if (has_root && vcpu->flags & PERF_VCPU_IN_GUEST) {
		kvm_guest__count(guest, user, space, task, sample->ip);
		guest->nr_user_shared += user && space && ambiguous;
		guest->nr_user_ambiguous += user && !space && !task && ambiguous;
		guest->nr_user_outside += user && !task && !followed;
	}
	if (told_task__takes(task, space, user, ambiguous))
		space = NULL;
	else
		task = NULL;
	sample->ns_pid = space ? space->ns_pid : 0;
	if (space)
		sample->pid = space->pid;
	else if (task)
		sample->pid = kvm_guest__pid_of_task(guest, task, user);
	else if (has_root)
		sample->pid = kvm_guest__pid_of_root(guest, vcpu->pt_root);
	sample->tid = sample->pid;
}

/**
 * kvm_guests__resolve - turn the VMM's pid and a CR3 into the guest's pid
 * @sample: as it was recorded
 */
void kvm_guests__resolve(struct perf_session *session, struct perf_sample *sample)
{
	const struct kvm_guests_options *options;

	if (!session->kvm_guests)
		return;
	resolve(session, sample);
	options = session->kvm_guests->options;
	if (options && options->code)
		guest_code__count(options->code, session, sample);
}
