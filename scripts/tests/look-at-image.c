// SPDX-License-Identifier: GPL-2.0
/*
 * Names a guest from an image of its memory, as memory-image.py leaves it:
 *
 *	look-at-image RAM CR3S MAP
 *
 * Writes the guest map to MAP, and what it has found and cost to standard output. Or looks at
 * mutants of the image, each in a process of its own:
 *
 *	look-at-image RAM CR3S --mutants FIRST COUNT SEED
 *
 * What is changed is what a look at the image reads. Some are changed before the kernel is found,
 * some before its processes are looked at, and some while they are, between two reads of the same
 * bytes. Prints how they have ended; ends with 1 if one has crashed, or took longer than a look may.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "kvm-unified/memory/current.h"
#include "kvm-unified/memory/look.h"
#include "kvm-unified/memory/phys.h"

#define MAX_ROOTS	64
#define MAX_READS	(1U << 20)
#define PAGE		4096U

/* CPU time of a look, s, with what sanitizers and a busy machine make of it */
#define MUTANT_SECONDS	10

/* One read of so many is of something else, while it changes. */
#define TORN_ONE_IN	200

struct one_read {
	u64	gpa;
	size_t	len;
};

/**
 * struct image - a guest's memory, changed at will
 * @reads: of the look at the image as it is, of which @nr_kernel found the kernel
 * @recording: more of them are taken down
 * @torn: some reads are of what was not there before
 */
struct image {
	struct guest_phys phys;
	char		*ram;
	u64		size;
	struct one_read	*reads;
	size_t		nr_reads;
	size_t		nr_kernel;
	bool		recording;
	bool		torn;
	u64		random;
};

