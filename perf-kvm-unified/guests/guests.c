// SPDX-License-Identifier: GPL-2.0
/*
 * The guests of a session: the VMs that the recording has found, and those that only samples
 * tell of, each with what its map says.
 *
 * Room: guests/, the session's side of guests: what a map says, put into perf's machines, and
 * samples of guests, which come with the pid of the VMM and leave with the guest's.
 * Calls: lib format
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/data.h"
#include "util/debug.h"
#include "util/event.h"
#include "util/machine.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/util.h"
#include "kvm-unified/format/profile.h"
#include "kvm-unified/format/vms.h"
#include "kvm-unified/lib/names.h"
#include "kvm-unified/lib/number-map.h"
#include "kvm-unified/lib/patterns.h"
#include "kvm-unified/lib/warnings.h"
#include "cgroups.h"
#include "files.h"
#include "foreign-maps.h"
#include "guests.h"
#include "kernel.h"
#include "killed.h"
#include "load.h"
#include "options.h"

/* So much of its name has a VM that runs in another one. */
#define NESTED_OF_LEN	((int)(KVM_VM_NAME_LEN - sizeof(":nested")))

/* For commands that know nothing of guests */
static const struct kvm_guests_options *wanted;

/**
 * kvm_guests__want - say what the user wants of the guests of all sessions that are opened
 * @options: to stay for as long as these sessions; or NULL
 */
void kvm_guests__want(const struct kvm_guests_options *options)
{
	wanted = options;
}

static void kvm_guest__free(struct kvm_guest *guest)
{
	kvm_guest__unload_map(guest);
	kvm_guest__free_files(guest);
	kvm_guest__free_cgroups(guest);
	hashmap__free(guest->unnamed);
	hashmap__free(guest->sharers_of_maps);
	free(guest->root);
	free(guest);
}

/* NULL: no memory */
static struct kvm_guest *kvm_guest__new(struct perf_session *session, pid_t pid, const char *name)
{
	struct kvm_guests *guests = session->kvm_guests;
	struct kvm_guest *guest = zalloc(sizeof(*guest));
	const char *root;

	if (!guest)
		return NULL;

	guest->machine = machines__findnew(&session->machines, pid);
	/* It has no directory below --guestmount, and does without. */
	if (!guest->machine)
		guest->machine = machines__add(&session->machines, pid, "");
	guest->unnamed = number_map__new();
	guest->sharers_of_maps = number_map__new();
	if (!guest->machine || !guest->unnamed || !guest->sharers_of_maps ||
	    hashmap__add(guests->by_pid, (long)pid, guest)) {
		kvm_guest__free(guest);
		return NULL;
	}

	guest->machine->untrusted = true;
	guest->pid = pid;
	if (name)
		strlcpy(guest->name, name, sizeof(guest->name));
	else
		scnprintf(guest->name, sizeof(guest->name), "vm-%d", pid);
	root = kvm_guests_options__root(guests->options, guest->name) ?:
	       kvm_guests_options__root(&guests->config, guest->name);
	if (root)
		guest->root = strdup(root);
	list_add_tail(&guest->node, &guests->guests);
	return guest;
}

struct kvm_guest *kvm_guests__find(struct perf_session *session, pid_t pid)
{
	struct kvm_guest *guest;

