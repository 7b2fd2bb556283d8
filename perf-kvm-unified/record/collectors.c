// SPDX-License-Identifier: GPL-2.0
/*
 * The commands that run the collector in guests: before the measurement for those
 * that follow their guest, after it for the others. A guest that does not answer
 * costs its names, not the profile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>
#include <internal/lib.h>

#include "util/debug.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/guests/load.h"
#include "kvm-unified/lib/warnings.h"
#include "collectors.h"

/* How often to look whether a guest's command has begun, or ended */
#define POLL_MS			10

/**
 * struct guest_cmd - a command that gets the map of a guest
 * @follow: it runs during the measurement
 * @session: the process group that it runs in, 0: it does not
 * @input: its standard input, a pipe whose end tells it to end; -1: none
 * @status: gives its exit status when it has ended; -1: it does not run
 * @ended: @code: what that was, or -1
 * @hold: keeps the group, so that its number is not somebody else's when it is ended
 */
struct guest_cmd {
	struct list_head node;
	char		 *name;
	const char	 *cmd;
	bool		 follow;
	pid_t		 session;
	int		 input;
	int		 status;
	int		 hold;
	bool		 ended;
	int		 code;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig __maybe_unused)
{
	interrupted = 1;
}

static int parse(struct guest_cmds *cmds, const char *option, const char *arg, bool follow)
{
	const char *eq = strchr(arg, '=');
	struct guest_cmd *gc;

	if (!eq || eq == arg || !eq[1]) {
		pr_err("--%s wants NAME='COMMAND', not '%s'\n", option, arg);
		return -1;
	}
	gc = zalloc(sizeof(*gc));
	if (!gc)
		return -ENOMEM;
	gc->name = strndup(arg, eq - arg);
	if (!gc->name) {
		free(gc);
		return -ENOMEM;
	}
	gc->cmd = eq + 1;
	gc->follow = follow;
	gc->input = -1;
	gc->status = -1;
	gc->hold = -1;
	list_add_tail(&gc->node, &cmds->list);
	return 0;
}

int guest_cmds__parse(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	return parse(opt->value, "guest-cmd", arg, /*follow=*/false);
}

int guest_cmds__parse_follow(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	return parse(opt->value, "guest-follow", arg, /*follow=*/true);
}

/* Is there a VM for each, and one command for each VM? 0 or -errno with a message */
int guest_cmds__check(const struct guest_cmds *cmds, struct kvm_vms *vms)
{
	const struct guest_cmd *gc, *other;

	list_for_each_entry(gc, &cmds->list, node) {
		const char *option = gc->follow ? "guest-follow" : "guest-cmd";

		list_for_each_entry(other, &cmds->list, node) {
			if (other != gc && !strcmp(other->name, gc->name)) {
				pr_err("--%s: guest '%s' has two commands, for one map.\n",
				       option, gc->name);
				return -EINVAL;
			}
		}
		if (kvm_vms__find_name(vms, gc->name))
			continue;

		kvm_vms__pr_no_such(vms, option, gc->name);
		return -ENOENT;
	}
	return 0;
}

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void map_paths(const struct kvm_vm *vm, const char *dir, char *path, char *tmp)
{
	scnprintf(path, PATH_MAX, "%s/" KVM_GUEST_MAP_FMT, dir, vm->pid);
	scnprintf(tmp, PATH_MAX, "%s.tmp", path);
}

