// SPDX-License-Identifier: GPL-2.0
/*
 * A look at a guest, as perf sees it: a confined process is given orders, gets the memory that it
 * asks for, up to a limit, and gives back a map. Whatever it says is as little to be trusted as
 * the guest: perf copies it and counts, and does not believe it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "kvm-unified/format/records.h"
#include "kvm-unified/format/stream.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/write.h"
#include "confined-look.h"
#include "current.h"
#include "looker.h"
#include "wire.h"

/* How long to wait at once, to look at the process's CPU time in between: ms */
#define POLL_MS		20

/* What a guest's kernel, its processes and the symbols of their files may be */
#define LOOK_PAGES_MAX	((512ULL << 20) >> GUEST_PAGE_SHIFT)

/* What a look may take longer, to end by itself when it gets no more memory */
#define LOOK_GRACE_NS	NSEC_PER_SEC

/* arch/x86/entry/syscalls/syscall_64.tbl: perf's own headers do not have it. */
#define NR_CLONE	56

/* So many bytes of a map are read at once. */
#define MAP_CHUNK	(64 << 10)

/**
 * struct service - of one order
 * @cpu_ns: CPU time that it may take, from @began_ns on, when the looker had used that much
 * @until: the end of its time on the wall
 * @pages: that it may still have
 * @out: where the map goes, -1: there is to be none
 * @written: bytes of it
 * @more: @more_len: gets what follows when the order is done
 */
struct service {
	struct looker *looker;
	u64	cpu_ns;
	u64	began_ns;
	u64	thread_ns;
	u64	until;
	u64	pages;
	int	out;
	u64	written;
	void	*more;
	size_t	more_len;
};

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The CPU time that the confined process has had */
static u64 own_ns(const struct looker *looker)
{
	clockid_t clock;

	if (clock_getcpuclockid(looker->pid, &clock))
		return looker->own_ns;
	return max(clock_ns(clock), looker->own_ns);
}

/* ... since the order was given, with that of perf for it */
static u64 service_ns(const struct service *service)
{
	return own_ns(service->looker) - service->began_ns +
	       clock_ns(CLOCK_THREAD_CPUTIME_ID) - service->thread_ns;
}

/* Has it had all the time that it may have, and @more besides, ns? */
static bool is_over(const struct service *service, u64 more)
{
	return service_ns(service) > service->cpu_ns + more ||
	       clock_ns(CLOCK_MONOTONIC) > service->until + more;
}

/* Waits for @events of @fd, or, if there is a map to come, for some of it. 0 or -errno */
static int wait_for(struct service *service, short events, bool *control, bool *map)
{
	struct pollfd fds[] = {
		{ .fd = service->looker->control, .events = events },
		{ .fd = service->out < 0 ? -1 : service->looker->maps, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, ARRAY_SIZE(fds), POLL_MS);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (is_over(service, LOOK_GRACE_NS))
			return -ETIME;
		*control = n > 0 && fds[0].revents;
		*map = n > 0 && (fds[1].revents & POLLIN);
		if (*control || *map)
			return 0;
	}
}

/* Takes what there is of the map now. 0 or -errno */
static int take_map(struct service *service)
{
	char buf[MAP_CHUNK];
	ssize_t n = read(service->looker->maps, buf, sizeof(buf));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (service->out < 0)
		return n ? -EPROTO : 0;
	service->written += n;
	if (service->written > GUEST_STREAM_MAX_SIZE)
		return -EFBIG;
	/* Not to be taken for the end of the process */
	return write_all(service->out, buf, n) ? -EIO : 0;
}

/* All @len bytes, while the map comes. 0, -EPIPE: it has ended, or -errno */
static int transfer(struct service *service, void *buf, size_t len, bool sending)
{
	int fd = service->looker->control;

	while (len) {
		bool control, map;
		int ret = wait_for(service, sending ? POLLOUT : POLLIN, &control, &map);
		ssize_t n;

		if (!ret && map)
			ret = take_map(service);
		if (ret)
			return ret;
		if (!control)
			continue;
		n = sending ? send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL) :
			      recv(fd, buf, len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0 && errno != ECONNRESET)
			return -errno;
		if (n <= 0)
			return -EPIPE;
		buf += n;
		len -= n;
	}
	return 0;
}

