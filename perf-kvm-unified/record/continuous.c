// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified record --continuous: a recording without an end. This process records nothing:
 * for each interval, another one records a profile of its own, a segment. The next one is recording
 * before the last one ends, so that they overlap, and what goes on at the seam is known on both
 * sides; where the one ends and the other begins is written into both (format/window.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "util/debug.h"
#include "util/perf-hooks.h"
#include "util/time-utils.h"
#include "util/units.h"
#include "util/util.h"
#include "kvm-unified/format/window.h"
#include "kvm-unified/lib/options.h"
#include "kvm-unified/lib/warnings.h"
#include "continuous.h"
#include "host-clock.h"
#include "kernels.h"
#include "profile-hook.h"
#include "segments.h"

#define DEFAULT_INTERVAL	60
#define DEFAULT_KEEP		(24 * 60 * 60)
#define DEFAULT_MAX_SIZE	(1ULL << 30)
/* Shorter ones would be all seam. */
#define SHORTEST_INTERVAL	5

/*
 * So long both record on each side of the seam: a state that lasts longer than a second is known by
 * a look at its thread (looks.c).
 */
#define SEAM_MS			1100
/* How long a segment that cannot be begun is waited for, before the next try, s */
#define LONGEST_PAUSE		60
#define MS_PER_SEC		1000

/* As shells have it for a command that cannot be started */
#define EXIT_UNSTARTED		127
/* ... and for one that a signal has ended, beside its number */
#define EXIT_BY_SIGNAL		128

/* What "FD,DIR" has in front of DIR */
#define SEGMENT_FD_LEN		16

/**
 * struct segment - a profile that is recorded
 * @pid: of the recorder; 0: there is none
 * @ready: it is recording when there is a byte to be read, and gone at the end
 * @window: the part of it that is its own
 * @part: @path: the profile while it is written, and then
 */
struct segment {
	pid_t	pid;
	int	ready;
	struct profile_window window;
	char	part[PATH_MAX];
	char	path[PATH_MAX];
};

/**
 * struct recorder - what goes on
 * @given: how long each is, and what is kept
 * @segments: the profiles in @dir
 * @argv: of the command that records a segment; [@at] is for the segment, and the one after it
 * @clock: the events'
 * @dropped: profiles that were removed
 * @hook: gets each profile
 * @begun: a segment was
 * @failed: the last one was not: its recorder tells why
 * @pid: of this process
 */
struct recorder {
	const struct continuous *given;
	const char *dir;
	struct segments segments;
	const char **argv;
	int	at;
	struct host_clock clock;
	struct segments_dropped dropped;
	struct profile_hook hook;
	bool	begun;
	bool	failed;
	pid_t	pid;
};

static volatile sig_atomic_t ending, next_now;

/* They come while this process waits, and at no other time: then none is overlooked. */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
static sigset_t while_waiting;

static void on_end(int sig)
{
	ending = sig;
}

/* Who moves the profiles elsewhere wants the one that is written to end. */
static void on_hangup(int sig __maybe_unused)
{
	next_now = 1;
}

static void on_child(int sig __maybe_unused)
{
}

static void handle_signals(void)
{
	sigset_t set;

	signal(SIGINT, on_end);
	signal(SIGTERM, on_end);
	signal(SIGHUP, on_hangup);
	signal(SIGCHLD, on_child);
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &while_waiting);
}

/* "10s", "24h". 0 or -EINVAL with a message; @seconds is left alone without @text */
static int parse_time(const char *option, const char *text, u64 *seconds)
{
	struct parse_tag tags[] = {
		{ .tag = 's', .mult = 1 }, { .tag = 'm', .mult = 60 },
		{ .tag = 'h', .mult = 60 * 60 }, { .tag = 'd', .mult = 24 * 60 * 60 },
		{ .tag = 0 },
	};
	unsigned long value = text ? parse_tag_value(text, tags) : 0;

	if (!text)
		return 0;
	if (!value || value > INT_MAX) {
		pr_err("--%s wants a time such as 10s, 5m, 24h or 7d, not '%s'\n", option, text);
		return -EINVAL;
	}
	*seconds = value;
	return 0;
}