/* It may have ended during the measurement; its command could wait long. */
static bool vm__is_gone(const struct kvm_vm *vm)
{
	return kill(vm->pid, 0) && errno == ESRCH;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * The command's parent: it waits for it, hands on how it ended, and stays until perf
 * closes the other end of @held. The pipes to other commands were inherited, and must
 * not be kept open by it.
 */
static void __noreturn keep(const struct guest_cmds *cmds, const struct guest_cmd *gc,
			    int in, int out, int status, int held)
{
	/* No more output than a map can have: it goes straight to the host's disk. */
	const struct rlimit limit = {
		.rlim_cur = GUEST_STREAM_MAX_SIZE,
		.rlim_max = GUEST_STREAM_MAX_SIZE,
	};
	const struct guest_cmd *other;
	int code = -1;
	pid_t pid;

	list_for_each_entry(other, &cmds->list, node) {
		if (other->input >= 0)
			close(other->input);
		if (other->hold >= 0)
			close(other->hold);
	}
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_FSIZE, &limit);
		if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", gc->cmd, NULL);
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
 * Starts the command with @out as its output, in a session of its own, so that it
 * can be ended as a whole and Ctrl-C is for us alone. It is nobody's child: perf
 * record ends when a child of its process does. 0 or -errno
 */
static int guest_cmd__start(const struct guest_cmds *cmds, struct guest_cmd *gc, int out)
{
	int in[2] = { -1, -1 }, status[2] = { -1, -1 }, hold[2] = { -1, -1 }, failed, ret;
	pid_t pid;

	if (gc->follow) {
		ret = pipe2(in, O_CLOEXEC);
	} else {
		in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		ret = in[0];
	}
	if (ret < 0 || pipe2(status, O_CLOEXEC) || pipe2(hold, O_CLOEXEC)) {
		ret = -errno;
		close_fd(&in[1]);
		close_fd(&hold[1]);
		goto out;
	}
	gc->input = in[1];
	gc->hold = hold[1];

	pid = fork();
	if (!pid) {
		setsid();
		pid = fork();
		if (!pid)
			keep(cmds, gc, in[0], out, status[1], hold[0]);
		_exit(pid < 0);
	}
	ret = pid < 0 || waitpid(pid, &failed, 0) != pid ? -errno : failed ? -EAGAIN : 0;
	if (!ret) {
		gc->session = pid;
		gc->status = status[0];
		status[0] = -1;
	} else {
		close_fd(&gc->input);
		close_fd(&gc->hold);
	}
out:
	close_fd(&in[0]);
	close_fd(&hold[0]);
	close_fd(&status[0]);
	close_fd(&status[1]);
	return ret;
}

static void guest_cmd__end(struct guest_cmd *gc)
{
	close_fd(&gc->input);
	close_fd(&gc->status);
	if (gc->session)
		kill(-gc->session, SIGKILL);
	gc->session = 0;
	close_fd(&gc->hold);
}

/* Waits for @ms at most. Has it ended, and how? -1: no or not known how */
static bool guest_cmd__has_ended(struct guest_cmd *gc, int ms, int *code)
{
	struct pollfd fd = { .fd = gc->status, .events = POLLIN };

	if (!gc->ended) {
		*code = -1;
		if (poll(&fd, 1, ms) <= 0)
			return false;
		gc->ended = true;
		if (readn(gc->status, &gc->code, sizeof(gc->code)) != sizeof(gc->code))
			gc->code = -1;
	}
	*code = gc->code;
	return true;
}

static int fail_code(const struct guest_cmd *gc, int code, char *err, size_t errlen)
{
	if (code == -1 || !WIFEXITED(code))
		scnprintf(err, errlen, "cannot be asked: '%s' was killed", gc->cmd);
	else
		scnprintf(err, errlen, "cannot be asked: '%s' failed with %d", gc->cmd,
			  WEXITSTATUS(code));
	return -EIO;
}

static int fail_timeout(unsigned int timeout, char *err, size_t errlen)
{
	if (interrupted) {
		scnprintf(err, errlen, "was not waited for: interrupted");
		return -EINTR;
	}
	scnprintf(err, errlen, "has not answered in %u s (--guest-timeout)", timeout);
	return -ETIMEDOUT;
}

/*
 * Waits until the command has ended. 0, or -errno with the rest of a sentence about
 * the guest in @err.
 */
static int guest_cmd__wait(struct guest_cmd *gc, unsigned int timeout, char *err, size_t errlen)
{
	u64 end = now_ns() + timeout * NSEC_PER_SEC;
	int code, ret;

	while (!guest_cmd__has_ended(gc, POLL_MS, &code)) {
		if (interrupted || now_ns() >= end) {
			ret = fail_timeout(timeout, err, errlen);
			guest_cmd__end(gc);
			return ret;
		}
	}
	guest_cmd__end(gc);
	return code ? fail_code(gc, code, err, errlen) : 0;
}

/* Waits until there is something in @fd, its output. As above */
static int guest_cmd__wait_for_output(struct guest_cmd *gc, int fd, unsigned int timeout,
				      char *err, size_t errlen)
{
	u64 end = now_ns() + timeout * NSEC_PER_SEC;
	struct stat st;
	int code;

	while (!fstat(fd, &st) && !st.st_size) {
		if (guest_cmd__has_ended(gc, POLL_MS, &code)) {
			if (!code)
				scnprintf(err, errlen, "has said nothing: '%s' has ended", gc->cmd);
			return code ? fail_code(gc, code, err, errlen) : -EIO;
		}
		if (interrupted || now_ns() >= end)
			return fail_timeout(timeout, err, errlen);
	}
	return 0;
}

/* The kernel's symbols have to be a file of their own for perf. */
static int store_kallsyms(const char *map, const char *dir, char *err, size_t errlen)
{
	char path[PATH_MAX];
	int fd, ret;

	scnprintf(path, sizeof(path), "%s/kallsyms", dir);
	if (mkdir(dir, 0700) && errno != EEXIST)
		goto out_errno;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		goto out_errno;

	ret = guest_map__extract_kallsyms(map, fd, err, errlen);
	if (!close(fd) && !ret)
		return 0;
	if (ret) {
		unlink(path);
		rmdir(dir);
		return ret;
	}
out_errno:
	ret = -errno;
	scnprintf(err, errlen, "cannot be stored: %s: %s", path, strerror(-ret));
	unlink(path);
	rmdir(dir);
	return ret;
}

/* Takes the map that has come. Nothing is left of one that is no good. */
static int store_map(const struct kvm_vm *vm, const char *dir, char *err, size_t errlen)
{
	char path[PATH_MAX], tmp[PATH_MAX], kallsyms_dir[PATH_MAX], what[192];
	int ret;

	map_paths(vm, dir, path, tmp);
	scnprintf(kallsyms_dir, sizeof(kallsyms_dir), "%s/" KVM_GUEST_KALLSYMS_FMT, dir, vm->pid);
	ret = guest_map__check(tmp, what, sizeof(what));
	if (!ret)
		ret = store_kallsyms(tmp, kallsyms_dir, what, sizeof(what));
	if (!ret && rename(tmp, path)) {
		ret = -errno;
		scnprintf(what, sizeof(what), "cannot be stored: %s", strerror(-ret));
	}
	if (ret)
		scnprintf(err, errlen, "has sent a map that %s", what);
	return ret;
}

/* Starts @gc with a new file for its output, which is returned, or -errno */
static int guest_cmd__start_to_file(const struct guest_cmds *cmds, struct guest_cmd *gc,
				    const struct kvm_vm *vm, const char *dir,
				    char *err, size_t errlen)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	int fd, ret;

	if (vm__is_gone(vm)) {
		scnprintf(err, errlen, "does not run any more");
		return -ESRCH;
	}

	map_paths(vm, dir, path, tmp);
	fd = open(tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		ret = -errno;
		scnprintf(err, errlen, "has a map that cannot be stored: %s", strerror(-ret));
		return ret;
	}
	ret = guest_cmd__start(cmds, gc, fd);
	if (ret) {
		scnprintf(err, errlen, "cannot be asked: %s", strerror(-ret));
		close(fd);
		unlink(tmp);
		return ret;
	}
	return fd;
}

