// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is short of life, for storm and reuse. The name it is called by
 * says in which function it is busy, so that a profile's process and function can
 * be held against each other. It is static, at a fixed address: its functions are
 * where they are in every process of it.
 *
 * Usage: storm-alpha MS     (of wall time, however little of the CPU it has)
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/workload.h"

#define NAP_US	3000

static BURN(storm_alpha)
static BURN(storm_bravo)
static BURN(storm_charlie)
static BURN(storm_delta)
static BURN(storm_echo)
static BURN(reuse_odd)
static BURN(reuse_even)

static const struct burner burners[] = {
	{ "storm-alpha", storm_alpha },
	{ "storm-bravo", storm_bravo },
	{ "storm-charlie", storm_charlie },
	{ "storm-delta", storm_delta },
	{ "storm-echo", storm_echo },
	{ "reuse-odd", reuse_odd },
	{ "reuse-even", reuse_even },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	const struct burner *burner = find_burner(burners, argv[0]);
	long long end;
	bool naps;

	if (!burner || argc != 2)
		errx(2, "usage: storm-alpha|...|reuse-even MS");

	/* A storm's are many at a time: were they all busy, none would end in time. */
	naps = !strncmp(burner->program, "storm-", strlen("storm-"));
	end = clock_ns(CLOCK_MONOTONIC) + atoi(argv[1]) * NSEC_PER_MSEC;
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		burner->burn();
		if (naps)
			usleep(NAP_US);
	}
	return 0;
}
