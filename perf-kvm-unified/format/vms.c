// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a host's VMs and their vCPUs, in memory and as a file of the profile.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/cap.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/header.h"
#include "util/intlist.h"
#include "kvm-unified/lib/name-map.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/write.h"
#include "stream.h"
#include "text-record.h"
#include "vms.h"

/* "-", a pid, "-", and a number of VMs */
#define UNIQUE_LEN		24
/* More than a host has memory for; a file with more is broken. A stream has each twice. */
#define KVM_VMS_MAX		65536
#define KVM_VCPUS_MAX		(2 * 131072)

/* Bytes of why a VM has no map: commands and their errors are told in it. */
#define NO_MAP_MAX_LEN		511

/* A record's size has 16 bits. */
#define VCPUS_PER_RECORD	4000U

/**
 * kvm_vm__key - the number that stands for a VM in the profile
 * @vmm: the process that runs it, and others
 * @fd: that of this VM there
 *
 * Return: as in records.h, or @vmm if there is no room for @fd
 */
pid_t kvm_vm__key(pid_t vmm, int fd)
{
	if (fd < 0 || fd > GUEST_VM_FD_MAX)
		return vmm;
	return vmm | (pid_t)((fd + 1U) << GUEST_VM_PID_BITS);
}

/* The pid of the process that runs it */
pid_t kvm_vm__vmm(const struct kvm_vm *vm)
{
	return vm->pid & GUEST_VM_PID_MASK;
}

/* Is its process known to run others, too? */
bool kvm_vm__shares_process(const struct kvm_vm *vm)
{
	return vm->pid & ~GUEST_VM_PID_MASK;
}

/**
 * kvm_vms__choose_key - the key of a VM that was found
 * @fd: its descriptor in @vmm
 * @alone: @vmm has no other VM now
 *
 * A VM keeps the key that it has. Return: @kvm_vm.pid
 */
pid_t kvm_vms__choose_key(struct kvm_vms *vms, pid_t vmm, int fd, bool alone)
{
	pid_t key = kvm_vm__key(vmm, fd);
	const struct kvm_vm *known;

	if (kvm_vms__find_pid(vms, key))
		return key;
	known = kvm_vms__find_pid(vms, vmm);
	if (known)
		return alone || known->fd == fd ? vmm : key;
	return alone && !kvm_vms__has_several(vms, vmm) ? vmm : key;
}

/* Was process @pid seen to run several VMs? */
bool kvm_vms__has_several(const struct kvm_vms *vms, pid_t pid)
{
	return vms->several && hashmap__find(vms->several, (long)pid, NULL);
}

/* The key of the VM that thread @tid of @pid runs; @pid if that has one, or it is not known */
pid_t kvm_vms__key_of_thread(const struct kvm_vms *vms, pid_t pid, pid_t tid)
{
	long key;

	if (!kvm_vms__has_several(vms, pid) || !hashmap__find(vms->by_tid, (long)tid, &key))
		return pid;
	return (key & GUEST_VM_PID_MASK) == pid ? key : pid;
}

