// SPDX-License-Identifier: GPL-2.0
/*
 * Why the kernel refuses a BPF program.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <api/fs/fs.h>

#include "bpf.h"
#include "errors.h"

/* A program may not read the kernel's memory then, and the kernel calls it invalid. */
static bool kernel_is_locked_down(void)
{
	char *levels;
	size_t size;
	bool locked;

	if (sysfs__read_str("kernel/security/lockdown", &levels, &size))
		return false;
	locked = memmem(levels, size, "[confidentiality]", strlen("[confidentiality]"));
	free(levels);
	return locked;
}

/**
 * bpf__explain_refusal - write to @err, in the rest of a sentence, why a program is refused
 * @ret: -errno of the kernel's refusal
 * @what: the program, or programs
 * @rights: what loads it, if not root
 * @needs: what the program needs of the kernel
 *
 * @ret
 */
int bpf__explain_refusal(int ret, const char *what, const char *rights, const char *needs,
			 char *err, size_t errlen)
{
	if (kernel_is_locked_down())
		return fail(err, errlen, ret,
			    "the kernel is locked down (confidentiality), and lets no BPF program read its memory");
	if (ret == -EPERM || ret == -EACCES)
		return fail(err, errlen, ret, "it takes root, or %s", rights);
	return fail(err, errlen, ret, "the kernel does not take %s (%s): it needs %s", what,
		    strerror(-ret), needs);
}
