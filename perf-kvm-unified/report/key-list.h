/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_KEY_LIST_H
#define __PERF_KVM_UNIFIED_REPORT_KEY_LIST_H

#include <stdbool.h>
#include <string.h>

/* The keys of --sort and --fields as perf takes them: between commas or blanks */
static inline const char *key_list__key(const char *text, size_t *len)
{
	*len = strcspn(text, ", ");
	return *len ? text : NULL;
}

/* The first one of @list, which may be NULL; @len: its length. NULL: there is none */
static inline const char *key_list__first(const char *list, size_t *len)
{
	return list ? key_list__key(list + strspn(list, ", "), len) : NULL;
}

/* Does @list, which is not NULL, have commas and blanks alone? */
static inline bool key_list__is_empty(const char *list)
{
	size_t len;

	return !key_list__first(list, &len);
}

/* The one after @key, which is @len long */
static inline const char *key_list__next(const char *key, size_t *len)
{
	key += *len;
	return key_list__key(key + strspn(key, ", "), len);
}

#define key_list__for_each(list, key, len)						\
	for (const char *key = key_list__first(list, &(len)); key;			\
	     key = key_list__next(key, &(len)))

/* Has @list, which may be NULL, the key @name? */
static inline bool key_list__has(const char *list, const char *name)
{
	size_t len;

	key_list__for_each(list, key, len) {
		if (len == strlen(name) && !strncmp(key, name, len))
			return true;
	}
	return false;
}

#endif /* __PERF_KVM_UNIFIED_REPORT_KEY_LIST_H */
