// SPDX-License-Identifier: GPL-2.0
/*
 * The VMs of this host: found by the file descriptors that KVM gives to any
 * VMM, whatever it is.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <sys/ioctl.h>
#include <uapi/linux/kvm.h>
#include <api/fs/fs.h>
#include <internal/lib.h>

#include "util/debug.h"
#include "util/event.h"
#include "util/header.h"
#include "guest-stream.h"
#include "kvm-vms.h"

/* anon inode names: kvm_dev_ioctl_create_vm(), create_vcpu_fd() in virt/kvm */
#define KVM_VM_LINK		"anon_inode:kvm-vm"
#define KVM_VCPU_LINK		"anon_inode:kvm-vcpu:"

/* The function in virt/kvm in which a halted vCPU's thread sleeps */
#define KVM_BLOCK_WCHAN		"kvm_vcpu_block"

/* More than a host has memory for; a file that says so is broken. */
#define KVM_VMS_MAX		4096
#define KVM_VCPUS_MAX		65536

/* A record's size has 16 bits. */
#define VCPUS_PER_RECORD	4000U

/* Makes @name fit for a terminal and for NAME=... on a command line */
static void sanitize_name(char *name)
{
	for (; *name; name++) {
		if (!isgraph((unsigned char)*name) || *name == '=' || *name == '/')
			*name = '_';
	}
}

/* The value of @key in "@key=value,..." or NULL */
static const char *qemu_opt_value(const char *opts, const char *key, size_t *len)
{
	size_t key_len = strlen(key);

	while (*opts) {
		size_t opt_len = strcspn(opts, ",");

		if (opt_len > key_len && !strncmp(opts, key, key_len) &&
		    opts[key_len] == '=') {
			*len = opt_len - key_len - 1;
			return opts + key_len + 1;
		}
		opts += opt_len;
		if (*opts == ',')
			opts++;
	}
	return NULL;
}

/**
 * kvm_vm__name_from_cmdline - the name that the VMM was given for the VM
 * @cmdline: the arguments, each with its zero byte, as in /proc/<pid>/cmdline
 * @len: of @cmdline
 * @name: the name, or "" if there is none: QEMU's and libvirt's
 *	"-name guest=NAME,..." or "-name NAME,...", Firecracker's "--id NAME"
 */
void kvm_vm__name_from_cmdline(const char *cmdline, size_t len, char *name, size_t size)
{
	const char *end = cmdline + len, *arg, *next;

	name[0] = '\0';
	for (arg = cmdline; arg < end; arg = next) {
		const char *value;
		size_t value_len;

		next = arg + strnlen(arg, end - arg) + 1;
		if (next >= end || !memchr(next, '\0', end - next))
			break;

		if (!strcmp(arg, "-name") || !strcmp(arg, "--name")) {
			value = qemu_opt_value(next, "guest", &value_len);
			if (!value) {
				value = next;
				value_len = strcspn(next, ",");
				if (memchr(value, '=', value_len))
					continue;
			}
		} else if (!strcmp(arg, "--id")) {
			value = next;
			value_len = strlen(next);
		} else {
			continue;
		}

		scnprintf(name, size, "%.*s", (int)value_len, value);
		break;
	}
	sanitize_name(name);
}

struct kvm_vm *kvm_vms__find_name(struct kvm_vms *vms, const char *name)
{
	for (size_t i = 0; i < vms->nr; i++) {
		if (!strcmp(vms->entries[i].name, name))
			return &vms->entries[i];
	}
	return NULL;
}

/* That --@option has named a VM that there is not, and which there are */
void kvm_vms__pr_no_such(const struct kvm_vms *vms, const char *option, const char *name)
{
	pr_err("--%s: no VM is called '%s'.", option, name);
	for (size_t i = 0; i < vms->nr; i++)
		pr_err("%s%s (pid %d)", i ? ", " : " Running: ", vms->entries[i].name,
		       vms->entries[i].pid);
	pr_err("%s\n", vms->nr ? "" : " No VM is running.");
}

struct kvm_vm *kvm_vms__find_pid(struct kvm_vms *vms, pid_t pid)
{
	for (size_t i = 0; i < vms->nr; i++) {
		if (vms->entries[i].pid == pid)
			return &vms->entries[i];
	}
	return NULL;
}