/* 0 or -errno. A request is answered in any case, if only by how it fails. */
static int give_memory(struct service *service, const struct look_message *request)
{
	struct host_mem *mem = &service->looker->mem;
	/* Pages that could not be read have no room in it. */
	struct {
		struct look_reply reply;
		char pages[HOST_MEM_BATCH][GUEST_PAGE_SIZE];
	} answer;
	struct look_reply *reply = &answer.reply;
	unsigned int nr = 0;

	if (!request->nr || request->nr > HOST_MEM_BATCH || request->gpa % GUEST_PAGE_SIZE)
		return -EPROTO;
	*reply = (struct look_reply) { };
	/* What it has found until then is kept. */
	if (request->nr > service->pages || is_over(service, 0)) {
		reply->ret = -EDQUOT;
	} else {
		service->pages -= request->nr;
		reply->ret = host_mem__read(mem, request->gpa, request->nr, answer.pages,
					    reply->status);
	}
	for (unsigned int i = 0; !reply->ret && i < request->nr; i++) {
		if (reply->status[i])
			continue;
		if (nr < i)
			memcpy(answer.pages[nr], answer.pages[i], GUEST_PAGE_SIZE);
		nr++;
	}
	return transfer(service, &answer, sizeof(*reply) + nr * GUEST_PAGE_SIZE, /*sending=*/true);
}

/* Serves the process until the order is done. 0, or -errno of what went wrong with it */
static int serve(struct service *service, struct look_message *done)
{
	for (;;) {
		int ret = transfer(service, done, sizeof(*done), /*sending=*/false);

		if (!ret && done->kind == LOOK_WANTS_MEMORY)
			ret = give_memory(service, done);
		else if (!ret)
			return done->kind == LOOK_IS_DONE ? 0 : -EPROTO;
		if (ret)
			return ret;
	}
}

/* The end of the map, which was written before the order was done */
static int take_rest(struct service *service)
{
	u64 before;
	int ret;

	if (service->out < 0)
		return 0;
	do {
		before = service->written;
		ret = take_map(service);
	} while (!ret && service->written > before);
	return ret;
}

/* It is not needed any more, or not to be trusted with anything. */
static void end_process(struct looker *looker, int *status)
{
	if (!looker->pid)
		return;
	looker->own_ns = own_ns(looker);
	kill(looker->pid, SIGKILL);
	while (waitpid(looker->pid, status, __WALL) < 0 && errno == EINTR)
		;
	looker->pid = 0;
	close(looker->control);
	close(looker->maps);
}

/* Why it has ended, by itself: the rest of a sentence */
static int fail_ended(int status, char *err, size_t errlen)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		return fail(err, errlen, -EPERM,
			    "what reads its memory tried to do what it may not, and was ended: the guest may have meant it to");
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		return fail(err, errlen, -EPROTO, "what reads its memory was ended by signal %d",
			    WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return fail(err, errlen, -EPERM,
			    "what reads its memory cannot be confined (%s): it needs CONFIG_SECCOMP_FILTER and x86-64",
			    strerror(WEXITSTATUS(status)));
	return fail(err, errlen, -EPROTO, "what reads its memory has ended");
}

/* Ends the process for @ret of serve(). Returns it, or a better one, with @err */
static int give_up(struct looker *looker, int ret, char *err, size_t errlen)
{
	int status = 0;

	if (ret == -EPIPE) {
		/* It is about to end: not to be killed before it has said how. */
		siginfo_t info;

		waitid(P_PID, looker->pid, &info, WEXITED | WNOWAIT | __WALL);
		end_process(looker, &status);
		return fail_ended(status, err, errlen);
	}
	end_process(looker, &status);
	switch (ret) {
	case -ETIME:
		return fail(err, errlen, ret, "a look at it took more time than it may");
	case -EIO:
		return fail(err, errlen, ret, "its map cannot be written");
	case -EFBIG:
		return fail(err, errlen, ret, "its map is too large");
	case -EPROTO:
		return fail(err, errlen, ret, "what reads its memory said what makes no sense");
	default:
		return fail(err, errlen, ret, "a look at it failed: %s", strerror(-ret));
	}
}

