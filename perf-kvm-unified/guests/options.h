/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_OPTIONS_H
#define __PERF_KVM_UNIFIED_GUESTS_OPTIONS_H

#include <stdbool.h>
#include <linux/list.h>
#include <linux/types.h>

struct guest_code;
struct option;
struct patterns;
struct perf_session;
struct strlist;

/**
 * struct kvm_guests_options - what the user wants of the guests of a session
 * @use_maps: load the guest maps that are in the profile
 * @left_out: ... but for those of these guests, or NULL
 * @skipped_maps: names of guests whose map in the profile is not to be used, or NULL: none
 * @given_maps: those to be used instead
 * @roots: directories with the files of guests
 * @code: counts what perf annotate cannot show, or NULL
 * @opened: is called with @arg when a session is open, unless it is NULL. 0, or -errno with a
 *	message: the session is not opened then
 */
struct kvm_guests_options {
	bool		 use_maps;
	struct patterns	 *left_out;
	struct strlist	 *skipped_maps;
	struct list_head given_maps;
	struct list_head roots;
	struct guest_code *code;
	int		 (*opened)(struct perf_session *session, void *arg);
	void		 *arg;
};

/* Options of each command that reads guests' samples, for its table */
#define OPTS_KVM_GUESTS(options)								\
	OPT_CALLBACK(0, "guest-map", options, "NAME=FILE",					\
		     "map of guest NAME, made by perf kvm unified guest-map in it",		\
		     kvm_guests_options__parse_map),						\
	OPT_CALLBACK_OPTARG(0, "no-guest-maps", options, NULL, "pattern[,pattern...]",		\
			    "do not use the maps in the profile, or not those of these guests",	\
			    kvm_guests_options__parse_no_maps),					\
	OPT_CALLBACK(0, "guest-root", options, "[NAME=]DIR",					\
		     "where the root file system of guest NAME, or of all guests, is mounted",	\
		     kvm_guests_options__parse_root)

void kvm_guests_options__init(struct kvm_guests_options *options);
void kvm_guests_options__exit(struct kvm_guests_options *options);

int kvm_guests_options__parse_map(const struct option *opt, const char *arg, int unset);
int kvm_guests_options__parse_no_maps(const struct option *opt, const char *arg, int unset);
int kvm_guests_options__parse_root(const struct option *opt, const char *arg, int unset);
int kvm_guests_options__check(const struct kvm_guests_options *options);
void kvm_guests_options__read_config(struct kvm_guests_options *options);

bool kvm_guests_options__skips_map(const struct kvm_guests_options *options, const char *name);

const char *kvm_guests_options__root(const struct kvm_guests_options *options, const char *name);

/* A map that is not the one in the profile */
struct given_map {
	struct list_head node;
	char		 *name;		/* of the guest */
	const char	 *file;
	int		 kallsyms_fd;	/* in memory: nothing to clean up; or -1 */
};

/* A root for one guest */
struct guest_root {
	struct list_head node;
	char		 *name;		/* NULL: all guests */
	char		 *dir;		/* as realpath() gives it */
	const char	 *given;	/* the option's value; NULL: it is perfconfig's */
	int		 err;		/* why it cannot be used, or 0 */
	bool		 said;		/* ... which was said */
};

#endif /* __PERF_KVM_UNIFIED_GUESTS_OPTIONS_H */
