// SPDX-License-Identifier: GPL-2.0
/*
 * The profile as a stream to standard output, in perf record's pipe format. What is a file of
 * the directory otherwise, the table of VMs, are records among perf's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/kernel.h>

#include "util/debug.h"
#include "kvm-unified/format/vms.h"
#include "pipe.h"

/* What perf record is to write into its stream, or NULL */
static struct record_pipe *current;

/*
 * Can anything be written to @fd? perf record has no message if it cannot. Nothing is written:
 * a device gets no bytes, and a file a block of its disk after its end. 0 or -errno
 */
static int check_writable(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || write(fd, "", 0) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) && fallocate(fd, FALLOC_FL_KEEP_SIZE, st.st_size, 1) &&
	    (errno == ENOSPC || errno == EDQUOT))
		return -errno;
	return 0;
}

/*
 * Opens the pipe before perf record, which closes standard output at its end. 0 or -errno with a
 * message
 */
int record_pipe__open(struct record_pipe *pipe, struct kvm_vms *vms)
{
	int err;

	err = check_writable(STDOUT_FILENO);
	if (!err) {
		pipe->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		err = pipe->fd < 0 ? -errno : 0;
	}
	if (err) {
		pr_err("Cannot write to standard output: %s\n", strerror(-err));
		return err;
	}
	vms->flags |= GUEST_RECORDING_STREAM;
	pipe->vms = vms;
	current = pipe;
	return 0;
}

/**
 * record_pipe__write_vms - write the VMs that there are to @fd, if there is to be a stream
 *
 * For perf record, when it has begun its stream: who reads it has to know the guests before
 * all else. 0 or -errno
 */
int record_pipe__write_vms(int fd)
{
	if (!current)
		return 0;
	current->begun = true;
	return kvm_vms__write_recording(current->vms, fd) ?:
	       kvm_vms__write_vms(current->vms, fd);
}

/* Closes the pipe after perf record, with the VMs that there were. 0 or -errno with a message */
int record_pipe__close(struct record_pipe *pipe)
{
	int err = 0;

	current = NULL;
	if (pipe->begun) {
		err = kvm_vms__write_vms(pipe->vms, pipe->fd);
		pipe->vms->flags |= GUEST_RECORDING_END;
		if (!err)
			err = kvm_vms__write_recording(pipe->vms, pipe->fd);
	}
	if (close(pipe->fd) && !err)
		err = -errno;
	if (err)
		pr_err("Cannot write the VMs to standard output: %s\n", strerror(-err));
	return err;
}
