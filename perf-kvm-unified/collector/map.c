// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm unified guest-map, run in a guest: writes all that the host needs to
 * put names to samples of it. perf's own code says what perf record in the guest
 * would say; which CR3 belongs to which process is what only this adds.
 *
 * Room: collector/, what runs in a guest, as root.
 * Calls: format lib
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/vm_sockets.h>
#ifdef HAVE_LIBBPF_SUPPORT
#include <bpf/libbpf.h>
#endif

#include "util/debug.h"
#include "util/header.h"
#include "util/namespaces.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/map-output.h"
#include "kvm-unified/lib/warnings.h"
#include "follow.h"
#include "history.h"
#include "map.h"
#include "map-spool.h"
#include "map-stop.h"
#include "map-writer.h"
#include "passes.h"
#include "tasks.h"

/* How often a guest that is followed is looked at: its buffers have to last. */
#define LOOK_EVERY_MS		200

/* How often its clock is read meanwhile: NTP corrects it slowly. */
#define CLOCK_EVERY_LOOKS	(10 * MSEC_PER_SEC / LOOK_EVERY_MS)

static void read_ns_pids(struct guest_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		struct guest_task *task = &tasks->entries[i];
		struct nsinfo *nsi = task->pt_root && task->pid ? nsinfo__new(task->pid) : NULL;

		if (nsi && nsinfo__in_pidns(nsi))
			task->ns_pid = nsinfo__nstgid(nsi);
		nsinfo__put(nsi);
	}
}

static int write_header(int fd)
{
	return perf_header__write_pipe(fd) < 0 ? -errno : 0;
}

/* Follows the guest until that is to stop. 0 or -errno */
static int follow_until_stopped(struct map_writer *writer, struct map_spool *spool)
{
	for (unsigned int looks = 1; !map_stop__came(LOOK_EVERY_MS); looks++) {
		int ret = guest_follow__look(writer->follow);

		if (!ret && looks % CLOCK_EVERY_LOOKS == 0)
			ret = map_writer__write_clock(writer);
		if (!ret)
			ret = map_spool__bound(spool);
		if (ret)
			return ret;
	}
	return 0;
}

/* The snapshot, and what happens from then on. 0 or -errno */
static int write_followed(struct map_writer *writer, const struct guest_tasks *tasks,
			  struct guest_history *history, u64 *nr_lost)
{
	struct map_spool spool;
	int ret = map_spool__open(&spool, writer->fd);

	if (ret)
		return ret;
	writer->fd = spool.fd;
	ret = map_writer__write_snapshot(writer, tasks, /*follow=*/true);
	/* The sign for whoever waits for it that the guest is followed */
	if (!ret)
		ret = write_header(spool.out);
	if (!ret)
		ret = follow_until_stopped(writer, &spool);
	/* The map's last clock, up to which all is known */
	if (!ret)
		ret = map_writer__write_clock(writer);
	if (!ret)
		ret = guest_follow__end(writer->follow, &tasks->layout, history,
					&writer->kernel_events, nr_lost);
	*nr_lost += writer->nr_dropped;
	writer->fd = spool.out;
	return map_spool__close(&spool, ret);
}

/* 0, or -errno with the rest of a sentence about the map in @err */
static int write_map(struct map_writer *writer, struct guest_tasks *tasks, char *err, size_t errlen)
{
	struct guest_history history = { };
	u64 nr_lost = 0;
	int ret;

	if (writer->follow) {
		ret = write_followed(writer, tasks, &history, &nr_lost);
	} else {
		ret = write_header(writer->fd);
		if (!ret)
			ret = map_writer__write_snapshot(writer, tasks, /*follow=*/false);
	}
	if (!ret)
		ret = map_writer__write_rest(writer, tasks, &history, nr_lost);
	guest_history__exit(&history);
	if (ret)
		return fail(err, errlen, ret, "%s", strerror(-ret));
	if (nr_lost)
		unified_warning("%" PRIu64 " events of processes were lost: names of those may be missing or wrong\n",
				nr_lost);
	return 0;
}

