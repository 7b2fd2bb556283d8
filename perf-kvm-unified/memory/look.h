/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_MEMORY_LOOK_H
#define __PERF_KVM_UNIFIED_MEMORY_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "stats.h"

struct guest_current;
struct guest_look;
struct guest_phys;

struct guest_look *guest_look__new(struct guest_phys *phys, u64 max_gpa, bool late);
int guest_look__find_kernel(struct guest_look *look, const u64 *roots, size_t nr,
			    char *err, size_t errlen);
int guest_look__tasks(struct guest_look *look, bool modules, char *err, size_t errlen);
int guest_look__write(struct guest_look *look, int fd, bool orc, char *err, size_t errlen);
int guest_look__current(struct guest_look *look, struct guest_current *current,
			char *err, size_t errlen);
const struct guest_look_stats *guest_look__stats(const struct guest_look *look);
void guest_look__delete(struct guest_look *look);

#endif /* __PERF_KVM_UNIFIED_MEMORY_LOOK_H */
