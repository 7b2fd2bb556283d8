/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_SYMBOL_TEXT_H
#define __PERF_KVM_UNIFIED_GUESTS_SYMBOL_TEXT_H

#include <stddef.h>

struct dso;
struct symbol;

int guest_symbol__parse(char *line, struct symbol **sym);
int guest_text__append(char **text, size_t *text_len, const char *more, size_t len);
int guest_text__load_symbols(struct dso *dso, const char *text, size_t len);

#endif /* __PERF_KVM_UNIFIED_GUESTS_SYMBOL_TEXT_H */
