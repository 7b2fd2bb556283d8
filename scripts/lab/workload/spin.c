// SPDX-License-Identifier: GPL-2.0
/*
 * A program without build-id, as Go's and Alpine's are. "contained spin" puts it where
 * "contained" has a program with one, in a container of its own: of the two, which have one
 * name, only the other's functions can be known.
 *
 * Usage: spin     (until SIGTERM)
 */
#include <sys/prctl.h>

#include "lib/workload.h"

static BURN(spin_without_id)

int main(int argc, char **argv)
{
	(void)argc;
	/* The name of its process, as the other has that, too */
	prctl(PR_SET_NAME, "no-build-id");
	workload_ready(argv[0]);
	for (;;)
		spin_without_id();
}