/* Makes the threads of @vm known, if they may run another one's vCPUs. 0 or -ENOMEM */
static int kvm_vms__add_threads(struct kvm_vms *vms, const struct kvm_vm *vm)
{
	pid_t vmm = kvm_vm__vmm(vm);

	if (!kvm_vm__shares_process(vm))
		return 0;
	if (hashmap__set(vms->several, (long)vmm, 0L, NULL, NULL))
		return -ENOMEM;
	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		long tid = vm->vcpus[i].tid, key = vm->pid, old;

		if (!tid)
			continue;
		if (hashmap__find(vms->by_tid, tid, &old) && old != key)
			key = vmm;
		if (hashmap__set(vms->by_tid, tid, key, NULL, NULL))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Makes @name fit for a terminal, whatever its character set, and for NAME=... on a command
 * line: a byte that is not of ASCII is one '_', too
 */
void kvm_vm__sanitize_name(char *name)
{
	for (; *name; name++) {
		if (!isascii(*name) || !isgraph(*name) || *name == '=' || *name == '/')
			*name = '_';
	}
}

struct kvm_vm *kvm_vms__find_name(struct kvm_vms *vms, const char *name)
{
	long i;

	return vms->nr && hashmap__find(vms->by_name, name, &i) ? &vms->entries[i] : NULL;
}

/* All VMs with their names, to be freed. NULL: no memory, or there is none */
static struct named *kvm_vms__named(const struct kvm_vms *vms)
{
	struct named *all = calloc(vms->nr, sizeof(*all));

	for (size_t i = 0; all && i < vms->nr; i++)
		all[i] = (struct named) { vms->entries[i].name, kvm_vm__vmm(&vms->entries[i]) };
	return all;
}

/* The VM that is called so, or of which @text is the VMM's pid or a beginning that is no other's */
const struct kvm_vm *kvm_vms__find_short(const struct kvm_vms *vms, const char *text)
{
	struct named *all = kvm_vms__named(vms);
	const struct named *found = all ? named__find(all, vms->nr, text) : NULL;
	const struct kvm_vm *vm = found ? &vms->entries[found - all] : NULL;

	free(all);
	return vm;
}

/* Is @text what stands between two commas of @name, or before or after all? */
static bool is_part(const char *name, const char *text)
{
	size_t len = strlen(text);
	const char *comma;

	while ((comma = strchr(name, ','))) {
		if (comma == name + len && !strncmp(name, text, len))
			return true;
		name = comma + 1;
	}
	return !strcmp(name, text);
}

/* A VM with commas in its name, of which a list has made @text, or NULL */
const struct kvm_vm *kvm_vms__find_part(const struct kvm_vms *vms, const char *text)
{
	for (size_t i = 0; i < vms->nr; i++) {
		const char *name = vms->entries[i].name;

		if (strchr(name, ',') && is_part(name, text))
			return &vms->entries[i];
	}
	return NULL;
}

/* Whole names in place of those that kvm_vms__find_short() takes. 0 or -ENOMEM */
int kvm_vms__complete(const struct kvm_vms *vms, struct patterns *patterns)
{
	struct named *all = kvm_vms__named(vms);
	int ret = 0;

	if (all)
		ret = patterns__complete(patterns, all, vms->nr);
	else if (vms->nr)
		ret = -ENOMEM;
	free(all);
	return ret;
}

/* A sentence: which capabilities are missing to look at the processes of others */
static const char *missing_caps(void)
{
	bool ptrace = perf_cap__capable(CAP_SYS_PTRACE);
	bool read = perf_cap__capable(CAP_DAC_READ_SEARCH);

	if (read && !ptrace)
		return "CAP_SYS_PTRACE is missing.";
	if (ptrace && !read)
		return "CAP_DAC_READ_SEARCH is missing.";
	return geteuid() ? "It takes root, or both of CAP_SYS_PTRACE and\nCAP_DAC_READ_SEARCH." :
			   "This root has no CAP_SYS_PTRACE and no CAP_DAC_READ_SEARCH.";
}

/**
 * kvm_vms__unseen - why a scan may not have found a VM that runs
 * @vms: those that it has found
 * @buf: for two lines, KVM_VMS_UNSEEN_LEN
 *
 * Return: @buf, or NULL if all processes could be looked at
 */
const char *kvm_vms__unseen(const struct kvm_vms *vms, char *buf, size_t size)
{
	static const char who[] = "VMs among them are not found.";

	if (vms->hidden)
		scnprintf(buf, size,
			  "Processes of other users are hidden here (/proc is mounted with hidepid):\n%s %s",
			  who, missing_caps());
	else if (vms->nr_closed)
		scnprintf(buf, size, "%u process%s may not be looked at:\n%s %s", vms->nr_closed,
			  vms->nr_closed == 1 ? "" : "es", who, missing_caps());
	else
		return NULL;
	return buf;
}

/* Tells that --@option has named a VM that does not run, and which do. */
void kvm_vms__pr_no_such(const struct kvm_vms *vms, const char *option, const char *name)
{
	struct near_names near = { .wanted = name };
	char buf[KVM_VMS_UNSEEN_LEN];
	const char *unseen = kvm_vms__unseen(vms, buf, sizeof(buf));
	const char *what, *names;

	for (size_t i = 0; i < vms->nr; i++)
		near_names__add(&near, vms->entries[i].name);
	if (near.begin_so.nr > 1) {
		pr_err("--%s: '%s' is short for several VMs: %s\n", option, name,
		       name_list__end(&near.begin_so));
		return;
	}
	what = near_names__sentence(&near, &names);
	pr_err("--%s: no VM that %s is called '%s'.%s%s\n", option,
	       unseen ? "is seen" : "runs", name, what, names);
	if (unseen)
		pr_err("%s\n", unseen);
}

struct kvm_vm *kvm_vms__find_pid(struct kvm_vms *vms, pid_t pid)
{
	long i;

	return vms->nr && hashmap__find(vms->by_pid, (long)pid, &i) ? &vms->entries[i] : NULL;
}

/* Only those whose VMMs are @pids are recorded. */
void kvm_vms__leave_out_others(struct kvm_vms *vms, struct intlist *pids)
{
	for (size_t i = 0; i < vms->nr; i++) {
		struct kvm_vm *vm = &vms->entries[i];
		pid_t vmm = kvm_vm__vmm(vm);

		for (u32 v = 0; v < vm->nr_vcpus && !intlist__has_entry(pids, vmm); v++)
			vm->vcpus[v].flags |= GUEST_VCPU_LEFT_OUT;
	}
}

bool kvm_vm__is_left_out(const struct kvm_vm *vm)
{
	return vm->nr_vcpus && vm->vcpus[0].flags & GUEST_VCPU_LEFT_OUT;
}

/* The vCPU of that number, or NULL */
struct guest_vcpu *kvm_vm__find_vcpu(const struct kvm_vm *vm, u32 id)
{
	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		if (vm->vcpus[i].id == id)
			return &vm->vcpus[i];
	}
	return NULL;
}

