// SPDX-License-Identifier: GPL-2.0
/*
 * Corrupt profiles through perf kvm unified report, thousands of them:
 *
 *	fuzz-report PERF SEED-DIR OUT-DIR RANDOM-SEED FIRST COUNT [OPTION...]
 *
 * SEED-DIR holds a profile, perf.data/, and perhaps root/, the root of its guests' file
 * systems, and stream, a profile for standard input. Mutant number n is the same for the
 * same seeds, whatever number the run begins with. Each is read by a PERF of its own, with
 * the options; one that does not end well is kept in OUT-DIR/mutant-<n>/ with its messages.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <internal/lib.h>

/* Of perf: how a profile is laid out */
#include "util/event.h"
#include "util/header.h"
#include "kvm-unified/format/profile.h"

/*
 * A report that takes longer hangs: in CPU time, so that a busy machine makes no
 * difference, and by the clock for one that sleeps. One that takes more memory has
 * run away.
 */
#define FUZZ_MAX_CPU_SECONDS	5
#define FUZZ_MAX_SECONDS	60
#define FUZZ_MAX_RSS_KB		(1024 * 1024)

#define FUZZ_MAX_FILES		32
#define FUZZ_MAX_OUTPUT		(1024 * 1024)
#define FUZZ_MAX_KEPT		200
/* Of the report, and how many more fuzz__argv() adds at most, with the NULL at the end */
#define FUZZ_MAX_OPTIONS	12
#define FUZZ_OWN_OPTIONS	16

enum fuzz_kind {
	FUZZ_DATA,
	FUZZ_MAP,
	FUZZ_VMS,
	FUZZ_KALLSYMS,
	FUZZ_ELF,
	FUZZ_STREAM,
	FUZZ_NR_KINDS
};

/* How many of 100 mutants have their first error in a file of the kind */
static const unsigned int fuzz_share[FUZZ_NR_KINDS] = {
	[FUZZ_DATA]	= 46,
	[FUZZ_MAP]	= 22,
	[FUZZ_VMS]	= 6,
	[FUZZ_KALLSYMS]	= 6,
	[FUZZ_ELF]	= 10,
	[FUZZ_STREAM]	= 10,
};

struct buffer {
	char	*data;
	size_t	size, allocated;
};

struct fuzz_file {
	char		*path;		/* below the seed directory */
	enum fuzz_kind	kind;
	char		*data;
	size_t		size;
	bool		dirty;		/* the one in the work directory is mutated */
};

struct fuzz {
	const char	*perf;
	char		**options;	/* of the report */
	const char	*seed_dir, *out_dir;
	char		work[PATH_MAX];
	struct fuzz_file files[FUZZ_MAX_FILES];
	size_t		nr_files;
	u64		random;
	int		out, err;	/* what the child says, in memory */
	u64		nr_reports, nr_warnings, nr_errors, nr_bad, nr_kept;
	u64		slowest_ns, slowest;
};