/* The kernel's own limit is of the process's whole life. */
static void allow_cpu(const struct looker *looker, u64 cpu_ns)
{
	const struct rlimit limit = {
		.rlim_cur = (own_ns(looker) + cpu_ns + LOOK_GRACE_NS) / NSEC_PER_SEC + 1,
		.rlim_max = RLIM_INFINITY,
	};

	prlimit(looker->pid, RLIMIT_CPU, &limit, NULL);
}

/* The service of an order that may take all the time and writes no map */
static struct service service_of(struct looker *looker)
{
	return (struct service) { .looker = looker, .cpu_ns = looker->max_cpu_ns, .out = -1 };
}

/*
 * Of @service, what is not known when it begins is filled in here. 0, or -errno with the rest of a
 * sentence about the guest in @err
 */
static int order(struct service *service, struct look_order *order, char *err, size_t errlen)
{
	struct looker *looker = service->looker;
	struct look_message done;
	int ret;

	if (!looker->pid)
		return fail(err, errlen, -ESRCH, "nothing looks at it any more");
	service->thread_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	service->until = clock_ns(CLOCK_MONOTONIC) + LOOK_WALL_RATIO * looker->max_cpu_ns;
	service->pages = LOOK_PAGES_MAX;
	service->began_ns = own_ns(looker);
	allow_cpu(looker, service->cpu_ns);
	ret = transfer(service, order, sizeof(*order), /*sending=*/true);
	if (!ret)
		ret = serve(service, &done);
	if (!ret)
		ret = take_rest(service);
	if (!ret && !done.ret && service->more)
		ret = transfer(service, service->more, service->more_len, /*sending=*/false);
	looker->last_ns = service_ns(service);
	looker->cpu_ns += looker->last_ns;
	looker->own_ns = own_ns(looker);
	if (ret)
		return give_up(looker, ret, err, errlen);
	looker->stats = done.stats;
	if (done.ret) {
		done.err[sizeof(done.err) - 1] = '\0';
		text__make_printable(done.err);
		return fail(err, errlen, done.ret < 0 ? done.ret : -EPROTO, "%s", done.err);
	}
	looker->nr_looks++;
	return 0;
}

/*
 * A child that nobody hears of when it ends but who asks for it: perf record ends when a child of
 * its process does, and waits for any. Not fork(), so there must be no other thread yet.
 */
static pid_t fork_silently(void)
{
#ifdef __x86_64__
	const unsigned long flags_and_no_signal = 0;

	return syscall(NR_CLONE, flags_and_no_signal, NULL, NULL, NULL, 0);
#else
	/* Nothing can be confined there. */
	errno = EOPNOTSUPP;
	return -1;
#endif
}

