// SPDX-License-Identifier: GPL-2.0
/*
 * The guests of a session: what their maps say goes into perf's machine, thread
 * and map structures, and a guest sample, which comes with the pid of the VMM
 * and a CR3, leaves with the guest's pid. After that all of perf knows it.
 *
 * A guest map is not trusted. In particular, no file of the host is opened
 * because a guest has named it: see guest_file_name().
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <internal/lib.h>

#include "util/build-id.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/namespaces.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/util.h"
#include "util/vcpu-sample.h"
#include "guest-records.h"
#include "guest-stream.h"
#include "kvm-guests.h"

/* Kernel addresses of x86-64 and arm64 have the top bit set. */
#define GUEST_KERNEL_SPACE	BIT_ULL(63)

/* The kernel is at most this large: KERNEL_IMAGE_SIZE of x86-64 */
#define GUEST_KERNEL_MAX_SIZE	BIT_ULL(30)

/* From how many samples on it counts that a map does not explain them */
#define FOREIGN_MIN_USER	100
#define FOREIGN_MIN_KERNEL	20

/*
 * Where x86-64 puts its kernel's image, with or without a random offset:
 * Documentation/arch/x86/x86_64/mm.rst. Modules and BPF programs are above it.
 */
#define X86_KERNEL_IMAGE_START	0xffffffff80000000ULL
#define X86_KERNEL_IMAGE_END	0xffffffffc0000000ULL

struct guest_root {
	struct list_head node;
	char		 *name;		/* NULL: all guests */
	char		 *dir;		/* as realpath() gives it */
};

static LIST_HEAD(guest_roots);

bool kvm_guests__use_maps = true;

/**
 * kvm_guests__add_root - use a directory as the root of a guest's file system
 * @arg: "NAME=DIR", or "DIR" for every guest without one of its own
 *
 * For the sessions that are opened after this. 0 or -errno.
 */
int kvm_guests__add_root(const char *arg)
{
	const char *eq = strchr(arg, '='), *slash = strchr(arg, '/');
	struct guest_root *root;
	struct stat st;

	if (slash && eq > slash)
		eq = NULL;
	if (eq == arg)
		return -EINVAL;
	if (!stat(eq ? eq + 1 : arg, &st) && !S_ISDIR(st.st_mode))
		return -ENOTDIR;

	root = zalloc(sizeof(*root));
	if (!root)
		return -ENOMEM;

	root->dir = realpath(eq ? eq + 1 : arg, NULL);
	if (!root->dir) {
		int ret = -errno;

		free(root);
		return ret;
	}
	if (eq) {
		root->name = strndup(arg, eq - arg);
		if (!root->name) {
			free(root->dir);
			free(root);
			return -ENOMEM;
		}
	}
	list_add_tail(&root->node, &guest_roots);
	return 0;
}

/* A name for which there is a root, and no guest in @session; or NULL */
const char *kvm_guests__unused_root(struct perf_session *session)
{
	struct guest_root *root;

	list_for_each_entry(root, &guest_roots, node) {
		if (root->name && !kvm_guests__find_name(session, root->name))
			return root->name;
	}
	return NULL;
}

static const char *guest_root__find(const char *name)
{
	struct guest_root *root;
	const char *dir = NULL;

	list_for_each_entry(root, &guest_roots, node) {
		if (root->name && !strcmp(root->name, name))
			return root->dir;
		if (!root->name)
			dir = root->dir;
	}
	return dir;
}

static size_t root__hash(long key, void *ctx __maybe_unused)
{
	return key;
}

static bool root__equal(long key1, long key2, void *ctx __maybe_unused)
{
	return key1 == key2;
}

/* NULL: no memory, or no such directory below --guestmount */
static struct kvm_guest *kvm_guest__new(struct perf_session *session, pid_t pid, const char *name)
{
	struct kvm_guest *guest = zalloc(sizeof(*guest));
	const char *root;

	if (!guest)
		return NULL;

	guest->machine = machines__findnew(&session->machines, pid);
	guest->unnamed = hashmap__new(root__hash, root__equal, NULL);
	if (!guest->machine || IS_ERR(guest->unnamed)) {
		if (!IS_ERR(guest->unnamed))
			hashmap__free(guest->unnamed);
		free(guest);
		return NULL;
	}

