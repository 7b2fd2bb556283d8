// SPDX-License-Identifier: GPL-2.0
/*
 * Debian's libquantum.so.8 comes stripped of its local symbols, and with OpenMP
 * the loops in which all the time goes are local functions
 * (quantum_toffoli._omp_fn.0). The same package's static archive keeps their
 * names, so guest-image.sh links the shared library anew from it. Its objects
 * address two variables of the C library in a way that only an executable may;
 * these take their place.
 */
#include <stdio.h>

FILE *libquantum_stderr __attribute__((visibility("hidden")));
FILE *libquantum_stdout __attribute__((visibility("hidden")));

__attribute__((constructor)) static void libquantum_stdio_init(void)
{
	libquantum_stderr = stderr;
	libquantum_stdout = stdout;
}
