// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest map says, put into perf's machine, thread, map and symbol
 * structures of that guest.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "util/build-id.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/hashmap.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/maps.h"
#include "util/namespaces.h"
#include "util/sample.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "kvm-unified/lib/warnings.h"
#include "kvm-unified/lib/x86.h"
#include "files.h"
#include "guest.h"
#include "holes.h"
#include "machine.h"
#include "programs.h"
#include "symbol-text.h"
#include "told.h"

/* The kernel is at most this large: KERNEL_IMAGE_SIZE of x86-64 */
#define GUEST_KERNEL_MAX_SIZE	BIT_ULL(30)

/* Children that map something before they run another program are few. */
#define GUEST_MAX_COPIED_MAPS	(1U << 19)

/* Lines that are taken of all that processes tell of their own code */
#define GUEST_MAX_SYMBOLS	(1U << 20)

/* 0 is the kernel itself, pseudo processes are ours. */
bool guest_pid__is_valid(pid_t pid)
{
	return pid >= 0 && pid < KVM_GUEST_PSEUDO_PID;
}

/*
 * Begins as one of process 0, with its maps, and gets its own: of any other process,
 * perf looks up the namespaces that the host's process of the same number has, and
 * would follow them to files of the host. NULL: no memory
 */
static struct thread *kvm_guest__new_thread(struct kvm_guest *guest, pid_t pid)
{
	struct thread *thread = machine__findnew_thread(guest->machine, 0, pid);
	struct maps *maps;

	if (!thread || !pid)
		return thread;
	maps = maps__new(guest->machine);
	if (!maps) {
		machine__remove_thread(guest->machine, thread);
		thread__put(thread);
		return NULL;
	}
	maps__put(thread__maps(thread));
	thread__set_maps(thread, maps);
	thread__set_pid(thread, pid);
	return thread;
}

/*
 * The thread of a guest process, one for all of its threads. NULL: there is no
 * memory, or there are too many.
 */
struct thread *kvm_guest__findnew_thread(struct kvm_guest *guest, pid_t pid)
{
	struct thread *thread = machine__find_thread(guest->machine, -1, pid);

	if (thread) {
		/* Only a sample has named it so far. */
		nsinfo__zput(RC_CHK_ACCESS(thread)->nsinfo);
	} else {
		if (guest->nr_processes >= GUEST_MAX_PROCESSES && guest_pid__is_valid(pid))
			return NULL;
		thread = kvm_guest__new_thread(guest, pid);
		if (!thread)
			return NULL;
		guest->nr_processes++;
	}
	/*
	 * Else perf looks for a file that tells with each new map: at all maps, and then at
	 * the program of the host's process of the same number.
	 */
	thread__set_e_machine(thread, EM_X86_64);
	return thread;
}

/* Why there is none */
static int kvm_guest__no_thread(const struct kvm_guest *guest)
{
	return guest->nr_processes >= GUEST_MAX_PROCESSES ? -E2BIG : -ENOMEM;
}

/*
 * So many processes more have @maps, which is remembered of those that several have.
 * Not by the references: samples have some, too. 0 or -ENOMEM
 */
static int kvm_guest__share_maps(struct kvm_guest *guest, struct maps *maps, int change)
{
	long sharers = 1;

	if (!hashmap__find(guest->sharers_of_maps, maps, &sharers) && change < 0)
		return 0;
	sharers += change;
	if (sharers > 1)
		return hashmap__set(guest->sharers_of_maps, maps, sharers, NULL, NULL);
	hashmap__delete(guest->sharers_of_maps, maps, NULL, NULL);
	return 0;
}

static void kvm_guest__remove_thread(struct kvm_guest *guest, struct thread *thread)
{
	/* One that only a sample has named is not counted. */
	if (guest->nr_processes)
		guest->nr_processes--;
	kvm_guest__share_maps(guest, thread__maps(thread), -1);
	machine__remove_thread(guest->machine, thread);
}

/**
 * kvm_guest__comm - the process @pid is called @comm from now on
 * @exec: it has forgotten what it was: its maps, too
 *
 * 0, -ENOMEM or -E2BIG
 */
int kvm_guest__comm(struct kvm_guest *guest, pid_t pid, const char *comm, bool exec)
{
	struct thread *thread = kvm_guest__findnew_thread(guest, pid);
	int ret;

	if (thread && exec) {
		kvm_guest__remove_thread(guest, thread);
		thread__put(thread);
		thread = kvm_guest__findnew_thread(guest, pid);
	}
	if (!thread)
		return kvm_guest__no_thread(guest);
	ret = thread__set_comm(thread, comm, 0);
	thread__put(thread);
	return ret;
}