/*
 * Is standard input a connection of the host? In a guest, CID 2 is the host, whatever the VMM
 * (VMADDR_CID_HOST in linux/vm_sockets.h); what comes from the guest itself has another. 0 or
 * -errno, after a message
 */
static int check_peer(void)
{
	struct sockaddr_vm peer = { };
	socklen_t len = sizeof(peer);

	if (getpeername(STDIN_FILENO, (struct sockaddr *)&peer, &len) ||
	    peer.svm_family != AF_VSOCK) {
		pr_err("--from-host: standard input is no vsock connection\n");
		return -EPERM;
	}
	if (peer.svm_cid == VMADDR_CID_HOST)
		return 0;
	pr_err("--from-host: the connection is of CID %u, and not of the host\n", peer.svm_cid);
	return -EPERM;
}

/* Has the map written by @writer. 0 or -errno, after a message */
static int make_map(struct map_writer *writer, const char *output, bool want_follow)
{
	struct guest_tasks tasks = { };
	bool created = false;
	char err[512];
	int ret = 0;

	if (want_follow) {
		/* Before any process is looked at, so that none is missed. */
		map_stop__await();
		writer->follow = guest_follow__start(map_writer__add_followed, writer,
						     err, sizeof(err));
		if (!writer->follow) {
			pr_err("Cannot follow the guest's processes: %s\n", err);
			return -EOPNOTSUPP;
		}
	}

	ret = guest_tasks__read(&tasks, err, sizeof(err));
	if (ret && !writer->follow && guest_tasks__may_do_without(ret)) {
		unified_warning("Cannot read which process has which CR3: %s.\n"
				"The kernel's functions will have names; what processes do will be by CR3, without.\n",
				err);
		tasks.nr_unread = guest_tasks__count_programs();
	} else if (ret) {
		pr_err("Cannot read which process has which CR3: %s\n", err);
		goto out;
	} else if (tasks.nr_unread) {
		unified_warning("The CR3 of %zu processes could not be read, they will have no names\n",
				tasks.nr_unread);
	}
	read_ns_pids(&tasks);

	writer->fd = map_output__open(output, &created);
	if (writer->fd < 0) {
		ret = -EIO;
		goto out;
	}
	ret = write_map(writer, &tasks, err, sizeof(err));
	if (close(writer->fd) && !ret)
		ret = fail(err, sizeof(err), -errno, "%s", strerror(errno));
	if (ret) {
		pr_err("Cannot write the map: %s\n", err);
		if (created)
			unlink(output);
	} else {
		pr_debug("%zu processes in %d passes, %" PRIu64 " maps, %" PRIu64 " with a build-id\n",
			 tasks.nr, tasks.passes, writer->nr_maps, writer->nr_build_ids);
	}
out:
	guest_follow__delete(writer->follow);
	guest_tasks__exit(&tasks);
	return ret;
}

/**
 * guest_map__write_own - write a map of the guest that this runs in
 * @output: the path, or "-"
 * @follow: until the input pipe ends, take down what processes do
 * @from_host: only if standard input is a vsock connection of the host
 *
 * 0 or -errno, after a message
 */
int guest_map__write_own(const char *output, bool follow, bool from_host)
{
	struct map_writer writer;
	int ret;

	if (from_host && check_peer())
		return -EPERM;
	if (geteuid()) {
		pr_err("perf kvm unified guest-map has to run as root in the guest: it reads\n"
		       "the kernel's memory and the maps of all processes.\n");
		return -EPERM;
	}

#ifdef HAVE_LIBBPF_SUPPORT
	/* It prints the whole of a program that the kernel refuses. */
	if (!verbose)
		libbpf_set_print(NULL);
#endif
	ret = map_writer__init(&writer);
	if (ret)
		pr_err("Out of memory\n");
	else
		ret = make_map(&writer, output, follow);
	map_writer__exit(&writer);
	return ret;
}
