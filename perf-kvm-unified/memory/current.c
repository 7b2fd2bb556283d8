// SPDX-License-Identifier: GPL-2.0
/*
 * Where a guest's kernel has the task that runs on each of its CPUs. What it points to is left to
 * whoever looks while the guest runs.
 */
#include <errno.h>
#include <linux/types.h>

#include "kvm-unified/collector/layout.h"
#include "current.h"
#include "kernel.h"
#include "offsets.h"

/**
 * struct per_cpu_symbols - of variables that each CPU has
 * @areas: array of how far each CPU's variables are from their symbols, 0: there is one CPU
 * @current_task: the pointer's
 * @cpu: struct cpuinfo_x86
 */
struct per_cpu_symbols {
	u64	areas;
	u64	current_task;
	u64	cpu;
};

/* Finds the pointer, which is in a struct with others from 6.2 to 6.14. */
static u64 find_pointer(const struct guest_kernel *k)
{
	u64 hot = kernel_symbols__find(&k->symbols, "pcpu_hot");

	if (hot && k->offsets.hot_current != GUEST_NO_MEMBER)
		return hot + k->offsets.hot_current;
	return kernel_symbols__find(&k->symbols, "current_task");
}

static void find_symbols(struct per_cpu_symbols *symbols, const struct guest_kernel *k)
{
	symbols->areas = kernel_symbols__find(&k->symbols, "__per_cpu_offset");
	symbols->current_task = find_pointer(k);
	symbols->cpu = symbols->areas ? kernel_symbols__find(&k->symbols, "cpu_info") :
					kernel_symbols__find(&k->symbols, "boot_cpu_data");
}

/* How many CPUs the kernel has numbers for, not all of which need be there */
static u32 count_cpus(struct guest_kernel *k, const struct per_cpu_symbols *symbols)
{
	u64 at = kernel_symbols__find(&k->symbols, "nr_cpu_ids");
	u32 nr;

	if (!symbols->areas)
		return 1;
	/* Without the variable, it is the array's length, which is not known. */
	if (!at || guest_kernel__read_u32(k, at, &nr) || nr > GUEST_CURRENT_MAX_CPUS)
		return GUEST_CURRENT_MAX_CPUS;
	return nr;
}

/* 0, or as guest_kernel__read() */
static int read_apic_id(struct guest_kernel *k, u64 cpu, u32 *id)
{
	u16 narrow;
	int ret;

	if (k->offsets.cpu_apic_id != GUEST_NO_MEMBER)
		return guest_kernel__read_u32(k, cpu + k->offsets.cpu_apic_id, id);
	ret = guest_kernel__read(k, cpu + k->offsets.cpu_apic_id_u16, &narrow, sizeof(narrow));
	*id = narrow;
	return ret;
}

static bool is_known(const struct guest_current *current, u32 apic_id)
{
	for (u32 i = 0; i < current->nr_cpus; i++) {
		if (current->cpus[i].apic_id == apic_id)
			return true;
	}
	return false;
}

/* CPU @number. Its area is moved when it comes up; one that never did is called as the first is. */
static int add_cpu(struct guest_current *current, struct guest_kernel *k,
		   const struct per_cpu_symbols *symbols, u32 number)
{
	struct guest_current_cpu cpu;
	u64 area = 0;
	int ret = 0;

	if (symbols->areas)
		ret = guest_kernel__read_u64(k, symbols->areas + number * sizeof(area), &area);
	if (!ret)
		ret = read_apic_id(k, symbols->cpu + area, &cpu.apic_id);
	if (!ret)
		ret = guest_paging__translate(&k->paging, symbols->current_task + area, &cpu.gpa);
	if (!ret && cpu.gpa % sizeof(u64))
		ret = -EFAULT;
	if (!ret && !is_known(current, cpu.apic_id))
		current->cpus[current->nr_cpus++] = cpu;
	return ret;
}

/**
 * guest_current__find - find the pointers to the tasks that run
 * @k: was found
 *
 * Return: 0; -ENOENT: the kernel has no such symbols or members, or no CPU's can be read; -EDQUOT
 */
int guest_current__find(struct guest_current *current, struct guest_kernel *k)
{
	const struct guest_offsets *o = &k->offsets;
	struct per_cpu_symbols symbols;
	u32 nr;

	*current = (struct guest_current) {
		.page_offset = k->layout.page_offset,
		.task_mm = k->layout.task_mm,
		.task_ids = k->layout.task_pid,
		.task_comm = k->layout.task_comm,
		.mm_pgd = k->layout.mm_pgd,
	};
	find_symbols(&symbols, k);
	if (!symbols.current_task || !symbols.cpu ||
	    k->layout.task_tgid != k->layout.task_pid + sizeof(u32) ||
	    (o->cpu_apic_id == GUEST_NO_MEMBER && o->cpu_apic_id_u16 == GUEST_NO_MEMBER))
		return -ENOENT;
	nr = count_cpus(k, &symbols);
	for (u32 i = 0; i < nr; i++) {
		if (add_cpu(current, k, &symbols, i) == -EDQUOT)
			return -EDQUOT;
	}
	return current->nr_cpus ? 0 : -ENOENT;
}
