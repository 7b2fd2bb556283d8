// SPDX-License-Identifier: GPL-2.0
/*
 * The VMs of this host: found by the file descriptors that KVM gives to any
 * VMM, whatever it is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <uapi/linux/kvm.h>
#include <api/fs/fs.h>

#include "kvm-unified/format/clock.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "proc-file.h"
#include "scan.h"

/* anon inode names: kvm_dev_ioctl_create_vm(), create_vcpu_fd() in virt/kvm */
#define KVM_VM_LINK		"anon_inode:kvm-vm"
#define KVM_VCPU_LINK		"anon_inode:kvm-vcpu:"

/* "-" and a descriptor of a VM, at the end of the name of one that is not alone in its process */
#define FD_NAME_LEN		5

/* The function in virt/kvm in which a halted vCPU's thread sleeps */
#define KVM_BLOCK_WCHAN		"kvm_vcpu_block"
/* Functions in which a frozen thread sleeps: kernel/signal.c (inlined, or not), and freezer.c */
static const char *const freezers[] = { "get_signal", "do_freezer_trap", "__refrigerator" };

/* Bytes of the option that @opts begins with: up to a comma, which ",," in it is not */
static size_t qemu_opt_len(const char *opts)
{
	size_t len = strcspn(opts, ",");

	while (opts[len] && opts[len + 1] == ',')
		len += 2 + strcspn(opts + len + 2, ",");
	return len;
}

/* The first @len bytes of @value, with each ",," as the comma that it stands for */
static void copy_qemu_value(char *name, size_t size, const char *value, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < len && at < size - 1; i++) {
		name[at++] = value[i];
		if (value[i] == ',')
			i++;
	}
	name[at] = '\0';
}

/* The value of @key in "@key=value,..." or NULL */
static const char *qemu_opt_value(const char *opts, const char *key, size_t *len)
{
	size_t key_len = strlen(key);

	while (*opts) {
		size_t opt_len = qemu_opt_len(opts);

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
 *	"-name guest=NAME,..." or "-name NAME,...", in which ",," is a comma of the name,
 *	Firecracker's "--id NAME"
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
				value_len = qemu_opt_len(next);
				if (memchr(value, '=', value_len))
					continue;
			}
			copy_qemu_value(name, size, value, value_len);
			break;
		}
		if (!strcmp(arg, "--id")) {
			scnprintf(name, size, "%s", next);
			break;
		}
	}
	kvm_vm__sanitize_name(name);
}

/**
 * struct vm_dir - what KVM's debugfs has of a VM
 * @maker: @fd: its name: the thread that has made the VM, which may be gone and its number
 *	another's, and the descriptor that it got, of which there may only be a duplicate now
 * @process: that has the VM; 0 if that is not known
 */
struct vm_dir {
	pid_t	maker;
	int	fd;
	pid_t	process;
};

/**
 * struct vm_scan - where vm__scan() looks, and what for
 * @flag: GUEST_VCPU_AT_*, or 0
 * @dirs: all that KVM's debugfs has
 */
struct vm_scan {
	const char *proc;
	const char *debugfs;
	u32	flag;
	struct vm_dir *dirs;
	u32	nr_dirs;
	u32	allocated;
};

/* A number from one of KVM's debugfs files of a vCPU. 0 or -errno */
static int vcpu_number(const struct vm_scan *scan, const struct vm_dir *dir, u32 id,
		       const char *file, u64 *n)
{
	char path[PATH_MAX], *text = NULL;
	size_t len;
	int ret;

	scnprintf(path, sizeof(path), "%s/kvm/%d-%d/vcpu%u/%s", scan->debugfs, dir->maker,
		  dir->fd, id, file);
	ret = filename__read_str(path, &text, &len);
	if (ret)
		return ret;
	/* An offset has a sign. */
	*n = text[0] == '-' ? (u64)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	free(text);
	return 0;
}

/*
 * The thread that ran the vCPU last, from KVM's debugfs files, or 0: without
 * them it becomes known with the vCPU's first sample.
 */
