// SPDX-License-Identifier: GPL-2.0
/*
 * Code that a guest's process has made for itself, and what it tells of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tests/tests.h"
#include "util/build-id.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/maps.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "kvm-unified/guests/guest.h"
#include "kvm-unified/guests/load.h"
#include "kvm-unified/guests/machine.h"
#include "kvm-unified/lib/number-map.h"
#include "own-code.h"

#define VM_PID		1000
#define PID		7

#define TEXT		0x400000
#define PAGE		0x1000ULL

/* Lines, more than are taken */
#define MANY		((1U << 20) + 1)

static struct kvm_guest *new_guest(struct machines *machines)
{
	struct kvm_guest *guest = calloc(1, sizeof(*guest));

	if (!guest || machines__init(machines))
		return NULL;
	guest->pid = VM_PID;
	strlcpy(guest->name, "vm1", sizeof(guest->name));
	guest->machine = machines__add(machines, VM_PID, "");
	guest->unnamed = number_map__new();
	guest->sharers_of_maps = number_map__new();
	guest->map.until_of_pid = number_map__new();
	guest->map.several = number_map__new();
	guest->map.from_of_pid = number_map__new();
	return guest;
}

static void delete_guest(struct kvm_guest *guest, struct machines *machines)
{
	kvm_guest__free_symbols(guest);
	hashmap__free(guest->unnamed);
	hashmap__free(guest->sharers_of_maps);
	hashmap__free(guest->map.until_of_pid);
	hashmap__free(guest->map.several);
	hashmap__free(guest->map.from_of_pid);
	if (guest->machine) {
		rb_erase_cached(&guest->machine->rb_node, &machines->guests);
		machine__delete(guest->machine);
	}
	machines__exit(machines);
	free(guest);
}

static int add_map(struct kvm_guest *guest, u64 start, u64 pgoff, const char *name,
		   const struct build_id *bid)
{
	const struct guest_mmap map = {
		.pid = PID, .start = start, .len = PAGE, .pgoff = pgoff,
		.prot = PROT_READ | PROT_EXEC, .name = name, .bid = bid,
	};

	return kvm_guest__add_map(guest, &map);
}

static int tell(struct kvm_guest *guest, pid_t pid, const char *lines)
{
	return kvm_guest__add_symbols(guest, pid, lines, strlen(lines));
}

/* The file that is mapped at @addr, and the function there: "file function" */
static const char *found_at(struct kvm_guest *guest, u64 addr)
{
	struct thread *thread = machine__find_thread(guest->machine, -1, PID);
	struct map *map = thread ? maps__find(thread__maps(thread), addr) : NULL;
	struct dso *dso = map ? map__dso(map) : NULL;
	struct symbol *sym = NULL;
	static char text[256];

	if (dso && dso__loaded(dso))
		sym = dso__find_symbol(dso, map__map_ip(map, addr));
	scnprintf(text, sizeof(text), "%s %s", dso ? dso__long_name(dso) : "",
		  sym ? sym->name : "-");
	map__put(map);
	thread__put(thread);
	return text;
}

static bool is_at(struct kvm_guest *guest, u64 addr, const char *expected)
{
	const char *found = found_at(guest, addr);

	if (strcmp(found, expected))
		pr_debug("%s instead of %s\n", found, expected);
	return !strcmp(found, expected);
}

/* A file, memory that is called @name in its middle, and the file again */
static int add_moved(struct kvm_guest *guest, const char *name)
{
	struct build_id bid;

	build_id__init(&bid, (const u8 *)"01234567890123456789", BUILD_ID_SIZE);
	return add_map(guest, TEXT, 0, "/bin/x", &bid) ?:
	       add_map(guest, TEXT + PAGE, 0, name, NULL) ?:
	       add_map(guest, TEXT + 2 * PAGE, 2 * PAGE, "/bin/x", &bid) ?:
	       kvm_guest__load_symbols(guest);
}

static int check_hole(struct kvm_guest *guest)
{
	TEST_ASSERT_VAL("told", !tell(guest, PID, "400800 10 before\n402000 10 behind\n1\n"));
	TEST_ASSERT_VAL("maps", !add_moved(guest, "//anon"));
	TEST_ASSERT_VAL("the file's", is_at(guest, TEXT + PAGE, "/[guest:vm1]/bin/x -"));
	return TEST_OK;
}

static int check_told_hole(struct kvm_guest *guest)
{
	TEST_ASSERT_VAL("told", !tell(guest, PID, "401000 10 hole_jit\n400000 8 before\n"));
	TEST_ASSERT_VAL("maps", !add_moved(guest, "//anon"));
	TEST_ASSERT_VAL("the process's own",
			is_at(guest, TEXT + PAGE, "/[guest:vm1]/[JIT] tid 7 hole_jit"));
	TEST_ASSERT_VAL("the file's", is_at(guest, TEXT, "/[guest:vm1]/bin/x -"));
	return TEST_OK;
}

