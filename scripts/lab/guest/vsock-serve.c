// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command for each connection to a port of the guest's vsock, with the
 * connection as its standard input and output.
 *
 * Usage: vsock-serve PORT COMMAND [PORT COMMAND]...
 *
 * What "socat VSOCK-LISTEN:PORT,fork,reuseaddr EXEC:COMMAND,nofork" does, which
 * is what to use on a guest of one's own. Here, socat with its libraries would
 * be a third of the initrd. Nothing runs beside the command, and nothing at all
 * while nobody connects; end of file on the other side reaches the command, and
 * the connection ends when it does.
 */
#define _GNU_SOURCE
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#define MAX_PORTS	8

static int listen_on(const char *port)
{
	struct sockaddr_vm addr = {
		.svm_family = AF_VSOCK,
		.svm_cid = VMADDR_CID_ANY,
		.svm_port = strtoul(port, NULL, 10),
	};
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 4))
		err(1, "vsock port %s", port);
	return fd;
}

static void serve(int listener, const char *command)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		warn("accept");
		return;
	}
	switch (fork()) {
	case -1:
		warn("fork");
		break;
	case 0:
		signal(SIGCHLD, SIG_DFL);
		if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
			err(1, "dup2");
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		err(127, "/bin/sh");
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct pollfd ports[MAX_PORTS];
	int i, nr = (argc - 1) / 2;

	if (argc < 3 || argc % 2 == 0 || nr > MAX_PORTS)
		errx(2, "usage: %s PORT COMMAND [PORT COMMAND]...", argv[0]);

	/* Nobody waits for the children. */
	signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < nr; i++) {
		ports[i].fd = listen_on(argv[2 * i + 1]);
		ports[i].events = POLLIN;
	}
	for (;;) {
		if (poll(ports, nr, -1) < 0)
			continue;
		for (i = 0; i < nr; i++)
			if (ports[i].revents)
				serve(ports[i].fd, argv[2 * i + 2]);
	}
}
