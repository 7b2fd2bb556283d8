// SPDX-License-Identifier: GPL-2.0
/*
 * The processes of the kernel that this runs on: its task list is walked until a pass has
 * seen all of it, and all that /proc lists. The kernel is neither changed nor given a
 * module: BTF says where the members are, /proc/kallsyms where the list starts, /proc/kcore
 * what is in it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <api/fs/fs.h>

#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/errors.h"
#include "kvm-unified/lib/sort.h"
#include "addresses.h"
#include "kcore.h"
#include "layout.h"
#include "passes.h"
#include "tasks.h"
#include "walk.h"

/*
 * Is that what guest_tasks__read() returns where the kernel lacks what roots are read by, and all
 * else of a map can be had? microVMs' kernels have no BTF, kcore or data in kallsyms, and lockdown
 * forbids kcore.
 */
bool guest_tasks__may_do_without(int err)
{
	return err == -ENODATA || err == -EPROTO || err == -EPERM || err == -ENOENT ||
	       err == -ENOEXEC || err == -EBADMSG;
}

#if defined(__x86_64__) && defined(HAVE_LIBELF_SUPPORT) && defined(HAVE_LIBBPF_SUPPORT)

#define MAX_PASSES	5

/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define INIT_PID_NS_INO	0xeffffffcU

struct pid_list {
	pid_t	*pids;		/* ascending */
	size_t	nr;
};

static int pid__cmp(const void *_a, const void *_b)
{
	const pid_t *a = _a, *b = _b;

	return sort_cmp(*a, *b);
}

static int pid_list__read(struct pid_list *list)
{
	size_t alloc = 0;
	struct dirent *d;
	DIR *dir;

	*list = (struct pid_list) { 0 };

	dir = opendir("/proc");
	if (!dir)
		return -errno;

	while ((d = readdir(dir)) != NULL) {
		char *end;
		long pid = strtol(d->d_name, &end, 10);

		if (*end || pid <= 0 || pid > PID_MAX_LIMIT)
			continue;

		if (grow_array(list->pids, list->nr, alloc)) {
			closedir(dir);
			zfree(&list->pids);
			return -ENOMEM;
		}
		list->pids[list->nr++] = pid;
	}

	closedir(dir);
	sort_array(list->pids, list->nr, sizeof(*list->pids), pid__cmp);
	return 0;
}

/* Pids of another namespace would silently be taken for the guest's. */
static bool in_init_pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PID_NS_INO;
}

/* One pass with fresh program headers: memory hotplug moves all of kcore. */
static int read_pass(struct guest_tasks *pass, struct guest_task_layout *l,
		     const struct guest_ksyms *syms, size_t max_tasks, char *err, size_t errlen)
{
	struct guest_kcore k;
	int ret;

	*pass = (struct guest_tasks) { 0 };

	ret = guest_kcore__open(&k, err, errlen);
	if (ret)
		return ret;

	ret = guest_task_layout__locate(l, syms, &k, err, errlen);
	if (!ret) {
		ret = guest_tasks__walk(pass, l, &k.mem, max_tasks);
		if (ret == -EFAULT || ret == -EINVAL || ret == -EBADMSG)
			ret = fail(err, errlen, -EBADMSG,
				   "/proc/kcore has no init_task where BTF and /proc/kallsyms say: they are not of the running kernel");
		else if (ret)
			fail(err, errlen, ret,
			     "the guest's task list cannot be read: %s", strerror(-ret));
	}

	guest_kcore__close(&k);
	return ret;
}

