// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that run beside perf, each in a session of its own, so that it can be ended as a
 * whole and Ctrl-C is for perf alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <internal/lib.h>

#include "util/rlimit.h"
#include "shell-command.h"

/* Those that run: what is forked has their pipes, too, and must not keep them open. */
static LIST_HEAD(running);

void shell_command__init(struct shell_command *cmd)
{
	*cmd = (struct shell_command) { .input = -1, .status = -1, .hold = -1, .code = -1 };
	INIT_LIST_HEAD(&cmd->node);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* As many as a host has guests may be more than a process may have by default. 0 or -errno */
static int open_pipe(int fds[2])
{
	static enum rlimit_action set_rlimit = NO_CHANGE;

	while (pipe2(fds, O_CLOEXEC)) {
		if (errno != EMFILE || !rlimit__increase_nofile(&set_rlimit))
			return -errno;
	}
	return 0;
}

static void close_pipes_of_others(void)
{
	struct shell_command *other;

	list_for_each_entry(other, &running, node) {
		close_fd(&other->input);
		close_fd(&other->status);
		close_fd(&other->hold);
	}
}

/*
 * The command's parent: it waits for it, hands on how it ended, and stays until perf
 * closes the other end of @held.
 */
static void __noreturn keep(const char *text, off_t max_size, int in, int out, int status, int held)
{
	const struct rlimit limit = { .rlim_cur = max_size, .rlim_max = max_size };
	int code = -1;
	pid_t pid;

	close_pipes_of_others();
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_FSIZE, &limit);
		if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	close(in);
	close(out);
	if (pid > 0 && waitpid(pid, &code, 0) == pid)
		writen(status, &code, sizeof(code));
	close(status);
	while (read(held, &code, sizeof(code)) < 0 && errno == EINTR)
		;
	_exit(0);
}

/*
 * It is nobody's child: perf record ends when a child of its process does. The session, or
 * -errno
 */
static pid_t start_session(const char *text, off_t max_size, int in, int out, int status, int held)
{
	int failed;
	pid_t pid = fork();

	if (!pid) {
		setsid();
		pid = fork();
		if (!pid)
			keep(text, max_size, in, out, status, held);
		_exit(pid < 0);
	}
	if (pid < 0 || waitpid(pid, &failed, 0) != pid)
		return -errno;
	return failed ? -EAGAIN : pid;
}

/**
 * shell_command__start - have a command run by the shell
 * @has_input: it ends when its input does; else it has none
 * @out: gets its output
 * @max_size: ... which is no more than that, and goes straight to the host's disk
 *
 * 0 or -errno
 */
int shell_command__start(struct shell_command *cmd, const char *text, bool has_input, int out,
			 off_t max_size)
{
	int in[2] = { -1, -1 }, status[2] = { -1, -1 }, hold[2] = { -1, -1 }, ret;
	pid_t pid;

	if (has_input) {
		ret = open_pipe(in);
	} else {
		in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		ret = in[0] < 0 ? -errno : 0;
	}
	if (!ret)
		ret = open_pipe(status);
	if (!ret)
		ret = open_pipe(hold);
	cmd->input = in[1];
	cmd->status = status[0];
	cmd->hold = hold[1];
	if (!ret) {
		list_add_tail(&cmd->node, &running);
		pid = start_session(text, max_size, in[0], out, status[1], hold[0]);
		if (pid < 0)
			ret = pid;
		else
			cmd->session = pid;
	}
	close_fd(&in[0]);
	close_fd(&status[1]);
	close_fd(&hold[0]);
	if (ret)
		shell_command__end(cmd);
	return ret;
}

/* Tells it to end */
void shell_command__end_input(struct shell_command *cmd)
{
	close_fd(&cmd->input);
}

/* Has it ended? Then @cmd->code is how, or -1: it is not known how. */
bool shell_command__has_ended(struct shell_command *cmd)
{
	struct pollfd fd = { .fd = cmd->status, .events = POLLIN };

	if (cmd->ended)
		return true;
	if (poll(&fd, 1, 0) <= 0)
		return false;
	cmd->ended = true;
	if (readn(cmd->status, &cmd->code, sizeof(cmd->code)) != sizeof(cmd->code))
		cmd->code = -1;
	return true;
}

/* Ends it with all that it has started, if it has not ended */
void shell_command__end(struct shell_command *cmd)
{
	close_fd(&cmd->input);
	close_fd(&cmd->status);
	if (cmd->session)
		kill(-cmd->session, SIGKILL);
	cmd->session = 0;
	close_fd(&cmd->hold);
	list_del_init(&cmd->node);
}
