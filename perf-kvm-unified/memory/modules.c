// SPDX-License-Identifier: GPL-2.0
/*
 * Modules of the guest's kernel and BPF programs, with their symbols: two lists in its memory,
 * which change while they are read. An entry counts if it points back to the one before it.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/lib/array.h"
#include "modules.h"
#include "ram.h"

/* include/linux/module.h: MODULE_STATE_UNFORMED, which is not in its list yet */
#define STATE_UNFORMED		3

/* A distribution has 4,000; nobody loads all. */
#define MAX_MODULES		8192
#define MAX_BPF_SYMBOLS		65536
/* The largest modules have 20,000 symbols. */
#define MAX_MODULE_SYMBOLS	65536
#define MAX_MODULE_SIZE		(1ULL << 30)

/* All modules' symbols, in lines as in /proc/kallsyms, take at most so much. */
#define MAX_SYMBOLS_SIZE	(16U << 20)

#define SYMBOL_NAME		512

/* Pages of a module's tables, one at a time, as many of its strings are in one */
struct page_reader {
	struct guest_kernel *kernel;
	u64	va;
	char	page[GUEST_PAGE_SIZE];
};

static int read_byte(struct page_reader *r, u64 va, char *byte)
{
	u64 page = va & ~(GUEST_PAGE_SIZE - 1);

	if (r->va != page) {
		int ret = guest_kernel__read(r->kernel, page, r->page, sizeof(r->page));

		r->va = ret ? ~0ULL : page;
		if (ret)
			return ret;
	}
	*byte = r->page[va - page];
	return 0;
}

static int read_name(struct page_reader *r, u64 va, char *name, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int ret = read_byte(r, va + i, &name[i]);

		if (ret)
			return ret;
		if (!name[i])
			return 0;
		/* It is to become a word of a line. */
		if (!isgraph((unsigned char)name[i]))
			return -EAGAIN;
	}
	return -E2BIG;
}

static int add_line(struct guest_modules *modules, u64 addr, char type, const char *name,
		    const char *module)
{
	char line[SYMBOL_NAME + GUEST_MODULE_NAME + 32];
	int n = snprintf(line, sizeof(line), "%016" PRIx64 " %c %s\t[%s]\n", addr, type, name,
			 module);

	return guest_text__add(&modules->symbols, line, n);
}