/* splitmix64: the same on every machine */
static u64 next_random(struct image *image)
{
	u64 z = image->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static size_t below(struct image *image, size_t end)
{
	return next_random(image) % end;
}

/* Of a place that is read, in the part that finds the kernel or in the other one */
static char *some_place(struct image *image, bool kernel, size_t *len)
{
	size_t first = kernel ? 0 : image->nr_kernel;
	size_t end = kernel ? image->nr_kernel : image->nr_reads;
	const struct one_read *read = &image->reads[first + below(image, end - first)];
	size_t at = below(image, read->len);

	/* Most of what is read is numbers of 8 bytes. */
	if (read->len >= sizeof(u64) && below(image, 4))
		at &= ~(sizeof(u64) - 1);
	*len = read->len - at;
	return image->ram + read->gpa + at;
}

/* What makes trouble: no number, a large one, one that is near, one from elsewhere, a loop */
static u64 some_number(struct image *image, bool kernel, u64 was)
{
	u64 other = 0;
	const char *from;
	size_t len;

	switch (below(image, 8)) {
	case 0:	return 0;
	case 1:	return ~0ULL;
	case 2:	return was + 8 - 16 * below(image, 2);
	case 3:	return was ^ 1ULL << below(image, 64);
	case 4:	return next_random(image);
	case 5:	return next_random(image) >> below(image, 64);
	default:
		from = some_place(image, kernel, &len);
		memcpy(&other, from, min(len, sizeof(other)));
		return other;
	}
}

static void mutate(struct image *image, bool kernel)
{
	size_t len, n;
	char *to = some_place(image, kernel, &len), *from;
	u64 number = 0;

	switch (below(image, 8)) {
	case 0:
		memset(to, next_random(image), min(len, (size_t)1 + below(image, 64)));
		break;
	case 1:
		/* All of a page of something else */
		n = (to - image->ram) & ~(PAGE - 1UL);
		from = some_place(image, below(image, 2), &len);
		memmove(image->ram + n, image->ram + ((from - image->ram) & ~(PAGE - 1UL)), PAGE);
		break;
	default:
		memcpy(&number, to, min(len, sizeof(number)));
		number = some_number(image, kernel, number);
		memcpy(to, &number, min(len, sizeof(number)));
	}
}

static int image_read(struct guest_phys *phys, u64 gpa, void *buf, size_t len)
{
	struct image *image = container_of(phys, struct image, phys);

	if (gpa >= image->size || len > image->size - gpa)
		return -EFAULT;
	if (image->recording && image->nr_reads < MAX_READS)
		image->reads[image->nr_reads++] = (struct one_read) { gpa, len };
	if (image->torn && !below(image, TORN_ONE_IN))
		mutate(image, false);
	memcpy(buf, image->ram + gpa, len);
	return 0;
}

static int open_image(struct image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	image->phys.read = image_read;
	image->size = st.st_size;
	image->ram = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return image->ram == MAP_FAILED ? -1 : 0;
}

static size_t read_roots(const char *path, u64 *roots)
{
	FILE *file = fopen(path, "r");
	size_t nr = 0;

	if (!file)
		return 0;
	while (nr < MAX_ROOTS && fscanf(file, "%" SCNx64, &roots[nr]) == 1)
		nr++;
	fclose(file);
	return nr;
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* The task that runs on the first CPU, or 0 */
static u64 first_task(const struct image *image, const struct guest_current *current)
{
	u64 task = 0;

	if (current->nr_cpus)
		memcpy(&task, image->ram + current->cpus[0].gpa, sizeof(task));
	return task;
}

static int look_once(struct guest_look *look, const struct image *image, const u64 *roots,
		     size_t nr, const char *path)
{
	const struct guest_look_stats *stats = guest_look__stats(look);
	double start = cpu_ms(), kernel, tasks, written;
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	static struct guest_current current;
	char err[512] = "";
	int ret;

	if (fd < 0) {
		perror(path);
		return 2;
	}
	ret = guest_look__find_kernel(look, roots, nr, err, sizeof(err));
	kernel = cpu_ms();
	if (!ret)
		ret = guest_look__tasks(look, /*modules=*/true, err, sizeof(err));
	tasks = cpu_ms();
	if (!ret)
		ret = guest_look__write(look, fd, /*orc=*/true, err, sizeof(err));
	written = cpu_ms();
	if (!ret)
		ret = guest_look__current(look, &current, err, sizeof(err));
	if (ret)
		printf("error %d: %s\n", ret, err);
	printf("symbols %" PRIu64 " modules %" PRIu64 " processes %" PRIu64 " maps %" PRIu64
	       " build-ids %" PRIu64 " files %" PRIu64 " cpus %u current %" PRIx64 "\n",
	       stats->symbols, stats->modules, stats->processes, stats->maps,
	       stats->build_ids, stats->files, current.nr_cpus, first_task(image, &current));
	printf("reads %" PRIu64 " bytes %" PRIu64 " torn %" PRIu64 " refused %" PRIu64
	       " unread %" PRIu64 "\n",
	       stats->pages, stats->bytes, stats->torn, stats->refused, stats->unread);
	printf("ms: kernel %.1f tasks %.1f map %.1f\n",
	       kernel - start, tasks - kernel, written - tasks);
	close(fd);
	return ret ? 1 : 0;
}

/* --- mutants -------------------------------------------------------------------------- */

enum ending { WITH_MAP, WITH_ERROR, BADLY };

/* Exit codes of these: sanitizers have others. */
#define EXIT_ENDING	10

/* Of the parent: with the kernel known, and without. In all of a mutant's process they are not lost. */
static struct guest_look *known, *fresh;

/* In a process of its own: @look is as the parent has it, the kernel known or not. */
static enum ending look_at_mutant(struct image *image, struct guest_look *look, const u64 *roots,
				  size_t nr, u64 number)
{
	const bool kernel = number % 4 == 0;
	struct rlimit cpu = { MUTANT_SECONDS, MUTANT_SECONDS };
	static struct guest_current current;
	char err[512] = "";
	int fd, ret = 0;

	setrlimit(RLIMIT_CPU, &cpu);
	for (size_t n = 1 + below(image, 8); n && number % 4 != 3; n--)
		mutate(image, kernel);
	image->torn = number % 4 == 3;
	if (kernel)
		ret = guest_look__find_kernel(look, roots, nr, err, sizeof(err));
	if (!ret)
		ret = guest_look__tasks(look, /*modules=*/true, err, sizeof(err));
	/* Of another time: who is still there? */
	if (!ret)
		ret = guest_look__tasks(look, /*modules=*/false, err, sizeof(err));
	if (!ret || ret == -EDQUOT) {
		fd = memfd_create("map", MFD_CLOEXEC);
		ret = guest_look__write(look, fd, /*orc=*/true, err, sizeof(err));
		close(fd);
	}
	if (ret && (!err[0] || strlen(err) >= sizeof(err)))
		abort();
	if (!ret && !guest_look__current(look, &current, err, sizeof(err)) && !current.nr_cpus)
		abort();
	guest_look__delete(look);
	return ret ? WITH_ERROR : WITH_MAP;
}

static enum ending run_mutant(struct image *image, struct guest_look *look, const u64 *roots,
			      size_t nr, u64 seed, u64 number)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		image->random = seed * 1000003 + number;
		exit(EXIT_ENDING + look_at_mutant(image, look, roots, nr, number));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) < EXIT_ENDING || WEXITSTATUS(status) >= EXIT_ENDING + BADLY) {
		printf("mutant %" PRIu64 " of seed %" PRIu64 " has ended badly: status %#x\n",
		       number, seed, status);
		return BADLY;
	}
	return WEXITSTATUS(status) - EXIT_ENDING;
}