/* A process that changes its maps gets its own, if others have them, too. 0 or -errno */
static int kvm_guest__own_maps(struct kvm_guest *guest, struct thread *thread)
{
	struct maps *maps = thread__maps(thread), *copy;
	u32 nr = maps__nr_maps(maps);
	int ret;

	if (!hashmap__find(guest->sharers_of_maps, maps, NULL))
		return 0;
	if (nr > GUEST_MAX_COPIED_MAPS - guest->nr_copied_maps)
		return -E2BIG;
	copy = maps__new(guest->machine);
	ret = copy ? maps__copy_from(copy, maps) : -ENOMEM;
	if (ret) {
		maps__put(copy);
		return ret;
	}
	guest->nr_copied_maps += nr;
	kvm_guest__share_maps(guest, maps, -1);
	maps__put(maps);
	thread__set_maps(thread, copy);
	return 0;
}

/* The process @parent has a child @pid now. 0, -ENOMEM or -E2BIG */
int kvm_guest__fork(struct kvm_guest *guest, pid_t pid, pid_t parent)
{
	struct thread *child = machine__find_thread(guest->machine, -1, pid);
	struct thread *thread = kvm_guest__findnew_thread(guest, parent);
	const char *comm;
	int ret = 0;

	/* One of the same number, of whose end nothing is known */
	if (child) {
		kvm_guest__remove_thread(guest, child);
		thread__put(child);
	}
	child = kvm_guest__findnew_thread(guest, pid);
	if (thread && child) {
		comm = thread__comm_set(thread) ? thread__comm_str(thread) : NULL;
		if (comm)
			ret = thread__set_comm(child, comm, 0);
		thread__set_ppid(child, parent);
		/* perf copies them here, but most children run another program at once. */
		ret = ret ?: kvm_guest__share_maps(guest, thread__maps(thread), 1);
		if (!ret) {
			maps__put(thread__maps(child));
			thread__set_maps(child, maps__get(thread__maps(thread)));
		}
	} else {
		ret = kvm_guest__no_thread(guest);
	}
	thread__put(child);
	thread__put(thread);
	return ret;
}

void kvm_guest__exit(struct kvm_guest *guest, pid_t pid)
{
	struct thread *thread = machine__find_thread(guest->machine, -1, pid);

	if (!thread)
		return;
	kvm_guest__remove_thread(guest, thread);
	thread__put(thread);
}

static void guest_vdso_name(const struct kvm_guest *guest, u64 start, char *buf, size_t size)
{
	scnprintf(buf, size, GUEST_FILE_PREFIX "%s]/[vdso%s]", guest->name,
		  start < X86_VDSO64_MIN ? "32" : "");
}

/* As perf calls it */
static void guest_own_code_name(const struct kvm_guest *guest, pid_t pid, char *buf, size_t size)
{
	scnprintf(buf, size, GUEST_FILE_PREFIX "%s]/" GUEST_JIT_MODULE "%d", guest->name, pid);
}

/*
 * Was @map made before the last program, or process, of that pid began? What is told of functions
 * is of the last one. What was there as the guest began to be followed has no time of its own.
 */
static bool is_of_earlier(const struct kvm_guest *guest, const struct guest_mmap *map)
{
	const struct guest_clock *clock = &guest->map.clock;
	u64 time = map->time ? map->time : clock->nr ? clock->pairs[0].time : 0;
	long from;

	return hashmap__find(guest->map.several, (long)map->pid, NULL) &&
	       hashmap__find(guest->map.from_of_pid, (long)map->pid, &from) && time < (u64)from;
}

/* The same module in the report, and no functions */
static void guest_map_code_name(const struct kvm_guest *guest, const struct guest_mmap *map,
				char *buf, size_t size)
{
	if (is_of_earlier(guest, map))
		scnprintf(buf, size, GUEST_FILE_PREFIX "%s]/[earlier]/" GUEST_JIT_MODULE "%d",
			  guest->name, map->pid);
	else
		guest_own_code_name(guest, map->pid, buf, size);
}

/* Memory that a process has given a name: PR_SET_VMA_ANON_NAME. A file's name begins with a '/'. */
static bool is_named_memory(const char *name)
{
	return strstarts(name, "[anon:") || strstarts(name, "[anon_shmem:");
}

/*
 * Is it shared memory that the process tells of functions in, or a memfd and it tells of any? Some
 * JIT compilers have it to write and run code at different addresses.
 */
