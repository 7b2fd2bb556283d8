// SPDX-License-Identifier: GPL-2.0
/*
 * What is said of functions of guests that perf annotate cannot show, as files are missing.
 */
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "tests/tests.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/strbuf.h"
#include "kvm-unified/guests/annotate.h"
#include "kvm-unified/guests/guest.h"
#include "annotate.h"

#define GUEST	"/[guest:vm1]"

static char root[] = "/srv/vm1";
static const struct kvm_guest guest = { .name = "vm1" };
static const struct kvm_guest with_root = { .name = "vm1", .root = root };

/* Most files of a case */
#define FILES_MAX	6

/* Samples in a file, as perf calls it */
struct file_samples {
	const char *name;
	u64 nr_samples;
	u64 nr_wanted;
};

/* @symbol: that is asked for, or NULL; @nr_shown: samples whose code is here; @words: or "" */
struct missing_case {
	const char *about;
	const struct kvm_guest *of;
	const char *symbol;
	u64 nr_shown;
	struct file_samples files[FILES_MAX];
	const char *words;
};

static const struct missing_case cases[] = {
	{
		"nothing is missing", &guest, "f", 0,
		{
			{ "/srv/vm1/usr/bin/a", 5, 5 }, { GUEST "/[vdso]", 5, 5 },
			{ GUEST "/memfd:a (deleted)", 5, 0 }, { "/[guest:vm10]/usr/bin/a", 5, 5 },
		}, "",
	}, {
		"the function is somewhere else", &guest, "f", 1, { { GUEST "/usr/bin/a", 5, 0 } },
		"",
	}, {
		"the function is in one of two files", &guest, "f", 0,
		{ { GUEST "/usr/bin/a", 7, 5 }, { GUEST "/usr/lib/b", 9, 0 } },
		"f is not annotated where it is in a file that is missing:\n"
		"  /usr/bin/a of guest vm1 (5 samples) is not here: --guest-root vm1=DIR\n",
	}, {
		"... and somewhere else", &with_root, "f", 1, { { GUEST "/usr/bin/a", 7, 1 } },
		"f is not annotated where it is in a file that is missing:\n"
		"  /usr/bin/a of guest vm1 (1 sample) is not below /srv/vm1: --guest-root vm1=DIR\n",
	}, {
		"the function may be there", &guest, "f", 0, { { GUEST "/usr/lib/b", 9, 0 } },
		"No sample is known to be in f. It may be in one of these files, which are missing:\n"
		"  /usr/lib/b of guest vm1 (9 samples) is not here: --guest-root vm1=DIR\n",
	}, {
		"all functions", &guest, NULL, 0,
		{
			{ GUEST "/a", 1, 1 }, { GUEST "/b", 9, 9 }, { GUEST "/c", 7, 7 },
			{ GUEST "/d", 8, 8 }, { GUEST "/e", 2, 2 }, { GUEST "/f", 1, 1 },
		},
		"Functions of files that are missing are not annotated:\n"
		"  /b of guest vm1 (9 samples) is not here: --guest-root vm1=DIR\n"
		"  /d of guest vm1 (8 samples) is not here: --guest-root vm1=DIR\n"
		"  /c of guest vm1 (7 samples) is not here: --guest-root vm1=DIR\n"
		"  /e of guest vm1 (2 samples) is not here: --guest-root vm1=DIR\n"
		"  ... and 2 more\n",
	},
};

/* Those of a case, each counted once. Is what is missing left out by perf, and nothing else? */
static bool count_files(struct guest_code *code, const struct missing_case *c, struct dso **dsos)
{
	for (size_t i = 0; i < FILES_MAX && c->files[i].name; i++) {
		struct guest_code_file *file;

		dsos[i] = dso__new(c->files[i].name);
		if (!dsos[i])
			return false;
		file = guest_code__file(code, c->of, dsos[i]);
		if (dso__annotate_warned(dsos[i]) != !!file ||
		    guest_code__file(code, c->of, dsos[i]) != file)
			return false;
		if (file) {
			file->nr_samples = c->files[i].nr_samples;
			file->nr_wanted = c->files[i].nr_wanted;
		}
	}
	return true;
}

static bool says_so(const struct missing_case *c)
{
	struct strbuf text = STRBUF_INIT;
	struct dso *dsos[FILES_MAX] = { };
	struct guest_code code;
	bool right;

	if (guest_code__init(&code))
		return false;
	code.symbol = c->symbol;
	code.nr_shown = c->nr_shown;
	right = count_files(&code, c, dsos) && !guest_code__describe(&code, &text) &&
		!strcmp(text.buf, c->words);
	if (!right)
		pr_debug("%s", text.buf);
	strbuf_release(&text);
	guest_code__exit(&code);
	for (size_t i = 0; i < FILES_MAX; i++)
		dso__put(dsos[i]);
	return right;
}

int test__missing_code(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		TEST_ASSERT_VAL(cases[i].about, says_so(&cases[i]));
	return TEST_OK;
}
