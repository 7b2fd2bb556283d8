/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_EXPORT_FRAMES_H
#define __PERF_KVM_UNIFIED_EXPORT_FRAMES_H

struct hit;
struct measurement;
struct section;
struct strbuf;
struct table_row;

int frames__push_hit(struct strbuf *stack, const struct hit *hit);
int frames__push_row(struct strbuf *stack, const struct measurement *m,
		     const struct section *section, const struct table_row *row);
int frames__push_code(struct strbuf *stack, const struct table_row *row);
int frames__push_labels(struct strbuf *stack, const struct measurement *m,
			const struct section *section, const struct table_row *row);
int frames__push_state(struct strbuf *stack, const char *name);

#endif /* __PERF_KVM_UNIFIED_EXPORT_FRAMES_H */