static void warn(const struct guest_cmd *gc, const char *err)
{
	unified_warning("Guest %s %s.\n"
			"Its functions will have no names; a map made by hand can be given to the report\n"
			"as long as the guest runs: perf kvm unified report --guest-map %s=FILE\n",
			gc->name, err, gc->name);
}

static void unlink_tmp(const struct kvm_vm *vm, const char *dir)
{
	char path[PATH_MAX], tmp[PATH_MAX];

	map_paths(vm, dir, path, tmp);
	unlink(tmp);
}

/*
 * Before the measurement: those that follow their guest are to have begun with it. 0,
 * or -EINTR: there is to be none
 */
int guest_cmds__start(struct guest_cmds *cmds, struct kvm_vms *vms, const char *dir)
{
	sighandler_t on_int, on_term;
	struct guest_cmd *gc;
	char err[256];

	on_int = signal(SIGINT, on_interrupt);
	on_term = signal(SIGTERM, on_interrupt);
	list_for_each_entry(gc, &cmds->list, node) {
		const struct kvm_vm *vm = kvm_vms__find_name(vms, gc->name);
		int fd, ret;

		if (!gc->follow || !vm)
			continue;
		if (!quiet)
			fprintf(stderr, "[ perf kvm unified: Following guest %s ]\n", gc->name);
		fd = guest_cmd__start_to_file(cmds, gc, vm, dir, err, sizeof(err));
		ret = fd < 0 ? fd : guest_cmd__wait_for_output(gc, fd, cmds->timeout,
							       err, sizeof(err));
		if (fd >= 0)
			close(fd);
		if (ret) {
			guest_cmd__end(gc);
			unlink_tmp(vm, dir);
			if (interrupted)
				break;
			warn(gc, err);
		}
	}
	if (!interrupted) {
		signal(SIGINT, on_int);
		signal(SIGTERM, on_term);
		/* One may have come between. */
		if (!interrupted)
			return 0;
	}
	/* Else a second Ctrl-C, or timeout's, would end what puts everything back. */
	guest_cmds__cancel(cmds, vms, dir);
	return -EINTR;
}

