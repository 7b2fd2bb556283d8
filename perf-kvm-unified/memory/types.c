// SPDX-License-Identifier: GPL-2.0
/*
 * A guest kernel's type information (BTF), which is in its image. libbpf takes care that it is
 * well formed.
 */
#include <errno.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/types.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#endif

#include "kvm-unified/collector/layout.h"
#include "kvm-unified/lib/errors.h"
#include "offsets.h"
#include "types.h"

#ifdef HAVE_LIBBPF_SUPPORT

/**
 * guest_types__read - find out where members are in a kernel's structs
 * @raw: @len: its type information, as it has it in memory
 * @layout: @offsets: the result
 * @err: on error, what is the matter
 *
 * Return: 0; -EPROTO: it is corrupt, or of an unknown kernel
 */
int guest_types__read(const void *raw, size_t len, struct guest_task_layout *layout,
		      struct guest_offsets *offsets, char *err, size_t errlen)
{
	const char *missing = "";
	struct btf *btf;
	int ret;

	btf = btf__new(raw, len);
	if (!btf || IS_ERR(btf))
		return fail(err, errlen, -EPROTO, "its kernel's type information is corrupt");
	ret = guest_task_layout__from_btf(layout, btf, &missing);
	if (!ret)
		ret = guest_offsets__from_btf(offsets, btf, &missing);
	btf__free(btf);
	if (ret)
		return fail(err, errlen, -EPROTO,
			    "its kernel's type information has no %s of the known form: this kernel is not supported",
			    missing);
	return 0;
}

#else

int guest_types__read(const void *raw __maybe_unused, size_t len __maybe_unused,
		      struct guest_task_layout *layout __maybe_unused,
		      struct guest_offsets *offsets __maybe_unused, char *err, size_t errlen)
{
	return fail(err, errlen, -EOPNOTSUPP, "reading a guest's memory needs a perf with libbpf");
}

#endif
