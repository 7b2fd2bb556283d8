// SPDX-License-Identifier: GPL-2.0
/*
 * The tables by which the guest's kernel and its modules are unwound, for callchains of its kernel.
 */
#include <errno.h>
#include <linux/types.h>
#include <perf/event.h>

#include "kvm-unified/collector/orc-table.h"
#include "kvm-unified/format/records.h"
#include "kernel.h"
#include "modules.h"
#include "orc.h"
#include "writer.h"

static int write_record(void *arg, struct perf_record_guest_orc *rec)
{
	struct guest_writer *w = arg;

	guest_writer__record(w, PERF_RECORD_GUEST_ORC, rec, rec->header.size);
	return w->ret;
}

/**
 * guest_orc__write - write them to a guest map
 * @modules: that there were at the last look
 *
 * What cannot be read is left out. Return: 0, -EDQUOT, -ENOMEM, or why nothing more is written
 */
int guest_orc__write(struct guest_writer *w, struct guest_kernel *k,
		     const struct guest_modules *modules)
{
	const struct kernel_symbols *s = &k->symbols;
	const struct orc_place kernel =
		orc_place__between(kernel_symbols__find(s, ORC_OFFSETS),
				   kernel_symbols__find(s, ORC_OFFSETS_END),
				   kernel_symbols__find(s, ORC_ENTRIES),
				   kernel_symbols__find(s, ORC_ENTRIES_END));
	enum guest_orc_layout layout = orc_layout(kernel_symbols__find(s, ORC_HEADER), k->release);
	struct guest_mem *mem = &k->paging.mem;
	int ret = orc_place__write(&kernel, mem, layout, write_record, w);

	for (size_t i = 0; !ret && i < modules->nr; i++) {
		const struct guest_module *module = &modules->entries[i];
		struct orc_place orc = module->orc;

		ret = orc_place__cut(&orc, mem, module->base, module->base + module->size);
		if (!ret)
			ret = orc_place__write(&orc, mem, layout, write_record, w);
		else if (ret != -EDQUOT && ret != -ENOMEM)
			ret = 0;
	}
	return ret;
}
