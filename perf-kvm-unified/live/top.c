// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified top: what the host and its guests do now. It is record --continuous, whose
 * profiles go at once, and a report of each: so it has names of guests' processes, as any profile.
 *
 * Room: live/, what goes on now, on a terminal.
 * Calls: lib
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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/strbuf.h"
#include "util/util.h"
#include "kvm-unified/lib/write.h"
#include "screen.h"
#include "top.h"

/* What record and report get in front of what the user gives, which comes later and counts */
#define INTERVAL	"5s"
/* On the disk: some profiles of a large host, one of which is read */
#define MAX_SIZE	"64M"
#define FREQ		"99"
#define PERCENT_LIMIT	"0.5"
/* "perf", "kvm", "unified", the command, and the NULL */
#define NR_FIXED	16
/* Beyond that, a report is cut: nobody scrolls so far. */
#define MAX_REPORT	(4 << 20)

#define EXIT_UNSTARTED	127
/* As a shell has it for a command that a signal has ended, beside its number */
#define EXIT_BY_SIGNAL	128

/**
 * struct top
 * @dir: for profiles, and for what the recorder says, until the end
 * @exe: this program
 * @record_args: @report_args: of the user; @nr_record: @nr_report: so many
 * @recorder: its process
 * @paths: gives the path of each profile that is complete, a line each
 * @profile: the last one, which has no report yet, or an empty string
 * @partial: of a line that is not there whole; @len: so much
 */
struct top {
	char	dir[PATH_MAX - NAME_MAX];
	char	exe[PATH_MAX];
	const char **record_args;
	int	nr_record;
	const char **report_args;
	int	nr_report;
	pid_t	recorder;
	int	paths;
	char	profile[PATH_MAX];
	char	partial[PATH_MAX];
	size_t	len;
	struct screen screen;
};

static volatile sig_atomic_t ending, drawn_over;

/* They come while this process waits, and at no other time. */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGCONT };
static sigset_t while_waiting;

static void on_end(int sig __maybe_unused)
{
	ending = 1;
}

static void on_child(int sig __maybe_unused)
{
}

static void on_draw(int sig __maybe_unused)
{
	drawn_over = 1;
}

static void handle_signals(void)
{
	sigset_t set;

	signal(SIGINT, on_end);
	signal(SIGTERM, on_end);
	signal(SIGHUP, on_end);
	signal(SIGCHLD, on_child);
	signal(SIGWINCH, on_draw);
	signal(SIGCONT, on_draw);
	/* It is seen when something is printed, and the profiles are removed then, too. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &while_waiting);
}

/* In a child: becomes perf kvm unified with @args, of which there are @nr. Does not return. */
static void __noreturn exec_perf(const struct top *top, const char *const *args, int nr,
				 const char *const *more, int nr_more)
{
	const char **argv = calloc(NR_FIXED + nr + nr_more, sizeof(*argv));
	int n = 0;

	if (!argv)
		_exit(EXIT_UNSTARTED);
	argv[n++] = "perf";
	argv[n++] = "kvm";
	argv[n++] = "unified";
	for (int i = 0; i < nr; i++)
		argv[n++] = args[i];
	for (int i = 0; i < nr_more; i++)
		argv[n++] = more[i];
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	execv(top->exe, (char *const *)argv);
	_exit(EXIT_UNSTARTED);
}

/* Is there a rate among what the user gives? Two of them are refused. */
static bool has_rate(const struct top *top)
{
	static const char *const rates[] = { "-F", "-c", "--freq", "--count" };

	for (int i = 0; i < top->nr_record; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(rates); k++) {
			if (strstarts(top->record_args[i], rates[k]))
				return true;
		}
	}
	return false;
}

