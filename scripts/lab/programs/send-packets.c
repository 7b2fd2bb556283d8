// SPDX-License-Identifier: GPL-2.0
/*
 * Send UDP packets to a guest at a fixed rate, as frames for the socket that its VMM has for
 * a network (QEMU's -netdev dgram with a Unix domain socket).
 *
 * Usage: send-packets SOCKET MAC ADDRESS PORT INTERVAL_US COUNT
 *
 * Such a socket loses nothing: who sends waits while the VMM does not read. Meanwhile a child
 * uses up what nobody else wants of the CPU: while an emulated host is idle, its clock follows
 * the real one, and how many packets the guest finds at once would depend on the machine that
 * emulates it. Ends with a line of what was sent, and how long that took:
 *
 *   sent packets=20000 payload=1024 frame=1066 ns=...
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <net/ethernet.h>
#include <netinet/ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../workload/lib/monotonic.h"

#define NSEC_PER_USEC	1000LL

#define PAYLOAD		1024
/* The port of the discard protocol: nobody answers */
#define SOURCE_PORT	9
#define TTL		64
/* What a neighbour's MAC and address differ in */
#define NEIGHBOUR	0x80

struct frame {
	struct ether_header ether;
	struct iphdr	ip;
	struct udphdr	udp;
	unsigned char	payload[PAYLOAD];
} __attribute__((packed));

/* What the checksum of UDP is made over, besides the packet */
struct pseudo_header {
	in_addr_t	saddr;
	in_addr_t	daddr;
	unsigned char	zero;
	unsigned char	protocol;
	unsigned short	len;
} __attribute__((packed));

static unsigned long add_words(unsigned long sum, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	return sum;
}

static unsigned short fold(unsigned long sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

/* Of all that a packet has, but for its number */
static unsigned long udp_sum(const struct frame *frame)
{
	struct pseudo_header pseudo = {
		.saddr = frame->ip.saddr,
		.daddr = frame->ip.daddr,
		.protocol = IPPROTO_UDP,
		.len = frame->udp.len,
	};

	return add_words(add_words(0, &pseudo, sizeof(pseudo)), &frame->udp,
			 sizeof(frame->udp) + PAYLOAD);
}

/* From a neighbour of the guest */
static void make_frame(struct frame *frame, const char *mac, const char *address, int port)
{
	const struct ether_addr *to = ether_aton(mac);
	struct in_addr addr;

	if (!to)
		errx(2, "%s: not a MAC", mac);
	memcpy(frame->ether.ether_dhost, to, ETH_ALEN);
	memcpy(frame->ether.ether_shost, to, ETH_ALEN);
	frame->ether.ether_shost[ETH_ALEN - 1] ^= NEIGHBOUR;
	frame->ether.ether_type = htons(ETHERTYPE_IP);

	frame->ip.version = IPVERSION;
	frame->ip.ihl = sizeof(frame->ip) / 4;
	frame->ip.tot_len = htons(sizeof(*frame) - sizeof(frame->ether));
	frame->ip.frag_off = htons(IP_DF);
	frame->ip.ttl = TTL;
	frame->ip.protocol = IPPROTO_UDP;
	if (!inet_aton(address, &addr))
		errx(2, "%s: not an address", address);
	frame->ip.daddr = addr.s_addr;
	frame->ip.saddr = addr.s_addr ^ htonl(NEIGHBOUR);
	frame->ip.check = fold(add_words(0, &frame->ip, sizeof(frame->ip)));

	frame->udp.source = htons(SOURCE_PORT);
	frame->udp.dest = htons(port);
	frame->udp.len = htons(sizeof(frame->udp) + PAYLOAD);
}

static void number_frame(struct frame *frame, unsigned long sum, unsigned int number)
{
	unsigned int bytes = htonl(number);

	memcpy(frame->payload, &bytes, sizeof(bytes));
	frame->udp.check = fold(sum + (number >> 16) + (number & 0xffff));
	/* 0 would say that there is none. */
	if (!frame->udp.check)
		frame->udp.check = 0xffff;
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(addr.sun_path))
		errx(2, "%s: too long", path);
	strcpy(addr.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "%s", path);
	return fd;
}

static pid_t fill_cpu(void)
{
	const struct sched_param param = { 0 };
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sched_setscheduler(0, SCHED_IDLE, &param))
		err(1, "the process that fills the CPU");
	for (volatile unsigned int i = 0; ; i++)
		;
}

int main(int argc, char **argv)
{
	static struct frame frame;
	long long interval, start;
	unsigned int count;
	unsigned long sum;
	pid_t filler;
	int fd;

	if (argc != 7)
		errx(2, "usage: send-packets SOCKET MAC ADDRESS PORT INTERVAL_US COUNT");
	make_frame(&frame, argv[2], argv[3], atoi(argv[4]));
	sum = udp_sum(&frame);
	interval = atoll(argv[5]) * NSEC_PER_USEC;
	count = atoi(argv[6]);
	fd = connect_to(argv[1]);
	filler = fill_cpu();

	/* By the clock, so that the rate stays what it is when one was late. */
	start = now_ns();
	for (unsigned int i = 0; i < count; i++) {
		number_frame(&frame, sum, i);
		if (send(fd, &frame, sizeof(frame), 0) != sizeof(frame))
			err(1, "send");
		sleep_until(start + (i + 1) * interval);
	}
	printf("sent packets=%u payload=%d frame=%zu ns=%lld\n", count, PAYLOAD, sizeof(frame),
	       now_ns() - start);
	kill(filler, SIGKILL);
	return 0;
}
