// SPDX-License-Identifier: GPL-2.0
/*
 * A map of a guest, made by hand on its host: nothing runs in the guest, which is looked at.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <api/fs/fs.h>

#include "util/debug.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/map-output.h"
#include "kvm-unified/memory/looker.h"
#include "environment.h"
#include "guest-memory.h"
#include "host-map.h"
#include "scan.h"

/* NULL, after a message */
static const struct kvm_vm *find_vm(struct kvm_vms *vms, const char *name)
{
	const char *proc = procfs__mountpoint() ?: "/proc";
	const char *debugfs = debugfs__mountpoint() ?: "/sys/kernel/debug";
	const struct kvm_vm *vm;
	int ret;

	if (check_pid_namespace(proc))
		return NULL;
	ret = kvm_vms__scan(vms, proc, debugfs, 0);
	if (ret) {
		pr_err("Cannot look for VMs: %s\n", strerror(-ret));
		return NULL;
	}
	vm = kvm_vms__find_short(vms, name);
	if (!vm)
		kvm_vms__pr_no_such(vms, "host", name);
	return vm;
}

/* 0, or -errno with the rest of a sentence in @err */
static int look(struct looker *looker, struct kvm_reader *reader, const struct kvm_vm *vm,
		char *err, size_t errlen)
{
	int ret;

	/* KVM's memory slots are found by process. */
	if (kvm_vm__shares_process(vm))
		return fail(err, errlen, -ENOTSUP, "its process runs several VMs");
	ret = looker__start(looker, reader, vm->pid, &vm->tsc, /*late=*/false, LOOK_CPU_SECONDS,
			    err, errlen);

	if (!ret)
		ret = looker__find_kernel(looker, err, errlen);
	return ret ?: looker__all(looker, err, errlen);
}

/* 0 or -errno, after a message */
static int write_map(struct looker *looker, const char *name, const char *output)
{
	bool created;
	char err[256];
	int fd, ret;

	fd = map_output__open(output, &created);
	if (fd < 0)
		return -EIO;
	ret = looker__write(looker, fd, /*orc=*/true, err, sizeof(err));
	if (close(fd) && !ret) {
		ret = -errno;
		scnprintf(err, sizeof(err), "%s", strerror(-ret));
	}
	if (ret) {
		pr_err("No map of %s: %s\n", name, err);
		if (created)
			unlink(output);
	}
	return ret;
}

/**
 * host_map__write - write a map of a VM's guest, out of its memory
 * @vm: the VM's name, or the pid of its VMM
 * @output: the path, or "-"
 *
 * 0 or -errno, after a message
 */
int host_map__write(const char *vm, const char *output)
{
	struct looker looker = { .mem.pagemap = -1 };
	struct kvm_reader *reader;
	struct kvm_vms vms = { };
	const struct kvm_vm *found;
	char err[256];
	int ret;

	/* Before the VMs: who may not do this sees none. */
	reader = kvm_reader__new(err, sizeof(err));
	if (!reader) {
		pr_err("The memory of guests cannot be read: %s\n", err);
		return -EPERM;
	}
	found = find_vm(&vms, vm);
	if (!found) {
		ret = -ENOENT;
		goto out;
	}
	ret = look(&looker, reader, found, err, sizeof(err));
	if (ret)
		pr_err("No map of %s: %s\n", found->name, err);
	else
		ret = write_map(&looker, found->name, output);
	if (!ret)
		looker__say(&looker, found->name);
	looker__end(&looker);
out:
	kvm_reader__delete(reader);
	kvm_vms__exit(&vms);
	return ret;
}
