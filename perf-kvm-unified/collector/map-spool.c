// SPDX-License-Identifier: GPL-2.0
/*
 * A guest that is followed is not to be busy with its map while it is measured: what
 * comes is kept in memory until the end, if it is not too much.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>

#include "kvm-unified/lib/write.h"
#include "map-spool.h"

/* So much of a map is kept in memory while a guest is followed. */
#define SPOOL_MAX_SIZE		(32 << 20)

/* 0 or -errno */
int map_spool__open(struct map_spool *spool, int out)
{
	spool->out = out;
	spool->fd = memfd_create("guest-map", MFD_CLOEXEC);
	return spool->fd < 0 ? -errno : 0;
}

static int empty(struct map_spool *spool)
{
	char buf[BUFSIZ];
	int ret = 0;
	ssize_t n;

	if (lseek(spool->fd, 0, SEEK_SET))
		return -errno;
	while (!ret && (n = read(spool->fd, buf, sizeof(buf))) > 0)
		ret = write_all(spool->out, buf, n);
	if (!ret && (n < 0 || ftruncate(spool->fd, 0) || lseek(spool->fd, 0, SEEK_SET)))
		ret = -errno;
	return ret;
}

/* Writes what is in it if that is too much. 0 or -errno */
int map_spool__bound(struct map_spool *spool)
{
	return lseek(spool->fd, 0, SEEK_CUR) > SPOOL_MAX_SIZE ? empty(spool) : 0;
}

/* Writes what is in it, unless @ret is an error. @ret, 0 or -errno */
int map_spool__close(struct map_spool *spool, int ret)
{
	if (!ret)
		ret = empty(spool);
	close(spool->fd);
	return ret;
}