static bool is_shared_code(const struct kvm_guest *guest, const struct guest_mmap *map)
{
	if (strstarts(map->name, "/memfd:"))
		return kvm_guest__symbols(guest, map->pid);
	return !map->print && guest_file__is_deleted(map->name) &&
	       kvm_guest__has_told(guest, map->pid, map->start, map->start + map->len);
}

/*
 * Is it code that the process has made for itself? A program that was started from a memfd has a
 * build-id.
 */
static bool is_own_code(const struct kvm_guest *guest, const struct guest_mmap *map)
{
	if (is_anon_memory(map->name) || is_no_dso_memory(map->name) || is_named_memory(map->name))
		return true;
	if (map->bid)
		return false;
	return (map->flags & MAP_HUGETLB) || is_shared_code(guest, map);
}

/* Can it be a map at all? Else it is left out without a word. */
static bool guest_mmap__is_possible(const struct guest_mmap *map, bool kernel)
{
	return map->len && map->start + map->len >= map->start &&
	       (map->is_given || kernel == !!(map->start & GUEST_KERNEL_SPACE));
}

/* As the host's kernel would have told of it, but for the name. NULL: no memory */
static union perf_event *guest_mmap__event(const struct guest_mmap *map, pid_t pid, u16 misc)
{
	union perf_event *event = zalloc(sizeof(event->mmap2));

	if (!event)
		return NULL;
	event->header.type = PERF_RECORD_MMAP2;
	event->header.size = sizeof(event->mmap2);
	event->header.misc = misc;
	event->mmap2.pid = pid;
	event->mmap2.tid = pid;
	event->mmap2.start = map->start;
	event->mmap2.len = map->len;
	event->mmap2.pgoff = map->pgoff;
	event->mmap2.prot = map->prot;
	event->mmap2.flags = map->flags;
	if (map->bid) {
		event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		event->mmap2.build_id_size = map->bid->size;
		memcpy(event->mmap2.build_id, map->bid->data, map->bid->size);
	}
	return event;
}

/* Takes @event. 0 or -errno */
static int kvm_guest__process_mmap(struct kvm_guest *guest, union perf_event *event, u8 cpumode)
{
	struct perf_sample sample = { .cpumode = cpumode };
	int ret = machine__process_mmap2_event(guest->machine, event, &sample);

	free(event);
	return ret;
}

/*
 * A vmlinux has no code at the addresses that a guest's kernel has: objdump would have nothing to
 * show of any file.
 */
static void kvm_guest__no_kernel_code(struct kvm_guest *guest)
{
	if (guest->machine->vmlinux_map)
		dso__set_annotate_warned(map__dso(guest->machine->vmlinux_map));
}

/**
 * kvm_guest__add_kernel_map - add a guest's kernel, or a module of it, to its machine
 *
 * 0, -ENOMEM, -E2BIG or another -errno
 */
int kvm_guest__add_kernel_map(struct kvm_guest *guest, const struct guest_mmap *map)
{
	bool is_kernel = strstarts(map->name, KERNEL_MAP_NAME);
	union perf_event *event;
	int ret;

	if (!guest_mmap__is_possible(map, /*kernel=*/true))
		return 0;
	if (guest->machine->dsos.cnt >= GUEST_MAX_FILES)
		return -E2BIG;
	event = guest_mmap__event(map, guest->pid, PERF_RECORD_MISC_GUEST_KERNEL);
	if (!event)
		return -ENOMEM;

	if (is_kernel) {
		/* The suffix is the symbol that pgoff is the address of. */
		scnprintf(event->mmap2.filename, sizeof(event->mmap2.filename), "%s%s",
			  guest->machine->mmap_name, map->name + strlen(KERNEL_MAP_NAME));
		if (map->len <= GUEST_KERNEL_MAX_SIZE) {
			guest->kernel_start = map->start;
			guest->kernel_end = map->start + map->len;
		}
	} else {
		guest_module_name(map->name, event->mmap2.filename, sizeof(event->mmap2.filename));
	}
	ret = kvm_guest__process_mmap(guest, event, PERF_RECORD_MISC_GUEST_KERNEL);
	if (!ret && is_kernel)
		kvm_guest__no_kernel_code(guest);
	return ret;
}

/* The process @pid gets one more map: it is there, and has room for it. 0 or -errno */
static int kvm_guest__prepare_map(struct kvm_guest *guest, pid_t pid)
{
	struct thread *thread = kvm_guest__findnew_thread(guest, pid);
	int ret;

	if (!thread)
		return kvm_guest__no_thread(guest);
	if (maps__nr_maps(thread__maps(thread)) >= GUEST_MAX_MAPS_OF_PID)
		ret = -E2BIG;
	else
		ret = kvm_guest__own_maps(guest, thread);
	thread__put(thread);
	return ret;
}

