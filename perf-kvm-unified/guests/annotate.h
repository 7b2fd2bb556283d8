/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_GUESTS_ANNOTATE_H
#define __PERF_KVM_UNIFIED_GUESTS_ANNOTATE_H

#include <stddef.h>
#include <linux/types.h>

struct dso;
struct hashmap;
struct kvm_guest;
struct perf_sample;
struct perf_session;
struct strbuf;

/**
 * struct guest_code_file - a file of a guest's programs that is not here
 * @guest: the guest's name
 * @root: directory with its files, or NULL
 * @name: in the guest
 * @nr_samples: in it
 * @nr_wanted: ... in the function that is asked for, or in any
 */
struct guest_code_file {
	char	*guest;
	char	*root;
	char	*name;
	u64	nr_samples;
	u64	nr_wanted;
};

/**
 * struct guest_code - what of guests' code perf annotate cannot show, as samples tell
 * @symbol: the only function that is asked for, or NULL: all are
 * @nr_shown: samples in it whose code is here, the host's, too
 * @nr_kernel: samples in it in the kernels of guests that have names
 * @files: that are not here, @nr of them
 * @by_dso: their numbers, or CODE_IS_HERE, by perf's struct dso
 */
struct guest_code {
	const char	*symbol;
	u64		nr_shown;
	u64		nr_kernel;
	struct guest_code_file *files;
	size_t		nr;
	size_t		allocated;
	struct hashmap	*by_dso;
};

int guest_code__init(struct guest_code *code);
void guest_code__exit(struct guest_code *code);
void guest_code__count(struct guest_code *code, struct perf_session *session,
		       const struct perf_sample *sample);
struct guest_code_file *guest_code__file(struct guest_code *code, const struct kvm_guest *guest,
					 struct dso *dso);
int guest_code__describe(struct guest_code *code, struct strbuf *text);
void guest_code__warn(struct guest_code *code);

#endif /* __PERF_KVM_UNIFIED_GUESTS_ANNOTATE_H */
