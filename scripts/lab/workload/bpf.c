// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that come and go in the kernel, and have CPU time there.
 *
 * Usage: bpf FIRST SECOND     (until SIGTERM; as root)
 *
 * Runs a program with the name FIRST. Upon SIGUSR2 the kernel frees it, and half a second later
 * comes SECOND, as a rule where FIRST was.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <linux/bpf.h>

#include "lib/workload.h"

/* Of one program: it has no loop, which old kernels do not take. */
#define NR_INSNS	2000

/* Some milliseconds in the emulator's guest */
#define REPEAT		200

/* The kernel frees a program when nothing can still be in it. */
#define FREE_US		500000

#define INSN(op, dst, val)	((struct bpf_insn) { .code = (op), .dst_reg = (dst), .imm = (val) })

static volatile sig_atomic_t is_late;

static void on_signal(int sig)
{
	(void)sig;
	is_late = 1;
}

static int load(const char *name)
{
	static struct bpf_insn insns[NR_INSNS];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)insns,
		.insn_cnt = NR_INSNS,
		.license = (uintptr_t)"GPL",
	};
	int fd;

	insns[0] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0);
	for (int i = 1; i < NR_INSNS - 1; i++)
		insns[i] = INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_0, i);
	insns[NR_INSNS - 1] = INSN(BPF_JMP | BPF_EXIT, 0, 0);
	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		err(1, "cannot load the program %s", name);
	return fd;
}

static void run(int fd)
{
	static char packet[64];
	union bpf_attr attr = {
		.test.prog_fd = fd,
		.test.data_in = (uintptr_t)packet,
		.test.data_size_in = sizeof(packet),
		.test.repeat = REPEAT,
	};

	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) && errno != EINTR)
		err(1, "cannot run it");
}

int main(int argc, char **argv)
{
	const struct sigaction sa = { .sa_handler = on_signal };
	int fd;

	if (argc != 3)
		errx(2, "usage: bpf FIRST SECOND");
	fd = load(argv[1]);
	sigaction(SIGUSR2, &sa, NULL);
	workload_ready(argv[0]);
	while (!is_late)
		run(fd);
	close(fd);
	usleep(FREE_US);
	fd = load(argv[2]);
	for (;;)
		run(fd);
}