/*
 * The name that perf is to know the map by, and where it begins in what has that name. Is that
 * a file of the host?
 */
static bool kvm_guest__name_map(struct kvm_guest *guest, const struct guest_mmap *map,
				struct perf_record_mmap2 *mmap2)
{
	if (!strcmp(map->name, "[vdso]")) {
		guest_vdso_name(guest, map->start, mmap2->filename, sizeof(mmap2->filename));
		mmap2->pgoff = 0;
	} else if (is_own_code(guest, map)) {
		guest_map_code_name(guest, map, mmap2->filename, sizeof(mmap2->filename));
		/* Its symbols are by address. */
		mmap2->pgoff = map->start;
		/* Not to be taken for what the host has at that place. */
		mmap2->flags &= ~MAP_HUGETLB;
	} else {
		return guest_file_name(guest, map->name, map->bid, map->print, mmap2->filename,
				       sizeof(mmap2->filename));
	}
	return false;
}

/*
 * What was moved out of the middle of a file's text, and ends at @end, is that file's, unless the
 * process tells of its own code there: see maps__find_hole(). 0 or -errno
 */
static int kvm_guest__fill_hole(struct kvm_guest *guest, const struct guest_mmap *map, u64 end)
{
	const pid_t pid = map->pid;
	struct thread *thread = kvm_guest__findnew_thread(guest, pid);
	const struct guest_mmap hole = { .pid = pid, .prot = PROT_READ | PROT_EXEC };
	union perf_event *event = guest_mmap__event(&hole, pid, PERF_RECORD_MISC_GUEST_USER);
	char own_code[PATH_MAX];
	bool found;

	if (!thread || !event) {
		thread__put(thread);
		free(event);
		return thread ? -ENOMEM : kvm_guest__no_thread(guest);
	}
	guest_map_code_name(guest, map, own_code, sizeof(own_code));
	found = maps__find_hole(thread__maps(thread), end, own_code, &event->mmap2);
	thread__put(thread);
	if (!found || (!is_of_earlier(guest, map) &&
		       kvm_guest__has_told(guest, pid, event->mmap2.start, end))) {
		free(event);
		return 0;
	}
	event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	return kvm_guest__process_mmap(guest, event, PERF_RECORD_MISC_GUEST_USER);
}

/**
 * kvm_guest__add_map - add a map of one of a guest's processes to its machine
 *
 * 0, -ENOMEM, -E2BIG or another -errno
 */
int kvm_guest__add_map(struct kvm_guest *guest, const struct guest_mmap *map)
{
	union perf_event *event;
	bool has_file;
	int ret;

	if (!guest_mmap__is_possible(map, /*kernel=*/false) || !guest_pid__is_valid(map->pid))
		return 0;
	if (guest->machine->dsos.cnt >= GUEST_MAX_FILES)
		return -E2BIG;
	ret = kvm_guest__prepare_map(guest, map->pid);
	if (ret)
		return ret;
	event = guest_mmap__event(map, map->pid, PERF_RECORD_MISC_GUEST_USER);
	if (!event)
		return -ENOMEM;

	has_file = kvm_guest__name_map(guest, map, &event->mmap2);
	if (!map->bid && !has_file) {
		/* perf takes a file without a build-id for any other of that name. */
		event->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		event->mmap2.build_id_size = sizeof(event->mmap2.build_id);
		memset(event->mmap2.build_id, GUEST_NO_BUILD_ID_BYTE,
		       sizeof(event->mmap2.build_id));
	}
	ret = map->bid ? kvm_guest__load_program(guest, event->mmap2.filename, map->bid) : 0;
	if (ret) {
		free(event);
		return ret;
	}
	ret = kvm_guest__process_mmap(guest, event, PERF_RECORD_MISC_GUEST_USER);
	if (ret)
		return ret;
	/* Maps come in the order of addresses, or the middle after its neighbours. */
	if (is_own_code(guest, map))
		return kvm_guest__fill_hole(guest, map, map->start + map->len);
	return map->bid || has_file ? kvm_guest__fill_hole(guest, map, map->start) : 0;
}

/*
 * Inserts @sym unless one is there already that overlaps it: of two that do, the
 * later one in the file is the code that is there now, and is inserted first.
 */
static bool insert_symbol(struct rb_root_cached *symbols, struct symbol *sym)
{
	struct rb_node **p = &symbols->rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*p) {
		struct symbol *s = rb_entry(*p, struct symbol, rb_node);

		parent = *p;
		if (sym->end <= s->start) {
			p = &(*p)->rb_left;
		} else if (sym->start >= s->end) {
			p = &(*p)->rb_right;
			leftmost = false;
		} else {
			return false;
		}
	}
	rb_link_node(&sym->rb_node, parent, p);
	rb_insert_color_cached(&sym->rb_node, symbols, leftmost);
	return true;
}