/*
 * Takes over @vm and what it points to. A name that another VM has already is
 * made unique with the pid. Returns 0 or -ENOMEM.
 */
int kvm_vms__add(struct kvm_vms *vms, struct kvm_vm *vm)
{
	struct kvm_vm *entries;

	if (!vm->name[0])
		scnprintf(vm->name, sizeof(vm->name), "vm-%d", vm->pid);
	if (kvm_vms__find_name(vms, vm->name)) {
		size_t len = strnlen(vm->name, sizeof(vm->name) - 12);

		scnprintf(vm->name + len, sizeof(vm->name) - len, "-%d", vm->pid);
	}

	entries = reallocarray(vms->entries, vms->nr + 1, sizeof(*entries));
	if (!entries) {
		zfree(&vm->vcpus);
		return -ENOMEM;
	}
	entries[vms->nr++] = *vm;
	vms->entries = entries;
	return 0;
}

/*
 * The thread that ran the vCPU last, from KVM's debugfs files, or 0: without
 * them it becomes known with the vCPU's first sample.
 */
static u32 vcpu_tid(const char *debugfs, pid_t pid, int vm_fd, u32 id)
{
	char path[PATH_MAX], buf[32];
	ssize_t n;
	int fd;

	scnprintf(path, sizeof(path), "%s/kvm/%d-%d/vcpu%u/pid", debugfs, pid, vm_fd, id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	return strtoul(buf, NULL, 10);
}

/* A number from one of KVM's debugfs files of a vCPU. 0 or -errno */
static int vcpu_number(const char *debugfs, pid_t pid, int vm_fd, u32 id, const char *file, u64 *n)
{
	char path[PATH_MAX], *text = NULL;
	size_t len;
	int ret;

	scnprintf(path, sizeof(path), "%s/kvm/%d-%d/vcpu%u/%s", debugfs, pid, vm_fd, id, file);
	ret = filename__read_str(path, &text, &len);
	if (ret)
		return ret;
	/* An offset has a sign. */
	*n = text[0] == '-' ? (u64)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	free(text);
	return 0;
}

/* What KVM makes of the TSC for a vCPU: it has files for scaling only if it can */
static void vcpu_tsc(const char *debugfs, pid_t pid, int vm_fd, u32 id, struct guest_tsc *tsc)
{
	u64 frac_bits = 0;

	*tsc = (struct guest_tsc) { };
	if (vcpu_number(debugfs, pid, vm_fd, id, "tsc-offset", &tsc->offset))
		return;
	if (!vcpu_number(debugfs, pid, vm_fd, id, "tsc-scaling-ratio", &tsc->ratio) &&
	    vcpu_number(debugfs, pid, vm_fd, id, "tsc-scaling-ratio-frac-bits", &frac_bits))
		return;
	tsc->frac_bits = frac_bits;
	tsc->known = true;
}

static bool guest_tsc__same(const struct guest_tsc *a, const struct guest_tsc *b)
{
	return a->known == b->known && a->offset == b->offset &&
	       a->frac_bits == b->frac_bits && a->ratio == b->ratio;
}

/* That of all vCPUs, or not known: a guest whose CPUs differ does not use it either */
static void vm__scan_tsc(struct kvm_vm *vm, int vm_fd, const char *debugfs)
{
	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		struct guest_tsc tsc;

		vcpu_tsc(debugfs, vm->pid, vm_fd, vm->vcpus[i].id, &tsc);
		if (!i)
			vm->tsc = tsc;
		else if (!guest_tsc__same(&tsc, &vm->tsc))
			vm->tsc.known = false;
	}
}

/* Does the vCPU's thread wait in KVM for an event, such as the end of a halt? */
static bool vcpu_is_halted(const char *proc, pid_t pid, u32 tid)
{
	char path[PATH_MAX], *wchan = NULL;
	bool halted;
	size_t len;

	scnprintf(path, sizeof(path), "%s/%d/task/%u/wchan", proc, pid, tid);
	if (!tid || filename__read_str(path, &wchan, &len))
		return false;
	halted = len >= strlen(KVM_BLOCK_WCHAN) &&
		 !strncmp(wchan, KVM_BLOCK_WCHAN, strlen(KVM_BLOCK_WCHAN));
	free(wchan);
	return halted;
}