	guest->pid = pid;
	if (name)
		strlcpy(guest->name, name, sizeof(guest->name));
	else
		scnprintf(guest->name, sizeof(guest->name), "vm-%d", pid);
	root = guest_root__find(guest->name);
	if (root)
		guest->root = strdup(root);
	list_add_tail(&guest->node, &session->kvm_guests->guests);
	return guest;
}

struct kvm_guest *kvm_guests__find(struct perf_session *session, pid_t pid)
{
	struct kvm_guest *guest;

	if (!session->kvm_guests)
		return NULL;

	list_for_each_entry(guest, &session->kvm_guests->guests, node) {
		if (guest->pid == pid)
			return guest;
	}
	return NULL;
}

struct kvm_guest *kvm_guests__find_name(struct perf_session *session, const char *name)
{
	struct kvm_guest *guest;

	if (!session->kvm_guests)
		return NULL;

	list_for_each_entry(guest, &session->kvm_guests->guests, node) {
		if (!strcmp(guest->name, name))
			return guest;
	}
	return NULL;
}

/*
 * The thread of a guest process. Not machine__findnew_thread() alone: that looks
 * up the namespaces of the host's process of the same number, and perf would
 * follow them to files of the host.
 */
static struct thread *kvm_guest__findnew_thread(struct kvm_guest *guest, pid_t pid, pid_t tid)
{
	struct thread *thread = machine__findnew_thread(guest->machine, pid, tid);

	if (thread)
		nsinfo__zput(RC_CHK_ACCESS(thread)->nsinfo);
	return thread;
}

/* Whatever prints it later: nothing in @str but what a terminal takes as text */
static void sanitize_text(char *str)
{
	for (; *str; str++) {
		if (!isprint((unsigned char)*str))
			*str = '?';
	}
}

/* perf would unpack those, however large they get. */
static bool is_compressed(const char *name)
{
	const char *ext = strrchr(name, '.');

	return ext && (!strcmp(ext, ".gz") || !strcmp(ext, ".xz"));
}

/*
 * The guest's name of a file made a name on the host: that of the file below
 * the guest's root directory if it is there and has the build-id that the guest
 * says, and otherwise one in a directory that nobody makes. Symbols come from
 * perf's build-id cache then, which goes by build-id alone.
 */
static void guest_file_name(struct kvm_guest *guest, const char *name,
			    const struct build_id *bid, char *buf, size_t size)
{
	char path[PATH_MAX], *real = NULL;
	struct build_id found;

	if (guest->root && name[0] == '/' && name[1] != '/' && build_id__is_defined(bid) &&
	    (size_t)snprintf(path, sizeof(path), "%s%s", guest->root, name) < sizeof(path))
		real = realpath(path, NULL);

	/* Symbolic links are the guest's too: they must not lead out of the root. */
	if (real && strstarts(real, guest->root) && is_regular_file(real) &&
	    !is_compressed(real) &&
	    (real[strlen(guest->root)] == '/' || !strcmp(guest->root, "/"))) {
		if (filename__read_build_id(real, &found) > 0 && found.size == bid->size &&
		    !memcmp(found.data, bid->data, bid->size)) {
			strlcpy(buf, real, size);
			free(real);
			return;
		}
		guest->nr_foreign_files++;
		pr_debug("%s: %s has not the build-id that guest %s says, not used\n",
			 __func__, real, guest->name);
	}
	free(real);

	/* Not just "[name]": a VM may be called "heap", which perf takes for one. */
	scnprintf(buf, size, "/[guest:%s]%s%s", guest->name, name[0] == '/' ? "" : "/", name);
	sanitize_text(buf);
	/* Nor may it lead anywhere else. */
	for (char *p = buf; (p = strstr(p, ".."));)
		*p = '?';
}

/* A module's map is called "[name]" on any host: no file is looked for then. */
static void guest_module_name(const char *name, char *buf, size_t size)
{
	const char *base = strrchr(name, '/');
	size_t len;

	base = base ? base + 1 : name;
	if (*base == '[')
		base++;
	len = strcspn(base, ".]");
	scnprintf(buf, size, "[%.*s]", (int)len, base);
	strreplace(buf, '-', '_');
	sanitize_text(buf);
}