/* Takes a line into @dso. 0 or -ENOMEM */
static int add_symbol(struct dso *dso, char *line)
{
	struct symbol *sym;
	int ret = guest_symbol__parse(line, &sym);

	if (!ret && sym && !insert_symbol(dso__symbols(dso), sym))
		symbol__delete(sym);
	return ret;
}

/* Loads the last @left lines at most. 0 or -ENOMEM */
static int kvm_guest__load_dso(struct kvm_guest *guest, struct guest_symbols *symbols, u64 left)
{
	char name[PATH_MAX], *end = symbols->text + symbols->len;
	struct dso *dso;
	int ret = 0;

	if (symbols->pid)
		guest_own_code_name(guest, symbols->pid, name, sizeof(name));
	else
		guest_vdso_name(guest, X86_VDSO64_MIN, name, sizeof(name));
	dso = machine__findnew_dso(guest->machine, name);
	if (!dso)
		return -ENOMEM;

	/* A line that was still being written may have a part of the name. */
	while (end > symbols->text && end[-1] != '\n')
		end--;
	/* From the last line on: see insert_symbol() */
	while (!ret && end > symbols->text && left) {
		char *line = end - 1;

		*line = '\0';
		while (line > symbols->text && line[-1] != '\n')
			line--;
		ret = add_symbol(dso, line);
		end[-1] = '\n';
		end = line;
		left--;
	}
	/* perf would look for a file of that name. */
	dso__set_loaded(dso);
	dso__put(dso);
	return ret;
}

/* The lines that are taken if each process has @max of them at most */
static u64 kvm_guest__nr_lines(const struct kvm_guest *guest, u64 max)
{
	u64 nr = 0;

	for (size_t i = 0; i < guest->map.nr_symbols; i++)
		nr += min(guest->map.symbols[i].nr_lines, max);
	return nr;
}

/*
 * How many lines a process may have so that all have no more than @max: what one has more does
 * not take the room of others.
 */
static u64 kvm_guest__max_lines(const struct kvm_guest *guest, u64 max)
{
	u64 low = 0, high = max;

	while (low < high) {
		u64 mid = high - (high - low) / 2;

		if (kvm_guest__nr_lines(guest, mid) <= max)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

/**
 * kvm_guest__load_symbols - take over symbols that are in no file
 *
 * Not before the first sample: until then it is not settled how large perf's
 * symbols are. 0 or -ENOMEM
 */
int kvm_guest__load_symbols(struct kvm_guest *guest)
{
	u64 max = kvm_guest__max_lines(guest, GUEST_MAX_SYMBOLS);
	int ret = 0;

	if (kvm_guest__nr_lines(guest, UINT64_MAX) > GUEST_MAX_SYMBOLS)
		unified_warning("Guest %s: processes tell of too many functions of their own code: the last %u of each have names\n",
				guest->name, (u32)max);
	for (size_t i = 0; !ret && i < guest->map.nr_symbols; i++)
		ret = kvm_guest__load_dso(guest, &guest->map.symbols[i], max);
	return ret ?: kvm_guest__load_programs(guest);
}

/* Adds the symbols that process @pid, or for 0 the vDSO, has for its code. 0 or -ENOMEM */
int kvm_guest__add_symbols(struct kvm_guest *guest, pid_t pid, const char *text, size_t len)
{
	struct guest_symbols *symbols = kvm_guest__symbols(guest, pid);
	struct guest_map_data *map = &guest->map;
	char *grown;

	if (!symbols) {
		symbols = reallocarray(map->symbols, map->nr_symbols + 1, sizeof(*symbols));
		if (!symbols)
			return -ENOMEM;
		map->symbols = symbols;
		symbols += map->nr_symbols++;
		*symbols = (struct guest_symbols) { .pid = pid };
	}
	grown = realloc(symbols->text, symbols->len + len);
	if (!grown)
		return -ENOMEM;
	memcpy(grown + symbols->len, text, len);
	symbols->text = grown;
	symbols->len += len;
	symbols->nr_lines += guest_text__count_lines(text, len);
	return 0;
}

void kvm_guest__free_symbols(struct kvm_guest *guest)
{
	for (size_t i = 0; i < guest->map.nr_symbols; i++) {
		free(guest->map.symbols[i].text);
		free(guest->map.symbols[i].ranges);
	}
	zfree(&guest->map.symbols);
	guest->map.nr_symbols = 0;
}
