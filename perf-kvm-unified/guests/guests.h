/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_GUESTS_H
#define __PERF_KVM_UNIFIED_GUESTS_GUESTS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/list.h>

#include "kvm-unified/format/vms.h"
#include "guest.h"
#include "options.h"
#include "told-task.h"

struct foreign_maps;
struct hashmap;
struct perf_session;
union perf_event;

/**
 * struct kvm_guests - the guests of a session
 * @vms: what the recording says of them
 * @guests: in the order in which they were found
 * @by_pid: the same by @kvm_guest.pid
 * @options: what the user wants, or NULL
 * @config: ... and what perfconfig says for guests of which that says nothing
 * @loaded: so are the maps of those in @vms
 * @bad_record: a record of VMs made no sense
 * @task: with the sample that is delivered, if that is known
 */
struct kvm_guests {
	struct kvm_vms	 vms;
	struct list_head guests;
	struct hashmap	 *by_pid;
	const struct kvm_guests_options *options;
	struct kvm_guests_options config;
	bool		 loaded;
	bool		 bad_record;
	struct told_task task;
};

void kvm_guests__want(const struct kvm_guests_options *options);
int kvm_guests__open(struct perf_session *session);
void kvm_guests__load(struct perf_session *session, const struct kvm_guests_options *options,
		      const struct foreign_maps *foreign);
int kvm_guests__process_record(struct perf_session *session, const union perf_event *event);
void kvm_guests__delete(struct perf_session *session);

void kvm_guests__fprintf_info(const struct perf_session *session, FILE *fp);

struct kvm_guest *kvm_guests__find(struct perf_session *session, pid_t pid);
struct kvm_guest *kvm_guests__find_thread(struct perf_session *session, pid_t pid, pid_t tid);
struct kvm_guest *kvm_guests__findnew_thread(struct perf_session *session, pid_t pid, pid_t tid);
struct kvm_guest *kvm_guests__findnew(struct perf_session *session, pid_t pid);
struct kvm_guest *kvm_guests__findnew_nested(struct perf_session *session,
					     const struct kvm_guest *guest);
struct kvm_guest *kvm_guests__find_earlier(struct perf_session *session,
					   const struct kvm_guest *guest);
struct kvm_guest *kvm_guests__findnew_earlier(struct perf_session *session,
					      const struct kvm_guest *guest);
struct kvm_guest *kvm_guests__find_whole(struct perf_session *session, struct kvm_guest *guest);
struct kvm_guest *kvm_guests__find_name(struct perf_session *session, const char *name);
const char *kvm_guests__no_map(struct perf_session *session, const struct kvm_guest *guest);

int kvm_guests__load_given(struct perf_session *session,
			   const struct kvm_guests_options *options);
int kvm_guests__check_names(struct perf_session *session, struct perf_session *other,
			    const struct kvm_guests_options *options);

#endif /* __PERF_KVM_UNIFIED_GUESTS_GUESTS_H */