static int check_named(struct kvm_guest *guest)
{
	TEST_ASSERT_VAL("told", !tell(guest, PID, "501000 10 yjit\n"));
	TEST_ASSERT_VAL("map", !add_map(guest, 0x501000, 0, "[anon:Ruby:rb_yjit_reserve]", NULL));
	TEST_ASSERT_VAL("moved", !add_moved(guest, "[anon:text]"));
	TEST_ASSERT_VAL("the process's own",
			is_at(guest, 0x501000, "/[guest:vm1]/[JIT] tid 7 yjit"));
	TEST_ASSERT_VAL("the file's", is_at(guest, TEXT + PAGE, "/[guest:vm1]/bin/x -"));
	return TEST_OK;
}

static int check_shared(struct kvm_guest *guest)
{
	TEST_ASSERT_VAL("told", !tell(guest, PID, "501ff0 10 shm_jit\n502000 10 file_jit\n"));
	TEST_ASSERT_VAL("maps", !add_map(guest, 0x501000, 0, "/dev/shm/x (deleted)", NULL) &&
			!add_map(guest, 0x502000, 0, "/tmp/x", NULL) &&
			!add_map(guest, 0x503000, 0, "/tmp/x (deleted)", NULL) &&
			!kvm_guest__load_symbols(guest));
	TEST_ASSERT_VAL("the process's own",
			is_at(guest, 0x501ff0, "/[guest:vm1]/[JIT] tid 7 shm_jit"));
	TEST_ASSERT_VAL("a file", is_at(guest, 0x502000, "/[guest:vm1]/tmp/x -"));
	TEST_ASSERT_VAL("nothing is told of it",
			is_at(guest, 0x503000, "/[guest:vm1]/tmp/x (deleted) -"));
	return TEST_OK;
}

/* One tells of more than is taken of all, the next one of a function. */
static int check_many(struct kvm_guest *guest)
{
	static const char line[] = "1 1 a\n";
	const size_t len = strlen(line) * MANY;
	char *lines = malloc(len);
	int ret = lines ? 0 : -1;

	for (size_t i = 0; !ret && i < len; i += strlen(line))
		memcpy(lines + i, line, strlen(line));
	ret = ret ?: kvm_guest__add_symbols(guest, PID + 1, lines, len);
	free(lines);
	TEST_ASSERT_VAL("told", !ret && !tell(guest, PID, "501000 10 next\n"));
	TEST_ASSERT_VAL("map", !add_map(guest, 0x501000, 0, "//anon", NULL) &&
			!kvm_guest__load_symbols(guest));
	TEST_ASSERT_VAL("the next one's",
			is_at(guest, 0x501000, "/[guest:vm1]/[JIT] tid 7 next"));
	return TEST_OK;
}

/* The program that was there before execve() has told of nothing that is still known. */
static int check_earlier(struct kvm_guest *guest)
{
	const struct guest_space spaces[] = {
		{ .pid = PID, .from = 500, .until = GUEST_TIME_NONE },
		{ .pid = PID, .from = 100, .until = 500 },
	};
	struct guest_mmap map = {
		.pid = PID, .time = 499, .start = 0x501000, .len = PAGE,
		.prot = PROT_READ | PROT_EXEC, .name = "//anon",
	};

	TEST_ASSERT_VAL("spaces", !guest_map__note_pid(&guest->map, &spaces[0]) &&
			!guest_map__note_pid(&guest->map, &spaces[1]));
	TEST_ASSERT_VAL("told", !tell(guest, PID, "501000 10 after_exec\n"));
	TEST_ASSERT_VAL("map", !kvm_guest__add_map(guest, &map) &&
			!kvm_guest__load_symbols(guest));
	TEST_ASSERT_VAL("of the first one",
			is_at(guest, 0x501000, "/[guest:vm1]/[earlier]/[JIT] tid 7 -"));
	map.time = 500;
	TEST_ASSERT_VAL("exec", !kvm_guest__comm(guest, PID, "after", true) &&
			!kvm_guest__add_map(guest, &map));
	TEST_ASSERT_VAL("of the last one",
			is_at(guest, 0x501000, "/[guest:vm1]/[JIT] tid 7 after_exec"));
	return TEST_OK;
}

int test__own_code(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static int (*const checks[])(struct kvm_guest *guest) = {
		check_hole,
		check_told_hole,
		check_named,
		check_shared,
		check_many,
		check_earlier,
	};
	int ret = TEST_OK;

	for (size_t i = 0; ret == TEST_OK && i < ARRAY_SIZE(checks); i++) {
		struct machines machines;
		struct kvm_guest *guest = new_guest(&machines);

		TEST_ASSERT_VAL("guest", guest);
		ret = checks[i](guest);
		delete_guest(guest, &machines);
	}
	return ret;
}
