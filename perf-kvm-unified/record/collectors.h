/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_COLLECTORS_H
#define __PERF_KVM_UNIFIED_RECORD_COLLECTORS_H

#include <linux/list.h>

struct kvm_vms;
struct option;

/**
 * struct guest_cmds - the commands that get the maps of guests
 * @list: of struct guest_cmd
 * @timeout: seconds to wait for each
 */
struct guest_cmds {
	struct list_head list;
	unsigned int	 timeout;
};

/* For OPT_CALLBACK(): NAME=COMMAND */
int guest_cmds__parse(const struct option *opt, const char *arg, int unset);
int guest_cmds__parse_follow(const struct option *opt, const char *arg, int unset);

int guest_cmds__check(const struct guest_cmds *cmds, struct kvm_vms *vms);
int guest_cmds__start(struct guest_cmds *cmds, struct kvm_vms *vms, const char *dir);
void guest_cmds__fetch(struct guest_cmds *cmds, struct kvm_vms *vms, const char *dir);
void guest_cmds__cancel(struct guest_cmds *cmds, struct kvm_vms *vms, const char *dir);

#endif /* __PERF_KVM_UNIFIED_RECORD_COLLECTORS_H */
