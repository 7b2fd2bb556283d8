/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_QUEUE_H
#define __PERF_KVM_UNIFIED_LIB_QUEUE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "array.h"

/*
 * The members of a structure that is a queue: entries are added at the end and taken from
 * the beginning. Those in use are [head, nr) of @entries; @allocated: what there is room for.
 */
#define DECLARE_QUEUE(type)	\
struct {			\
	type *entries;		\
	size_t head;		\
	size_t nr;		\
	size_t allocated;	\
}

#define queue_len(queue)	((queue)->nr - (queue)->head)
#define queue_first(queue)	((queue)->entries + (queue)->head)
#define queue_last(queue)	((queue)->entries + (queue)->nr - 1)

/* Takes @n entries out, of which there are so many. */
#define queue_drop(queue, n)	((void)((queue)->head += (n)))

/*
 * Adds *@entry. Entries move to the beginning when half of the array is free there, so
 * each of them moves once or twice. 0 or -ENOMEM
 */
#define queue_add(queue, entry) ({							\
	typeof(queue) __queue = (queue);						\
	int __ret = 0;									\
	if (__queue->nr == __queue->allocated && __queue->head > __queue->nr / 2) {	\
		memmove(__queue->entries, queue_first(__queue),				\
			queue_len(__queue) * sizeof(*__queue->entries));		\
		__queue->nr -= __queue->head;						\
		__queue->head = 0;							\
	} else {									\
		__ret = grow_array(__queue->entries, __queue->nr, __queue->allocated);	\
	}										\
	if (!__ret)									\
		__queue->entries[__queue->nr++] = *(entry);				\
	__ret;										\
})

#endif /* __PERF_KVM_UNIFIED_LIB_QUEUE_H */
