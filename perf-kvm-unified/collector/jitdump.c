// SPDX-License-Identifier: GPL-2.0
/*
 * The other way in which JIT compilers describe their code: a file with the code itself, for
 * perf inject --jit. See Documentation/jitdump-specification.txt. Names are all that is wanted
 * of it here: where the code is as it runs, the guest's memory has it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "util/jitdump.h"
#include "kvm-unified/lib/number-map.h"
#include "jitdump.h"

/* Longer names are cut. */
#define JIT_NAME_LEN		1024
/**
 * struct jitdump - a file that is read
 * @process: whose code is wanted
 * @has_times: its times are of CLOCK_MONOTONIC
 * @name_at: of what was loaded, by its index: where in the file its name is
 */
struct jitdump {
	FILE	       *file;
	const struct jitdump_process *process;
	bool	       has_times;
	struct hashmap *name_at;
	jitdump_fn     fn;
	void	       *arg;
};

/**
 * jitdump__is_marker - is this a program's sign that it writes such a file?
 * @maps_line: of /proc/PID/maps, without the newline
 * @start: @end: get where it is mapped
 * @pid: gets the one in its name
 *
 * It maps the file as if it had code: jit-PID.dump, with the pid that it knows of itself. The file
 * may be deleted by now.
 */
bool jitdump__is_marker(const char *maps_line, u64 *start, u64 *end, pid_t *pid)
{
	const char *base = strrchr(maps_line, '/');
	char perms[5];

	if (!base || !strstarts(base, "/jit-") ||
	    sscanf(maps_line, "%" SCNx64 "-%" SCNx64 " %4s", start, end, perms) != 3 ||
	    !strchr(perms, 'x'))
		return false;
	base += strlen("/jit-");
	if (!isdigit(*base))
		return false;
	*pid = strtoul(base, NULL, 10);
	base += strspn(base, "0123456789");
	return !strcmp(base, ".dump") || !strcmp(base, ".dump (deleted)");
}

/* A string that is at most that long. Makes one line of it; false: there is none */
static bool read_name(FILE *file, u64 size, char *name)
{
	size_t len = fread(name, 1, min_t(u64, size, JIT_NAME_LEN - 1), file);

	name[len] = '\0';
	for (char *c = name; *c; c++) {
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	}
	return *name;
}

/* Has the process the code that @pid has told of at @time, or is that not certain? */
static bool has_code(const struct jitdump *dump, pid_t pid, u64 time)
{
	const struct jitdump_process *process = dump->process;

	return pid == process->pid ||
	       (pid == process->parent && dump->has_times && time && time < process->forked);
}

/* 0 or not: the end. What makes no sense is left out. */
static int process_load(struct jitdump *dump, const struct jr_prefix *prefix)
{
	struct jr_code_load load = { .p = *prefix };
	char name[JIT_NAME_LEN];
	long at;

	if (prefix->total_size <= sizeof(load) ||
	    fread((char *)&load + sizeof(*prefix), sizeof(load) - sizeof(*prefix), 1,
		  dump->file) != 1 ||
	    !has_code(dump, load.pid, prefix->timestamp))
		return 0;
	at = ftell(dump->file);
	if (at < 0 || !read_name(dump->file, prefix->total_size - sizeof(load), name) ||
	    !load.code_size)
		return 0;
	if (hashmap__set(dump->name_at, (long)load.code_index, at, NULL, NULL))
		return -ENOMEM;
	return dump->fn(load.code_addr, load.code_size, name, dump->arg);
}

static int process_move(struct jitdump *dump, const struct jr_prefix *prefix)
{
	struct jr_code_move move = { .p = *prefix };
	char name[JIT_NAME_LEN];
	long at;

	if (prefix->total_size < sizeof(move) ||
	    fread((char *)&move + sizeof(*prefix), sizeof(move) - sizeof(*prefix), 1,
		  dump->file) != 1 ||
	    !has_code(dump, move.pid, prefix->timestamp) || !move.code_size ||
	    !hashmap__find(dump->name_at, (long)move.code_index, &at) ||
	    fseek(dump->file, at, SEEK_SET) || !read_name(dump->file, JIT_NAME_LEN, name))
		return 0;
	return dump->fn(move.new_code_addr, move.code_size, name, dump->arg);
}

/* @left: so many records are read at most; becomes less */
static int process_records(struct jitdump *dump, long at, u32 *left)
{
	struct jr_prefix prefix;
	int ret = 0;

	/* A compiler that begins anew goes on after JIT_CODE_CLOSE. */
	for (; !ret && *left; --*left) {
		/* The last one may be being written. */
		if (fseek(dump->file, at, SEEK_SET) ||
		    fread(&prefix, sizeof(prefix), 1, dump->file) != 1 ||
		    prefix.total_size < sizeof(prefix))
			break;
		if (prefix.id == JIT_CODE_LOAD)
			ret = process_load(dump, &prefix);
		else if (prefix.id == JIT_CODE_MOVE)
			ret = process_move(dump, &prefix);
		at += prefix.total_size;
	}
	return ret;
}

/**
 * jitdump__each_symbol - what the file has, in its order: later code takes the place of earlier
 * @file: can be read anywhere; a program may be writing it
 * @process: what is of others is left out
 * @left: so many records at most, of which those are taken off that the file has; at first
 *	JITDUMP_MAX_RECORDS
 * @fn: gets address and size in bytes, and the name, which is one line
 *
 * 0; -EINVAL: it is no such file, or of a machine of the other byte order; -ENOMEM; or what @fn
 * has returned
 */
int jitdump__each_symbol(FILE *file, const struct jitdump_process *process, u32 *left,
			 jitdump_fn fn, void *arg)
{
	struct jitdump dump = { .file = file, .process = process, .fn = fn, .arg = arg };
	struct jitheader header;
	int ret;

	if (fread(&header, sizeof(header), 1, file) != 1 || header.magic != JITHEADER_MAGIC ||
	    header.total_size < sizeof(header))
		return -EINVAL;
	dump.has_times = !(header.flags & JITDUMP_FLAGS_ARCH_TIMESTAMP);
	dump.name_at = number_map__new();
	if (!dump.name_at)
		return -ENOMEM;
	ret = process_records(&dump, header.total_size, left);
	hashmap__free(dump.name_at);
	return ret;
}