/* "500M", "1G". As parse_time() */
static int parse_size(const char *option, const char *text, u64 *bytes)
{
	struct parse_tag tags[] = {
		{ .tag = 'B', .mult = 1 }, { .tag = 'K', .mult = 1 << 10 },
		{ .tag = 'M', .mult = 1 << 20 }, { .tag = 'G', .mult = 1 << 30 },
		{ .tag = 0 },
	};
	unsigned long value = text ? parse_tag_value(text, tags) : 0;

	if (!text)
		return 0;
	if (!value || value == ULONG_MAX) {
		pr_err("--%s wants a size such as 500M or 10G, not '%s'\n", option, text);
		return -EINVAL;
	}
	*bytes = value;
	return 0;
}

static int parse(struct continuous *continuous)
{
	int ret;

	continuous->seconds = DEFAULT_INTERVAL;
	continuous->limits = (struct segments_limits) {
		.keep = DEFAULT_KEEP, .max_size = DEFAULT_MAX_SIZE,
	};
	ret = parse_time("interval", continuous->interval, &continuous->seconds) ?:
	      parse_time("keep", continuous->keep, &continuous->limits.keep) ?:
	      parse_size("max-size", continuous->max_size, &continuous->limits.max_size);
	if (!ret && continuous->seconds < SHORTEST_INTERVAL) {
		pr_err("--interval wants at least %d s, not '%s'\n", SHORTEST_INTERVAL,
		       continuous->interval);
		ret = -EINVAL;
	}
	return ret;
}

/* Parses what was given. 0 or -EINVAL with a message */
int continuous__check(struct continuous *continuous)
{
	if (continuous->dir && !*continuous->dir) {
		pr_err("--continuous wants a directory\n");
		return -EINVAL;
	}
	if (continuous->on_profile && !*continuous->on_profile) {
		pr_err("--on-profile wants a command\n");
		return -EINVAL;
	}
	if (continuous->dir)
		return parse(continuous);
	if (!continuous->interval && !continuous->keep && !continuous->on_profile)
		return 0;
	pr_err("--%s is for --continuous\n", continuous->interval ? "interval" :
	       continuous->keep ? "keep" : "on-profile");
	return -EINVAL;
}

/* The recorder of a segment: recording has begun. */
static void tell_ready(void *_fd)
{
	int fd = (long)_fd;

	if (write(fd, "", 1) < 0)
		pr_debug("Nobody waits for this recorder any more\n");
	close(fd);
}

/*
 * In the process that records a segment: has the one that waits for it told. The directory of the
 * profile, or NULL with a message
 */
const char *continuous__begin_segment(const struct continuous *continuous)
{
	char *dir;
	long fd = strtol(continuous->segment, &dir, 10);

	if (*dir != ',' || fd <= STDERR_FILENO || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		pr_err("--segment is for --continuous itself\n");
		return NULL;
	}
	perf_hooks__set_hook("record_start", tell_ready, (void *)fd);
	return dir + 1;
}

/* Becomes the recorder. Does not return. */
static void __noreturn exec_recorder(const struct recorder *rec, const struct segment *seg, int fd)
{
	char arg[SEGMENT_FD_LEN + PATH_MAX + sizeof("--segment=")], exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	/* Ctrl-C is for this process, which ends that one when there is a next one, or none. */
	setpgid(0, 0);
	/* Else it would record for ever. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != rec->pid)
		_exit(EXIT_UNSTARTED);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	fcntl(fd, F_SETFD, 0);
	scnprintf(arg, sizeof(arg), "--segment=%d,%s", fd, seg->part);
	rec->argv[rec->at] = arg;
	/* The first one has told what there is to tell of the host. */
	rec->argv[rec->at + 1] = rec->begun && !rec->failed && !verbose ? "-q" : arg;
	exe[max_t(ssize_t, len, 0)] = '\0';
	/* By its name, which the task has then. Where there is another one now, by the file. */
	execv(exe, (char *const *)rec->argv);
	execv("/proc/self/exe", (char *const *)rec->argv);
	_exit(EXIT_UNSTARTED);
}