/* The vCPU whose thread is @tid, or NULL */
const struct guest_vcpu *kvm_vm__find_tid(const struct kvm_vm *vm, pid_t tid)
{
	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		if (vm->vcpus[i].tid && vm->vcpus[i].tid == (u32)tid)
			return &vm->vcpus[i];
	}
	return NULL;
}

static int vcpu__cmp(const void *_a, const void *_b)
{
	const struct guest_vcpu *a = _a, *b = _b;

	return a->id < b->id ? -1 : a->id > b->id;
}

static void kvm_vm__sort(struct kvm_vm *vm)
{
	if (vm->nr_vcpus)
		qsort(vm->vcpus, vm->nr_vcpus, sizeof(*vm->vcpus), vcpu__cmp);
}

/* Adds the vCPUs of @vm, which it takes, to @known: none goes away. 0 or -ENOMEM */
static int kvm_vm__merge(struct kvm_vm *known, struct kvm_vm *vm)
{
	struct guest_vcpu *vcpus = reallocarray(known->vcpus, known->nr_vcpus + vm->nr_vcpus + 1,
						sizeof(*vcpus));

	if (!vcpus) {
		zfree(&vm->vcpus);
		return -ENOMEM;
	}
	known->vcpus = vcpus;
	if (!guest_tsc__same(&known->tsc, &vm->tsc))
		known->tsc_changed = true;
	known->tsc = vm->tsc;
	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		const struct guest_vcpu *vcpu = &vm->vcpus[i];
		struct guest_vcpu *old = kvm_vm__find_vcpu(known, vcpu->id);

		if (!old) {
			known->vcpus[known->nr_vcpus++] = *vcpu;
			continue;
		}
		old->flags |= vcpu->flags;
		old->tid = vcpu->tid ?: old->tid;
	}
	zfree(&vm->vcpus);
	kvm_vm__sort(known);
	return 0;
}

/* Gives @vm a name of its own: who starts VMs chooses names, and may choose those of others. */
static void make_unique(struct kvm_vms *vms, struct kvm_vm *vm)
{
	size_t len = strnlen(vm->name, sizeof(vm->name) - UNIQUE_LEN);

	for (unsigned int nr = 0; kvm_vms__find_name(vms, vm->name); nr++) {
		if (nr)
			scnprintf(vm->name + len, sizeof(vm->name) - len, "-%d-%u",
				  kvm_vm__vmm(vm), nr);
		else
			scnprintf(vm->name + len, sizeof(vm->name) - len, "-%d",
				  kvm_vm__vmm(vm));
	}
}

