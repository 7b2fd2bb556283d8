/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_SHELL_COMMAND_H
#define __PERF_KVM_UNIFIED_RECORD_SHELL_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/list.h>

/**
 * struct shell_command - a command that runs beside perf
 * @node: in the list of all that run
 * @session: the process group that it runs in, 0: it does not
 * @input: its standard input, a pipe whose end tells it to end; -1: none
 * @status: gives its exit status when it has ended; -1: it does not run
 * @ended: @code: what that was, or -1
 * @hold: keeps the group, so that its number is not somebody else's when it is ended
 */
struct shell_command {
	struct list_head node;
	pid_t		 session;
	int		 input;
	int		 status;
	int		 hold;
	bool		 ended;
	int		 code;
};

void shell_command__init(struct shell_command *cmd);
int shell_command__start(struct shell_command *cmd, const char *text, bool has_input, int out,
			 off_t max_size);
void shell_command__end_input(struct shell_command *cmd);
bool shell_command__has_ended(struct shell_command *cmd);
void shell_command__end(struct shell_command *cmd);

#endif /* __PERF_KVM_UNIFIED_RECORD_SHELL_COMMAND_H */