/* The process that is to be confined, and what leads to it. 0 or -errno */
static int start_process(struct looker *looker, const struct guest_tsc *tsc, bool late)
{
	int control[2], maps[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
		return -errno;
	if (pipe2(maps, O_CLOEXEC)) {
		ret = -errno;
		goto out_control;
	}
	fflush(NULL);
	looker->pid = fork_silently();
	if (!looker->pid)
		confined_look(control[1], maps[1], looker->mem.kvm.max_gpa, tsc, late,
			      looker->max_cpu_ns / NSEC_PER_SEC);
	if (looker->pid < 0) {
		ret = -errno;
		looker->pid = 0;
		close(maps[0]);
		close(maps[1]);
		goto out_control;
	}
	close(control[1]);
	close(maps[1]);
	looker->control = control[0];
	looker->maps = maps[0];
	fcntl(looker->maps, F_SETFL, O_NONBLOCK);
	return 0;

out_control:
	close(control[0]);
	close(control[1]);
	return ret;
}

/**
 * looker__start - begin to look at a guest; there must be no other thread
 * @vmm: the process that it runs in
 * @tsc: the guest's TSC
 * @late: what it is looked at for has been before
 * @seconds: of CPU time that a look may take
 *
 * 0, or -errno with, in @err, the rest of a sentence about the guest
 */
int looker__start(struct looker *looker, struct kvm_reader *reader, pid_t vmm,
		  const struct guest_tsc *tsc, bool late, unsigned int seconds, char *err,
		  size_t errlen)
{
	int ret;

	*looker = (struct looker) {
		.mem.pagemap = -1,
		.max_cpu_ns = seconds * NSEC_PER_SEC,
	};
	ret = kvm_reader__read(reader, vmm, &looker->mem.kvm, err, errlen);
	if (ret)
		return ret;
	ret = host_mem__open(&looker->mem);
	if (ret) {
		fail(err, errlen, ret, "the page map of its process cannot be read: %s",
		     strerror(-ret));
	} else {
		ret = start_process(looker, tsc, late);
		if (ret)
			fail(err, errlen, ret, "what is to look at it cannot be started: %s",
			     strerror(-ret));
	}
	if (ret)
		host_mem__close(&looker->mem);
	return ret;
}

/* 0, or -errno with @err */
int looker__find_kernel(struct looker *looker, char *err, size_t errlen)
{
	const struct kvm_memory *kvm = &looker->mem.kvm;
	struct look_order find = {
		.kind = LOOK_FIND_KERNEL,
		.nr_roots = min_t(size_t, kvm->nr_roots, LOOK_ROOTS_MAX),
	};
	struct service service = service_of(looker);

	memcpy(find.roots, kvm->roots, find.nr_roots * sizeof(*find.roots));
	return order(&service, &find, err, errlen);
}

/* Which processes and modules it has now. 0, or -errno with @err */
int looker__all(struct looker *looker, char *err, size_t errlen)
{
	struct look_order all = { .kind = LOOK_ALL };
	struct service service = service_of(looker);

	return order(&service, &all, err, errlen);
}

/*
 * Which processes it has now: a look that is one of many, from which some may be missing, so that
 * it may take less. 0, or -errno with @err
 */
int looker__tasks(struct looker *looker, char *err, size_t errlen)
{
	struct look_order tasks = { .kind = LOOK_TASKS };
	struct service service = service_of(looker);

	service.cpu_ns /= LOOK_TASKS_PART;
	return order(&service, &tasks, err, errlen);
}

/* Can it be that? */
static bool makes_sense(const struct guest_current *current)
{
	if (current->nr_cpus > GUEST_CURRENT_MAX_CPUS)
		return false;
	for (u32 i = 0; i < current->nr_cpus; i++) {
		if (current->cpus[i].gpa % sizeof(u64))
			return false;
	}
	return true;
}

/* Finds where the guest's kernel has the tasks that run. 0, or -errno with @err */
int looker__current(struct looker *looker, struct guest_current *current, char *err,
		    size_t errlen)
{
	struct look_order where = { .kind = LOOK_CURRENT };
	struct service service = service_of(looker);
	int ret;

	service.more = current;
	service.more_len = sizeof(*current);
	ret = order(&service, &where, err, errlen);
	if (!ret && !makes_sense(current))
		return give_up(looker, -EPROTO, err, errlen);
	return ret;
}

/*
 * All that was seen, as a map, to @fd; @orc: with what callchains of its kernel take. 0, or -errno
 * with @err
 */
int looker__write(struct looker *looker, int fd, bool orc, char *err, size_t errlen)
{
	struct look_order map = { .kind = LOOK_WRITE, .orc = orc };
	struct service service = service_of(looker);

	service.out = fd;
	return order(&service, &map, err, errlen);
}

void looker__end(struct looker *looker)
{
	int status;

	end_process(looker, &status);
	host_mem__close(&looker->mem);
}