static void __noreturn exec_recorder(const struct top *top, int fd, pid_t parent)
{
	char command[64], log[PATH_MAX];
	const char *args[NR_FIXED] = {
		"record", "--continuous", top->dir, "--interval", INTERVAL, "--max-size", MAX_SIZE,
		"--on-profile", command,
	};
	int nr = 9;
	int file;

	if (!has_rate(top)) {
		args[nr++] = "-F";
		args[nr++] = FREQ;
	}
	/* Ctrl-C is for this program's parent, which ends this one. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_UNSTARTED);
	scnprintf(log, sizeof(log), "%s/log", top->dir);
	file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
		_exit(EXIT_UNSTARTED);
	close(file);
	if (!freopen("/dev/null", "r", stdin))
		_exit(EXIT_UNSTARTED);
	fcntl(fd, F_SETFD, 0);
	scnprintf(command, sizeof(command), "echo \"$1\" >/proc/self/fd/%d", fd);
	exec_perf(top, args, nr, top->record_args, top->nr_record);
}

/* 0 or -errno */
static int start_recorder(struct top *top)
{
	pid_t pid = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	top->recorder = fork();
	if (!top->recorder)
		exec_recorder(top, fds[1], pid);
	close(fds[1]);
	top->paths = fds[0];
	return top->recorder < 0 ? -errno : 0;
}

static void __noreturn exec_report(const struct top *top, int out)
{
	const char *args[] = {
		"report", "--format", "table", "--percent-limit", PERCENT_LIMIT, "-i", top->profile,
	};

	if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 ||
	    !freopen("/dev/null", "r", stdin))
		_exit(EXIT_UNSTARTED);
	exec_perf(top, args, ARRAY_SIZE(args), top->report_args, top->nr_report);
}

/* Reads what is printed, with what goes wrong. 0 or -errno */
static int read_report(int fd, struct strbuf *text)
{
	char buf[BUFSIZ];
	ssize_t len;
	int ret = 0;

	while (!ret && (len = read(fd, buf, sizeof(buf))) > 0) {
		if (text->len < MAX_REPORT)
			ret = strbuf_add(text, buf, len);
	}
	if (!ret && text->len && text->buf[text->len - 1] != '\n')
		ret = strbuf_addch(text, '\n');
	return ret;
}

/* Shows the report of the last profile. 0 or -errno */
static int show_report(struct top *top)
{
	struct strbuf text = STRBUF_INIT;
	int fds[2], ret, status = 0;
	time_t now = time(NULL);
	char title[32];
	struct tm tm;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		exec_report(top, fds[1]);
	close(fds[1]);
	ret = pid < 0 ? -errno : read_report(fds[0], &text);
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	top->profile[0] = '\0';
	if (!ret && status)
		ret = strbuf_addf(&text, "The report has failed: %s %d\n",
				  WIFSIGNALED(status) ? "signal" : "exit code",
				  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (ret) {
		strbuf_release(&text);
		return ret;
	}
	strftime(title, sizeof(title), "%H:%M:%S", localtime_r(&now, &tm));
	return screen__show(&top->screen, strbuf_detach(&text, NULL), title);
}

/* Takes paths off the pipe: of several, the last one. */
static void read_paths(struct top *top)
{
	size_t room = sizeof(top->partial) - 1 - top->len;
	ssize_t len = read(top->paths, top->partial + top->len, room);
	char *end, *line = top->partial;

	if (len <= 0)
		return;
	top->len += len;
	top->partial[top->len] = '\0';
	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		snprintf(top->profile, sizeof(top->profile), "%s", line);
		line = end + 1;
	}
	top->len -= line - top->partial;
	memmove(top->partial, line, top->len);
}

/* What the recorder has said, to standard error */
static void print_log(const struct top *top)
{
	struct strbuf text = STRBUF_INIT;
	char path[PATH_MAX];
	int fd;

	scnprintf(path, sizeof(path), "%s/log", top->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && strbuf_read(&text, fd, 0) > 0)
		fputs(text.buf, stderr);
	if (fd >= 0)
		close(fd);
	strbuf_release(&text);
}