/**
 * guest_tasks__read - list the processes of the running kernel with their roots
 * @t: result; overwritten, to be released with guest_tasks__exit()
 * @err: on error, one sentence that tells the user what to do
 * @errlen: bytes at @err
 *
 * Needs root in the initial pid namespace. Walks the list until a pass saw all
 * of it and everything that /proc lists, at most 5 times.
 *
 * Return: 0 (look at @t->nr_unread), or
 *  -EOPNOTSUPP	not x86-64, or perf was built without libelf or libbpf
 *  -EXDEV	in a container: other pids than the guest's
 *  -ENODATA	no BTF; kallsyms lacks init_task; or it is unknown where physical memory is mapped
 *  -EPROTO	BTF lacks a member
 *  -ENOKEY	kallsyms is missing
 *  -EACCES	kallsyms hides the addresses, or not root
 *  -EPERM	kcore is forbidden: lockdown or no CAP_SYS_RAWIO
 *  -ENOENT	no kcore
 *  -ENOEXEC	kcore is not an ELF core file
 *  -EBADMSG	BTF, kallsyms and kcore are not of one kernel
 *  -EAGAIN	nothing could be read
 *  -ENOMEM
 */
int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen)
{
	struct guest_task_layout layout = { 0 };
	struct pid_list before, after = { 0 };
	const struct guest_task *e;
	int ret, try, max_tasks;
	struct guest_ksyms syms;
	bool complete;

	*t = (struct guest_tasks) { 0 };

	if (!in_init_pid_ns())
		return fail(err, errlen, -EXDEV,
			    "this runs in a container, whose pids are not the guest's: run it in the guest's initial pid namespace");

	if (sysctl__read_int("kernel/pid_max", &max_tasks) || max_tasks <= 0 ||
	    max_tasks > PID_MAX_LIMIT)
		max_tasks = PID_MAX_LIMIT;

	ret = guest_task_layout__read_btf(&layout, err, errlen);
	if (!ret)
		ret = guest_ksyms__read(&syms, "/proc/kallsyms", err, errlen);
	if (ret)
		return ret;

	ret = pid_list__read(&before);
	if (ret)
		return fail(err, errlen, ret, "/proc cannot be listed: %s", strerror(-ret));

	for (try = 0; try < MAX_PASSES; try++) {
		struct guest_tasks pass;

		/* give a CPU time that was taken away in the middle of an update */
		if (try)
			usleep(1000 << try);

		ret = read_pass(&pass, &layout, &syms, max_tasks, err, errlen);
		complete = !ret;
		if (ret && ret != -EAGAIN && ret != -ELOOP) {
			guest_tasks__exit(&pass);
			goto out;
		}

		ret = guest_tasks__merge(t, &pass, complete);
		if (!ret)
			ret = pid_list__read(&after);
		if (ret) {
			guest_tasks__exit(&pass);
			fail(err, errlen, ret, "the guest's processes cannot be listed: %s",
			     strerror(-ret));
			goto out;
		}

		t->nr_unread = guest_tasks__count_unread(t, before.pids, before.nr,
							 after.pids, after.nr);
		free(before.pids);
		before = after;
		if (complete && !t->nr_unread)
			break;
	}

	/* the one process that is known to be there, and to have a page table */
	e = guest_tasks__find(t, getpid());
	if (t->nr <= 1) {
		ret = fail(err, errlen, -EAGAIN,
			   "the guest's task list changes too fast to be read: try again");
	} else if (!e || !e->pt_root || e->kthread) {
		ret = fail(err, errlen, -EBADMSG,
			   "the guest kernel's type information does not match its memory: this process is not in its task list");
	}
	t->layout = layout;
out:
	free(before.pids);
	if (ret)
		guest_tasks__exit(t);
	return ret;
}

/* How many processes have an address space of their own: a kernel thread runs no file */
size_t guest_tasks__count_programs(void)
{
	struct pid_list list;
	size_t nr = 0;

	if (pid_list__read(&list))
		return 0;
	for (size_t i = 0; i < list.nr; i++) {
		char path[64], exe;

		scnprintf(path, sizeof(path), "/proc/%d/exe", list.pids[i]);
		nr += readlink(path, &exe, sizeof(exe)) >= 0;
	}
	free(list.pids);
	return nr;
}

#else

size_t guest_tasks__count_programs(void)
{
	return 0;
}

int guest_tasks__read(struct guest_tasks *t, char *err, size_t errlen)
{
	*t = (struct guest_tasks) { 0 };
	return fail(err, errlen, -EOPNOTSUPP,
		    "reading a guest's address spaces needs an x86-64 perf with libelf and libbpf");
}

#endif