static void free_maps(struct kvm_vms *vms)
{
	hashmap__free(vms->by_pid);
	hashmap__free(vms->by_name);
	hashmap__free(vms->by_tid);
	hashmap__free(vms->several);
	vms->by_pid = NULL;
	vms->by_name = NULL;
	vms->by_tid = NULL;
	vms->several = NULL;
}

/* 0 or -ENOMEM */
static int make_maps(struct kvm_vms *vms)
{
	if (vms->by_pid)
		return 0;
	vms->by_pid = number_map__new();
	vms->by_name = name_map__new();
	vms->by_tid = number_map__new();
	vms->several = number_map__new();
	if (vms->by_pid && vms->by_name && vms->by_tid && vms->several)
		return 0;
	free_maps(vms);
	return -ENOMEM;
}

/* Makes @vm, whose pid and name no other has, one of them. 0 or -ENOMEM */
static int append(struct kvm_vms *vms, const struct kvm_vm *vm)
{
	struct kvm_vm *entries = reallocarray(vms->entries, vms->nr + 1, sizeof(*entries));
	char *name = strdup(vm->name);

	if (entries)
		vms->entries = entries;
	if (entries && name && !make_maps(vms) &&
	    !hashmap__add(vms->by_name, name, (long)vms->nr)) {
		if (!hashmap__add(vms->by_pid, (long)vm->pid, (long)vms->nr)) {
			entries[vms->nr++] = *vm;
			return 0;
		}
		hashmap__delete(vms->by_name, name, NULL, NULL);
	}
	free(name);
	return -ENOMEM;
}

/*
 * Takes over @vm and what it points to. vCPUs of a VM that is there already are added to
 * it; a name that another VM has is made unique with the pid. 0 or -ENOMEM
 */
int kvm_vms__add(struct kvm_vms *vms, struct kvm_vm *vm)
{
	struct kvm_vm *known = kvm_vms__find_pid(vms, vm->pid);

	if (known)
		return kvm_vms__add_threads(vms, vm) ?: kvm_vm__merge(known, vm);

	if (!vm->name[0])
		scnprintf(vm->name, sizeof(vm->name), "vm-%d", kvm_vm__vmm(vm));
	make_unique(vms, vm);

	if (append(vms, vm)) {
		zfree(&vm->vcpus);
		return -ENOMEM;
	}
	kvm_vm__sort(vm);
	return kvm_vms__add_threads(vms, vm);
}

/* The record has the first part of the name, cut as for readers that know of no second one. */
static int kvm_vm__write(const struct kvm_vm *vm, int fd)
{
	struct perf_record_guest_vm rec = {
		.header.type = PERF_RECORD_GUEST_VM,
		.pid = vm->pid,
	};
	char rest[KVM_VM_NAME_LEN] = { };
	size_t len = strlen(vm->name), rest_size = 0;
	u32 done = 0;
	int ret;

	scnprintf(rec.name, sizeof(rec.name), "%s", vm->name);
	if (len >= sizeof(rec.name)) {
		rest_size = PERF_ALIGN(len - (sizeof(rec.name) - 1), sizeof(u64));
		memcpy(rest, vm->name + sizeof(rec.name) - 1, len - (sizeof(rec.name) - 1));
	}
	do {
		rec.nr_vcpus = min(vm->nr_vcpus - done, VCPUS_PER_RECORD);
		rec.header.size = sizeof(rec) + rec.nr_vcpus * sizeof(*vm->vcpus) + rest_size;
		ret = write_all(fd, &rec, sizeof(rec));
		if (!ret && rec.nr_vcpus)
			ret = write_all(fd, vm->vcpus + done,
					rec.nr_vcpus * sizeof(*vm->vcpus));
		if (!ret)
			ret = write_all(fd, rest, rest_size);
		done += rec.nr_vcpus;
	} while (!ret && done < vm->nr_vcpus);
	return ret;
}

