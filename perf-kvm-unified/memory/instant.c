// SPDX-License-Identifier: GPL-2.0
/*
 * What time it was in the guest when its kernel took down the time last, which it does at each
 * tick while any of its CPUs runs: a moment before now, and the TSC then. With the clock source
 * tsc it stands there; kvm-clock has a page in which the host tells how it is made of the TSC.
 */
#include <errno.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "kvm-unified/collector/guest-mem.h"
#include "instant.h"
#include "kernel.h"
#include "ram.h"

/* A writer is at it for a microsecond, unless its CPU is taken away. */
#define MAX_TRIES	16

#define NAME_SIZE	16

/* struct pvclock_vcpu_time_info: Documentation/virt/kvm/x86/msr.rst, MSR_KVM_SYSTEM_TIME_NEW */
struct pvclock {
	u32	version;
	u32	pad;
	u64	tsc;
	u64	time;
	u32	mul;
	s8	shift;
	u8	flags;
	u8	pad2[2];
};

/* The same on all CPUs */
#define PVCLOCK_TSC_STABLE	BIT(0)
#define PVCLOCK_MAX_SHIFT	31

/* The timekeeper, as far as it is needed */
struct timekeeper {
	u64	clock;
	u64	cycle_last;
	u64	xtime_nsec;
	u64	base;
	u64	offs_boot;
	u32	mult;
	u32	shift;
};

static int read_timekeeper(struct guest_kernel *k, u64 at, struct timekeeper *tk)
{
	const struct guest_offsets *o = &k->offsets;
	u64 mono = at + o->tk_mono;
	int ret = guest_kernel__read_u64(k, mono + o->tkr_clock, &tk->clock);

	if (!ret)
		ret = guest_kernel__read_u64(k, mono + o->tkr_cycle_last, &tk->cycle_last);
	if (!ret)
		ret = guest_kernel__read_u64(k, mono + o->tkr_xtime_nsec, &tk->xtime_nsec);
	if (!ret)
		ret = guest_kernel__read_u64(k, mono + o->tkr_base, &tk->base);
	if (!ret)
		ret = guest_kernel__read_u32(k, mono + o->tkr_mult, &tk->mult);
	if (!ret)
		ret = guest_kernel__read_u32(k, mono + o->tkr_shift, &tk->shift);
	if (!ret)
		ret = guest_kernel__read_u64(k, at + o->tk_offs_boot, &tk->offs_boot);
	return ret;
}

/* As its readers do: none of it counts if its sequence number is odd, or another one after. */
static int read_unchanged(struct guest_kernel *k, u64 core, struct timekeeper *tk)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		u32 before, after;
		int ret = guest_kernel__read_u32(k, core, &before);

		if (!ret)
			ret = read_timekeeper(k, core + k->offsets.tk_core_timekeeper, tk);
		guest_ram__forget(k->paging.ram);
		if (!ret)
			ret = guest_kernel__read_u32(k, core, &after);
		if (ret)
			return ret;
		if (before == after && !(before & 1))
			return 0;
	}
	return -EAGAIN;
}

/* 2^32 * @a / @b, as much of it as there is room for; and @a * @b / 2^32 */
static u64 div_q32(u64 a, u32 b)
{
	return ((__u128)a << 32) / b;
}

static u64 mul_q32(u64 a, u64 b)
{
	return ((__u128)a * b) >> 32;
}

/* The TSC when kvm-clock was @time, and how fast that goes. 0 or -errno */
static int tsc_of_kvm_clock(struct guest_kernel *k, u64 time, u64 *tsc, u64 *rate)
{
	u64 at = kernel_symbols__find(&k->symbols, "hv_clock_boot");
	struct pvclock pv, again;
	u64 delta;
	int ret;

	if (!at)
		return -ENOENT;
	ret = guest_kernel__read(k, at, &pv, sizeof(pv));
	guest_ram__forget(k->paging.ram);
	if (!ret)
		ret = guest_kernel__read(k, at, &again, sizeof(again));
	if (ret)
		return ret;
	if (memcmp(&pv, &again, sizeof(pv)) || pv.version & 1 ||
	    !(pv.flags & PVCLOCK_TSC_STABLE) || !pv.mul || time < pv.time ||
	    pv.shift > PVCLOCK_MAX_SHIFT || pv.shift < -PVCLOCK_MAX_SHIFT)
		return -EAGAIN;
	delta = div_q32(time - pv.time, pv.mul);
	delta = pv.shift >= 0 ? delta >> pv.shift : delta << -pv.shift;
	*tsc = pv.tsc + delta;
	*rate = pv.shift >= 0 ? (u64)pv.mul << pv.shift : pv.mul >> -pv.shift;
	return 0;
}

static bool find_tsc(struct guest_kernel *k, const struct timekeeper *tk, u64 *tsc, u64 *rate)
{
	char name[NAME_SIZE];
	u64 at;

	if (guest_kernel__read_u64(k, tk->clock + k->offsets.clocksource_name, &at) ||
	    guest_kernel__read_string(k, at, name, sizeof(name)))
		return false;
	*tsc = tk->cycle_last;
	*rate = ((__u128)tk->mult << 32) >> tk->shift;
	if (!strcmp(name, "tsc"))
		return true;
	return !strcmp(name, "kvm-clock") && !tsc_of_kvm_clock(k, tk->cycle_last, tsc, rate);
}

/**
 * guest_instant__read - what time it was in the guest a moment ago
 *
 * Return: 0; -ENOENT: its kernel keeps time in another way; -EAGAIN: it changes all the time;
 * or as guest_kernel__read()
 */
int guest_instant__read(struct guest_kernel *k, struct guest_instant *now)
{
	u64 core = kernel_symbols__find(&k->symbols, "tk_core");
	struct timekeeper tk;
	int ret;

	/* Since 6.17, it is the first of several. */
	if (!core)
		core = kernel_symbols__find(&k->symbols, "timekeeper_data");
	if (!core || !guest_offsets__has_time(&k->offsets))
		return -ENOENT;
	ret = read_unchanged(k, core, &tk);
	if (ret)
		return ret;
	if (!kernel_ptr(tk.clock) || tk.shift >= 64)
		return -ENOENT;
	now->time = tk.base + (tk.xtime_nsec >> tk.shift) + tk.offs_boot;
	now->has_tsc = find_tsc(k, &tk, &now->tsc, &now->rate);
	return 0;
}

/**
 * guest_instant__time_at - what time it is when the TSC is @tsc, in ns of CLOCK_BOOTTIME
 * @tsc: not long after the instant; 0: not known: as early as can be
 */
u64 guest_instant__time_at(const struct guest_instant *instant, u64 tsc)
{
	if (!instant->has_tsc || tsc <= instant->tsc)
		return instant->time;
	return instant->time + mul_q32(tsc - instant->tsc, instant->rate);
}
