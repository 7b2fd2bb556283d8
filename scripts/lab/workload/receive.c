// SPDX-License-Identifier: GPL-2.0
/*
 * Receive UDP packets, and count them: those of scripts/lab/programs/send-packets.c, which
 * begin with their number.
 *
 * Usage: receive PORT LOG     (until SIGTERM, which it takes up to a second to see)
 *
 * The log is written at the end, and there at once, as a whole. A packet that is late or
 * comes twice is out of order:
 *
 *   received packets=20000 bytes=... out_of_order=0
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/workload.h"

/* Packets wait here while the receiver has to: some thousand */
#define BUFFER_BYTES	(8 << 20)
#define MAX_PACKET	65536

static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

static int open_port(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	/* The signal may come just before the call that waits for a packet. */
	struct timeval timeout = { .tv_sec = 1 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER_BYTES;

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "port %d", port);
	return fd;
}

static int write_log(const char *path, unsigned long packets, unsigned long bytes,
		     unsigned long out_of_order)
{
	char new[256];
	FILE *file;

	snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "w");
	if (!file)
		return -1;
	fprintf(file, "received packets=%lu bytes=%lu out_of_order=%lu\n", packets, bytes,
		out_of_order);
	return fclose(file) || rename(new, path) ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long packets = 0, bytes = 0, out_of_order = 0;
	/* Not SA_RESTART: it ends the call that waits. */
	struct sigaction sa = { .sa_handler = on_term };
	static char packet[MAX_PACKET];
	unsigned int number, next = 0;
	int fd;

	if (argc != 3)
		errx(2, "usage: %s PORT LOG", argv[0]);
	fd = open_port(atoi(argv[1]));
	workload_ready(argv[0]);
	sigaction(SIGTERM, &sa, NULL);

	while (!ended) {
		ssize_t len = recv(fd, packet, sizeof(packet), 0);

		if (len < 0 && errno != EAGAIN && errno != EINTR)
			err(1, "recv");
		if (len < (ssize_t)sizeof(number))
			continue;
		memcpy(&number, packet, sizeof(number));
		number = ntohl(number);
		out_of_order += number < next;
		next = number + 1;
		packets++;
		bytes += len;
	}
	if (write_log(argv[2], packets, bytes, out_of_order))
		err(1, "%s", argv[2]);
	return 0;
}