/*
 * What a guest may say at most. perf's data structures are made for what there
 * is on a machine, and take quadratic time if it is much more.
 */
#define GUEST_MAP_MAX_COMMS		(1U << 18)
#define GUEST_MAP_MAX_KERNEL_MAPS	4096
#define GUEST_MAP_MAX_USER_MAPS		(1U << 18)
#define GUEST_MAP_MAX_MAPS_OF_PID	16384

/* Without a guest the records are checked and counted, and nothing is changed. */
struct guest_map_load {
	struct kvm_guest *guest;
	int		 kallsyms_fd;	/* -1: not wanted */
	u32		 nr_comms;
	u32		 nr_kernel_maps;
	u32		 nr_user_maps;
	struct hashmap	 *maps_of_pid;
};

/* 0 is the kernel itself, pseudo processes are ours. */
static bool guest_pid__is_valid(pid_t pid)
{
	return pid >= 0 && pid < KVM_GUEST_PSEUDO_PID;
}

/*
 * Make an event of the guest's own kernel and processes one of the guest
 * machine. @start and so on come from a MMAP or MMAP2 record.
 */
static int kvm_guest__add_map(struct kvm_guest *guest, bool kernel, pid_t pid, u64 start, u64 len,
			      u64 pgoff, u32 prot, u32 flags, const struct build_id *bid,
			      const char *name)
{
	struct perf_sample sample = {
		.cpumode = kernel ? PERF_RECORD_MISC_GUEST_KERNEL : PERF_RECORD_MISC_GUEST_USER,
	};
	union perf_event *event;
	int ret = 0;

	if (!len || start + len < start)
		return 0;
	if (kernel != !!(start & GUEST_KERNEL_SPACE))
		return 0;
	if (!kernel && !guest_pid__is_valid(pid))
		return 0;

	event = zalloc(sizeof(event->mmap2));
	if (!event)
		return -ENOMEM;

	event->header.type = PERF_RECORD_MMAP2;
	event->header.size = sizeof(event->mmap2);
	event->header.misc = sample.cpumode;
	event->mmap2.pid = kernel ? guest->pid : pid;
	event->mmap2.tid = event->mmap2.pid;
	event->mmap2.start = start;
	event->mmap2.len = len;
	event->mmap2.pgoff = pgoff;
	event->mmap2.prot = prot;
	event->mmap2.flags = flags;
	if (build_id__is_defined(bid)) {
		event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		event->mmap2.build_id_size = bid->size;
		memcpy(event->mmap2.build_id, bid->data, bid->size);
	}

	if (kernel && strstarts(name, "[kernel.kallsyms]")) {
		/* The suffix is the symbol that pgoff is the address of. */
		scnprintf(event->mmap2.filename, sizeof(event->mmap2.filename), "%s%s",
			  guest->machine->mmap_name, name + strlen("[kernel.kallsyms]"));
		if (len <= GUEST_KERNEL_MAX_SIZE) {
			guest->kernel_start = start;
			guest->kernel_end = start + len;
		}
	} else if (kernel) {
		guest_module_name(name, event->mmap2.filename, sizeof(event->mmap2.filename));
	} else {
		struct thread *thread = kvm_guest__findnew_thread(guest, pid, pid);

		if (!thread) {
			ret = -ENOMEM;
			goto out;
		}
		thread__put(thread);
		guest_file_name(guest, name, bid, event->mmap2.filename,
				sizeof(event->mmap2.filename));
	}

	ret = machine__process_mmap2_event(guest->machine, event, &sample);
out:
	free(event);
	return ret;
}

/* Is the string that a record ends with all in the record? */
static bool record__has_string(const union perf_event *event, size_t offset)
{
	return event->header.size > offset &&
	       memchr((const char *)event + offset, '\0', event->header.size - offset);
}

static bool misc__is_kernel(u16 misc)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