/**
 * kvm_vcpu__end_flag - what a vCPU's thread is at
 * @proc: where procfs is mounted
 * @pid: of the VMM
 * @tid: of the vCPU's thread, 0 if that is not known
 *
 * Does it sleep, and in KVM_RUN? What it is at goes on without an event of the time
 * line. GUEST_VCPU_END_*, or 0 if it could run, or may not be looked at
 */
u32 kvm_vcpu__end_flag(const char *proc, pid_t pid, u32 tid)
{
	char path[PATH_MAX], *line = NULL;
	unsigned long fd, request;
	int call;
	u32 flag = 0;
	size_t len;

	if (!tid)
		return 0;
	if (vcpu_is_halted(proc, pid, tid))
		return GUEST_VCPU_END_HALTED;

	/*
	 * "running", or the number of the system call and its arguments: proc(5). KVM_RUN
	 * is the second one of ioctl(), and no address or size that another call would have.
	 */
	scnprintf(path, sizeof(path), "%s/%d/task/%u/syscall", proc, pid, tid);
	if (filename__read_str(path, &line, &len))
		return 0;
	if (sscanf(line, "%d %lx %lx", &call, &fd, &request) == 3)
		flag = request == KVM_RUN ? GUEST_VCPU_END_BLOCKED : GUEST_VCPU_END_VMM;
	free(line);
	return flag;
}

static int vcpu__cmp(const void *_a, const void *_b)
{
	const struct guest_vcpu *a = _a, *b = _b;

	return a->id < b->id ? -1 : a->id > b->id;
}

static struct guest_vcpu *kvm_vm__find_vcpu(const struct kvm_vm *vm, u32 id)
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

