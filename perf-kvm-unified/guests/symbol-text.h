/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_SYMBOL_TEXT_H
#define __PERF_KVM_UNIFIED_GUESTS_SYMBOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct dso;
struct symbol;

bool guest_symbol__parse_range(const char *line, u64 *start, u64 *size, const char **name);
int guest_symbol__parse(char *line, struct symbol **sym);
u32 guest_text__count_lines(const char *text, u32 len);
int guest_text__append(char **text, size_t *text_len, const char *more, size_t len);
int guest_text__load_symbols(struct dso *dso, const char *text, size_t len);

#endif /* __PERF_KVM_UNIFIED_GUESTS_SYMBOL_TEXT_H */