/* Ends the recorder, unless it has ended. Its exit code */
static int stop_recorder(struct top *top, bool ended)
{
	int status = 0;

	if (!ended)
		kill(top->recorder, SIGINT);
	while (waitpid(top->recorder, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BY_SIGNAL + WTERMSIG(status);
}

/* Has the recorder ended by itself? */
static bool recorder_has_ended(const struct top *top)
{
	siginfo_t info = { };

	return !waitid(P_PID, top->recorder, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* Until the user has had enough (0), or something goes wrong: -errno */
static int watch(struct top *top)
{
	struct pollfd fds[] = {
		{ .fd = top->paths, .events = POLLIN },
		{ .fd = top->screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int ret = 0;

	while (!ret && !ending && !recorder_has_ended(top)) {
		if (ppoll(fds, ARRAY_SIZE(fds), /*timeout=*/NULL, &while_waiting) < 0) {
			if (drawn_over)
				ret = screen__redraw(&top->screen);
			drawn_over = 0;
			continue;
		}
		if (fds[1].revents && screen__key(&top->screen, &ret))
			break;
		if (fds[0].revents)
			read_paths(top);
		if (!ret && top->profile[0])
			ret = show_report(top);
	}
	return ret;
}

static int make_dir(struct top *top)
{
	const char *tmp = getenv("TMPDIR");

	scnprintf(top->dir, sizeof(top->dir), "%s/perf-kvm-top-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(top->dir))
		return 0;
	pr_err("Cannot make %s: %m\n", top->dir);
	return -errno;
}

/* The exit code */
static int top__run(struct top *top)
{
	bool ended = false;
	int ret, code;

	handle_signals();
	ret = start_recorder(top);
	if (ret) {
		pr_err("Cannot start a recorder: %s\n", strerror(-ret));
		return 1;
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "The first profile is recorded ...\n");
	screen__open(&top->screen);
	ret = watch(top);
	screen__close(&top->screen);
	/* It is asked for while it is known to be alive, or a child that nobody has waited for. */
	if (!ret && !ending)
		ended = recorder_has_ended(top);
	code = stop_recorder(top, ended);
	if (ended || verbose)
		print_log(top);
	if (ret && ret != -EPIPE)
		pr_err("Cannot show a report: %s\n", strerror(-ret));
	if (ended)
		return code ?: 1;
	return ret == -EPIPE ? EXIT_UNREAD : ret ? 1 : 0;
}

/* Parts the command line at "--": what is in front of it is record's, what comes after report's. */
static void split(struct top *top, int argc, const char **argv)
{
	top->record_args = argv + 1;
	while (top->nr_record < argc - 1 && strcmp(argv[1 + top->nr_record], "--"))
		top->nr_record++;
	top->report_args = argv + top->nr_record + 2;
	top->nr_report = max(argc - top->nr_record - 2, 0);
}

int cmd_kvm_unified_top(int argc, const char **argv)
{
	static const char *const usage[] = {
		"perf kvm unified top [<options of record>] [-- <options of report>]",
		NULL
	};
	const struct option options[] = {
		OPT_INCR('v', "verbose", &verbose, "at the end, show what record has said"),
		OPT_END()
	};
	struct top *top;
	int ret;

	argc = parse_options(argc, argv, options, usage, PARSE_OPT_KEEP_ARGV0 |
			     PARSE_OPT_KEEP_UNKNOWN | PARSE_OPT_KEEP_DASHDASH);
	top = calloc(1, sizeof(*top));
	if (!top) {
		pr_err("Out of memory\n");
		return 1;
	}
	perf_exe(top->exe, sizeof(top->exe));
	split(top, argc, argv);
	ret = make_dir(top);
	if (!ret) {
		ret = top__run(top);
		rm_rf(top->dir);
	}
	free(top);
	return ret ? (ret < 0 ? 1 : ret) : 0;
}
