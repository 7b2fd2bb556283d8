/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_FORMAT_VMS_H
#define __PERF_KVM_UNIFIED_FORMAT_VMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "clock.h"
#include "records.h"
#include "vm-limits.h"

union perf_event;
struct hashmap;
struct intlist;
struct patterns;

/* Longer names are cut. Kata's have 72 characters, those of KubeVirt's VMs up to 127. */
#define KVM_VM_NAME_LEN		256

/**
 * struct kvm_vm - a virtual machine
 * @pid: of the VMM, if that runs no other VM; else kvm_vm__key()
 * @fd: in the VMM, known after a scan; else 0
 * @no_map: why its map could not be had, printable; NULL: it could, or that was not tried
 */
struct kvm_vm {
	pid_t	pid;
	int	fd;
	char	name[KVM_VM_NAME_LEN];
	u32	nr_vcpus;
	struct guest_vcpu *vcpus;	/* sorted by id */
	struct guest_tsc tsc;		/* of all vCPUs, if it is the same */
	bool	tsc_changed;		/* it was another one before that one */
	char	*no_map;
};

/**
 * struct kvm_vms - the VMs of a host; all zero: none yet
 * @entries: @nr of them, each with its pid and its name alone
 * @by_pid: @by_name: the number of an entry; NULL as long as there is none
 * @by_tid: of the threads of vCPUs in processes that run several VMs, @kvm_vm.pid, or the process's
 *	if a thread runs vCPUs of several
 * @several: these processes
 */
struct kvm_vms {
	struct kvm_vm *entries;
	size_t	nr;
	struct hashmap *by_pid;
	struct hashmap *by_name;
	struct hashmap *by_tid;
	struct hashmap *several;
	u32	nr_vcpus;		/* in all records that were read */
	u32	flags;			/* GUEST_RECORDING_* */
	struct kvm_limits limits;
	u32	nr_closed;		/* processes that the last scan could not look at */
	bool	hidden;			/* ... and not even see */
};

/* Bytes for what kvm_vms__unseen() writes */
#define KVM_VMS_UNSEEN_LEN	256

struct kvm_vm *kvm_vms__find_name(struct kvm_vms *vms, const char *name);
const struct kvm_vm *kvm_vms__find_short(const struct kvm_vms *vms, const char *text);
const struct kvm_vm *kvm_vms__find_part(const struct kvm_vms *vms, const char *text);
int kvm_vms__complete(const struct kvm_vms *vms, struct patterns *patterns);
void kvm_vms__pr_no_such(const struct kvm_vms *vms, const char *option, const char *name);
const char *kvm_vms__unseen(const struct kvm_vms *vms, char *buf, size_t size);
struct kvm_vm *kvm_vms__find_pid(struct kvm_vms *vms, pid_t pid);
int kvm_vms__add(struct kvm_vms *vms, struct kvm_vm *vm);
void kvm_vms__set_no_map(struct kvm_vms *vms, pid_t pid, const char *why);
const char *kvm_vms__no_map(struct kvm_vms *vms, pid_t pid);
bool kvm_vms__miss_maps(const struct kvm_vms *vms);
bool kvm_vms__are_cut_off(const struct kvm_vms *vms);
int kvm_vms__write_recording(const struct kvm_vms *vms, int fd);
int kvm_vms__write_vms(const struct kvm_vms *vms, int fd);
int kvm_vms__write(const struct kvm_vms *vms, const char *path);
int kvm_vms__process(struct kvm_vms *vms, const union perf_event *event);
int kvm_vms__read(struct kvm_vms *vms, const char *path, char *err, size_t errlen);
void kvm_vms__exit(struct kvm_vms *vms);

void kvm_vms__leave_out_others(struct kvm_vms *vms, struct intlist *pids);
pid_t kvm_vm__key(pid_t vmm, int fd);
pid_t kvm_vm__vmm(const struct kvm_vm *vm);
bool kvm_vm__shares_process(const struct kvm_vm *vm);
pid_t kvm_vms__choose_key(struct kvm_vms *vms, pid_t vmm, int fd, bool alone);
pid_t kvm_vms__key_of_thread(const struct kvm_vms *vms, pid_t pid, pid_t tid);
bool kvm_vms__has_several(const struct kvm_vms *vms, pid_t pid);
bool kvm_vm__is_left_out(const struct kvm_vm *vm);

void kvm_vm__sanitize_name(char *name);
struct guest_vcpu *kvm_vm__find_vcpu(const struct kvm_vm *vm, u32 id);
const struct guest_vcpu *kvm_vm__find_tid(const struct kvm_vm *vm, pid_t tid);

#endif /* __PERF_KVM_UNIFIED_FORMAT_VMS_H */