/* A look at the image as it is, which says what there is to change */
static struct guest_look *record_reads(struct image *image, const u64 *roots, size_t nr)
{
	struct guest_look *look = guest_look__new(&image->phys, image->size, /*late=*/false);
	char err[512] = "";
	int ret;

	image->reads = calloc(MAX_READS, sizeof(*image->reads));
	if (!look || !image->reads)
		return NULL;
	image->recording = true;
	ret = guest_look__find_kernel(look, roots, nr, err, sizeof(err));
	image->nr_kernel = image->nr_reads;
	image->recording = false;
	if (ret) {
		printf("error %d: %s\n", ret, err);
		return NULL;
	}
	return look;
}

/* ... and of its processes, which the parent's @look is to know nothing of */
static int record_tasks(struct image *image, const u64 *roots, size_t nr)
{
	struct guest_look *look = guest_look__new(&image->phys, image->size, /*late=*/false);
	char err[512] = "";
	int ret;

	if (!look)
		return -ENOMEM;
	ret = guest_look__find_kernel(look, roots, nr, err, sizeof(err));
	image->recording = true;
	if (!ret)
		ret = guest_look__tasks(look, /*modules=*/true, err, sizeof(err));
	image->recording = false;
	guest_look__delete(look);
	return ret;
}

static int run_mutants(struct image *image, const u64 *roots, size_t nr, u64 first, u64 count,
		       u64 seed)
{
	u64 ended[BADLY + 1] = { };
	struct rusage usage;

	known = record_reads(image, roots, nr);
	fresh = guest_look__new(&image->phys, image->size, /*late=*/false);
	if (!known || !fresh || record_tasks(image, roots, nr))
		return 2;
	for (u64 i = first; i < first + count; i++)
		ended[run_mutant(image, i % 4 ? known : fresh, roots, nr, seed, i)]++;
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("mutants %" PRIu64 " maps %" PRIu64 " errors %" PRIu64 " bad %" PRIu64
	       " cpu-ms %ld\n", count, ended[WITH_MAP], ended[WITH_ERROR], ended[BADLY],
	       usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000);
	guest_look__delete(known);
	guest_look__delete(fresh);
	free(image->reads);
	return !!ended[BADLY];
}

int main(int argc, char **argv)
{
	struct image image = { };
	struct guest_look *look;
	u64 roots[MAX_ROOTS];
	size_t nr;
	int ret;

	if (argc != 4 && (argc != 7 || strcmp(argv[3], "--mutants"))) {
		fprintf(stderr, "usage: %s RAM CR3S MAP | --mutants FIRST COUNT SEED\n", argv[0]);
		return 2;
	}
	nr = read_roots(argv[2], roots);
	if (open_image(&image, argv[1])) {
		perror(argv[1]);
		return 2;
	}
	if (argc == 7)
		return run_mutants(&image, roots, nr, strtoull(argv[4], NULL, 10),
				   strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10));
	look = guest_look__new(&image.phys, image.size, /*late=*/false);
	if (!look)
		return 2;
	ret = look_once(look, &image, roots, nr, argv[3]);
	guest_look__delete(look);
	return ret;
}
