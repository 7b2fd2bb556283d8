// SPDX-License-Identifier: GPL-2.0
/*
 * Shor's algorithm on libquantum's simulated quantum computer, over and over:
 * the workload of the paper (factor 1397 with base 8), as a program that runs
 * for a given time and can say at any moment how much CPU time it has had.
 *
 * Usage: shor [SECONDS [N [BASE [ROUNDS]]]]     (0 seconds: until SIGTERM)
 *
 * With ROUNDS it is a fixed piece of work instead: it ends when it has factored that often.
 *
 * One line goes to stdout at the end and upon each SIGUSR1, so that a
 * measurement can be bracketed from outside:
 *
 *   cpu pid=412 comm=shor cpu_ns=... user_ns=... sys_ns=... mono_ns=...
 *
 * A line "ready" says that the register is set up for the first time: under
 * emulation this takes seconds, and is not what the workload is run for.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <quantum.h>

static char comm[16];

static unsigned long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static unsigned long long timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ULL + tv->tv_usec * 1000ULL;
}

static char *put(char *p, const char *s)
{
	while (*s)
		*p++ = *s++;
	return p;
}

static char *put_number(char *p, unsigned long long n)
{
	char digits[24];
	int i = sizeof(digits);

	digits[--i] = '\0';
	do {
		digits[--i] = '0' + n % 10;
		n /= 10;
	} while (n);
	return put(p, &digits[i]);
}

/* Runs in signal context, where printf() may not be called. */
static void print_cpu_time(void)
{
	struct rusage usage;
	char line[256], *p = line;

	getrusage(RUSAGE_SELF, &usage);
	p = put(p, "cpu pid=");
	p = put_number(p, getpid());
	p = put(put(p, " comm="), comm);
	p = put_number(put(p, " cpu_ns="), clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	p = put_number(put(p, " user_ns="), timeval_ns(&usage.ru_utime));
	p = put_number(put(p, " sys_ns="), timeval_ns(&usage.ru_stime));
	p = put_number(put(p, " mono_ns="), clock_ns(CLOCK_MONOTONIC));
	*p++ = '\n';
	if (write(STDOUT_FILENO, line, p - line) != p - line)
		_exit(1);
}

static void on_usr1(int sig)
{
	int saved = errno;

	(void)sig;
	print_cpu_time();
	errno = saved;
}

/* One factoring takes seconds: the end does not wait for it. */
static void on_end(int sig)
{
	(void)sig;
	print_cpu_time();
	_exit(0);
}

static void catch_signal(int sig, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaddset(&sa.sa_mask, SIGTERM);
	sigaddset(&sa.sa_mask, SIGALRM);
	sigaction(sig, &sa, NULL);
}

static void say_ready(void)
{
	static const char line[] = "ready\n";
	static int said;

	if (!said++ && write(STDOUT_FILENO, line, sizeof(line) - 1) < 0)
		_exit(1);
}

/* Finds the order of base modulo n, but for the classical last step. */
static unsigned long long find_order(int n, int base)
{
	int width = quantum_getwidth(n * n);
	int swidth = quantum_getwidth(n);
	unsigned long long result;
	quantum_reg reg;
	int i;

	reg = quantum_new_qureg(0, width);
	for (i = 0; i < width; i++)
		quantum_hadamard(i, &reg);
	say_ready();

	quantum_addscratch(3 * swidth + 2, &reg);
	quantum_exp_mod_n(n, base, width, swidth, &reg);
	for (i = 0; i < 3 * swidth + 2; i++)
		quantum_bmeasure(0, &reg);

	quantum_qft(width, &reg);
	for (i = 0; i < width / 2; i++) {
		quantum_cnot(i, width - i - 1, &reg);
		quantum_cnot(width - i - 1, i, &reg);
		quantum_cnot(i, width - i - 1, &reg);
	}

	result = quantum_measure(reg);
	quantum_delete_qureg(&reg);
	return result;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	int n = argc > 2 ? atoi(argv[2]) : 1397;
	int base = argc > 3 ? atoi(argv[3]) : 8;
	int rounds = argc > 4 ? atoi(argv[4]) : 0;
	const char *name = strrchr(argv[0], '/');

	/* n * n must fit an int. */
	if (seconds < 0 || rounds < 0 || n < 15 || n > 46340 || base < 2 || base >= n ||
	    quantum_gcd(n, base) != 1) {
		fprintf(stderr, "usage: %s [SECONDS [N [BASE [ROUNDS]]]]\n", argv[0]);
		return 2;
	}

	snprintf(comm, sizeof(comm), "%s", name ? name + 1 : argv[0]);
	catch_signal(SIGUSR1, on_usr1);
	catch_signal(SIGTERM, on_end);
	/* alarm() counts by CLOCK_MONOTONIC's rate: setting the date does not move it. */
	catch_signal(SIGALRM, on_end);
	alarm(seconds);

	srand(1);
	/* With its time before, for how long the work took. */
	if (rounds)
		print_cpu_time();
	for (int i = 0; !rounds || i < rounds; i++)
		find_order(n, base);
	print_cpu_time();
}
