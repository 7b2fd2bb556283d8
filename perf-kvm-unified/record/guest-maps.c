// SPDX-License-Identifier: GPL-2.0
/*
 * The maps of guests as files of the profile: each has another name until it has come, and is
 * found to be one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "kvm-unified/format/profile.h"
#include "kvm-unified/guests/map-check.h"
#include "kvm-unified/guests/map-kallsyms.h"
#include "kvm-unified/lib/errors.h"
#include "guest-maps.h"

static void map_paths(pid_t pid, const char *dir, char *path, char *tmp)
{
	scnprintf(path, PATH_MAX, "%s/" KVM_GUEST_MAP_FMT, dir, pid);
	scnprintf(tmp, PATH_MAX, "%s.tmp", path);
}

/* A new file for the map of the guest of VMM @pid, in the profile @dir, or -errno */
int guest_map__open_new(pid_t pid, const char *dir)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	int fd;

	map_paths(pid, dir, path, tmp);
	fd = open(tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* Nothing is to be left of it. */
void guest_map__drop(pid_t pid, const char *dir)
{
	char path[PATH_MAX], tmp[PATH_MAX];

	map_paths(pid, dir, path, tmp);
	unlink(tmp);
}

/* The kernel's symbols have to be a file of their own for perf. */
static int store_kallsyms(const char *map, const char *dir, char *err, size_t errlen)
{
	char path[PATH_MAX];
	int fd, ret;

	scnprintf(path, sizeof(path), "%s/kallsyms", dir);
	if (mkdir(dir, 0700) && errno != EEXIST)
		goto out_errno;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		goto out_errno;

	ret = guest_map__extract_kallsyms(map, fd, err, errlen);
	if (!close(fd) && !ret)
		return 0;
	if (ret)
		goto out_remove;
out_errno:
	ret = fail(err, errlen, -errno, "cannot be stored: %s", strerror(errno));
out_remove:
	unlink(path);
	rmdir(dir);
	return ret;
}

/*
 * Takes the map that has come. 0, or -errno with what it does in @err, the rest of a sentence;
 * nothing is left of one that is no good.
 */
int guest_map__take(pid_t pid, const char *dir, char *err, size_t errlen)
{
	char path[PATH_MAX], tmp[PATH_MAX], kallsyms_dir[PATH_MAX];
	int ret;

	map_paths(pid, dir, path, tmp);
	scnprintf(kallsyms_dir, sizeof(kallsyms_dir), "%s/" KVM_GUEST_KALLSYMS_FMT, dir, pid);
	ret = guest_map__check(tmp, err, errlen);
	if (!ret)
		ret = store_kallsyms(tmp, kallsyms_dir, err, errlen);
	if (!ret && rename(tmp, path))
		ret = fail(err, errlen, -errno, "cannot be stored: %s", strerror(errno));
	if (ret)
		unlink(tmp);
	return ret;
}