static u32 vcpu_tid(const struct vm_scan *scan, const struct vm_dir *dir, u32 id)
{
	u64 tid;

	return vcpu_number(scan, dir, id, "pid", &tid) ? 0 : tid;
}

/* Is the thread of a vCPU there? One that was unplugged has none, and KVM keeps it. */
static bool has_thread(const char *proc, pid_t pid, u32 tid)
{
	char path[PATH_MAX];

	scnprintf(path, sizeof(path), "%s/%d/task/%u", proc, pid, tid);
	return !access(path, F_OK) || errno != ENOENT;
}

/* Reads what KVM makes of the TSC for a vCPU: it has files for scaling only if it can scale. */
static void vcpu_tsc(const struct vm_scan *scan, const struct vm_dir *dir, u32 id,
		     struct guest_tsc *tsc)
{
	u64 frac_bits = 0;

	*tsc = (struct guest_tsc) { };
	if (vcpu_number(scan, dir, id, "tsc-offset", &tsc->offset))
		return;
	if (!vcpu_number(scan, dir, id, "tsc-scaling-ratio", &tsc->ratio) &&
	    vcpu_number(scan, dir, id, "tsc-scaling-ratio-frac-bits", &frac_bits))
		return;
	tsc->frac_bits = frac_bits;
	tsc->known = true;
}

/* Takes the TSC that all vCPUs have, or none: a guest whose CPUs differ does not use it either. */
static void vm__scan_tsc(struct kvm_vm *vm, const struct vm_scan *scan, const struct vm_dir *dir)
{
	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		struct guest_tsc tsc;

		vcpu_tsc(scan, dir, vm->vcpus[i].id, &tsc);
		if (!i)
			vm->tsc = tsc;
		else if (!guest_tsc__same(&tsc, &vm->tsc))
			vm->tsc.known = false;
	}
}

/* Does the vCPU's thread sleep in a function of the kernel whose name begins with @function? */
static bool vcpu_sleeps_in(const char *proc, pid_t pid, u32 tid, const char *function)
{
	char path[PATH_MAX], *wchan = NULL;
	bool sleeps;
	size_t len;

	scnprintf(path, sizeof(path), "%s/%d/task/%u/wchan", proc, pid, tid);
	if (!tid || filename__read_str(path, &wchan, &len))
		return false;
	sleeps = len >= strlen(function) && !strncmp(wchan, function, strlen(function));
	free(wchan);
	return sleeps;
}

/* Does it wait in KVM for an event, such as the end of a halt? */
static bool vcpu_is_halted(const char *proc, pid_t pid, u32 tid)
{
	return vcpu_sleeps_in(proc, pid, tid, KVM_BLOCK_WCHAN);
}