/* 0 or -errno with a message */
static int segment__start(const struct recorder *rec, struct segment *seg)
{
	int fds[2], err = 0;

	*seg = (struct segment) { .ready = -1 };
	segment__paths(rec->dir, time(NULL), seg->part, seg->path);
	if (pipe2(fds, O_CLOEXEC)) {
		err = -errno;
	} else {
		seg->pid = fork();
		if (!seg->pid)
			exec_recorder(rec, seg, fds[1]);
		if (seg->pid < 0)
			err = -errno;
		close(fds[1]);
		seg->ready = fds[0];
	}
	if (!err)
		return 0;
	pr_err("Cannot start a recorder: %s\n", strerror(-err));
	if (seg->ready >= 0)
		close(seg->ready);
	seg->pid = 0;
	return err;
}

/* Waits until it records. false: it has ended instead, or all is to end */
static bool segment__wait_ready(struct segment *seg)
{
	struct pollfd poll_fd = { .fd = seg->ready, .events = POLLIN };
	char byte;
	int ret;

	do {
		ret = ppoll(&poll_fd, 1, /*timeout=*/NULL, &while_waiting);
	} while (ret < 0 && errno == EINTR && !ending);
	return ret > 0 && read(seg->ready, &byte, sizeof(byte)) == sizeof(byte);
}

