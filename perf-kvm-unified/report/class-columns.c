// SPDX-License-Identifier: GPL-2.0
/*
 * The columns of a line for a VM: what its vCPUs did, by classes. Each class is in one of them.
 */
#include "class-columns.h"

const struct class_column class_columns[NR_CLASS_COLUMNS] = {
	{ "running",	{ PROFILE_OS, PROFILE_USER, PROFILE_VM }, 3, true },
	{ "idle",	{ PROFILE_IDLE }, 1, true },
	{ "halt-poll",	{ PROFILE_HALT_POLL }, 1, false },
	{ "steal",	{ PROFILE_STEAL }, 1, true },
	{ "exit",	{ PROFILE_EXIT }, 1, true },
	{ "vmm",	{ PROFILE_VMM }, 1, true },
	{ "host",	{ PROFILE_HOST }, 1, false },
	{ "stopped",	{ PROFILE_STOPPED }, 1, false },
	{ "throttled",	{ PROFILE_THROTTLED }, 1, false },
	{ "blocked",	{ PROFILE_BLOCKED }, 1, false },
	{ "lost",	{ PROFILE_LOST }, 1, false },
	{ "unknown",	{ PROFILE_UNKNOWN }, 1, false },
};

u64 class_column__ns(const struct class_column *column, const struct profile *p)
{
	u64 ns = 0;

	for (u32 i = 0; i < column->nr; i++)
		ns += p->classes[column->classes[i]];
	return ns;
}

double class_column__percent(const struct class_column *column, const struct profile *p)
{
	return profile__percent(p, class_column__ns(column, p));
}
