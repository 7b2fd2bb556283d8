/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_LIB_QUEUE_H
#define __PERF_KVM_UNIFIED_LIB_QUEUE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* A queue gets room for so many entries at least: there may be thousands that have few. */
#define QUEUE_FIRST	16
/*
 * A queue grows by such a part, and moves its entries if such a part of them is free at the
 * beginning: an entry is moved so many times, and not more than such a part is not in use.
 */
#define QUEUE_PART	8
/* Room of such a part of its entries is not given back. */
#define QUEUE_WIDE	3

/*
 * @entries with room for more than *@allocated of @size bytes each; NULL: no memory, and all as
 * it was. By little: what queues have of room is most of what they take, else.
 */
static inline void *__grow_queue(void *entries, size_t *allocated, size_t size)
{
	size_t part = *allocated / QUEUE_PART;
	size_t more = *allocated + (part < QUEUE_FIRST ? QUEUE_FIRST : part);
	void *grown = reallocarray(entries, more, size);

	if (grown)
		*allocated = more;
	return grown;
}

/*
 * @entries with room for @nr, which are moved to its beginning from number @head on. Without
 * memory, all as large as it was
 */
static inline void *__trim_queue(void *entries, size_t head, size_t nr, size_t *allocated,
				 size_t size)
{
	void *trimmed;

	if (!nr) {
		free(entries);
		*allocated = 0;
		return NULL;
	}
	memmove(entries, (char *)entries + head * size, nr * size);
	trimmed = reallocarray(entries, nr, size);
	if (!trimmed)
		return entries;
	*allocated = nr;
	return trimmed;
}

/*
 * Has a queue of @len entries so much more room that it is worth to give it back? Room that is
 * needed again soon is not: it would be given back and got again at each step of the axis.
 */
static inline bool __queue_is_wide(size_t allocated, size_t len)
{
	return len ? allocated - len > QUEUE_FIRST + len / QUEUE_WIDE : allocated;
}

/* Gives memory back that the queue does not need any more. Its entries move then. */
#define queue_trim(queue) ({								\
	typeof(queue) __queue = (queue);						\
	size_t __len = queue_len(__queue);						\
	if (__queue_is_wide(__queue->allocated, __len)) {				\
		__queue->entries = __trim_queue(__queue->entries, __queue->head, __len,	\
						&__queue->allocated,			\
						sizeof(*__queue->entries));		\
		__queue->head = 0;							\
		__queue->nr = __len;							\
	}										\
})

/* Adds *@entry. Entries may move. 0 or -ENOMEM */
#define queue_add(queue, entry) ({							\
	typeof(queue) __queue = (queue);						\
	int __ret = 0;									\
	if (__queue->nr == __queue->allocated && __queue->head > __queue->nr / QUEUE_PART) { \
		memmove(__queue->entries, queue_first(__queue),				\
			queue_len(__queue) * sizeof(*__queue->entries));		\
		__queue->nr -= __queue->head;						\
		__queue->head = 0;							\
	} else if (__queue->nr == __queue->allocated) {					\
		void *__grown = __grow_queue(__queue->entries, &__queue->allocated,	\
					     sizeof(*__queue->entries));		\
		if (__grown)								\
			__queue->entries = __grown;					\
		else									\
			__ret = -ENOMEM;						\
	}										\
	if (!__ret)									\
		__queue->entries[__queue->nr++] = *(entry);				\
	__ret;										\
})

#endif /* __PERF_KVM_UNIFIED_LIB_QUEUE_H */
