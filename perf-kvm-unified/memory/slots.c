// SPDX-License-Identifier: GPL-2.0
/*
 * Where a guest's memory is in its VMM. No VMM need be asked, and none need know of this: KVM
 * keeps it in its memory slots, and a BPF program that goes over the VMM's files reads them there.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "kvm-unified/lib/bpf.h"
#include "kvm-unified/lib/errors.h"
#include "slots.h"

static int cmp_slots(const void *a, const void *b)
{
	const struct kvm_slot *l = a, *r = b;

	return l->gpa < r->gpa ? -1 : l->gpa > r->gpa;
}

static bool slot_makes_sense(const struct kvm_slot *slot)
{
	return slot->size && !(slot->gpa % GUEST_PAGE_SIZE) && !(slot->size % GUEST_PAGE_SIZE) &&
	       !(slot->hva % GUEST_PAGE_SIZE) && slot->gpa + slot->size > slot->gpa &&
	       slot->hva + slot->size > slot->hva;
}

/**
 * kvm_memory__set - put a guest's memory slots in order
 * @slots: @nr of them as KVM has them: no two of the same VM overlap
 *
 * What makes no sense is left out: it was read while it changed. 0 or -ENOMEM
 */
int kvm_memory__set(struct kvm_memory *mem, const struct kvm_slot *slots, size_t nr)
{
	size_t kept = 0;

	mem->slots = calloc(nr ?: 1, sizeof(*slots));
	if (!mem->slots)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (slot_makes_sense(&slots[i]))
			mem->slots[kept++] = slots[i];
	}
	qsort(mem->slots, kept, sizeof(*slots), cmp_slots);
	for (size_t i = 0; i < kept; i++) {
		const struct kvm_slot *slot = &mem->slots[i];

		if (slot->gpa < mem->max_gpa)
			continue;
		mem->max_gpa = slot->gpa + slot->size;
		if (slot->private)
			mem->private += slot->size;
		mem->slots[mem->nr_slots++] = *slot;
	}
	return 0;
}

/* The slot that has the guest's address @gpa, or NULL */
const struct kvm_slot *kvm_memory__find(const struct kvm_memory *mem, u64 gpa)
{
	size_t low = 0, high = mem->nr_slots;

	while (low < high) {
		size_t i = low + (high - low) / 2;
		const struct kvm_slot *slot = &mem->slots[i];

		if (gpa < slot->gpa)
			high = i;
		else if (gpa - slot->gpa >= slot->size)
			low = i + 1;
		else
			return slot;
	}
	return NULL;
}

void kvm_memory__exit(struct kvm_memory *mem)
{
	zfree(&mem->slots);
	zfree(&mem->roots);
	mem->nr_slots = 0;
	mem->nr_roots = 0;
}

#ifdef HAVE_BPF_SKEL

#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "util/debug.h"
#include "kvm-unified/memory/bpf_skel/kvm_slots.skel.h"

/* Slots change when a guest plugs memory, or its firmware sets up the chipset. */
#define READ_TRIES	8

struct kvm_reader {
	struct kvm_slots_bpf *skel;
};

/* Is this a host with AMD's SVM? */
bool cpu_has_svm(void)
{
	char *line = NULL;
	size_t size = 0;
	bool svm = false;
	FILE *file;

	file = fopen("/proc/cpuinfo", "r");
	if (!file)
		return false;
	while (getline(&line, &size, file) > 0) {
		if (strncmp(line, "flags", strlen("flags")))
			continue;
		svm = strstr(line, " svm ") || strstr(line, " svm\n");
		break;
	}
	free(line);
	fclose(file);
	return svm;
}

/* A process that is forked from here on has none of what the BPF program writes. */
static int keep_from_children(struct kvm_slots_bpf *skel)
{
	return madvise(skel->bss, sizeof(*skel->bss), MADV_DONTFORK) ? -errno : 0;
}

/* NULL, and in @err the rest of a sentence: why not */
struct kvm_reader *kvm_reader__new(char *err, size_t errlen)
{
	struct kvm_reader *reader = zalloc(sizeof(*reader));
	int ret;

	if (!reader) {
		fail(err, errlen, -ENOMEM, "out of memory");
		return NULL;
	}
	if (access(VMLINUX_BTF, R_OK)) {
		fail(err, errlen, -ENOENT,
		     "this host's kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
		goto out_free;
	}
	/* It prints the whole of a program that the kernel refuses. */
	if (!verbose)
		libbpf_set_print(NULL);
	reader->skel = kvm_slots_bpf__open();
	if (!reader->skel) {
		fail(err, errlen, -errno, "the BPF program cannot be opened: %s", strerror(errno));
		goto out_free;
	}
	reader->skel->rodata->is_svm = cpu_has_svm();
	ret = kvm_slots_bpf__load(reader->skel);
	if (ret) {
		bpf__explain_refusal(ret, "the BPF program that reads KVM's memory slots",
				     "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE",
				     "CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS", err, errlen);
		goto out_destroy;
	}
	ret = keep_from_children(reader->skel);
	if (ret) {
		fail(err, errlen, ret,
		     "what the BPF program writes cannot be kept from processes that perf starts: %s",
		     strerror(-ret));
		goto out_destroy;
	}
	return reader;

out_destroy:
	kvm_slots_bpf__destroy(reader->skel);
out_free:
	free(reader);
	return NULL;
}

/* Has the program go over the files of process @pid. 0 or -errno */
static int run(struct kvm_slots_bpf *skel, pid_t pid)
{
	/* Kernels before 6.0 do not know of it, and go over all processes. */
	union bpf_iter_link_info info = { .task.tid = pid };
	/* Not an initializer: libbpf refuses options whose padding is not zero. */
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link;
	char buf[64];
	ssize_t n;
	int fd, ret = 0;

	link = bpf_program__attach_iter(skel->progs.read_files, &opts);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		ret = -errno;
	} else {
		/* It has nothing to say: to read it is to run it. */
		do {
			n = read(fd, buf, sizeof(buf));
		} while (n > 0 || (n < 0 && errno == EAGAIN));
		if (n < 0)
			ret = -errno;
		close(fd);
	}
	bpf_link__destroy(link);
	return ret;
}