	if (!session->kvm_guests || !session->kvm_guests->by_pid ||
	    !hashmap__find(session->kvm_guests->by_pid, (long)pid, &guest))
		return NULL;
	return guest;
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

/* Why @guest has no map, as far as that is known; else NULL */
const char *kvm_guests__no_map(struct perf_session *session, const struct kvm_guest *guest)
{
	if (!session->kvm_guests || guest->has_map)
		return NULL;
	return kvm_vms__no_map(&session->kvm_guests->vms, guest->pid);
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

/* The guest whose vCPU thread @tid of the VMM @pid runs: another one only where it has several */
struct kvm_guest *kvm_guests__find_thread(struct perf_session *session, pid_t pid, pid_t tid)
{
	if (!session->kvm_guests)
		return NULL;
	return kvm_guests__find(session,
				kvm_vms__key_of_thread(&session->kvm_guests->vms, pid, tid));
}

/* The same, of which nothing need be known. NULL as kvm_guests__findnew() */
struct kvm_guest *kvm_guests__findnew_thread(struct perf_session *session, pid_t pid, pid_t tid)
{
	if (!session->kvm_guests)
		return NULL;
	return kvm_guests__findnew(session,
				   kvm_vms__key_of_thread(&session->kvm_guests->vms, pid, tid));
}

/* The guest in @guest: what runs there belongs neither to @guest's processes nor to its kernel. */
struct kvm_guest *kvm_guests__findnew_nested(struct perf_session *session,
					     const struct kvm_guest *guest)
{
	pid_t pid = guest->pid | KVM_GUEST_PSEUDO_PID;
	struct kvm_guest *nested = kvm_guests__find(session, pid);
	char name[KVM_VM_NAME_LEN];

	if (nested)
		return nested;

	scnprintf(name, sizeof(name), "%.*s:nested", NESTED_OF_LEN, guest->name);
	nested = kvm_guest__new(session, pid, name);
	if (nested)
		nested->nested = true;
	return nested;
}

/* What ran in @guest before the boot that its map is of; NULL: nothing did */
struct kvm_guest *kvm_guests__find_earlier(struct perf_session *session,
					   const struct kvm_guest *guest)
{
	return kvm_guests__find(session, guest->pid | KVM_GUEST_EARLIER);
}

/* The same; NULL: no memory */
struct kvm_guest *kvm_guests__findnew_earlier(struct perf_session *session,
					      const struct kvm_guest *guest)
{
	struct kvm_guest *earlier = kvm_guests__find_earlier(session, guest);

	if (earlier)
		return earlier;
	earlier = kvm_guest__new(session, guest->pid | KVM_GUEST_EARLIER, guest->name);
	if (earlier)
		earlier->earlier = true;
	return earlier;
}

/* The guest that @guest is, or runs in, or was before it was booted; @guest if it is not there */
struct kvm_guest *kvm_guests__find_whole(struct perf_session *session, struct kvm_guest *guest)
{
	return kvm_guests__find(session, kvm_guest__vm(guest)) ?: guest;
}

static void kvm_guest__load(struct kvm_guest *guest, const char *dir)
{
	char path[PATH_MAX], kallsyms[PATH_MAX], err[256];

	scnprintf(path, sizeof(path), "%s/" KVM_GUEST_MAP_FMT, dir, guest->pid);
	if (access(path, F_OK))
		return;
	scnprintf(kallsyms, sizeof(kallsyms), "%s/" KVM_GUEST_KALLSYMS_FMT "/kallsyms",
		  dir, guest->pid);
	if (kvm_guest__load_map(guest, path, kallsyms, -1, err, sizeof(err)))
		unified_warning("Guest %s stays without names: its map %s %s\n",
				guest->name, path, err);
}

/**
 * kvm_guests__load - load the maps of the guests that the recording has found
 * @options: what the user wants, or NULL; to stay for as long as the session
 * @foreign: maps that are not used, or NULL: none are known
 *
 * Without this, it is done when the first sample of a guest comes. A guest whose map cannot be
 * used stays without names, with a warning. A profile that is no directory has none.
 */
void kvm_guests__load(struct perf_session *session, const struct kvm_guests_options *options,
		      const struct foreign_maps *foreign)
{
	struct kvm_guests *guests = session->kvm_guests;

	if (!guests || guests->loaded)
		return;
	guests->loaded = true;
	guests->options = options ?: wanted;
	for (size_t i = 0; i < guests->vms.nr; i++) {
		struct kvm_vm *vm = &guests->vms.entries[i];
		struct kvm_guest *guest = kvm_guest__new(session, vm->pid, vm->name);

		if (guest && session->data->is_dir && !foreign_maps__has(foreign, vm->pid) &&
		    !kvm_guests_options__skips_map(guests->options, guest->name))
			kvm_guest__load(guest, session->data->path);
	}
}

/* Makes @session one that has guests, if this perf can tell them apart. 0 or -ENOMEM */
static int add_guests(struct perf_session *session)
{
	struct kvm_guests *guests;

	/* Page table roots and times are keys of hashmaps, which have the size of a long. */
	if (sizeof(long) < sizeof(u64)) {
		unified_warning("A perf of 32 bits does not tell guests apart\n");
		return 0;
	}

	guests = zalloc(sizeof(*guests));
	if (!guests)
		return -ENOMEM;
	INIT_LIST_HEAD(&guests->guests);
	kvm_guests_options__init(&guests->config);
	guests->by_pid = number_map__new();
	if (!guests->by_pid) {
		free(guests);
		return -ENOMEM;
	}
	session->kvm_guests = guests;
	kvm_guests_options__read_config(&guests->config);
	perf_guest = true;
	/* Build-ids are read from here on, before commands call symbol__init() */
	symbol__elf_init();
	return 0;
}

/* The table of VMs, if it is a profile of perf kvm unified record. 0 or -ENOMEM */
static int open_vms(struct perf_session *session)
{
	char path[PATH_MAX], err[256];
	int ret;

	if (!session->data->is_dir)
		return 0;

	scnprintf(path, sizeof(path), "%s/" KVM_GUESTS_VMS, session->data->path);
	if (access(path, F_OK))
		return 0;
	ret = add_guests(session);
	if (ret || !session->kvm_guests)
		return ret;
	killed_session__mend(session);
	if (kvm_vms__read(&session->kvm_guests->vms, path, err, sizeof(err)))
		unified_warning("%s %s: VMs that it does not name are called by their pids\n",
				path, err);
	return 0;
}

/* The VM that a record is of, when the guests are loaded: it was started meanwhile. */
static int add_late(struct perf_session *session, const struct perf_record_guest_vm *rec)
{
	const struct kvm_vm *vm = kvm_vms__find_pid(&session->kvm_guests->vms, rec->pid);
	struct kvm_guest *guest = kvm_guests__find(session, rec->pid);

	if (!guest)
		return kvm_guest__new(session, vm->pid, vm->name) ? 0 : -ENOMEM;
	strlcpy(guest->name, vm->name, sizeof(guest->name));
	return 0;
}

/**
 * kvm_guests__process_record - take over a record of VMs
 * @event: of a stream; a directory has them in a file, and what is in its data is left alone
 *
 * 0 or -ENOMEM. VMs that are not known by what makes no sense are called by their pids.
 */
int kvm_guests__process_record(struct perf_session *session, const union perf_event *event)
{
	struct kvm_guests *guests;
	int ret;

	/* Only x86 has guests that are told apart. */
	if (!perf_data__is_pipe(session->data) || session->header.needs_swap)
		return 0;
	if (!session->kvm_guests) {
		ret = add_guests(session);
		if (ret || !session->kvm_guests)
			return ret;
	}
	guests = session->kvm_guests;
	ret = kvm_vms__process(&guests->vms, event);
	if (!ret && guests->loaded && event->header.type == PERF_RECORD_GUEST_VM)
		ret = add_late(session, (const void *)event);
	if (ret && ret != -ENOMEM) {
		if (!guests->bad_record)
			unified_warning("A record of the VMs makes no sense: is the stream damaged?\n");
		guests->bad_record = true;
		ret = 0;
	}
	return ret;
}

void kvm_guests__delete(struct perf_session *session)
{
	struct kvm_guest *guest, *tmp;

	if (!session->kvm_guests)
		return;

	/* The command has had all of it, and was not ended before that. */
	if (wanted && !session_done() && kvm_vms__are_cut_off(&session->kvm_guests->vms))
		unified_warning("The stream ends before the recording did: this is a part of it.\n");
	list_for_each_entry_safe(guest, tmp, &session->kvm_guests->guests, node) {
		list_del(&guest->node);
		kvm_guest__free(guest);
	}
	hashmap__free(session->kvm_guests->by_pid);
	kvm_guests_options__exit(&session->kvm_guests->config);
	kvm_vms__exit(&session->kvm_guests->vms);
	zfree(&session->kvm_guests);
}

/* A guest that an option names and that is not there: a typing error. -ENOENT */
static int pr_no_such(struct perf_session *session, const char *option, const char *name)
{
	struct near_names near = { .wanted = name };
	const struct kvm_guest *guest;
	const char *what, *names;

	if (session->kvm_guests) {
		list_for_each_entry(guest, &session->kvm_guests->guests, node)
			near_names__add(&near, guest->name);
	}
	what = near_names__sentence(&near, &names);
	pr_err("%s: there is no guest '%s' in %s.%s%s\n", option, name,
	       profile__name(session->data), what, names);
	return -ENOENT;
}

/*
 * A map of a recording without an end has no symbols of the kernel: they are in a file of the same
 * profile. 0 or -ENOMEM
 */
static int use_kallsyms_beside(struct kvm_guest *guest, const struct given_map *map)
{
	const char *name = strrchr(map->file, '/');
	char path[PATH_MAX];
	struct stat st;
	int pid;

	name = name ? name + 1 : map->file;
	if (fstat(map->kallsyms_fd, &st) || st.st_size ||
	    sscanf(name, KVM_GUEST_MAP_FMT, &pid) != 1)
		return 0;
	scnprintf(path, sizeof(path), "%.*s" KVM_GUEST_KALLSYMS_FMT "/kallsyms",
		  (int)(name - map->file), map->file, pid);
	return access(path, R_OK) || kvm_guest__take_kallsyms(guest, path) ? 0 : -ENOMEM;
}

static int load_given_map(struct perf_session *session, struct given_map *map)
{
	struct kvm_guest *guest = kvm_guests__find_name(session, map->name);
	char err[256], kallsyms[32];
	int ret;

	if (!guest)
		return pr_no_such(session, "--guest-map", map->name);
	if (guest->has_map) {
		pr_err("--guest-map: guest %s was given two maps\n", map->name);
		return -EEXIST;
	}

	/* It belongs to a session before, which has been read. */
	if (map->kallsyms_fd >= 0)
		close(map->kallsyms_fd);
	map->kallsyms_fd = memfd_create("kallsyms", MFD_CLOEXEC);
	if (map->kallsyms_fd < 0) {
		ret = -errno;
		pr_err("No memory for the guest's symbols: %s\n", strerror(-ret));
		return ret;
	}
	scnprintf(kallsyms, sizeof(kallsyms), "/proc/self/fd/%d", map->kallsyms_fd);
	ret = kvm_guest__load_map(guest, map->file, kallsyms, map->kallsyms_fd, err, sizeof(err));
	if (ret)
		pr_err("The map %s %s\n", map->file, err);
	guest->given_map = !ret;
	return ret ?: use_kallsyms_beside(guest, map);
}

/**
 * kvm_guests__load_given - load the maps that were given by hand
 *
 * After kvm_guests__load(). They are used by this command only. 0 or -errno with a message
 */
int kvm_guests__load_given(struct perf_session *session, const struct kvm_guests_options *options)
{
	struct given_map *map;

	list_for_each_entry(map, &options->given_maps, node) {
		int ret = load_given_map(session, map);

		if (ret)
			return ret;
	}
	return 0;
}

/* Is there a guest for each name and pattern of --no-guest-maps? As kvm_guests__check_names() */
static int check_left_out(struct perf_session *session, struct perf_session *other,
			  struct patterns *left_out)
{
	struct perf_session *sessions[] = { session, other };
	struct kvm_guest *guest;

	if (!left_out)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(sessions); i++) {
		if (!sessions[i] || !sessions[i]->kvm_guests)
			continue;
		list_for_each_entry(guest, &sessions[i]->kvm_guests->guests, node)
			patterns__match(left_out, guest->name);
	}
	for (size_t i = 0; i < left_out->nr; i++) {
		if (!left_out->entries[i].matched)
			return pr_no_such(session, "--no-guest-maps", left_out->entries[i].text);
	}
	return 0;
}

/**
 * kvm_guests__check_names - is there a guest for each name in the options?
 * @session: that was read, and so @other, unless that is NULL: it may be in one of them
 *
 * 0, or with a message -ENOENT
 */
int kvm_guests__check_names(struct perf_session *session, struct perf_session *other,
			    const struct kvm_guests_options *options)
{
	struct guest_root *root;

	list_for_each_entry(root, &options->roots, node) {
		if (root->name && !kvm_guests__find_name(session, root->name) &&
		    !(other && kvm_guests__find_name(other, root->name)))
			return pr_no_such(session, "--guest-root", root->name);
	}
	return check_left_out(session, other, options->left_out);
}

/* A line for each VM, in the style of the header's others */
void kvm_guests__fprintf_info(const struct perf_session *session, FILE *fp)
{
	const struct kvm_guests *guests = session->kvm_guests;

	for (size_t i = 0; guests && i < guests->vms.nr; i++) {
		const struct kvm_vm *vm = &guests->vms.entries[i];
		char path[PATH_MAX];

		scnprintf(path, sizeof(path), "%s/" KVM_GUEST_MAP_FMT,
			  session->data->path, vm->pid);
		fprintf(fp, "# KVM guest : name = %s, pid of the VMM = %d, vCPUs = %u, map = %s\n",
			vm->name, kvm_vm__vmm(vm), vm->nr_vcpus,
			!session->data->is_dir || access(path, F_OK) ? "no" : "yes");
	}
}

/**
 * kvm_guests__open - find out whether a session that is read has guests
 *
 * Does nothing for data that perf kvm unified record has not written. 0, or -errno, with a
 * message if it is about what is wanted
 */
int kvm_guests__open(struct perf_session *session)
{
	int ret = open_vms(session);

	if (!ret && wanted && wanted->opened)
		ret = wanted->opened(session, wanted->arg);
	if (ret || !wanted)
		return ret;
	/* Which guests there are is not known before the stream is read. */
	if (perf_data__is_pipe(session->data)) {
		if (list_empty(&wanted->given_maps))
			return 0;
		pr_err("--guest-map is for a profile that is a directory, here\n");
		return -EINVAL;
	}
	kvm_guests__load(session, wanted, NULL);
	return kvm_guests__load_given(session, wanted) ?:
	       kvm_guests__check_names(session, NULL, wanted);
}