static int read_symbol(struct guest_modules *modules, struct page_reader *r,
		       const struct guest_module *module, const Elf64_Sym *sym, u64 strings,
		       u64 type_at)
{
	char name[SYMBOL_NAME], type = 't';
	int ret;

	/* Data and numbers have no code; what is not in the module is not its. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_value < module->base ||
	    sym->st_value - module->base >= module->size)
		return 0;
	ret = read_name(r, strings + sym->st_name, name, sizeof(name));
	if (!ret && type_at)
		ret = guest_kernel__read(r->kernel, type_at, &type, 1);
	if (ret == -EDQUOT)
		return ret;
	if (ret || !name[0] || !isalpha((unsigned char)type))
		return 0;
	return add_line(modules, sym->st_value, type, name, module->name);
}

static int read_symbols(struct guest_modules *modules, struct guest_kernel *k, u64 at,
			const struct guest_module *module)
{
	const struct guest_offsets *o = &k->offsets;
	struct page_reader *r;
	u64 tables, symtab, strings, types = 0;
	int ret;
	u32 nr;

	ret = guest_kernel__read_u64(k, at + o->module_kallsyms, &tables);
	if (!ret)
		ret = guest_kernel__read_u64(k, tables + o->mod_kallsyms_symtab, &symtab);
	if (!ret)
		ret = guest_kernel__read_u64(k, tables + o->mod_kallsyms_strtab, &strings);
	if (!ret)
		ret = guest_kernel__read_u32(k, tables + o->mod_kallsyms_num, &nr);
	if (!ret && o->mod_kallsyms_types != GUEST_NO_MEMBER)
		ret = guest_kernel__read_u64(k, tables + o->mod_kallsyms_types, &types);
	if (ret || nr > MAX_MODULE_SYMBOLS)
		return ret == -EDQUOT ? ret : 0;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->kernel = k;
	r->va = ~0ULL;
	for (u32 i = 0; !ret && i < nr; i++) {
		Elf64_Sym sym;

		ret = guest_kernel__read(k, symtab + i * sizeof(sym), &sym, sizeof(sym));
		if (!ret)
			ret = read_symbol(modules, r, module, &sym, strings,
					  types ? types + i : 0);
	}
	free(r);
	return ret == -EDQUOT || ret == -ENOMEM ? ret : 0;
}

static bool is_build_id(const u8 *data)
{
	for (int i = 0; i < GUEST_BUILD_ID_MAX; i++) {
		if (data[i])
			return true;
	}
	return false;
}

/* Nothing if it has none, or none can be read: only callers are missing without it. 0 or -EDQUOT */
static int read_orc(struct guest_kernel *k, u64 at, struct orc_place *orc)
{
	const struct guest_offsets *o = &k->offsets;
	u64 offsets, entries;
	u32 nr;
	int ret;

	if (o->module_num_orcs == GUEST_NO_MEMBER || o->module_orc_offsets == GUEST_NO_MEMBER ||
	    o->module_orc_entries == GUEST_NO_MEMBER)
		return 0;
	ret = guest_kernel__read_u32(k, at + o->module_num_orcs, &nr);
	if (!ret)
		ret = guest_kernel__read_u64(k, at + o->module_orc_offsets, &offsets);
	if (!ret)
		ret = guest_kernel__read_u64(k, at + o->module_orc_entries, &entries);
	if (!ret)
		*orc = orc_place__of(offsets, entries, nr);
	return ret == -EDQUOT ? ret : 0;
}

static int read_module(struct guest_modules *modules, struct guest_kernel *k, u64 at)
{
	const struct guest_offsets *o = &k->offsets;
	struct guest_module module = { };
	u32 state, size;
	int ret;

	ret = guest_kernel__read_u32(k, at + o->module_state, &state);
	if (!ret)
		ret = guest_kernel__read(k, at + o->module_name, module.name, sizeof(module.name));
	if (!ret)
		ret = guest_kernel__read_u64(k, at + o->module_base, &module.base);
	if (!ret)
		ret = guest_kernel__read_u32(k, at + o->module_size, &size);
	if (!ret && o->module_build_id != GUEST_NO_MEMBER &&
	    !guest_kernel__read(k, at + o->module_build_id, module.build_id.data,
				GUEST_BUILD_ID_MAX) &&
	    is_build_id(module.build_id.data))
		module.build_id.size = GUEST_BUILD_ID_MAX;
	if (!ret)
		ret = read_orc(k, at, &module.orc);
	if (ret)
		return ret;
	module.size = size;
	for (size_t i = 0; i < sizeof(module.name) && module.name[i]; i++) {
		if (!isgraph((unsigned char)module.name[i]))
			return -EAGAIN;
	}
	if (module.name[sizeof(module.name) - 1] || !module.name[0] || !kernel_ptr(module.base))
		return -EAGAIN;
	if (state >= STATE_UNFORMED || !size)
		return 0;
	if (grow_array(modules->entries, modules->nr, modules->allocated))
		return -ENOMEM;
	modules->entries[modules->nr++] = module;
	return read_symbols(modules, k, at, &module);
}

static int read_bpf(struct guest_modules *modules, struct guest_kernel *k, u64 at)
{
	const struct guest_offsets *o = &k->offsets;
	char name[SYMBOL_NAME];
	u64 start;
	int ret;

	ret = guest_kernel__read_u64(k, at + o->bpf_ksym_start, &start);
	if (!ret)
		ret = guest_kernel__read_string(k, at + o->bpf_ksym_name, name,
						o->bpf_ksym_name_size);
	for (size_t i = 0; !ret && name[i]; i++)
		ret = isgraph((unsigned char)name[i]) ? 0 : -EAGAIN;
	if (ret || !name[0] || !start)
		return ret;
	return add_line(modules, start, 't', name, "bpf");
}

/*
 * Each entry of the list at @head, whose list_head is at @offset in it. What cannot be read ends
 * the list: what was before it stays. 0, or -EDQUOT, -ENOMEM
 */
static int read_list(struct guest_modules *modules, struct guest_kernel *k, u64 head, u32 offset,
		     u32 max, int (*read_one)(struct guest_modules *, struct guest_kernel *, u64))
{
	u64 links[2], before = head;
	int ret = guest_kernel__read(k, head, links, sizeof(links));

	for (u32 i = 0; !ret && links[0] != head && i < max; i++) {
		u64 node = links[0];

		if (!kernel_ptr(node))
			return 0;
		ret = guest_kernel__read(k, node, links, sizeof(links));
		if (!ret && links[1] != before)
			ret = -EAGAIN;
		if (!ret)
			ret = read_one(modules, k, node - offset);
		before = node;
	}
	if (ret == -EDQUOT || ret == -ENOMEM)
		return ret;
	if (ret)
		k->paging.ram->stats.torn++;
	return 0;
}

static bool knows_modules(const struct guest_offsets *o)
{
	return o->module_list != GUEST_NO_MEMBER && o->module_name != GUEST_NO_MEMBER &&
	       o->module_state != GUEST_NO_MEMBER && o->module_base != GUEST_NO_MEMBER &&
	       o->module_size != GUEST_NO_MEMBER && o->module_kallsyms != GUEST_NO_MEMBER &&
	       o->mod_kallsyms_symtab != GUEST_NO_MEMBER &&
	       o->mod_kallsyms_strtab != GUEST_NO_MEMBER &&
	       o->mod_kallsyms_num != GUEST_NO_MEMBER;
}

static bool knows_bpf(const struct guest_offsets *o)
{
	return o->bpf_ksym_node != GUEST_NO_MEMBER && o->bpf_ksym_start != GUEST_NO_MEMBER &&
	       o->bpf_ksym_name != GUEST_NO_MEMBER;
}

/**
 * guest_modules__read - list what the guest's kernel has loaded
 * @modules: overwritten; to be released with guest_modules__exit()
 *
 * Return: 0, -EDQUOT or -ENOMEM
 */
int guest_modules__read(struct guest_modules *modules, struct guest_kernel *k)
{
	u64 head = kernel_symbols__find(&k->symbols, "modules");
	u64 bpf = kernel_symbols__find(&k->symbols, "bpf_kallsyms");
	int ret = 0;

	guest_modules__exit(modules);
	modules->symbols.max = MAX_SYMBOLS_SIZE;
	if (head && knows_modules(&k->offsets))
		ret = read_list(modules, k, head, k->offsets.module_list, MAX_MODULES, read_module);
	if (!ret && bpf && knows_bpf(&k->offsets))
		ret = read_list(modules, k, bpf, k->offsets.bpf_ksym_node, MAX_BPF_SYMBOLS,
				read_bpf);
	k->paging.ram->stats.modules = modules->nr;
	return ret;
}

void guest_modules__exit(struct guest_modules *modules)
{
	zfree(&modules->entries);
	modules->nr = 0;
	modules->allocated = 0;
	guest_text__exit(&modules->symbols);
}
