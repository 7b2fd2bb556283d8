// SPDX-License-Identifier: GPL-2.0
/*
 * Many processes that do nothing, for whoever has to look at all of them.
 *
 * Usage: crowd NUMBER     (until SIGTERM)
 */
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/workload.h"

int main(int argc, char **argv)
{
	int i, nr = argc == 2 ? atoi(argv[1]) : 0;

	if (nr < 1)
		errx(2, "usage: %s NUMBER", argv[0]);

	for (i = 0; i < nr; i++) {
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
	workload_ready(argv[0]);
	for (;;)
		pause();
}
