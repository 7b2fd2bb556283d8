// SPDX-License-Identifier: GPL-2.0
/*
 * A program that burns CPU and can say how much it has had, to be run under
 * several names with several nice values. Each is busy in a function of its own.
 *
 * Usage: NICE=3 start shares-bravo     (until SIGTERM)
 */
#include <err.h>

#include "lib/workload.h"

static BURN(shares_alpha)
static BURN(shares_bravo)
static BURN(shares_charlie)
static BURN(shares_delta)

static const struct burner burners[] = {
	{ "shares-alpha", shares_alpha },
	{ "shares-bravo", shares_bravo },
	{ "shares-charlie", shares_charlie },
	{ "shares-delta", shares_delta },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	const struct burner *burner = find_burner(burners, argv[0]);

	(void)argc;
	if (!burner)
		errx(2, "usage: shares-alpha|shares-bravo|shares-charlie|shares-delta");

	workload_ready(argv[0]);
	for (;;)
		burner->burn();
}
