/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_STACKS_H
#define __PERF_KVM_UNIFIED_EXPORT_STACKS_H

#include <stdio.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct hashmap;
struct strbuf;

/**
 * struct stacks - how much time there is of each stack
 * @by_text: ns of it, by its frames as stack__push() has put them together
 */
struct stacks {
	struct hashmap	*by_text;
};

/* @text: frames; @ns: of that stack. 0 or -errno, which ends it */
typedef int (*stack_fn)(void *arg, const char *text, u64 ns);

int stacks__init(struct stacks *stacks);
void stacks__exit(struct stacks *stacks);
int stacks__add(struct stacks *stacks, const char *text, u64 ns);
int stacks__for_each(const struct stacks *stacks, stack_fn fn, void *arg);
int stacks__print(const struct stacks *stacks, FILE *fp);

int stack__push(struct strbuf *stack, const char *fmt, ...) __printf(2, 3);
void stack__end(struct strbuf *stack);

#endif /* __PERF_KVM_UNIFIED_EXPORT_STACKS_H */
