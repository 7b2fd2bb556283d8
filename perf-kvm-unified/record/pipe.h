/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_PIPE_H
#define __PERF_KVM_UNIFIED_RECORD_PIPE_H

#include <stdbool.h>

struct kvm_vms;

/**
 * struct record_pipe - the profile as a stream
 * @vms: what is known of the VMs
 * @fd: a copy of standard output
 * @begun: perf record has written to it
 */
struct record_pipe {
	struct kvm_vms	*vms;
	int		fd;
	bool		begun;
};

int record_pipe__open(struct record_pipe *pipe, struct kvm_vms *vms);
int record_pipe__write_vms(int fd);
int record_pipe__close(struct record_pipe *pipe);

#endif /* __PERF_KVM_UNIFIED_RECORD_PIPE_H */
