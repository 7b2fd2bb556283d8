/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_PROFILE_HOOK_H
#define __PERF_KVM_UNIFIED_RECORD_PROFILE_HOOK_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct profile_hook - a command that the user has run for each profile
 * @command: for the shell; NULL: there is none
 * @fd: takes the paths of the profiles
 * @pid: of the process that runs the command for one after the other
 * @full: it was told that too many wait
 */
struct profile_hook {
	const char *command;
	int	   fd;
	pid_t	   pid;
	bool	   full;
};

int profile_hook__start(struct profile_hook *hook, const char *command);
void profile_hook__add(struct profile_hook *hook, const char *path);
void profile_hook__end(struct profile_hook *hook);

#endif /* __PERF_KVM_UNIFIED_RECORD_PROFILE_HOOK_H */
