/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_CLASS_COLUMNS_H
#define __PERF_KVM_UNIFIED_REPORT_CLASS_COLUMNS_H

#include <stdbool.h>
#include <linux/types.h>

#include "profile.h"

/**
 * struct class_column - what a line for a VM tells of its vCPUs' time
 * @classes: added up, @nr of them
 * @always: not only where a VM has some of it
 */
struct class_column {
	const char	*title;
	enum profile_class classes[3];
	u32		nr;
	bool		always;
};

#define NR_CLASS_COLUMNS	12U

extern const struct class_column class_columns[NR_CLASS_COLUMNS];

u64 class_column__ns(const struct class_column *column, const struct profile *p);
double class_column__percent(const struct class_column *column, const struct profile *p);

#endif /* __PERF_KVM_UNIFIED_REPORT_CLASS_COLUMNS_H */