/* Has the recorder ended by itself? */
static bool segment__has_ended(const struct segment *seg)
{
	siginfo_t info = { };

	return !waitid(P_PID, seg->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* Ends the recorder, and waits until the profile is written. Its exit code */
static int segment__stop(struct segment *seg)
{
	int status = 0;

	kill(seg->pid, SIGINT);
	while (waitpid(seg->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(seg->ready);
	seg->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BY_SIGNAL + WTERMSIG(status);
}

/* ... of a profile that is not needed, and removes that. The exit code of the recorder */
static int segment__discard(struct segment *seg)
{
	int code = segment__stop(seg);

	rm_rf_perf_data(seg->part);
	return code;
}

/* ... and gives the profile its name. One without a record is none. */
static void segment__end(struct recorder *rec, struct segment *seg)
{
	int err;

	segment__stop(seg);
	if (!segment__has_records(seg->part)) {
		rm_rf_perf_data(seg->part);
		return;
	}
	err = kernels__keep(rec->dir, seg->part);
	if (err)
		pr_debug("%s does not share the symbols of all kernels with other profiles: %s\n",
			 seg->path, strerror(-err));
	if (rename(seg->part, seg->path))
		pr_err("Cannot rename %s: %m\n", seg->part);
	else
		profile_hook__add(&rec->hook, seg->path);
}

/* Writes which part of its time is its own, before any other thing can happen to it. */
static void segment__write_window(const struct segment *seg)
{
	int err = profile_window__write(&seg->window, seg->part);

	if (err)
		unified_warning("Cannot write where %s ends, so that it overlaps with others: %s\n",
				seg->path, strerror(-err));
}

/* Removes profiles by the limits, and tells once which of them is the one that does. */
static void limit_segments(struct recorder *rec)
{
	struct segments_dropped before = rec->dropped;
	int err = segments__limit(&rec->segments, &rec->given->limits, time(NULL), &rec->dropped);

	if (err == -ENOTEMPTY)
		unified_warning("%s/%s: what is not of a profile stays there\n", rec->dir,
				rec->segments.left);
	else if (err)
		unified_warning("Cannot remove %s/%s: %s\n", rec->dir, rec->segments.left,
				strerror(-err));
	if (!before.by_age && rec->dropped.by_age)
		unified_warning("%s: profiles go when they are older than --keep has it\n",
				rec->dir);
	if (!before.by_size && rec->dropped.by_size)
		unified_warning("%s: profiles go before they are as old as --keep has it, by --max-size\n",
				rec->dir);
}

/* Sleeps for @ms, or until there is a signal. */
static void pause_ms(u64 ms)
{
	const struct timespec time = {
		.tv_sec = ms / MS_PER_SEC,
		.tv_nsec = ms % MS_PER_SEC * NSEC_PER_MSEC,
	};

	ppoll(NULL, 0, &time, &while_waiting);
}

static u64 now_ms(void)
{
	return rdclock() / NSEC_PER_MSEC;
}

/* Sleeps for @ms, or until all is to end. */
static void sleep_ms(u64 ms)
{
	u64 due = now_ms() + ms;

	for (u64 now = now_ms(); !ending && now < due; now = now_ms())
		pause_ms(due - now);
}

/* Waits until @due, ms, or all is to end, or the next is to begin, or the recorder has ended. */
static void wait_for_next(const struct segment *seg, u64 due)
{
	for (u64 now = now_ms(); now < due && !ending && !next_now && !segment__has_ended(seg);
	     now = now_ms())
		pause_ms(due - now);
	next_now = 0;
}

/* A recorder has failed: a disk that is full has room again. */
static void make_room(struct recorder *rec)
{
	int nr = segments__make_room(&rec->segments);

	if (nr)
		unified_warning("%s: the disk is full, and %d of the oldest profiles %s gone\n",
				rec->dir, nr, nr == 1 ? "is" : "are");
}

/* The recorder of @seg has ended by itself: begins another one as soon as there can be one. */
static void begin_again(struct recorder *rec, struct segment *seg)
{
	int seconds = 1;

	while (!ending) {
		if (!segment__start(rec, seg)) {
			rec->failed = !segment__wait_ready(seg);
			if (!rec->failed)
				return;
			segment__discard(seg);
		}
		if (ending)
			return;
		make_room(rec);
		unified_warning("No recording: the next try is in %d s\n", seconds);
		sleep_ms(seconds * MS_PER_SEC);
		seconds = min(2 * seconds, LONGEST_PAUSE);
	}
}

/* Tells of a recorder that has ended by itself. Has it? */
static bool segment__tell_ended(const struct segment *seg)
{
	bool has_ended = segment__has_ended(seg);

	if (has_ended)
		unified_warning("A recorder has ended by itself: some time is not recorded\n");
	return has_ended;
}

/* The segment after @seg, which records still if nothing went wrong: it is @seg then. */
static void go_on(struct recorder *rec, struct segment *seg)
{
	struct segment next;
	u64 seam;

	if (segment__tell_ended(seg)) {
		segment__end(rec, seg);
		make_room(rec);
		begin_again(rec, seg);
		return;
	}
	if (segment__start(rec, &next))
		return;
	rec->failed = !segment__wait_ready(&next);
	if (!rec->failed)
		sleep_ms(SEAM_MS);
	/* What this one has recorded so far, the other one has, too. */
	if (rec->failed || ending) {
		segment__discard(&next);
		if (!ending)
			make_room(rec);
		return;
	}
	seam = host_clock__now(&rec->clock);
	seg->window.until = seam;
	next.window.from = seam;
	segment__write_window(seg);
	segment__write_window(&next);
	/* Signals are for later: both are to have the seam. */
	usleep(SEAM_MS * USEC_PER_MSEC);
	segment__tell_ended(seg);
	segment__end(rec, seg);
	*seg = next;
	limit_segments(rec);
}

/* Has no other recorder the directory? Its file, which is to stay open, or -errno with a message */
static int lock_dir(const char *dir)
{
	int fd, err = 0;

	if (mkdir(dir, 0700) && errno != EEXIST)
		err = -errno;
	fd = err ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!err && fd < 0)
		err = -errno;
	if (!err && flock(fd, LOCK_EX | LOCK_NB))
		err = -errno;
	if (!err)
		return fd;
	if (err == -EWOULDBLOCK)
		pr_err("Another recorder writes to %s\n", dir);
	else
		pr_err("Cannot write to %s: %s\n", dir, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

/* The command line of the recorders: that of this one, with the segment first. NULL: no memory */
static const char **recorder_argv(int argc, const char **argv, int *at)
{
	static const char *const command[] = { "perf", "kvm", "unified", "record" };
	const char **all = calloc(ARRAY_SIZE(command) + argc + 2, sizeof(*all));

	if (!all)
		return NULL;
	memcpy(all, command, sizeof(command));
	*at = ARRAY_SIZE(command);
	/* argv[0] is the name of the command. */
	for (int i = 1; i < argc; i++)
		all[*at + 1 + i] = argv[i];
	return all;
}

static void record_on(struct recorder *rec, struct segment *seg)
{
	const u64 interval = rec->given->seconds * MS_PER_SEC;
	u64 due = now_ms() + interval;

	rec->begun = true;
	while (!ending) {
		wait_for_next(seg, due);
		if (ending)
			break;
		/* What it takes to begin a profile does not make it longer. */
		due = now_ms() + interval;
		go_on(rec, seg);
	}
	if (seg->pid)
		segment__end(rec, seg);
	limit_segments(rec);
}

/**
 * continuous__run - record until a signal ends it
 * @argc: @argv: the command line that has asked for it
 *
 * Ends by that signal, as perf record does. The exit code if it cannot begin
 */
int continuous__run(const struct continuous *continuous, int argc, const char **argv)
{
	struct recorder rec = {
		.given = continuous, .dir = continuous->dir,
		.segments.dir = continuous->dir, .pid = getpid(),
	};
	struct segment seg;
	u32 nr_recovered;
	int ret;

	ret = profile_hook__start(&rec.hook, continuous->on_profile);
	if (ret) {
		pr_err("Cannot start what runs --on-profile: %s\n", strerror(-ret));
		return 1;
	}
	if (lock_dir(rec.dir) < 0)
		return 1;
	ret = host_clock__open(&rec.clock, continuous->clock);
	if (ret) {
		pr_err("--continuous has to know the clock of the events, to tell where one profile ends and the next one\n"
		       "begins. If the kernel's is not made of the TSC, -k mono is one that is known: %s\n",
		       strerror(-ret));
		rmdir(rec.dir);
		return 1;
	}
	rec.argv = recorder_argv(argc, argv, &rec.at);
	if (!rec.argv) {
		pr_err("Out of memory\n");
		return 1;
	}
	ret = segments__recover(rec.dir, &nr_recovered);
	if (ret)
		unified_warning("%s: not all that a recorder has left is a profile now: %s\n",
				rec.dir, strerror(-ret));
	if (nr_recovered)
		unified_warning("What a recorder that was killed has left is kept: %u profile%s\n",
				nr_recovered, nr_recovered == 1 ? "" : "s");
	handle_signals();
	if (segment__start(&rec, &seg))
		return 1;
	if (segment__wait_ready(&seg)) {
		record_on(&rec, &seg);
		ret = 0;
	} else {
		ret = segment__discard(&seg) ?: 1;
		if (ending)
			ret = 0;
	}
	free(rec.argv);
	segments__exit(&rec.segments);
	profile_hook__end(&rec.hook);
	/* If it is empty */
	rmdir(rec.dir);
	if (ending && !ret) {
		signal(ending, SIG_DFL);
		raise(ending);
		sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	}
	return ret;
}
