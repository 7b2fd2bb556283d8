/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_ARRAY_H
#define __PERF_KVM_UNIFIED_LIB_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Arrays that grow.
 *
 * Room: lib/, what any room may use, and perf has not.
 * Calls: none
 */

/* Entries of an array that is not empty any more */
#define GROW_ARRAY_FIRST	256

/*
 * @entries with room for more than @nr of @size bytes each, and *@allocated what there
 * is room for; NULL: no memory, and all as it was. Not ALLOC_GROW() of libsubcmd,
 * which ends perf then.
 */
static inline void *__grow_array(void *entries, size_t nr, size_t *allocated, size_t size)
{
	size_t more = *allocated ? *allocated * 2 : GROW_ARRAY_FIRST;
	void *grown;

	if (nr < *allocated)
		return entries;
	grown = reallocarray(entries, more, size);
	if (grown)
		*allocated = more;
	return grown;
}

/*
 * Room for one more in the array @entries, a pointer that has @nr of @allocated; the
 * latter is changed, too. 0 or -ENOMEM
 */
#define grow_array(entries, nr, allocated) ({					\
	size_t __allocated = (allocated);					\
	void *__grown = __grow_array(entries, nr, &__allocated,			\
				     sizeof(*(entries)));			\
	if (__grown) {								\
		(entries) = __grown;						\
		(allocated) = __allocated;					\
	}									\
	__grown ? 0 : -ENOMEM;							\
})

#endif /* __PERF_KVM_UNIFIED_LIB_ARRAY_H */