/* Has a signal, a tracer or the freezer of its cgroup stopped the thread? */
static bool vcpu_is_stopped(const char *proc, pid_t pid, u32 tid)
{
	char name[32], *stat, *state;
	bool stopped = false;
	size_t len;

	scnprintf(name, sizeof(name), "task/%u/stat", tid);
	stat = read_proc_file(proc, pid, name, &len);
	/* "pid (comm) state ...": proc(5). The comm may be anything. */
	state = stat ? strrchr(stat, ')') : NULL;
	if (state && state[1])
		stopped = state[2] == 'T' || state[2] == 't';
	free(stat);
	for (size_t i = 0; !stopped && i < ARRAY_SIZE(freezers); i++)
		stopped = vcpu_sleeps_in(proc, pid, tid, freezers[i]);
	return stopped;
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
	if (vcpu_is_stopped(proc, pid, tid))
		return GUEST_VCPU_END_STOPPED;

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

static bool is_forbidden(int err)
{
	return err == EACCES || err == EPERM;
}

/* Kernel threads have no command line, which everyone may read, and are no VMM. */
static bool may_be_vmm(const char *proc, pid_t pid)
{
	size_t len;
	char *cmdline = read_proc_file(proc, pid, "cmdline", &len);
	bool may_be = !cmdline || len;

	free(cmdline);
	return may_be;
}

/**
 * struct process_fds - what a process has of KVM
 * @vm_fds: descriptors of VMs
 * @vcpus: of all of them, each number once
 * @dirs: of the VMs, if debugfs has them
 */
struct process_fds {
	int	*vm_fds;
	u32	nr;
	u32	allocated;
	struct guest_vcpu *vcpus;
	u32	nr_vcpus;
	u32	allocated_vcpus;
	const struct vm_dir **dirs;
	u32	nr_dirs;
	u32	allocated_dirs;
};

static void process_fds__exit(struct process_fds *fds)
{
	zfree(&fds->vm_fds);
	zfree(&fds->vcpus);
	zfree(&fds->dirs);
}

/* One of a process's descriptors, by what it links to. 0 or -ENOMEM */
static int process_fds__add(struct process_fds *fds, int fd, const char *target)
{
	u32 id;

	if (!strcmp(target, KVM_VM_LINK)) {
		if (grow_array(fds->vm_fds, fds->nr, fds->allocated))
			return -ENOMEM;
		fds->vm_fds[fds->nr++] = fd;
		return 0;
	}
	if (strncmp(target, KVM_VCPU_LINK, strlen(KVM_VCPU_LINK)))
		return 0;
	id = strtoul(target + strlen(KVM_VCPU_LINK), NULL, 10);
	for (u32 i = 0; i < fds->nr_vcpus; i++) {
		/* A duplicate of the descriptor, or another VM's: debugfs tells. */
		if (fds->vcpus[i].id == id)
			return 0;
	}
	if (grow_array(fds->vcpus, fds->nr_vcpus, fds->allocated_vcpus))
		return -ENOMEM;
	fds->vcpus[fds->nr_vcpus++] = (struct guest_vcpu) { .id = id };
	return 0;
}

/* 0, -ENOMEM, or -EACCES: it may not be looked at */
static int process_fds__scan(struct process_fds *fds, const char *proc, pid_t pid)
{
	char path[PATH_MAX], target[64];
	struct dirent *ent;
	int ret = 0;
	DIR *dir;

	scnprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	dir = opendir(path);
	if (!dir)
		return is_forbidden(errno) ? -EACCES : 0;

	while (ret != -ENOMEM && (ent = readdir(dir))) {
		ssize_t n;

		n = readlinkat(dirfd(dir), ent->d_name, target, sizeof(target) - 1);
		if (n < 0) {
			if (is_forbidden(errno))
				ret = -EACCES;
			continue;
		}
		target[n] = '\0';
		if (process_fds__add(fds, atoi(ent->d_name), target))
			ret = -ENOMEM;
	}
	closedir(dir);
	return ret;
}

/* The process that @tid is a thread of; 0: there is none, or it may not be looked at */
static pid_t process_of(const char *proc, pid_t tid)
{
	static const char key[] = "\nTgid:";
	size_t len;
	char *status = read_proc_file(proc, tid, "status", &len);
	/* A name before it has its newlines as "\n". */
	const char *line = status ? strstr(status, key) : NULL;
	pid_t process = line ? atoi(line + strlen(key)) : 0;

	free(status);
	return process;
}

/* Has @pid anything of a VM? So may one that may not be looked at. */
static bool may_have_vm(const struct vm_scan *scan, pid_t pid, int vm_fd)
{
	char path[PATH_MAX], target[sizeof(KVM_VM_LINK)];
	struct process_fds fds = { };
	ssize_t n;
	bool may_have;
	int ret;

	scnprintf(path, sizeof(path), "%s/%d/fd/%d", scan->proc, pid, vm_fd);
	n = readlink(path, target, sizeof(target));
	if (n == strlen(KVM_VM_LINK) && !strncmp(target, KVM_VM_LINK, n))
		return true;
	ret = process_fds__scan(&fds, scan->proc, pid);
	may_have = ret == -EACCES || fds.nr || fds.nr_vcpus;
	process_fds__exit(&fds);
	return may_have;
}

/*
 * The process that has the VM of @dir: a vCPU's thread is of it, as KVM_RUN is refused
 * elsewhere. As long as none has run, the thread that has made the VM tells, if it is there.
 */
static pid_t vm_dir__find_process(const struct vm_dir *dir, const struct vm_scan *scan)
{
	char path[PATH_MAX], end;
	pid_t process = 0;
	struct dirent *ent;
	DIR *vm;
	u32 id;

	scnprintf(path, sizeof(path), "%s/kvm/%d-%d", scan->debugfs, dir->maker, dir->fd);
	vm = opendir(path);
	if (!vm)
		return 0;
	while (!process && (ent = readdir(vm))) {
		u32 tid;

		if (sscanf(ent->d_name, "vcpu%u%c", &id, &end) != 1)
			continue;
		tid = vcpu_tid(scan, dir, id);
		process = tid ? process_of(scan->proc, tid) : 0;
		/* The number of a thread that has ended may be another's. */
		if (process && !may_have_vm(scan, process, dir->fd))
			process = 0;
	}
	closedir(vm);
	if (process)
		return process;
	process = process_of(scan->proc, dir->maker);
	return process && may_have_vm(scan, process, dir->fd) ? process : 0;
}

/* All that KVM's debugfs has. 0 or -errno */
static int vm_scan__read_dirs(struct vm_scan *scan)
{
	char path[PATH_MAX];
	struct dirent *ent;
	int ret = 0;
	DIR *kvm;

	scnprintf(path, sizeof(path), "%s/kvm", scan->debugfs);
	kvm = opendir(path);
	if (!kvm)
		return errno == ENOENT ? 0 : -errno;
	while (!ret && (ent = readdir(kvm))) {
		struct vm_dir dir = { };

		/* kvm_create_vm_debugfs() in virt/kvm */
		if (sscanf(ent->d_name, "%d-%d", &dir.maker, &dir.fd) != 2 || dir.maker <= 0)
			continue;
		dir.process = vm_dir__find_process(&dir, scan);
		if (grow_array(scan->dirs, scan->nr_dirs, scan->allocated))
			ret = -ENOMEM;
		else
			scan->dirs[scan->nr_dirs++] = dir;
	}
	closedir(kvm);
	return ret;
}

static bool process_fds__have_vm(const struct process_fds *fds, int vm_fd)
{
	for (u32 i = 0; i < fds->nr; i++) {
		if (fds->vm_fds[i] == vm_fd)
			return true;
	}
	return false;
}

/* Finds the directories of the VMs that @pid has now. 0 or -ENOMEM */
static int process_fds__find_dirs(struct process_fds *fds, pid_t pid, const struct vm_scan *scan)
{
	u32 nr_named = 0;

	for (u32 i = 0; i < scan->nr_dirs; i++)
		nr_named += scan->dirs[i].process == pid &&
			    process_fds__have_vm(fds, scan->dirs[i].fd);
	for (u32 i = 0; i < scan->nr_dirs; i++) {
		const struct vm_dir *dir = &scan->dirs[i];

		if (dir->process != pid)
			continue;
		/*
		 * It belongs to a VM that has ended here, or whose descriptor no directory names.
		 */
		if (!process_fds__have_vm(fds, dir->fd) && nr_named >= fds->nr)
			continue;
		if (grow_array(fds->dirs, fds->nr_dirs, fds->allocated_dirs))
			return -ENOMEM;
		fds->dirs[fds->nr_dirs++] = dir;
	}
	return 0;
}

/*
 * Has the process nothing but copies, by fork(), of descriptors of others' VMs? KVM_RUN is
 * refused there. Not known without debugfs, nor as long as it has a VM of which it is not
 * known whose it is
 */
static bool process_fds__are_copies(const struct process_fds *fds, const struct vm_scan *scan)
{
	if (fds->nr_dirs || !scan->nr_dirs)
		return false;
	for (u32 i = 0; i < scan->nr_dirs; i++) {
		const struct vm_dir *dir = &scan->dirs[i];

		if (!dir->process && process_fds__have_vm(fds, dir->fd))
			return false;
	}
	return true;
}

/* Has each of the VMs a number of its own? Two threads may get one, if a duplicate is kept. */
static bool process_fds__are_distinct(const struct process_fds *fds)
{
	for (u32 i = 0; i < fds->nr_dirs; i++) {
		for (u32 j = 0; j < i; j++) {
			if (fds->dirs[i]->fd == fds->dirs[j]->fd)
				return false;
		}
	}
	return true;
}

/* The vCPUs that KVM's debugfs has for the VM. 0, -ENOENT or -ENOMEM */
static int vm__scan_debugfs(struct kvm_vm *vm, const struct vm_scan *scan,
			    const struct vm_dir *vm_dir)
{
	u32 allocated = 0, id;
	char path[PATH_MAX], end;
	struct dirent *ent;
	int ret = 0;
	DIR *dir;

	scnprintf(path, sizeof(path), "%s/kvm/%d-%d", scan->debugfs, vm_dir->maker, vm_dir->fd);
	dir = opendir(path);
	if (!dir)
		return -ENOENT;
	while (!ret && (ent = readdir(dir))) {
		if (sscanf(ent->d_name, "vcpu%u%c", &id, &end) != 1)
			continue;
		if (grow_array(vm->vcpus, vm->nr_vcpus, allocated))
			ret = -ENOMEM;
		else
			vm->vcpus[vm->nr_vcpus++] = (struct guest_vcpu) { .id = id };
	}
	closedir(dir);
	return ret;
}

/* As the VMM calls it; with its descriptor, if there are others. Nothing if it cannot be known */
static void vm__find_name(struct kvm_vm *vm, const char *proc)
{
	pid_t vmm = kvm_vm__vmm(vm);
	size_t len;
	char *cmdline = read_proc_file(proc, vmm, "cmdline", &len);

	if (!cmdline)
		return;
	kvm_vm__name_from_cmdline(cmdline, len, vm->name, sizeof(vm->name));
	free(cmdline);
	if (!kvm_vm__shares_process(vm))
		return;
	if (!vm->name[0])
		scnprintf(vm->name, sizeof(vm->name), "vm-%d", vmm);
	len = strnlen(vm->name, sizeof(vm->name) - FD_NAME_LEN);
	scnprintf(vm->name + len, sizeof(vm->name) - len, "-%d", vm->fd);
}

/*
 * Takes over @vm, of which it is known which vCPUs it has; @dir: NULL if it is not known.
 * 0 or -ENOMEM
 */
static int vm__add(struct kvm_vms *vms, struct kvm_vm *vm, const struct vm_scan *scan,
		   const struct vm_dir *dir)
{
	pid_t pid = kvm_vm__vmm(vm);

	for (u32 i = 0; i < vm->nr_vcpus; i++) {
		struct guest_vcpu *vcpu = &vm->vcpus[i];

		vcpu->tid = dir ? vcpu_tid(scan, dir, vcpu->id) : 0;
		if (vcpu->tid && !has_thread(scan->proc, pid, vcpu->tid))
			continue;
		vcpu->flags = scan->flag;
		if (scan->flag == GUEST_VCPU_AT_START &&
		    vcpu_is_halted(scan->proc, pid, vcpu->tid))
			vcpu->flags |= GUEST_VCPU_HALTED;
		if (scan->flag == GUEST_VCPU_AT_END)
			vcpu->flags |= kvm_vcpu__end_flag(scan->proc, pid, vcpu->tid);
	}
	if (dir)
		vm__scan_tsc(vm, scan, dir);

	/* One that is known has its name. */
	if (!kvm_vms__find_pid(vms, vm->pid))
		vm__find_name(vm, scan->proc);
	return kvm_vms__add(vms, vm);
}

/* The VMs of a process that has several. 0 or -ENOMEM */
static int vms__scan_several(struct kvm_vms *vms, const struct process_fds *fds, pid_t pid,
			     const struct vm_scan *scan)
{
	int ret = 0;

	for (u32 i = 0; !ret && i < fds->nr_dirs; i++) {
		const struct vm_dir *dir = fds->dirs[i];
		struct kvm_vm vm = { .fd = dir->fd };

		vm.pid = kvm_vms__choose_key(vms, pid, vm.fd, /*alone=*/false);
		ret = vm__scan_debugfs(&vm, scan, dir);
		if (!ret)
			ret = vm__add(vms, &vm, scan, dir);
		else
			zfree(&vm.vcpus);
		/* It is gone. */
		if (ret == -ENOENT)
			ret = 0;
	}
	return ret;
}

/* The VM of a process that has one, or of which it is not known that it has several */
static int vms__scan_one(struct kvm_vms *vms, struct process_fds *fds, pid_t pid,
			 const struct vm_scan *scan)
{
	const struct vm_dir *dir = fds->nr_dirs == 1 ? fds->dirs[0] : NULL;
	struct kvm_vm vm = {
		.fd = dir ? dir->fd : fds->vm_fds[fds->nr - 1],
		.nr_vcpus = fds->nr_vcpus,
		.vcpus = fds->vcpus,
	};

	fds->vcpus = NULL;
	vm.pid = kvm_vms__choose_key(vms, pid, vm.fd, /*alone=*/true);
	return vm__add(vms, &vm, scan, dir);
}

static int vm__scan(struct kvm_vms *vms, pid_t pid, const struct vm_scan *scan)
{
	struct process_fds fds = { };
	int ret;

	ret = process_fds__scan(&fds, scan->proc, pid);
	if (!ret && fds.nr)
		ret = process_fds__find_dirs(&fds, pid, scan);
	if (ret == -EACCES) {
		vms->nr_closed += may_be_vmm(scan->proc, pid);
		ret = 0;
	} else if (!ret && fds.nr && !process_fds__are_copies(&fds, scan)) {
		ret = fds.nr_dirs > 1 && process_fds__are_distinct(&fds) ?
		      vms__scan_several(vms, &fds, pid, scan) :
		      vms__scan_one(vms, &fds, pid, scan);
	}
	process_fds__exit(&fds);
	return ret;
}

/**
 * kvm_vms__scan - add the VMs that run now to those in @vms
 * @proc: where procfs is mounted
 * @debugfs: where debugfs is mounted
 * @flag: GUEST_VCPU_AT_*, for the vCPUs that there are
 *
 * Processes that go away while they are looked at are not VMs any more; of those that may
 * not be looked at, it is known that they are there: see kvm_vms__unseen(). 0 or -errno.
 */
int kvm_vms__scan(struct kvm_vms *vms, const char *proc, const char *debugfs, u32 flag)
{
	struct vm_scan scan = { .proc = proc, .debugfs = debugfs, .flag = flag };
	char path[PATH_MAX];
	struct dirent *ent;
	struct stat st;
	int ret;
	DIR *dir;

	dir = opendir(proc);
	if (!dir)
		return -errno;

	/* Whatever of debugfs cannot be read is not known. */
	ret = vm_scan__read_dirs(&scan);
	if (ret != -ENOMEM)
		ret = 0;

	/* There is always a pid 1. */
	scnprintf(path, sizeof(path), "%s/1", proc);
	vms->hidden = stat(path, &st) && errno == ENOENT;
	vms->nr_closed = 0;
	while (!ret && (ent = readdir(dir))) {
		char *end;
		long pid = strtol(ent->d_name, &end, 10);

		if (*end || pid <= 0)
			continue;
		ret = vm__scan(vms, pid, &scan);
	}
	closedir(dir);
	free(scan.dirs);
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
	struct vm_scan scan = { .proc = proc, .debugfs = debugfs };
	struct hashmap *seen;
	int ret;

	ret = vm_scan__read_dirs(&scan);
	/* A process that runs many VMs is looked at once. */
	seen = number_map__new();
	if (!seen)
		ret = -ENOMEM;
	for (u32 i = 0; !ret && i < scan.nr_dirs; i++) {
		long pid = scan.dirs[i].process;

		if (pid && !hashmap__find(seen, pid, NULL))
			ret = hashmap__add(seen, pid, 0L) ?: vm__scan(vms, pid, &scan);
	}
	hashmap__free(seen);
	free(scan.dirs);
	return ret;
}
