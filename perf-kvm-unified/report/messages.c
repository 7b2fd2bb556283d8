// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that come while they would be lost, or while it is not clear what they are about.
 */
#include <unistd.h>

#include "messages.h"

void messages__keep(struct messages *messages)
{
	fflush(stderr);
	messages->file = tmpfile();
	messages->stderr_fd = dup(STDERR_FILENO);
	if (messages->file && messages->stderr_fd >= 0) {
		dup2(fileno(messages->file), STDERR_FILENO);
		return;
	}
	/* They are said at once then. */
	if (messages->file)
		fclose(messages->file);
	if (messages->stderr_fd >= 0)
		close(messages->stderr_fd);
	messages->file = NULL;
}

/* How much of what is kept is in @buf now, as a string */
ssize_t messages__peek(const struct messages *messages, char *buf, size_t size)
{
	ssize_t len;

	if (!messages->file)
		return 0;
	fflush(stderr);
	len = pread(fileno(messages->file), buf, size - 1, 0);
	buf[len > 0 ? len : 0] = '\0';
	return len;
}

/* Says what was kept, below @title, if that is not NULL, and keeps no more. */
void messages__release(struct messages *messages, const char *title)
{
	char buf[BUFSIZ];
	size_t len;

	if (!messages->file)
		return;
	fflush(stderr);
	dup2(messages->stderr_fd, STDERR_FILENO);
	close(messages->stderr_fd);
	rewind(messages->file);
	while ((len = fread(buf, 1, sizeof(buf), messages->file))) {
		if (title)
			fprintf(stderr, "%s\n", title);
		title = NULL;
		fwrite(buf, 1, len, stderr);
	}
	fclose(messages->file);
	messages->file = NULL;
}