static int kvm_vm__write_tsc(const struct kvm_vm *vm, int fd)
{
	const struct perf_record_guest_vm_tsc rec = {
		.header.type = PERF_RECORD_GUEST_VM_TSC,
		.header.size = sizeof(rec),
		.pid = vm->pid,
		.frac_bits = vm->tsc.frac_bits,
		.offset = vm->tsc.offset,
		.ratio = vm->tsc.ratio,
		.flags = vm->tsc_changed ? GUEST_TSC_CHANGED : 0,
	};

	return vm->tsc.known ? write_all(fd, &rec, sizeof(rec)) : 0;
}

/**
 * kvm_vms__set_no_map - keep why there is no map of a VM
 * @pid: its @kvm_vm.pid
 * @why: what does not print is made '?'; long ones are cut
 *
 * Without memory, it is not known why.
 */
void kvm_vms__set_no_map(struct kvm_vms *vms, pid_t pid, const char *why)
{
	struct kvm_vm *vm = kvm_vms__find_pid(vms, pid);

	if (!vm)
		return;
	free(vm->no_map);
	vm->no_map = strndup(why, NO_MAP_MAX_LEN);
	if (vm->no_map)
		text__make_printable(vm->no_map);
}

/* Why there is no map of the VM, as far as it is known; else NULL */
const char *kvm_vms__no_map(struct kvm_vms *vms, pid_t pid)
{
	const struct kvm_vm *vm = kvm_vms__find_pid(vms, pid);

	return vm ? vm->no_map : NULL;
}

/* Is there a VM of which it is known why there is no map? */
bool kvm_vms__miss_maps(const struct kvm_vms *vms)
{
	for (size_t i = 0; i < vms->nr; i++) {
		if (vms->entries[i].no_map)
			return true;
	}
	return false;
}

/* Is the end of their stream missing? perf kvm unified record marks it. */
bool kvm_vms__are_cut_off(const struct kvm_vms *vms)
{
	return vms->flags & GUEST_RECORDING_STREAM && !(vms->flags & GUEST_RECORDING_END);
}

static int kvm_vm__write_no_map(const struct kvm_vm *vm, int fd)
{
	struct perf_record_guest_vm_no_map rec = {
		.header.type = PERF_RECORD_GUEST_VM_NO_MAP,
		.pid = vm->pid,
	};

	return vm->no_map ? text_record__write(fd, &rec.header, sizeof(rec), vm->no_map) : 0;
}

/* Writes a record of how the profile is made. 0 or -errno */
int kvm_vms__write_recording(const struct kvm_vms *vms, int fd)
{
	const struct perf_record_guest_recording rec = {
		.header.type = PERF_RECORD_GUEST_RECORDING,
		.header.size = sizeof(rec),
		.flags = vms->flags,
	};

	return write_all(fd, &rec, sizeof(rec));
}

/* The VMs, as records. 0 or -errno */
int kvm_vms__write_vms(const struct kvm_vms *vms, int fd)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < vms->nr; i++) {
		ret = kvm_vm__write(&vms->entries[i], fd);
		if (!ret)
			ret = kvm_vm__write_tsc(&vms->entries[i], fd);
		if (!ret)
			ret = kvm_vm__write_no_map(&vms->entries[i], fd);
	}
	return ret ?: kvm_limits__write(&vms->limits, fd);
}

