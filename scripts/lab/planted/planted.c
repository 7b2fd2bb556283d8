// SPDX-License-Identifier: GPL-2.0
/*
 * One fault for each of the things that the sanitized kernel looks for, to see that it finds
 * them. Loading this module commits them all, and fails.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>

#define NR_WORDS	4

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static int __rcu *rcu_pointer;
static volatile int words[NR_WORDS];
/* What the compiler does not see through */
static unsigned int one_too_many = NR_WORDS;
module_param(one_too_many, uint, 0);

/* KASAN */
static void write_after_free(void)
{
	char *memory = kmalloc(64, GFP_KERNEL);

	kfree(memory);
	if (memory)
		WRITE_ONCE(memory[8], 1);
}

/* UBSAN, and KASAN */
static noinline int out_of_bounds(unsigned int i)
{
	return words[i];
}

/* PROVE_RCU */
static int *dereference_unlocked(void)
{
	return rcu_dereference(rcu_pointer);
}

/* DEBUG_ATOMIC_SLEEP */
static void sleep_in_atomic(void)
{
	preempt_disable();
	might_sleep();
	preempt_enable();
}

/* DEBUG_PREEMPT */
static int cpu_that_may_change(void)
{
	return smp_processor_id();
}

/* PROVE_LOCKING */
static void lock_in_both_orders(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static int __init planted_init(void)
{
	/* Lockdep is off after each of the others, and KASAN reports once. */
	dereference_unlocked();
	lock_in_both_orders();
	sleep_in_atomic();
	write_after_free();
	pr_info("CPU %d, word %d\n", cpu_that_may_change(), out_of_bounds(one_too_many));
	return -ECANCELED;
}
module_init(planted_init);

MODULE_DESCRIPTION("Faults to be found");
MODULE_LICENSE("GPL");