/* splitmix64: any seed is as good as any other */
static u64 fuzz__random(struct fuzz *fz)
{
	u64 z = (fz->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Below @n; 0 if that is 0 */
static size_t fuzz__below(struct fuzz *fz, size_t n)
{
	return n ? fuzz__random(fz) % n : 0;
}

static bool fuzz__one_in(struct fuzz *fz, size_t n)
{
	return !fuzz__below(fz, n);
}

static u64 fuzz__interesting(struct fuzz *fz, u64 old)
{
	static const u64 numbers[] = {
		0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 4095, 4096,
		0x7fff, 0x8000, 0xfff8, 0xffff, 0x10000, 0x100000, 0x7ffffff8, 0x7fffffff,
		0x80000000, 0xfffffff0, 0xffffffff, 0x100000000, 0x7fffffffffff,
		0xffffffff80000000, 0x7fffffffffffffff, 0x8000000000000000,
		0xfffffffffffff000, 0xfffffffffffffff8, 0xffffffffffffffff,
	};

	switch (fuzz__below(fz, 4)) {
	case 0:
		return old + fuzz__below(fz, 64) + 1;
	case 1:
		return old - fuzz__below(fz, 64) - 1;
	case 2:
		return old ^ (1ULL << fuzz__below(fz, 64));
	default:
		return numbers[fuzz__below(fz, ARRAY_SIZE(numbers))];
	}
}

/* @at may be what an error has made of it. */
static bool buffer__has(const struct buffer *buf, size_t at, size_t len)
{
	return at <= buf->size && len <= buf->size - at;
}

static u64 get(const struct buffer *buf, size_t at, size_t len)
{
	u64 val = 0;

	if (buffer__has(buf, at, len))
		memcpy(&val, buf->data + at, len);
	return val;
}

static void put(struct buffer *buf, size_t at, size_t len, u64 val)
{
	if (buffer__has(buf, at, len))
		memcpy(buf->data + at, &val, len);
}

/* Replaces @old bytes at @at by @len of them, with room to spare for more. */
static bool buffer__splice(struct buffer *buf, size_t at, size_t old, const void *data, size_t len)
{
	size_t size = buf->size - old + len;

	if (!buffer__has(buf, at, old))
		return false;
	if (size > buf->allocated) {
		char *grown = realloc(buf->data, size * 2);

		if (!grown)
			return false;
		buf->data = grown;
		buf->allocated = size * 2;
	}
	memmove(buf->data + at + len, buf->data + at + old, buf->size - at - old);
	if (len)
		memcpy(buf->data + at, data, len);
	buf->size = size;
	return true;
}

/* A number in [@from, @from + @len) */
static void mutate_number(struct fuzz *fz, struct buffer *buf, size_t from, size_t len)
{
	size_t size = 1UL << fuzz__below(fz, 4), at;

	if (from >= buf->size)
		return;
	len = min(len, buf->size - from);
	if (len < size)
		size = 1;
	at = from + fuzz__below(fz, len / size) * size;
	if (fuzz__one_in(fz, 4))
		put(buf, at, 1, get(buf, at, 1) ^ (1 << fuzz__below(fz, 8)));
	else if (fuzz__one_in(fz, 6)) /* What parsers of text look for */
		put(buf, at, 1, "\n\t :;,.-+\"\\()[]{}<>=&|0x%_A"[fuzz__below(fz, 28)]);
	else
		put(buf, at, size, fuzz__interesting(fz, get(buf, at, size)));
}

/* Anything can happen to any file. */
static void mutate_bytes(struct fuzz *fz, struct buffer *buf)
{
	size_t at = fuzz__below(fz, buf->size), len = fuzz__below(fz, min(buf->size - at, 512UL));
	char *block;

	switch (fuzz__below(fz, 8)) {
	case 0: /* Where a page ends, there is nothing behind it in a mapping. */
		if (at > 4096 && fuzz__one_in(fz, 2))
			at &= ~4095UL;
		buf->size = at;
		break;
	case 1:
		buffer__splice(buf, at, len, NULL, 0);
		break;
	case 2:
		block = memdup(buf->data + at, len);
		if (block)
			buffer__splice(buf, fuzz__below(fz, buf->size), 0, block, len);
		free(block);
		break;
	case 3:
		memset(buf->data + at, fuzz__one_in(fz, 2) ? 0 : fuzz__random(fz), len);
		break;
	default:
		mutate_number(fz, buf, 0, buf->size);
		break;
	}
}

/* Of the types there are, rarely of one there is not */
static u32 random_type(struct fuzz *fz)
{
	size_t n = fuzz__below(fz, 60);

	if (n < PERF_RECORD_MAX)
		return n;
	if (n < 55)
		return PERF_RECORD_USER_TYPE_START + fuzz__below(fz, 35);
	return fuzz__interesting(fz, n);
}

static void random_payload(struct fuzz *fz, char *data, size_t size)
{
	for (size_t at = 0; at + 8 <= size; at += 8) {
		u64 val = fuzz__below(fz, 40);

		if (fuzz__one_in(fz, 3))
			val = fuzz__interesting(fz, val);
		if (fuzz__one_in(fz, 3))
			val |= fuzz__interesting(fz, val) << 32;
		memcpy(data + at, &val, sizeof(val));
	}
}

/* What is to be stepped over to get to the next record; less than the header: there is none */
static size_t record_size(const struct buffer *buf, size_t at, size_t end)
{
	struct perf_event_header header;
	size_t size;

	if (at + sizeof(header) > end)
		return 0;
	memcpy(&header, buf->data + at, sizeof(header));
	size = header.size;
	/* In a stream, the formats of tracepoints are behind the record that has their size. */
	if (header.type == PERF_RECORD_HEADER_TRACING_DATA)
		size += get(buf, at + offsetof(struct perf_record_header_tracing_data, size), 4);
	return size > end - at ? 0 : size;
}

/*
 * Records from @from to @end: one of them gets another type, size or content, or
 * is cut, left out, doubled, or a new one. Returns by how much the whole grew.
 */
static ssize_t mutate_record(struct fuzz *fz, struct buffer *buf, size_t from, size_t end)
{
	size_t at, nr = 0, pick, size, was = buf->size;
	struct perf_event_header header;
	char data[512];

	end = min(end, buf->size);
	for (int pass = 0; pass < 2; pass++) {
		pick = fuzz__below(fz, nr);
		nr = 0;
		for (at = from; record_size(buf, at, end) >= sizeof(header);
		     at += record_size(buf, at, end), nr++) {
			if (pass && nr == pick)
				break;
		}
	}
	if (record_size(buf, at, end) < sizeof(header))
		return 0;
	memcpy(&header, buf->data + at, sizeof(header));
	if (header.size < sizeof(header))
		return 0;

	switch (fuzz__below(fz, 10)) {
	case 0:
		header.type = random_type(fz);
		put(buf, at, 4, header.type);
		break;
	case 1:
		put(buf, at + 4, 2, fuzz__interesting(fz, header.misc));
		break;
	case 2:
		put(buf, at + 6, 2, fuzz__interesting(fz, header.size));
		break;
	case 3: /* Shorter, and says so */
		size = sizeof(header) + fuzz__below(fz, header.size - sizeof(header));
		if (fuzz__one_in(fz, 2))
			size &= ~7UL;
		put(buf, at + 6, 2, size);
		buffer__splice(buf, at + size, header.size - size, NULL, 0);
		break;
	case 4:
		buffer__splice(buf, at, header.size, NULL, 0);
		break;
	case 5:
		if (header.size <= sizeof(data)) {
			memcpy(data, buf->data + at, header.size);
			buffer__splice(buf, at, 0, data, header.size);
		}
		break;
	case 6: /* One that was not there */
		size = sizeof(header) + 8 * fuzz__below(fz, 40);
		header = (struct perf_event_header) { .type = random_type(fz), .size = size };
		memcpy(data, &header, sizeof(header));
		random_payload(fz, data + sizeof(header), size - sizeof(header));
		buffer__splice(buf, at, 0, data, size);
		break;
	default: /* Pids and counts come first. */
		size = header.size - sizeof(header);
		mutate_number(fz, buf, at + sizeof(header),
			      fuzz__one_in(fz, 2) ? min(size, 32UL) : size);
		break;
	}
	return buf->size - was;
}

/* A stream of records, as in a guest map */
static void mutate_stream(struct fuzz *fz, struct buffer *buf)
{
	if (fuzz__one_in(fz, 20))
		mutate_number(fz, buf, 0, sizeof(struct perf_pipe_file_header));
	else if (fuzz__one_in(fz, 10))
		mutate_bytes(fz, buf);
	else
		mutate_record(fz, buf, sizeof(struct perf_pipe_file_header), buf->size);
}

/* perf.data's header, attributes, records or features */
static void mutate_data(struct fuzz *fz, struct buffer *buf)
{
	struct perf_file_header header;
	size_t features, nr, len, at, what = fuzz__below(fz, 100);
	ssize_t diff;

	if (buf->size < sizeof(header)) {
		mutate_bytes(fz, buf);
		return;
	}
	memcpy(&header, buf->data, sizeof(header));
	features = header.data.offset + header.data.size;
	nr = bitmap_weight(header.adds_features, HEADER_FEAT_BITS);

	if (what < 8) {
		mutate_number(fz, buf, 0, sizeof(header));
	} else if (what < 12) {
		at = offsetof(struct perf_file_header, adds_features) +
		     fuzz__below(fz, DIV_ROUND_UP(HEADER_LAST_FEATURE, 8));
		/* One more, one less, or one taken for another */
		put(buf, at, 1, get(buf, at, 1) ^ (1 << fuzz__below(fz, 8)));
		if (fuzz__one_in(fz, 2))
			put(buf, at, 1, get(buf, at, 1) ^ (1 << fuzz__below(fz, 8)));
	} else if (what < 24) {
		mutate_number(fz, buf, header.attrs.offset, header.attrs.size);
	} else if (what < 28) {
		/* The events' ids, which lie between */
		mutate_number(fz, buf, sizeof(header), header.attrs.offset - sizeof(header));
	} else if (what < 68) {
		diff = mutate_record(fz, buf, header.data.offset, features);
		header.data.size += diff;
		memcpy(buf->data, &header, sizeof(header));
		for (size_t i = 0; i < nr; i++) {
			at = features + diff + i * sizeof(struct perf_file_section);
			put(buf, at, 8, get(buf, at, 8) + diff);
		}
	} else if (what < 74) {
		mutate_number(fz, buf, features, nr * sizeof(struct perf_file_section));
	} else if (what < 96) {
		/* The first is that with the tracepoints, the largest */
		at = fuzz__one_in(fz, 4) ? 0 : fuzz__below(fz, nr);
		at = features + at * sizeof(struct perf_file_section);
		len = get(buf, at + 8, 8);
		if (fuzz__one_in(fz, 8)) /* cut */
			put(buf, at + 8, 8, fuzz__below(fz, len));
		else /* The beginning has most of the numbers. */
			mutate_number(fz, buf, get(buf, at, 8),
				      fuzz__one_in(fz, 2) ? min(len, 64UL) : len);
	} else {
		mutate_bytes(fz, buf);
	}
}

static void mutate_text(struct fuzz *fz, struct buffer *buf)
{
	static const char * const texts[] = {
		"\n", " ", "\t", "", "ffffffffffffffff T x\n", "0 t ", "ffffffff81000000 T _stext\n",
		"ffffffff81000000 T _text\nffffffff81000000 T _etext\n", "[", "]\n", "[x]\n",
		"ffffffffc0000000 t a\t[x]\nffffffffc0000000 t b\t[\n", "\xff\xfe\x1b[2J",
		"123456789abcdef0123 D y\n", "ffffffff81000000\n", "\r\n\r\n", "-1 T m\n",
	};
	const char *text = texts[fuzz__below(fz, ARRAY_SIZE(texts))];

	if (fuzz__one_in(fz, 2))
		mutate_bytes(fz, buf);
	else
		buffer__splice(buf, fuzz__below(fz, buf->size), 0, text, strlen(text));
}

/* 64-bit ELF, little endian: the headers, and what the section headers lead to */
static void mutate_elf(struct fuzz *fz, struct buffer *buf)
{
	const size_t shdr_size = 64;
	size_t shoff = get(buf, 0x28, 8), phoff = get(buf, 0x20, 8);
	size_t shnum = get(buf, 0x3c, 2), phnum = get(buf, 0x38, 2);
	size_t shdr = shoff + fuzz__below(fz, shnum) * shdr_size;

	switch (fuzz__below(fz, 10)) {
	case 0:
		mutate_number(fz, buf, 0, 64);
		break;
	case 1:
		mutate_number(fz, buf, phoff, phnum * 56);
		break;
	case 2: case 3: case 4: case 5:
		mutate_number(fz, buf, shdr, shdr_size);
		break;
	case 6: case 7: case 8:
		mutate_number(fz, buf, get(buf, shdr + 0x18, 8), get(buf, shdr + 0x20, 8));
		break;
	default:
		mutate_bytes(fz, buf);
		break;
	}
}

static void mutate(struct fuzz *fz, struct buffer *buf, enum fuzz_kind kind)
{
	static void (* const by_kind[])(struct fuzz *fz, struct buffer *buf) = {
		[FUZZ_DATA]	= mutate_data,
		[FUZZ_MAP]	= mutate_stream,
		[FUZZ_VMS]	= mutate_stream,
		[FUZZ_KALLSYMS]	= mutate_text,
		[FUZZ_ELF]	= mutate_elf,
		[FUZZ_STREAM]	= mutate_stream,
	};

	/* Mostly one error: the second hides behind the first. */
	do {
		by_kind[kind](fz, buf);
	} while (!fuzz__one_in(fz, 2));
}

static enum fuzz_kind kind_by_path(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	if (strstarts(path, "root/"))
		return FUZZ_ELF;
	if (!strcmp(path, "stream"))
		return FUZZ_STREAM;
	if (strstarts(name, "guest_map__"))
		return FUZZ_MAP;
	if (!strcmp(name, "vms") || !strcmp(name, VCPU_LOOKS_FILE))
		return FUZZ_VMS;
	if (!strcmp(name, "kallsyms") || !strcmp(name, KVM_TIMELINE_FORMAT_FILE))
		return FUZZ_KALLSYMS;
	return FUZZ_DATA;
}

static int write_file(const char *path, const void *data, size_t size)
{
	int ret, fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	ret = size && writen(fd, (void *)data, size) != (ssize_t)size ? -errno : 0;
	close(fd);
	return ret;
}

static int read_file(const char *path, size_t size, struct fuzz_file *file)
{
	int ret, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	file->size = size;
	file->data = malloc(size + 1);
	ret = file->data && readn(fd, file->data, size) == (ssize_t)size ? 0 : -EIO;
	close(fd);
	return ret;
}

/* The seed into memory, and a copy of it into the work directory */
static int fuzz__load(struct fuzz *fz, const char *dir)
{
	char path[PATH_MAX];
	struct dirent *ent;
	int ret = 0;
	DIR *d;

	scnprintf(path, sizeof(path), "%s/%s", fz->work, dir);
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	scnprintf(path, sizeof(path), "%s/%s", fz->seed_dir, dir);
	d = opendir(path);
	if (!d)
		return -errno;
	while (!ret && (ent = readdir(d))) {
		struct fuzz_file *file = &fz->files[fz->nr_files];
		struct stat st;
		char *name;

		if (ent->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%s%s%s", dir, *dir ? "/" : "", ent->d_name) < 0) {
			ret = -ENOMEM;
			break;
		}
		scnprintf(path, sizeof(path), "%s/%s", fz->seed_dir, name);
		if (stat(path, &st)) {
			ret = -errno;
		} else if (S_ISDIR(st.st_mode)) {
			ret = fuzz__load(fz, name);
		} else if (fz->nr_files == FUZZ_MAX_FILES) {
			ret = -E2BIG;
		} else {
			file->path = name;
			file->kind = kind_by_path(name);
			ret = read_file(path, st.st_size, file);
			file->dirty = true;
			fz->nr_files++;
			continue;
		}
		free(name);
	}
	closedir(d);
	return ret;
}

/* The same mutant for the same number, whatever order the directory has */
static int fuzz_file__cmp(const void *_a, const void *_b)
{
	const struct fuzz_file *a = _a, *b = _b;

	return strcmp(a->path, b->path);
}

static int fuzz_file__write(struct fuzz *fz, struct fuzz_file *file, const struct buffer *buf)
{
	char path[PATH_MAX];

	file->dirty = buf;
	scnprintf(path, sizeof(path), "%s/%s", fz->work, file->path);
	return buf ? write_file(path, buf->data, buf->size) :
		     write_file(path, file->data, file->size);
}

static struct fuzz_file *fuzz__pick_file(struct fuzz *fz)
{
	unsigned int n = fuzz__below(fz, 100);
	struct fuzz_file *of_kind[FUZZ_MAX_FILES];
	size_t nr = 0, kind;

	for (kind = 0; kind < FUZZ_NR_KINDS - 1 && n >= fuzz_share[kind]; kind++)
		n -= fuzz_share[kind];
	for (size_t i = 0; i < fz->nr_files; i++) {
		if (fz->files[i].kind == kind)
			of_kind[nr++] = &fz->files[i];
	}
	return nr ? of_kind[fuzz__below(fz, nr)] : &fz->files[fuzz__below(fz, fz->nr_files)];
}

/*
 * What the report is called with: the map is also read by hand, a way of its own, and then
 * it is our tables that are printed, not perf's, if there are no options for these.
 */
static void fuzz__argv(struct fuzz *fz, const char *input, bool by_hand, const char *argv[],
		       char *buf, size_t size)
{
	const char *map = NULL;
	int argc = 0;

	for (size_t i = 0; i < fz->nr_files; i++) {
		if (fz->files[i].kind == FUZZ_MAP)
			map = fz->files[i].path;
	}
	argv[argc++] = fz->perf;
	argv[argc++] = "kvm";
	argv[argc++] = "unified";
	argv[argc++] = "report";
	argv[argc++] = "-f";
	argv[argc++] = "-i";
	argv[argc++] = input;
	for (char **option = fz->options; *option; option++)
		argv[argc++] = *option;
	if (!access("root", F_OK)) {
		argv[argc++] = "--guest-root";
		argv[argc++] = "root";
	}
	if (map && by_hand) {
		scnprintf(buf, size, "guest1=%s", map);
		argv[argc++] = "--no-guest-maps";
		argv[argc++] = "--guest-map";
		argv[argc++] = buf;
	}
	if (map && by_hand && !*fz->options) {
		argv[argc++] = "--format";
		argv[argc++] = "table";
	}
	argv[argc] = NULL;
}

static void __noreturn fuzz__child(struct fuzz *fz, const struct fuzz_file *file, bool by_hand)
{
	bool is_stream = file->kind == FUZZ_STREAM;
	const struct itimerval cpu_time = { .it_value.tv_sec = FUZZ_MAX_CPU_SECONDS };
	const char *argv[FUZZ_MAX_OPTIONS + FUZZ_OWN_OPTIONS];
	char buf[PATH_MAX];

	if (chdir(fz->work))
		_exit(125);
	fuzz__argv(fz, is_stream ? "-" : "perf.data", by_hand, argv, buf, sizeof(buf));
	if (is_stream && !freopen(file->path, "r", stdin))
		_exit(125);
	dup2(fz->out, STDOUT_FILENO);
	dup2(fz->err, STDERR_FILENO);
	setitimer(ITIMER_PROF, &cpu_time, NULL);
	alarm(FUZZ_MAX_SECONDS);
	execv(fz->perf, (char **)argv);
	_exit(125);
}

static char *read_output(int fd)
{
	char *text = zalloc(FUZZ_MAX_OUTPUT);
	ssize_t n = text ? pread(fd, text, FUZZ_MAX_OUTPUT - 1, 0) : -1;

	/* strstr() is to see it all. */
	for (ssize_t i = 0; i < n; i++) {
		if (!text[i])
			text[i] = '?';
	}
	return text;
}

/* NULL, or what is wrong with how the report ended */
static const char *fuzz__judge(struct fuzz *fz, int status, const struct rusage *ru,
			       const char *out, const char *err)
{
	static const char * const sanitizers[] = {
		"ERROR: AddressSanitizer", "LeakSanitizer", "runtime error:",
	};

	for (size_t i = 0; i < ARRAY_SIZE(sanitizers); i++) {
		if (strstr(err, sanitizers[i]))
			return sanitizers[i];
	}
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF ?
		       "hang" : strsignal(WTERMSIG(status));
	if (ru->ru_maxrss > FUZZ_MAX_RSS_KB)
		return "memory";
	if (strchr(out, '\x1b') || strchr(err, '\x1b'))
		return "terminal escape";
	switch (WEXITSTATUS(status)) {
	case 0:
		if (!strstr(out, "# samples "))
			return "no report";
		fz->nr_reports++;
		fz->nr_warnings += !!*err;
		return NULL;
	case 1:
		if (!*err)
			return "no message";
		fz->nr_errors++;
		return NULL;
	default:
		return "exit code";
	}
}

static void fuzz__keep(struct fuzz *fz, u64 n, const char *what, bool by_hand,
		       const char *out, const char *err)
{
	char cmd[3 * PATH_MAX], path[PATH_MAX];

	fz->nr_bad++;
	fprintf(stderr, "mutant %" PRIu64 ": %s%s\n", n, what, by_hand ? " (map by hand)" : "");
	if (fz->nr_kept++ >= FUZZ_MAX_KEPT)
		return;
	scnprintf(path, sizeof(path), "%s/mutant-%" PRIu64, fz->out_dir, n);
	scnprintf(cmd, sizeof(cmd), "rm -rf '%s' && cp -r '%s' '%s'", path, fz->work, path);
	if (system(cmd))
		return;
	scnprintf(cmd, sizeof(cmd), "%s/stdout", path);
	write_file(cmd, out, strlen(out));
	scnprintf(cmd, sizeof(cmd), "%s/stderr", path);
	write_file(cmd, err, strlen(err));
}

static int fuzz__mutant(struct fuzz *fz, u64 random_seed, u64 n)
{
	struct buffer buf = { };
	struct timespec from, to;
	struct fuzz_file *file;
	struct rusage ru;
	const char *what;
	char *out, *err;
	bool by_hand;
	int status, ret = 0;
	pid_t pid;
	u64 ns;

	fz->random = random_seed * 0xd1342543de82ef95ULL + n;
	file = fuzz__pick_file(fz);
	by_hand = fuzz__one_in(fz, 10);

	buf.data = memdup(file->data, file->size);
	buf.size = file->size;
	buf.allocated = file->size;
	if (!buf.data)
		return -ENOMEM;
	mutate(fz, &buf, file->kind);
	for (size_t i = 0; !ret && i < fz->nr_files; i++) {
		if (fz->files[i].dirty)
			ret = fuzz_file__write(fz, &fz->files[i], NULL);
	}
	if (!ret)
		ret = fuzz_file__write(fz, file, &buf);
	free(buf.data);
	if (ret)
		return ret;

	if (ftruncate(fz->out, 0) || ftruncate(fz->err, 0))
		return -errno;
	lseek(fz->out, 0, SEEK_SET);
	lseek(fz->err, 0, SEEK_SET);
	fflush(NULL);
	clock_gettime(CLOCK_MONOTONIC, &from);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		fuzz__child(fz, file, by_hand);
	if (wait4(pid, &status, 0, &ru) != pid)
		return -errno;
	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = (to.tv_sec - from.tv_sec) * NSEC_PER_SEC + to.tv_nsec - from.tv_nsec;
	if (ns > fz->slowest_ns) {
		fz->slowest_ns = ns;
		fz->slowest = n;
	}

	out = read_output(fz->out);
	err = read_output(fz->err);
	what = out && err ? fuzz__judge(fz, status, &ru, out, err) : "out of memory";
	if (what && out && err)
		fuzz__keep(fz, n, what, by_hand, out, err);
	free(out);
	free(err);
	return 0;
}

static void remove_work(const struct fuzz *fz)
{
	char cmd[PATH_MAX + 16];

	scnprintf(cmd, sizeof(cmd), "rm -rf '%s'", fz->work);
	if (system(cmd))
		fprintf(stderr, "%s is left behind\n", fz->work);
}

static void fuzz__exit(struct fuzz *fz)
{
	for (size_t i = 0; i < fz->nr_files; i++) {
		free(fz->files[i].path);
		free(fz->files[i].data);
	}
	if (fz->out >= 0)
		close(fz->out);
	if (fz->err >= 0)
		close(fz->err);
	remove_work(fz);
}

int main(int argc, char **argv)
{
	struct fuzz fz = { .out = -1, .err = -1 };
	u64 random_seed, first, count, n;
	int ret;

	if (argc < 7) {
		fprintf(stderr, "usage: %s PERF SEED-DIR OUT-DIR RANDOM-SEED FIRST COUNT [OPTION...]\n",
			argv[0]);
		return 1;
	}
	if (argc - 7 > FUZZ_MAX_OPTIONS) {
		fprintf(stderr, "%s: %d options of the report at most\n", argv[0], FUZZ_MAX_OPTIONS);
		return 1;
	}
	fz.perf = argv[1];
	fz.seed_dir = argv[2];
	fz.out_dir = argv[3];
	random_seed = strtoull(argv[4], NULL, 0);
	first = strtoull(argv[5], NULL, 0);
	count = strtoull(argv[6], NULL, 0);
	fz.options = argv + 7;

	scnprintf(fz.work, sizeof(fz.work), "%s/work-%" PRIu64, fz.out_dir, first);
	ret = fuzz__load(&fz, "");
	qsort(fz.files, fz.nr_files, sizeof(fz.files[0]), fuzz_file__cmp);
	fz.out = memfd_create("stdout", MFD_CLOEXEC);
	fz.err = memfd_create("stderr", MFD_CLOEXEC);
	if (!ret && (fz.out < 0 || fz.err < 0))
		ret = -errno;

	for (n = first; !ret && n < first + count; n++)
		ret = fuzz__mutant(&fz, random_seed, n);
	if (ret)
		fprintf(stderr, "mutant %" PRIu64 " could not be made: %s\n", n, strerror(-ret));
	printf("mutants %" PRIu64 " reports %" PRIu64 " with-warning %" PRIu64 " errors %" PRIu64
	       " bad %" PRIu64 " slowest-ms %" PRIu64 " number %" PRIu64 "\n",
	       n - first, fz.nr_reports, fz.nr_warnings, fz.nr_errors, fz.nr_bad,
	       fz.slowest_ns / NSEC_PER_MSEC, fz.slowest);
	fuzz__exit(&fz);
	return ret || fz.nr_bad ? 1 : 0;
}
