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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/vm_sockets.h>

#define MAX_PORTS	8

/* What Documentation/deployment.md lets a service of the collector have, and no more */
static const int capabilities[] = {
	CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_SYS_RAWIO, CAP_BPF, CAP_PERFMON,
	CAP_CHECKPOINT_RESTORE, CAP_SYS_RESOURCE, CAP_SYS_ADMIN,
};

static int is_needed(int capability)
{
	for (unsigned int i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++) {
		if (capabilities[i] == capability)
			return 1;
	}
	return 0;
}

/* For what is executed from here on */
static void drop_capabilities(void)
{
	for (int i = 0; i <= CAP_LAST_CAP; i++) {
		if (!is_needed(i) && prctl(PR_CAPBSET_READ, i) == 1 && prctl(PR_CAPBSET_DROP, i))
			err(1, "capability %d", i);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err(1, "no new privileges");
}

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
		drop_capabilities();
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