static int guest_map__count_map(struct guest_map_load *load, bool kernel, pid_t pid)
{
	long nr = 0;

	if (kernel)
		return ++load->nr_kernel_maps > GUEST_MAP_MAX_KERNEL_MAPS ? -E2BIG : 0;

	if (++load->nr_user_maps > GUEST_MAP_MAX_USER_MAPS)
		return -E2BIG;
	hashmap__find(load->maps_of_pid, pid, &nr);
	if (++nr > GUEST_MAP_MAX_MAPS_OF_PID)
		return -E2BIG;
	return hashmap__set(load->maps_of_pid, pid, nr, NULL, NULL);
}

static int guest_map__process_mmap(struct guest_map_load *load, const union perf_event *event)
{
	bool kernel = misc__is_kernel(event->header.misc);
	struct build_id none = { };

	if (!record__has_string(event, offsetof(struct perf_record_mmap, filename)))
		return -EINVAL;
	if (!load->guest)
		return guest_map__count_map(load, kernel, event->mmap.pid);

	return kvm_guest__add_map(load->guest, kernel, event->mmap.pid,
				  event->mmap.start, event->mmap.len, event->mmap.pgoff,
				  PROT_EXEC, 0, &none, event->mmap.filename);
}

static int guest_map__process_mmap2(struct guest_map_load *load, const union perf_event *event)
{
	bool kernel = misc__is_kernel(event->header.misc);
	struct build_id bid = { };

	if (!record__has_string(event, offsetof(struct perf_record_mmap2, filename)))
		return -EINVAL;

	if (event->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (event->mmap2.build_id_size > sizeof(bid.data))
			return -EINVAL;
		build_id__init(&bid, event->mmap2.build_id, event->mmap2.build_id_size);
	}
	if (!load->guest)
		return guest_map__count_map(load, kernel, event->mmap2.pid);

	return kvm_guest__add_map(load->guest, kernel, event->mmap2.pid,
				  event->mmap2.start, event->mmap2.len, event->mmap2.pgoff,
				  event->mmap2.prot, event->mmap2.flags, &bid,
				  event->mmap2.filename);
}

static int guest_map__process_comm(struct guest_map_load *load, const union perf_event *event)
{
	struct thread *thread;
	char comm[sizeof(event->comm.comm)];
	int ret;

	if (!record__has_string(event, offsetof(struct perf_record_comm, comm)))
		return -EINVAL;
	if (!load->guest)
		return ++load->nr_comms > GUEST_MAP_MAX_COMMS ? -E2BIG : 0;
	if (!guest_pid__is_valid(event->comm.pid) || !guest_pid__is_valid(event->comm.tid))
		return 0;

	strlcpy(comm, event->comm.comm, sizeof(comm));
	sanitize_text(comm);

	thread = kvm_guest__findnew_thread(load->guest, event->comm.pid, event->comm.tid);
	if (!thread)
		return -ENOMEM;
	ret = thread__set_comm(thread, comm, 0);
	thread__put(thread);
	return ret;
}

static int guest_map__process_kallsyms(int fd, const union perf_event *event)
{
	const struct perf_record_guest_kallsyms *rec = (const void *)event;
	char *data;
	int ret = 0;

	if (event->header.size < sizeof(*rec) ||
	    rec->len > event->header.size - sizeof(*rec))
		return -EINVAL;
	if (fd < 0 || !rec->len)
		return 0;

	data = memdup(rec->data, rec->len);
	if (!data)
		return -ENOMEM;
	for (u32 i = 0; i < rec->len; i++) {
		if (!isprint((unsigned char)data[i]) && data[i] != '\n' && data[i] != '\t')
			data[i] = '?';
	}
	if (writen(fd, data, rec->len) != (ssize_t)rec->len)
		ret = -errno;
	free(data);
	return ret;
}