static int vm__scan_fds(struct kvm_vm *vm, int *vm_fd, const char *proc)
{
	char path[PATH_MAX], target[64];
	struct dirent *ent;
	int ret = 0;
	DIR *dir;

	*vm_fd = -1;
	scnprintf(path, sizeof(path), "%s/%d/fd", proc, vm->pid);
	dir = opendir(path);
	if (!dir)
		return 0;

	while ((ent = readdir(dir))) {
		struct guest_vcpu *vcpus;
		ssize_t n;
		u32 id;

		n = readlinkat(dirfd(dir), ent->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (!strcmp(target, KVM_VM_LINK)) {
			*vm_fd = atoi(ent->d_name);
			continue;
		}
		if (strncmp(target, KVM_VCPU_LINK, strlen(KVM_VCPU_LINK)))
			continue;

		id = strtoul(target + strlen(KVM_VCPU_LINK), NULL, 10);
		if (kvm_vm__find_vcpu(vm, id))
			continue;	/* A duplicate of the descriptor */
		vcpus = reallocarray(vm->vcpus, vm->nr_vcpus + 1, sizeof(*vcpus));
		if (!vcpus) {
			ret = -ENOMEM;
			break;
		}
		vcpus[vm->nr_vcpus++] = (struct guest_vcpu) { .id = id };
		vm->vcpus = vcpus;
	}
	closedir(dir);
	if (vm->nr_vcpus)
		qsort(vm->vcpus, vm->nr_vcpus, sizeof(*vm->vcpus), vcpu__cmp);
	return ret;
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
		known->tsc.known = false;
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
	if (known->nr_vcpus)
		qsort(known->vcpus, known->nr_vcpus, sizeof(*known->vcpus), vcpu__cmp);
	return 0;
}

static int vm__scan(struct kvm_vms *vms, pid_t pid, const char *proc, const char *debugfs,
		    u32 flag)
{
	struct kvm_vm vm = { .pid = pid }, *known = kvm_vms__find_pid(vms, pid);
	char path[PATH_MAX];
	char *cmdline = NULL;
	size_t len;
	int vm_fd, ret;

	ret = vm__scan_fds(&vm, &vm_fd, proc);
	if (ret || vm_fd < 0) {
		zfree(&vm.vcpus);
		return ret;
	}

	for (u32 i = 0; i < vm.nr_vcpus; i++) {
		vm.vcpus[i].tid = vcpu_tid(debugfs, pid, vm_fd, vm.vcpus[i].id);
		vm.vcpus[i].flags = flag;
		if (flag == GUEST_VCPU_AT_START && vcpu_is_halted(proc, pid, vm.vcpus[i].tid))
			vm.vcpus[i].flags |= GUEST_VCPU_HALTED;
		if (flag == GUEST_VCPU_AT_END)
			vm.vcpus[i].flags |= kvm_vcpu__end_flag(proc, pid, vm.vcpus[i].tid);
	}
	vm__scan_tsc(&vm, vm_fd, debugfs);
	if (known)
		return kvm_vm__merge(known, &vm);

	scnprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	if (!filename__read_str(path, &cmdline, &len)) {
		kvm_vm__name_from_cmdline(cmdline, len, vm.name, sizeof(vm.name));
		free(cmdline);
	}
	return kvm_vms__add(vms, &vm);
}

/**
 * kvm_vms__scan - add the VMs that run now to those in @vms
 * @proc: where procfs is mounted
 * @debugfs: where debugfs is mounted
 * @flag: GUEST_VCPU_AT_*, for the vCPUs that there are
 *
 * Processes that go away while they are looked at are not VMs any more; a VMM
 * of another user that may not be looked at is not seen. 0 or -errno.
 */
int kvm_vms__scan(struct kvm_vms *vms, const char *proc, const char *debugfs, u32 flag)
{
	struct dirent *ent;
	int ret = 0;
	DIR *dir;

	dir = opendir(proc);
	if (!dir)
		return -errno;

	while (!ret && (ent = readdir(dir))) {
		char *end;
		long pid = strtol(ent->d_name, &end, 10);

		if (*end || pid <= 0)
			continue;
		ret = vm__scan(vms, pid, proc, debugfs, flag);
	}
	closedir(dir);
	return ret;
}

/**
 * kvm_vms__scan_debugfs - add the VMs that KVM's debugfs knows to those in @vms
 * @proc: where procfs is mounted
 * @debugfs: where debugfs is mounted; without it there are none
 *
 * Looks at their processes alone, and not at all of the host's as kvm_vms__scan() does. Their
 * vCPUs get no flags. 0 or -errno
 */
int kvm_vms__scan_debugfs(struct kvm_vms *vms, const char *proc, const char *debugfs)
{
	char path[PATH_MAX];
	struct dirent *ent;
	int ret = 0;
	DIR *dir;

	scnprintf(path, sizeof(path), "%s/kvm", debugfs);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;

	while (!ret && (ent = readdir(dir))) {
		int pid, fd;

		/* <pid>-<descriptor>: kvm_create_vm_debugfs() in virt/kvm */
		if (sscanf(ent->d_name, "%d-%d", &pid, &fd) == 2 && pid > 0)
			ret = vm__scan(vms, pid, proc, debugfs, 0);
	}
	closedir(dir);
	return ret;
}

static int write_record(int fd, const void *rec, size_t size)
{
	return writen(fd, (void *)rec, size) == (ssize_t)size ? 0 : -errno;
}

static int kvm_vm__write(const struct kvm_vm *vm, int fd)
{
	struct perf_record_guest_vm rec = {
		.header.type = PERF_RECORD_GUEST_VM,
		.pid = vm->pid,
	};
	u32 done = 0;
	int ret;

	memcpy(rec.name, vm->name, sizeof(rec.name));
	do {
		rec.nr_vcpus = min(vm->nr_vcpus - done, VCPUS_PER_RECORD);
		rec.header.size = sizeof(rec) + rec.nr_vcpus * sizeof(*vm->vcpus);
		ret = write_record(fd, &rec, sizeof(rec));
		if (!ret && rec.nr_vcpus)
			ret = write_record(fd, vm->vcpus + done,
					   rec.nr_vcpus * sizeof(*vm->vcpus));
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
	};

	return vm->tsc.known ? write_record(fd, &rec, sizeof(rec)) : 0;
}

/* Writes the stream that kvm_vms__read() reads. 0 or -errno. */
int kvm_vms__write(const struct kvm_vms *vms, const char *path)
{
	const struct perf_record_guest_recording rec = {
		.header.type = PERF_RECORD_GUEST_RECORDING,
		.header.size = sizeof(rec),
		.flags = vms->per_task ? GUEST_RECORDING_PER_TASK : 0,
	};
	int fd, ret;

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;

	ret = perf_header__write_pipe(fd) < 0 ? -errno : 0;
	if (!ret)
		ret = write_record(fd, &rec, sizeof(rec));
	for (size_t i = 0; !ret && i < vms->nr; i++) {
		ret = kvm_vm__write(&vms->entries[i], fd);
		if (!ret)
			ret = kvm_vm__write_tsc(&vms->entries[i], fd);
	}
	if (!ret)
		ret = guest_stream__write_end(fd);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int kvm_vms__process_vm(struct kvm_vms *vms, const struct perf_record_guest_vm *rec)
{
	struct kvm_vm vm = { }, *known;
	size_t vcpus_size;

	if (rec->header.size < sizeof(*rec))
		return -EINVAL;
	vcpus_size = rec->header.size - sizeof(*rec);
	if (rec->nr_vcpus > vcpus_size / sizeof(*rec->vcpus))
		return -EINVAL;
	/* 0 and -1 are the default guest and the host among perf's machines. */
	if ((pid_t)rec->pid <= 0 || vms->nr >= KVM_VMS_MAX)
		return -EINVAL;
	vms->nr_vcpus += rec->nr_vcpus;
	if (vms->nr_vcpus > KVM_VCPUS_MAX)
		return -E2BIG;

	vm.pid = rec->pid;
	vm.nr_vcpus = rec->nr_vcpus;
	scnprintf(vm.name, sizeof(vm.name), "%.*s", (int)sizeof(rec->name) - 1, rec->name);
	sanitize_name(vm.name);
	if (vm.nr_vcpus) {
		vm.vcpus = memdup(rec->vcpus, vm.nr_vcpus * sizeof(*vm.vcpus));
		if (!vm.vcpus)
			return -ENOMEM;
	}
	known = kvm_vms__find_pid(vms, vm.pid);
	return known ? kvm_vm__merge(known, &vm) : kvm_vms__add(vms, &vm);
}

static int kvm_vms__process_tsc(struct kvm_vms *vms, const struct perf_record_guest_vm_tsc *rec)
{
	struct kvm_vm *vm;

	if (rec->header.size < sizeof(*rec))
		return -EINVAL;
	vm = kvm_vms__find_pid(vms, rec->pid);
	if (!vm)
		return -EINVAL;
	vm->tsc = (struct guest_tsc) {
		.known = true,
		.frac_bits = rec->frac_bits,
		.offset = rec->offset,
		.ratio = rec->ratio,
	};
	return 0;
}

static int kvm_vms__process(const union perf_event *event, void *arg)
{
	const struct perf_record_guest_recording *recording = (const void *)event;
	struct kvm_vms *vms = arg;

	switch (event->header.type) {
	case PERF_RECORD_GUEST_RECORDING:
		if (event->header.size < sizeof(*recording))
			return -EINVAL;
		vms->per_task = recording->flags & GUEST_RECORDING_PER_TASK;
		return 0;
	case PERF_RECORD_GUEST_VM:
		return kvm_vms__process_vm(vms, (const void *)event);
	case PERF_RECORD_GUEST_VM_TSC:
		return kvm_vms__process_tsc(vms, (const void *)event);
	default:
		return 0;
	}
}

/*
 * Returns 0, -ENOENT if there is no such file, or another -errno with the rest
 * of a sentence about it in @err.
 */
int kvm_vms__read(struct kvm_vms *vms, const char *path, char *err, size_t errlen)
{
	return guest_stream__read_file(path, kvm_vms__process, vms, err, errlen);
}

void kvm_vms__exit(struct kvm_vms *vms)
{
	for (size_t i = 0; i < vms->nr; i++)
		zfree(&vms->entries[i].vcpus);
	zfree(&vms->entries);
	vms->nr = 0;
}