static int guest_cmd__fetch(const struct guest_cmds *cmds, struct guest_cmd *gc,
			    const struct kvm_vm *vm, const char *dir, char *err, size_t errlen)
{
	int fd, ret;

	if (gc->follow && vm__is_gone(vm)) {
		guest_cmd__end(gc);
		unlink_tmp(vm, dir);
		scnprintf(err, errlen, "does not run any more");
		return -ESRCH;
	}
	if (!gc->follow) {
		fd = guest_cmd__start_to_file(cmds, gc, vm, dir, err, errlen);
		if (fd < 0)
			return fd;
		close(fd);
	}
	ret = guest_cmd__wait(gc, cmds->timeout, err, errlen);
	if (!ret)
		ret = store_map(vm, dir, err, errlen);
	if (ret)
		unlink_tmp(vm, dir);
	return ret;
}

/* After the measurement: gets all maps into the directory. */
void guest_cmds__fetch(struct guest_cmds *cmds, struct kvm_vms *vms, const char *dir)
{
	struct guest_cmd *gc;
	char err[256];

	/* perf record's handlers only end a measurement. */
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	/* All of them now, so that none follows its guest for longer than it has to. */
	list_for_each_entry(gc, &cmds->list, node) {
		int code;

		if (gc->session && guest_cmd__has_ended(gc, 0, &code))
			unified_warning("Guest %s was not followed to the end: '%s' has ended before.\n",
					gc->name, gc->cmd);
		close_fd(&gc->input);
	}

	list_for_each_entry(gc, &cmds->list, node) {
		const struct kvm_vm *vm = kvm_vms__find_name(vms, gc->name);

		/* The second: it could not be started, which was said. */
		if (!vm || (gc->follow && !gc->session))
			continue;
		if (interrupted) {
			guest_cmd__end(gc);
			unlink_tmp(vm, dir);
			continue;
		}
		if (!quiet)
			fprintf(stderr, "[ perf kvm unified: Asking guest %s for its map ]\n",
				gc->name);
		if (guest_cmd__fetch(cmds, gc, vm, dir, err, sizeof(err)))
			warn(gc, err);
	}
}

/* There is no measurement: ends what was started for it. */
void guest_cmds__cancel(struct guest_cmds *cmds, struct kvm_vms *vms, const char *dir)
{
	struct guest_cmd *gc;

	list_for_each_entry(gc, &cmds->list, node) {
		const struct kvm_vm *vm = kvm_vms__find_name(vms, gc->name);

		if (gc->session && vm)
			unlink_tmp(vm, dir);
		guest_cmd__end(gc);
	}
}
