/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_GUEST_CMDS_H
#define __PERF_KVM_UNIFIED_RECORD_GUEST_CMDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/list.h>

struct kvm_vms;
struct option;

/**
 * struct guest_cmd - a command that gets the map of a guest, as it was given
 * @name: of the guest, or a pattern: of all guests without a command of their own
 * @text: of the command; of a pattern's, see guest_cmd__expand()
 * @follow: it runs during the measurement
 */
struct guest_cmd {
	struct list_head node;
	char		 *name;
	const char	 *text;
	bool		 follow;
	bool		 is_pattern;
};

/* Parses NAME=COMMAND into a list of struct guest_cmd, for OPT_CALLBACK(). */
int guest_cmds__parse(const struct option *opt, const char *arg, int unset);
int guest_cmds__parse_follow(const struct option *opt, const char *arg, int unset);

int guest_cmds__check(struct list_head *cmds, const struct kvm_vms *vms);
const struct guest_cmd *guest_cmds__find(const struct list_head *cmds, const char *name,
					 bool late);
const struct guest_cmd *guest_cmds__find_own(const struct list_head *cmds, const char *name);
void guest_cmds__free(struct list_head *cmds);

int guest_cmd__expand(const char *text, const char *name, pid_t pid, char **expanded);
const char *guest_cmd__option(const struct guest_cmd *cmd);

#endif /* __PERF_KVM_UNIFIED_RECORD_GUEST_CMDS_H */