static int guest_map__process(const union perf_event *event, void *arg)
{
	const struct perf_record_guest_space *space = (const void *)event;
	struct guest_map_load *load = arg;

	switch (event->header.type) {
	case PERF_RECORD_MMAP:
		return guest_map__process_mmap(load, event);
	case PERF_RECORD_MMAP2:
		return guest_map__process_mmap2(load, event);
	case PERF_RECORD_COMM:
		return guest_map__process_comm(load, event);
	case PERF_RECORD_GUEST_SPACE:
		if (event->header.size < sizeof(*space))
			return -EINVAL;
		if (!load->guest || !guest_pid__is_valid(space->pid))
			return 0;
		return guest_spaces__add(&load->guest->spaces, space->pt_root, space->pid);
	case PERF_RECORD_GUEST_KALLSYMS:
		return guest_map__process_kallsyms(load->kallsyms_fd, event);
	default:
		return 0;	/* Attributes, features: not needed here */
	}
}

static int guest_map__read(const char *path, struct guest_map_load *load, char *err, size_t errlen)
{
	struct stat st;
	int fd, ret;

	/* It is read more than once. A pipe without a writer must not block here. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		ret = -errno;
		scnprintf(err, errlen, "cannot be opened: %s", strerror(-ret));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		scnprintf(err, errlen, "is not a regular file");
		ret = -EINVAL;
		goto out;
	}

	load->maps_of_pid = hashmap__new(root__hash, root__equal, NULL);
	if (IS_ERR(load->maps_of_pid)) {
		ret = -ENOMEM;
	} else {
		scnprintf(err, errlen, "is corrupt");
		ret = guest_stream__read(fd, guest_map__process, load, err, errlen);
		hashmap__free(load->maps_of_pid);
	}
	if (ret == -E2BIG)
		scnprintf(err, errlen, "has more processes or maps than any real guest");
	else if (ret == -ENOMEM || ret == -ENOSPC)
		scnprintf(err, errlen, "cannot be read in: %s", strerror(-ret));
out:
	if (fd >= 0)
		close(fd);
	return ret;
}

/* 0 if @path is a whole guest map, else -errno and the rest of a sentence */
int guest_map__check(const char *path, char *err, size_t errlen)
{
	struct guest_map_load load = { .kallsyms_fd = -1 };

	return guest_map__read(path, &load, err, errlen);
}

/* Writes the /proc/kallsyms that is in the map at @path to @fd. As above */
int guest_map__extract_kallsyms(const char *path, int fd, char *err, size_t errlen)
{
	struct guest_map_load load = { .kallsyms_fd = fd };

	return guest_map__read(path, &load, err, errlen);
}

/**
 * kvm_guest__load_map - take over what a guest map says
 * @path: the map
 * @kallsyms: the name of a file with its /proc/kallsyms
 * @kallsyms_fd: that file, to be written from the map, or -1: it is there already
 *
 * A map that is not whole changes nothing. 0, or -errno and the rest of a
 * sentence about the map in @err.
 */
int kvm_guest__load_map(struct kvm_guest *guest, const char *path, const char *kallsyms,
			int kallsyms_fd, char *err, size_t errlen)
{
	struct guest_map_load load = { .guest = guest, .kallsyms_fd = -1 };
	struct thread *thread;
	int ret;

	ret = guest_map__extract_kallsyms(path, kallsyms_fd, err, errlen);
	if (ret)
		return ret;

	ret = guest_map__read(path, &load, err, errlen);
	if (ret)
		return ret;

	guest->has_map = true;
	thread = kvm_guest__findnew_thread(guest, 0, 0);
	if (thread) {
		thread__set_comm(thread, "kernel", 0);
		thread__put(thread);
	}
	if (!access(kallsyms, R_OK)) {
		free(guest->machine->kallsyms_filename);
		guest->machine->kallsyms_filename = strdup(kallsyms);
	}
	pr_debug("guest %s: %zu address spaces from %s\n", guest->name, guest->spaces.nr, path);
	return 0;
}

/*
 * Does the map belong to another guest, or to another boot of this one? The
 * kernel is at a random place, so its text tells. A guest without KASLR has to
 * be trusted, as has one of whose kernel there are hardly any samples.
 */
bool kvm_guest__map_is_foreign(const struct kvm_guest *guest)
{
	return guest->has_map && guest->nr_kernel >= FOREIGN_MIN_KERNEL &&
	       guest->nr_kernel_named < guest->nr_kernel / 2;
}

/* It may be, or all processes of the measurement ended before it was made. */
bool kvm_guest__map_names_nobody(const struct kvm_guest *guest)
{
	return guest->has_map && guest->nr_user >= FOREIGN_MIN_USER && !guest->nr_user_named;
}

/**
 * kvm_guests__open - find out about the guests of a session that is read
 *
 * Does nothing for data that perf kvm unified record has not written. A guest
 * whose map cannot be used stays without names, with a warning. 0 or -errno.
 */
int kvm_guests__open(struct perf_session *session)
{
	const char *dir = session->data->path;
	char path[PATH_MAX], kallsyms[PATH_MAX], err[256];
	struct kvm_guests *guests;
	int ret;

	if (!session->data->is_dir)
		return 0;

	scnprintf(path, sizeof(path), "%s/" KVM_GUESTS_VMS, dir);
	if (access(path, F_OK))
		return 0;

	guests = zalloc(sizeof(*guests));
	if (!guests)
		return -ENOMEM;
	INIT_LIST_HEAD(&guests->guests);
	session->kvm_guests = guests;
	perf_guest = true;
	/* Build-ids are read from here on, before commands call symbol__init() */
	symbol__elf_init();

	ret = kvm_vms__read(&guests->vms, path, err, sizeof(err));
	if (ret)
		pr_warning("%s %s: it is damaged or of another version, and VMs are called by their pids\n",
			   path, err);

	for (size_t i = 0; i < guests->vms.nr; i++) {
		struct kvm_vm *vm = &guests->vms.entries[i];
		struct kvm_guest *guest = kvm_guest__new(session, vm->pid, vm->name);

		if (!guest)
			continue;

		scnprintf(path, sizeof(path), "%s/" KVM_GUEST_MAP_FMT, dir, vm->pid);
		if (!kvm_guests__use_maps || access(path, F_OK))
			continue;
		scnprintf(kallsyms, sizeof(kallsyms), "%s/" KVM_GUEST_KALLSYMS_FMT "/kallsyms",
			  dir, vm->pid);
		ret = kvm_guest__load_map(guest, path, kallsyms, -1, err, sizeof(err));
		if (ret)
			pr_warning("Guest %s stays without names: its map %s %s\n",
				   guest->name, path, err);
	}
	return 0;
}

void kvm_guests__delete(struct perf_session *session)
{
	struct kvm_guest *guest, *tmp;

	if (!session->kvm_guests)
		return;

	list_for_each_entry_safe(guest, tmp, &session->kvm_guests->guests, node) {
		list_del(&guest->node);
		guest_spaces__exit(&guest->spaces);
		hashmap__free(guest->unnamed);
		free(guest->root);
		free(guest);
	}
	kvm_vms__exit(&session->kvm_guests->vms);
	zfree(&session->kvm_guests);
}

/* The pseudo process of a CR3 that no process is known to own, or -1 */
static pid_t kvm_guest__pseudo_pid(struct kvm_guest *guest, u64 cr3)
{
	long pt_root = guest_cr3__pt_root(cr3);
	size_t nr = hashmap__size(guest->unnamed);
	struct thread *thread;
	char comm[32];
	long pid;

	if (hashmap__find(guest->unnamed, pt_root, &pid))
		return pid;

	pid = KVM_GUEST_PSEUDO_PID + nr;
	if (nr >= KVM_GUEST_MAX_PSEUDO)
		pid = KVM_GUEST_PSEUDO_PID + KVM_GUEST_MAX_PSEUDO;
	else if (hashmap__add(guest->unnamed, pt_root, pid))
		return -1;

	thread = kvm_guest__findnew_thread(guest, pid, pid);
	if (thread) {
		if (nr >= KVM_GUEST_MAX_PSEUDO)
			scnprintf(comm, sizeof(comm), "[other cr3]");
		else
			scnprintf(comm, sizeof(comm), "[cr3 %#lx]", pt_root);
		thread__set_comm(thread, comm, 0);
		thread__put(thread);
	}
	return pid;
}

/*
 * The kernel's symbols are in one file with those of its modules, and perf puts
 * them where they belong only when it loads the kernel.
 */
static void kvm_guest__load_kernel(struct kvm_guest *guest)
{
	struct map *map = machine__kernel_map(guest->machine);

	guest->kernel_loaded = true;
	if (map && guest->machine->kallsyms_filename)
		map__load(map);
}

static void kvm_guest__count(struct kvm_guest *guest, bool user, bool named, u64 ip)
{
	if (user) {
		guest->nr_user++;
		guest->nr_user_named += named;
	} else if (ip >= X86_KERNEL_IMAGE_START && ip < X86_KERNEL_IMAGE_END) {
		guest->nr_kernel++;
		guest->nr_kernel_named += ip >= guest->kernel_start && ip < guest->kernel_end;
	}
}

/*
 * The guest that the VMM @pid runs, or NULL: no memory, or no pid, or not a
 * profile with guests. A VM that came and went during the record is in no table.
 */
struct kvm_guest *kvm_guests__findnew(struct perf_session *session, pid_t pid)
{
	struct kvm_guest *guest = kvm_guests__find(session, pid);

	if (guest || !session->kvm_guests || pid <= 0 || pid >= KVM_GUEST_PSEUDO_PID)
		return guest;
	return kvm_guest__new(session, pid, NULL);
}

/* What runs in a guest of @guest is neither of its processes nor of its kernel. */
static struct kvm_guest *kvm_guest__nested(struct perf_session *session,
					   const struct kvm_guest *guest)
{
	pid_t pid = guest->pid | KVM_GUEST_PSEUDO_PID;
	struct kvm_guest *nested = kvm_guests__find(session, pid);
	char name[GUEST_VM_NAME_LEN];

	if (nested)
		return nested;

	scnprintf(name, sizeof(name), "%.50s:nested", guest->name);
	nested = kvm_guest__new(session, pid, name);
	if (nested)
		nested->nested = true;
	return nested;
}

/* Without a context, the thread tells the vCPU, if it was known then. Or -1 */
static u32 vcpu_of_thread(struct perf_session *session, const struct perf_sample *sample)
{
	const struct kvm_vm *vm = kvm_vms__find_pid(&session->kvm_guests->vms, sample->pid);
	const struct guest_vcpu *vcpu = vm ? kvm_vm__find_tid(vm, sample->tid) : NULL;

	return vcpu ? vcpu->id : (u32)-1;
}

/**
 * kvm_guests__resolve - turn the VMM's pid and a CR3 into the guest's pid
 * @sample: of a guest, with a vCPU context; all others are left alone
 *
 * Afterwards sample->machine_pid is the VMM, sample->vcpu the vCPU and
 * sample->pid and ->tid the guest's process: the one that owns the address
 * space. A kernel thread borrows the one of the process that ran before it and
 * is not told apart from it.
 */
void kvm_guests__resolve(struct perf_session *session, struct perf_sample *sample)
{
	const struct vcpu_sample *vcpu = &sample->vcpu_ctx;
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	const struct guest_space *space = NULL;
	struct kvm_guest *guest;

	if (!session->kvm_guests || sample->machine_pid ||
	    (!user && sample->cpumode != PERF_RECORD_MISC_GUEST_KERNEL))
		return;

	guest = kvm_guests__findnew(session, sample->pid);
	if (guest && (vcpu->flags & PERF_VCPU_NESTED))
		guest = kvm_guest__nested(session, guest);
	if (!guest)
		return;

	sample->machine_pid = guest->pid;
	if (vcpu->flags & PERF_VCPU_LOADED)
		sample->vcpu = vcpu->vcpu_id;
	else
		sample->vcpu = vcpu_of_thread(session, sample);
	/* The VMM's pid means nothing in the guest. */
	sample->pid = -1;
	sample->tid = -1;
	if (!user && guest->has_map && !guest->kernel_loaded)
		kvm_guest__load_kernel(guest);
	if (!(vcpu->flags & PERF_VCPU_PT_ROOT_VALID))
		return;

	space = guest_spaces__find(&guest->spaces, vcpu->pt_root);
	if (vcpu_sample__interrupted_guest(vcpu))
		kvm_guest__count(guest, user, space, sample->ip);
	sample->pid = space ? space->pid : kvm_guest__pseudo_pid(guest, vcpu->pt_root);
	sample->tid = sample->pid;
}
