/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_OUTPUT_H
#define __PERF_KVM_UNIFIED_RECORD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct record_output - the directory that the profile goes to
 * @path: of the directory
 * @cancel: ends all that was started for the measurement and writes to the directory
 * @data: path of the file in it that perf record writes
 * @dir_fd: the directory that was made, whatever has become of its name; 0: none yet
 * @has_old: a profile was where this one goes
 * @older: where the one before that is for now, or NULL
 * @pid: of perf itself
 *
 * @path and @cancel are to be given.
 */
struct record_output {
	const char	*path;
	void		(*cancel)(struct record_output *output);
	char		data[PATH_MAX];
	int		dir_fd;
	bool		has_old;
	char		*older;
	pid_t		pid;
};

int record_output__make(struct record_output *output);
int record_output__check(const struct record_output *output);
bool record_output__has_data(const struct record_output *output);
void record_output__keep(struct record_output *output, bool failed);
void record_output__undo(struct record_output *output);

#endif /* __PERF_KVM_UNIFIED_RECORD_OUTPUT_H */