static int run_until_stable(struct kvm_slots_bpf *skel, pid_t pid)
{
	int ret = 0;

	for (int i = 0; !ret && i < READ_TRIES; i++) {
		memset(skel->bss, 0, sizeof(*skel->bss));
		skel->bss->vmm = pid;
		ret = run(skel, pid);
		if (!ret && !skel->bss->changed)
			return 0;
	}
	return ret ?: -EAGAIN;
}

/* 0, or -errno with the rest of a sentence */
static int check(const struct kvm_slots_bpf *skel, char *err, size_t errlen)
{
	if (skel->bss->unknown)
		return fail(err, errlen, -EOPNOTSUPP,
			    "this host's KVM keeps its memory slots in another way than Linux 5.17 and later do, or its module has no BTF");
	if (skel->bss->nr_vms > 1)
		return fail(err, errlen, -EOPNOTSUPP,
			    "its process has several VMs, which are not told apart");
	if (!skel->bss->nr_vms && skel->bss->nr_foreign)
		return fail(err, errlen, -ENOENT, "its memory is another process's");
	if (!skel->bss->nr_vms)
		return fail(err, errlen, -ESRCH, "it has no VM, or is not running any more");
	if (skel->bss->too_many)
		return fail(err, errlen, -E2BIG, "it has more memory slots or vCPUs than %u",
			    KVM_SLOTS_MAX);
	switch (skel->bss->confidential) {
	case KVM_NOT_CONFIDENTIAL:
		return 0;
	case KVM_IS_SEV:
		return fail(err, errlen, -EACCES,
			    "its memory is encrypted (AMD SEV): nobody but the guest can read it");
	case KVM_IS_TDX:
		return fail(err, errlen, -EACCES,
			    "it is a trust domain (Intel TDX): nobody but the guest can read its memory");
	default:
		return fail(err, errlen, -EACCES,
			    "its state is protected: nobody but the guest can read its memory");
	}
}

/* Each once: vCPUs that are idle have the same. 0 or -ENOMEM */
static int take_roots(struct kvm_memory *mem, const u64 *roots, size_t nr)
{
	mem->roots = calloc(nr ?: 1, sizeof(*roots));
	if (!mem->roots)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (k < mem->nr_roots && mem->roots[k] != roots[i])
			k++;
		if (k == mem->nr_roots)
			mem->roots[mem->nr_roots++] = roots[i];
	}
	return 0;
}

/**
 * kvm_reader__read - where the memory of a guest is
 * @pid: of its VMM
 * @mem: gets it, to be freed by kvm_memory__exit()
 *
 * 0, or -errno with, in @err, the rest of a sentence about the VM: why not
 */
int kvm_reader__read(struct kvm_reader *reader, pid_t pid, struct kvm_memory *mem,
		     char *err, size_t errlen)
{
	struct kvm_slots_bpf *skel = reader->skel;
	int ret;

	*mem = (struct kvm_memory) { .pid = pid };
	ret = run_until_stable(skel, pid);
	if (ret == -EAGAIN)
		return fail(err, errlen, ret, "its memory slots do not stop changing");
	if (ret)
		return fail(err, errlen, ret, "its memory slots cannot be read: %s",
			    strerror(-ret));
	ret = check(skel, err, errlen);
	if (ret)
		return ret;
	ret = kvm_memory__set(mem, skel->bss->slots, min(skel->bss->nr_slots, KVM_SLOTS_MAX));
	if (!ret)
		ret = take_roots(mem, skel->bss->roots, min(skel->bss->nr_roots, KVM_ROOTS_MAX));
	if (ret) {
		kvm_memory__exit(mem);
		return fail(err, errlen, ret, "out of memory");
	}
	if (mem->private)
		ret = fail(err, errlen, -EACCES,
			   "it has private memory (guest_memfd): nobody but the guest can read it");
	else if (!mem->nr_slots)
		ret = fail(err, errlen, -ENODATA, "it has no memory yet");
	if (ret)
		kvm_memory__exit(mem);
	return ret;
}

void kvm_reader__delete(struct kvm_reader *reader)
{
	if (!reader)
		return;
	kvm_slots_bpf__destroy(reader->skel);
	free(reader);
}

#else /* HAVE_BPF_SKEL */

struct kvm_reader *kvm_reader__new(char *err, size_t errlen)
{
	fail(err, errlen, -EOPNOTSUPP,
	     "this perf was built without BPF skeletons (BUILD_BPF_SKEL=1, which needs clang)");
	return NULL;
}

int kvm_reader__read(struct kvm_reader *reader __maybe_unused, pid_t pid __maybe_unused,
		     struct kvm_memory *mem __maybe_unused, char *err, size_t errlen)
{
	return fail(err, errlen, -EOPNOTSUPP, "this perf was built without BPF skeletons");
}

void kvm_reader__delete(struct kvm_reader *reader __maybe_unused)
{
}

#endif /* HAVE_BPF_SKEL */