/* Writes the stream that kvm_vms__read() reads. 0 or -errno. */
int kvm_vms__write(const struct kvm_vms *vms, const char *path)
{
	int fd, ret;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;

	ret = perf_header__write_pipe(fd) < 0 ? -errno : 0;
	if (!ret)
		ret = kvm_vms__write_recording(vms, fd);
	if (!ret)
		ret = kvm_vms__write_vms(vms, fd);
	if (!ret)
		ret = guest_stream__write_end(fd);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int kvm_vms__process_vm(struct kvm_vms *vms, const struct perf_record_guest_vm *rec)
{
	struct kvm_vm vm = { };
	size_t vcpus_size, rest_size;

	if (rec->header.size < sizeof(*rec))
		return -EINVAL;
	vcpus_size = rec->header.size - sizeof(*rec);
	if (rec->nr_vcpus > vcpus_size / sizeof(*rec->vcpus))
		return -EINVAL;
	/* 0 and -1 are the default guest and the host among perf's machines. */
	if ((pid_t)rec->pid <= 0 ||
	    (vms->nr >= KVM_VMS_MAX && !kvm_vms__find_pid(vms, rec->pid)))
		return -EINVAL;
	vms->nr_vcpus += rec->nr_vcpus;
	if (vms->nr_vcpus > KVM_VCPUS_MAX)
		return -E2BIG;

	vm.pid = rec->pid;
	vm.nr_vcpus = rec->nr_vcpus;
	rest_size = vcpus_size - rec->nr_vcpus * sizeof(*rec->vcpus);
	scnprintf(vm.name, sizeof(vm.name), "%.*s%.*s", (int)sizeof(rec->name) - 1, rec->name,
		  (int)rest_size, (const char *)&rec->vcpus[rec->nr_vcpus]);
	kvm_vm__sanitize_name(vm.name);
	if (vm.nr_vcpus) {
		vm.vcpus = memdup(rec->vcpus, vm.nr_vcpus * sizeof(*vm.vcpus));
		if (!vm.vcpus)
			return -ENOMEM;
	}
	return kvm_vms__add(vms, &vm);
}

static int kvm_vms__process_tsc(struct kvm_vms *vms, const struct perf_record_guest_vm_tsc *rec)
{
	struct kvm_vm *vm;

	if (rec->header.size < offsetof(struct perf_record_guest_vm_tsc, flags))
		return -EINVAL;
	vm = kvm_vms__find_pid(vms, rec->pid);
	if (!vm)
		return -EINVAL;
	if (rec->header.size >= sizeof(*rec))
		vm->tsc_changed = rec->flags & GUEST_TSC_CHANGED;
	vm->tsc = (struct guest_tsc) {
		.known = true,
		.frac_bits = rec->frac_bits,
		.offset = rec->offset,
		.ratio = rec->ratio,
	};
	return 0;
}

static int kvm_vms__process_no_map(struct kvm_vms *vms,
				   const struct perf_record_guest_vm_no_map *rec)
{
	char why[NO_MAP_MAX_LEN + 1];

	if (rec->header.size < sizeof(*rec) || !kvm_vms__find_pid(vms, rec->pid))
		return -EINVAL;
	scnprintf(why, sizeof(why), "%.*s", (int)(rec->header.size - sizeof(*rec)), rec->why);
	kvm_vms__set_no_map(vms, rec->pid, why);
	return 0;
}

/* Takes over a record, if it is one of VMs. 0 or -errno: -EINVAL if it makes no sense */
int kvm_vms__process(struct kvm_vms *vms, const union perf_event *event)
{
	const struct perf_record_guest_recording *recording = (const void *)event;

	switch (event->header.type) {
	case PERF_RECORD_GUEST_RECORDING:
		if (event->header.size < sizeof(*recording))
			return -EINVAL;
		vms->flags |= recording->flags;
		return 0;
	case PERF_RECORD_GUEST_VM:
		return kvm_vms__process_vm(vms, (const void *)event);
	case PERF_RECORD_GUEST_VM_TSC:
		return kvm_vms__process_tsc(vms, (const void *)event);
	case PERF_RECORD_GUEST_VM_NO_MAP:
		return kvm_vms__process_no_map(vms, (const void *)event);
	case PERF_RECORD_GUEST_VM_LIMIT:
		return kvm_limits__process(&vms->limits, event);
	default:
		return 0;
	}
}

static int process(const union perf_event *event, void *arg)
{
	return kvm_vms__process(arg, event);
}

/*
 * Returns 0, -ENOENT if there is no such file, or another -errno with the rest
 * of a sentence about it in @err.
 */
int kvm_vms__read(struct kvm_vms *vms, const char *path, char *err, size_t errlen)
{
	return guest_stream__read_file(path, process, vms, err, errlen);
}

void kvm_vms__exit(struct kvm_vms *vms)
{
	struct hashmap_entry *entry;
	size_t bkt;

	for (size_t i = 0; i < vms->nr; i++) {
		zfree(&vms->entries[i].vcpus);
		zfree(&vms->entries[i].no_map);
	}
	zfree(&vms->entries);
	vms->nr = 0;
	kvm_limits__exit(&vms->limits);
	if (!vms->by_pid)
		return;
	hashmap__for_each_entry(vms->by_name, entry, bkt)
		zfree(&entry->pkey);
	free_maps(vms);
}
