// SPDX-License-Identifier: GPL-2.0
/*
 * The files that the guest's processes have mapped: how they are called, their build-ids and
 * functions, out of the guest's page cache. Each is read once in a look, however many processes
 * have it.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include "kvm-unified/collector/guest-mem.h"
#include "kvm-unified/lib/array.h"
#include "kvm-unified/lib/number-map.h"
#include "cache.h"
#include "files.h"
#include "kernel.h"
#include "path.h"

/* A guest with 10,000 different programs has other troubles. */
#define MAX_FILES		16384
#define MAX_PROGRAMS		4096

/* Text of one program's functions, and of all: most have been stripped. */
#define MAX_PROGRAM_SYMBOLS	(8U << 20)
#define MAX_SYMBOLS		(20U << 20)

static int cached_read(void *arg, u64 offset, void *buf, size_t len)
{
	return guest_cached_file__read(arg, offset, buf, len);
}

static bool has_program(const struct guest_files *files, const struct guest_build_id *id)
{
	for (size_t i = 0; i < files->nr_programs; i++) {
		if (guest_build_id__same(&files->programs[i].build_id, id))
			return true;
	}
	return false;
}

/* 0, without symbols too, or -EDQUOT, -ENOMEM */
static int add_program(struct guest_files *files, const struct guest_elf *elf,
		       const struct guest_build_id *id)
{
	struct guest_program program = { .build_id = *id };
	struct guest_build_id again;
	int ret;

	if (has_program(files, id) || files->nr_programs >= MAX_PROGRAMS ||
	    files->symbols_size >= MAX_SYMBOLS)
		return 0;
	program.symbols.max = min_t(size_t, MAX_PROGRAM_SYMBOLS, MAX_SYMBOLS - files->symbols_size);
	ret = guest_elf__symbols(elf, &program.symbols);
	/* It may have been replaced meanwhile: then it is not known what these are of. */
	if (!ret && (guest_elf__build_id(elf, &again) || !guest_build_id__same(&again, id)))
		ret = -EAGAIN;
	if (!ret && program.symbols.len &&
	    grow_array(files->programs, files->nr_programs, files->programs_allocated))
		ret = -ENOMEM;
	if (ret || !program.symbols.len) {
		guest_text__exit(&program.symbols);
		return ret == -ENOMEM || ret == -EDQUOT ? ret : 0;
	}
	files->symbols_size += program.symbols.len;
	files->programs[files->nr_programs++] = program;
	return 0;
}

/* Reads the file. 0, also if nothing is known of it, or -EDQUOT, -ENOMEM */
static int read_program(struct guest_files *files, struct guest_kernel *k, struct guest_file *file,
			u64 size)
{
	struct guest_cached_file *cached = malloc(sizeof(*cached));
	struct guest_elf elf = { .read = cached_read, .arg = cached, .size = size };
	int ret;

	if (!cached)
		return -ENOMEM;
	guest_cached_file__init(cached, k, file->mapping, size);
	ret = guest_elf__build_id(&elf, &file->build_id);
	if (!ret && file->build_id.size)
		ret = add_program(files, &elf, &file->build_id);
	free(cached);
	return ret == -EDQUOT || ret == -ENOMEM ? ret : 0;
}

static int read_inode(struct guest_kernel *k, struct guest_file *file, u64 *size)
{
	const struct guest_offsets *o = &k->offsets;
	u64 inode, sb;
	int ret = guest_kernel__read_u64(k, file->mapping + o->mapping_host, &inode);

	if (!ret && !kernel_ptr(inode))
		ret = -EAGAIN;
	if (!ret)
		ret = guest_kernel__read_u64(k, inode + o->inode_ino, &file->ino);
	if (!ret)
		ret = guest_kernel__read_u64(k, inode + o->inode_size, size);
	if (!ret)
		ret = guest_kernel__read_u64(k, inode + o->inode_sb, &sb);
	if (!ret)
		ret = guest_kernel__read_u32(k, sb + o->sb_dev, &file->dev);
	return ret;
}

