// SPDX-License-Identifier: GPL-2.0
/*
 * Code whose names come from where one would not look first: the vDSO, a module of the
 * kernel, or a compiler that mangles them in its own way.
 *
 * Usage: named vdso|module|rust     (until SIGTERM)
 */
#include <err.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/workload.h"

/* As rustc calls shelf::turn: with a hash of the crate behind it */
void shelf_turn(void) __asm__("_ZN5shelf4turn17h85a2f7b4c2e98ad1E");
BURN(shelf_turn)

static void ask_for_the_time(void)
{
	clock_ns(CLOCK_MONOTONIC);
}

/* Nothing comes of it but time in the module vsock. */
static void make_socket(void)
{
	int fd = socket(AF_VSOCK, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct burner burners[] = {
		{ "vdso", ask_for_the_time },
		{ "module", make_socket },
		{ "rust", shelf_turn },
		{ }
	};
	const struct burner *burner = argc == 2 ? find_burner(burners, argv[1]) : NULL;

	if (!burner)
		errx(2, "usage: named vdso|module|rust");
	workload_ready(argv[0]);
	for (;;)
		burner->burn();
}
