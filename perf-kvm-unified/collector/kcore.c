// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/kcore, an ELF file: memory of the running kernel, and where that maps physical
 * memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/types.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>
#ifdef HAVE_LIBELF_SUPPORT
#include <gelf.h>
#endif
#include <internal/lib.h>

#include "kvm-unified/lib/errors.h"
#include "kcore.h"

#ifdef HAVE_LIBELF_SUPPORT

/* One PT_LOAD of /proc/kcore */
struct kcore_load {
	u64	start;		/* virtual addresses [start, end) */
	u64	end;
	u64	offset;		/* of start in the file, fits off_t up to end */
	u64	paddr;		/* of start, UINT64_MAX: not linearly mapped */
};

static const struct kcore_load *kcore__find(const struct guest_kcore *k, u64 va)
{
	size_t i;

	for (i = 0; i < k->nr; i++) {
		if (va >= k->loads[i].start && va < k->loads[i].end)
			return &k->loads[i];
	}

	return NULL;
}

static int kcore__read(struct guest_mem *mem, u64 va, void *buf, size_t len)
{
	struct guest_kcore *k = container_of(mem, struct guest_kcore, mem);
	const struct kcore_load *load = kcore__find(k, va);

	if (!load || len > load->end - va)
		return -EFAULT;

	return preadn(k->fd, buf, len, load->offset + (va - load->start)) == (ssize_t)len ?
	       0 : -EFAULT;
}

void guest_kcore__close(struct guest_kcore *k)
{
	zfree(&k->loads);
	k->nr = 0;
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

/*
 * Take over the program headers that make sense: kernel addresses, file
 * offsets that pread() can take.
 */
static int kcore__parse(struct guest_kcore *k)
{
	Elf *elf = elf_begin(k->fd, ELF_C_READ, NULL);
	GElf_Ehdr ehdr;
	GElf_Phdr ph;
	size_t i, nr;
	int err = -ENOEXEC;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_machine != EM_X86_64 ||
	    ehdr.e_type != ET_CORE || elf_getphdrnum(elf, &nr))
		goto out;

	/* e_phnum has 16 bits, and the kernel has no use for the escape */
	if (!nr || nr > USHRT_MAX)
		goto out;

	k->loads = calloc(nr, sizeof(*k->loads));
	if (!k->loads) {
		err = -ENOMEM;
		goto out;
	}

	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &ph))
			goto out;
		if (ph.p_type != PT_LOAD || ph.p_vaddr >> 56 != 0xff || !ph.p_filesz ||
		    ph.p_filesz > UINT64_MAX - ph.p_vaddr || ph.p_offset > LLONG_MAX ||
		    ph.p_filesz > LLONG_MAX - ph.p_offset)
			continue;
		k->loads[k->nr++] = (struct kcore_load) {
			.start	= ph.p_vaddr,
			.end	= ph.p_vaddr + ph.p_filesz,
			.offset = ph.p_offset,
			.paddr	= ph.p_paddr,
		};
	}

	if (k->nr)
		err = 0;
out:
	elf_end(elf);
	return err;
}

/* Only the kernel's own word tells lockdown from a missing capability. */
static bool kernel_locked_down(void)
{
	char buf[64] = "";
	ssize_t n;
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	return n > 0 && strstr(buf, "[confidentiality]");
}

/**
 * guest_kcore__open - get at the memory of the running kernel
 * @k: to be closed if it could be opened
 * @err: on error, one sentence that tells the user what to do
 * @errlen: bytes at @err
 *
 * Return: 0 or -EOPNOTSUPP, -EPERM, -EACCES, -ENOENT, -ENOEXEC, -ENOMEM, see
 * guest_tasks__read()
 */
int guest_kcore__open(struct guest_kcore *k, char *err, size_t errlen)
{
	int ret;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return fail(err, errlen, -EOPNOTSUPP, "libelf is too old");

	*k = (struct guest_kcore) { .mem.read = kcore__read };
	k->fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (k->fd < 0) {
		ret = -errno;
		if (ret == -ENOENT)
			return fail(err, errlen, ret,
				    "the guest kernel has no /proc/kcore: it needs CONFIG_PROC_KCORE=y");
		if (ret == -EPERM && kernel_locked_down())
			return fail(err, errlen, ret,
				    "/proc/kcore: the guest kernel is locked down: boot it without lockdown=confidentiality");
		if (ret == -EPERM || ret == -EACCES)
			return fail(err, errlen, ret,
				    "/proc/kcore: not permitted: run this as root with CAP_SYS_RAWIO, outside of containers, in a guest without kernel lockdown");
		return fail(err, errlen, ret, "/proc/kcore: %s", strerror(-ret));
	}

	ret = kcore__parse(k);
	if (ret) {
		guest_kcore__close(k);
		return ret == -ENOMEM ? fail(err, errlen, ret, "out of memory") :
			fail(err, errlen, ret,
			     "/proc/kcore is not an x86-64 core file: is it hidden by a container runtime?");
	}

	return 0;
}

/**
 * guest_kcore__linear_offset - how far virtual addresses are above physical ones
 * @k: opened
 * @lo: where the linear map can begin that is asked for ...
 * @hi: ... at least and at most
 * @offset: result
 *
 * /proc/kcore tells it in p_paddr since 4.11.
 *
 * Return: 0, -ENODATA: it does not tell, -EBADMSG: it tells more than one
 */
int guest_kcore__linear_offset(const struct guest_kcore *k, u64 lo, u64 hi, u64 *offset)
{
	bool found = false;
	size_t i;

	for (i = 0; i < k->nr; i++) {
		const struct kcore_load *load = &k->loads[i];

		if (load->paddr == UINT64_MAX || load->start < lo || load->start > hi)
			continue;

		/* 0 for all is what the field had before 4.11 */
		if (!load->paddr)
			continue;

		if (found && load->start - load->paddr != *offset)
			return -EBADMSG;
		*offset = load->start - load->paddr;
		found = true;
	}

	return found ? 0 : -ENODATA;
}

#endif /* HAVE_LIBELF_SUPPORT */