/* 0, -EAGAIN or so: it cannot be read, -ENOMEM */
static int read_file(struct guest_files *files, struct guest_kernel *k, struct guest_file *file)
{
	char path[PATH_MAX];
	u64 size;
	int ret = read_inode(k, file, &size);

	if (!ret)
		ret = guest_path__read(k, file->dentry, file->mnt, path, sizeof(path));
	if (!ret)
		ret = read_program(files, k, file, size);
	if (ret)
		return ret;
	file->path = strdup(path);
	return file->path ? 0 : -ENOMEM;
}

/* Begins a look, in which files of earlier looks are only kept. 0 or -ENOMEM */
int guest_files__begin_look(struct guest_files *files)
{
	hashmap__free(files->of_look);
	files->of_look = number_map__new();
	return files->of_look ? 0 : -ENOMEM;
}

/* Is it still the file that was found there? The structs of one that is gone are used again. */
static bool is_same(struct guest_kernel *k, const struct guest_file *was, struct guest_file *now)
{
	u64 size;

	return was->dentry == now->dentry && was->mnt == now->mnt && was->mapping == now->mapping &&
	       !read_inode(k, now, &size) && was->ino == now->ino && was->dev == now->dev;
}

/* The same file, of an earlier look. Or -1 */
static ssize_t find_earlier(const struct guest_files *files, const struct guest_file *file)
{
	for (size_t i = 0; i < files->nr; i++) {
		const struct guest_file *has = &files->entries[i];

		if (has->ino == file->ino && has->dev == file->dev &&
		    guest_build_id__same(&has->build_id, &file->build_id) &&
		    !strcmp(has->path, file->path))
			return i;
	}
	return -1;
}

/**
 * guest_files__find - the file behind a struct file
 * @file: address of it
 * @index: of its entry
 *
 * Return: 0; -ENOSPC: there are too many; -EAGAIN, -EFAULT and so on: it cannot be read;
 * -EDQUOT, -ENOMEM
 */
int guest_files__find(struct guest_files *files, struct guest_kernel *k, u64 file, size_t *index)
{
	const struct guest_offsets *o = &k->offsets;
	struct guest_file new = { };
	ssize_t earlier;
	long found;
	int ret;

	ret = guest_kernel__read_u64(k, file + o->file_dentry, &new.dentry);
	if (!ret)
		ret = guest_kernel__read_u64(k, file + o->file_mnt, &new.mnt);
	if (!ret)
		ret = guest_kernel__read_u64(k, file + o->file_mapping, &new.mapping);
	if (!ret && !kernel_ptr(new.mapping))
		ret = -EAGAIN;
	if (ret)
		return ret;
	if (hashmap__find(files->of_look, (long)new.dentry, &found) &&
	    is_same(k, &files->entries[found], &new)) {
		*index = found;
		return 0;
	}
	ret = read_file(files, k, &new);
	if (ret)
		return ret;
	earlier = find_earlier(files, &new);
	if (earlier < 0 && files->nr >= MAX_FILES) {
		free(new.path);
		return -ENOSPC;
	} else if (earlier < 0) {
		if (grow_array(files->entries, files->nr, files->allocated)) {
			free(new.path);
			return -ENOMEM;
		}
		files->entries[files->nr] = new;
		*index = files->nr++;
	} else {
		free(files->entries[earlier].path);
		files->entries[earlier] = new;
		*index = earlier;
	}
	return hashmap__set(files->of_look, (long)new.dentry, (long)*index, NULL, NULL);
}

void guest_files__exit(struct guest_files *files)
{
	for (size_t i = 0; i < files->nr; i++)
		free(files->entries[i].path);
	for (size_t i = 0; i < files->nr_programs; i++)
		guest_text__exit(&files->programs[i].symbols);
	zfree(&files->entries);
	zfree(&files->programs);
	hashmap__free(files->of_look);
	*files = (struct guest_files) { };
}
