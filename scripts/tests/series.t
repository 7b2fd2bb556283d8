#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `make series`: what upstream gets is the tree that is built and tested here,
# and it is complete. Tried on a small tree.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

small=$TMP/tree
patches=$TMP/patches
new=$TMP/new
mkdir -p "$small/kernel" "$small/scripts" "$patches" "$new/perf-kvm-unified/tests" "$new/kernel-selftests"
printf 'VERSION = 6\nPATCHLEVEL = 12\nmrproper:\n' >"$small/Makefile"
seq 1 20 >"$small/kernel/a.c"
"$TOP/scripts/get-kernel.sh" >&2 || exit 1
cp "$TREE/orig/scripts/get_maintainer.pl" "$small/scripts"
cat >"$small/MAINTAINERS" <<'EOT'
Maintainers List
----------------
KERNEL (OF SORTS)
M:	"Doe, Jane" <jane@example.com>
M:	Max <max@example.com>
R:	Rea Der <reader@example.com>
L:	list@example.com (moderated for non-subscribers)
S:	Maintained
F:	kernel/

EOT
echo model >"$new/perf-kvm-unified/model.c"
echo view >"$new/perf-kvm-unified/view.c"
echo test >"$new/perf-kvm-unified/tests/model-test.c"
printf '# what there is\nperf-y += model.o\nperf-y += view.o\n\nperf-test-y += tests/\n' \
	>"$new/perf-kvm-unified/Build"
echo kunit >"$new/kernel-selftests/vcpu_test.c"
echo 'vcpu_test.c kernel/tests/vcpu_test.c' >"$new/kernel-selftests/MANIFEST"

header()
{
	printf 'From: A U Thor <author@example.com>\nDate: Fri, 20 Nov 2026 08:00:00 +0000\nSubject: [PATCH] %s\n\nText of %s.\n%s\nSigned-off-by: A U Thor <author@example.com>\n---\n' "$1" "$1" "$2"
}

{
	header "kernel: one" "New-files: kernel/tests/*.c"
	printf ' kernel/a.c | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/kernel/a.c b/kernel/a.c\n'
	mkdir -p "$TMP/d/a/kernel" "$TMP/d/b/kernel"
	cp "$small/kernel/a.c" "$TMP/d/a/kernel"
	sed 's/^5$/five/' "$small/kernel/a.c" >"$TMP/d/b/kernel/a.c"
	(cd "$TMP/d" && diff -u --label a/kernel/a.c --label b/kernel/a.c a/kernel/a.c b/kernel/a.c)
} >"$patches/one.patch"
header "perf: two" "New-files: tools/perf/kvm-unified/Build tools/perf/kvm-unified/model.c" >"$patches/two.patch"
header "perf: three" "New-files: tools/perf/kvm-unified/view.c tools/perf/kvm-unified/tests/*" >"$patches/three.patch"
printf 'one.patch\ntwo.patch\nthree.patch\n' >"$patches/series"
printf 'a title\n\nMeasured: 42 %%.\n' >"$patches/cover-letter"

compose()
{
	KDIR=$small KVMU_CACHE=$TMP/cache KVMU_PATCHES=$patches KVMU_NEW=$new \
		KVMU_SERIES=$TMP/series "$TOP/scripts/series.sh"
}

# As a maintainer would take it.
git_am()
{
	rm -rf "$TMP/am"
	cp -r "$small" "$TMP/am"
	git -C "$TMP/am" init -q
	git -C "$TMP/am" add -A
	git -C "$TMP/am" -c user.name=m -c user.email=m@example.com commit -qm base
	cat "$TMP"/series/000[1-9]-*.patch |
		git -C "$TMP/am" -c user.name=m -c user.email=m@example.com am -q
}

same_as_built()
{
	diff -r -x .git "$TMP/am" "$(echo "$TMP"/cache/*/src)"
}

ok "the series is composed" compose
ok "it applies with git am" git_am
ok "and gives the tree that is built" same_as_built
ok "one commit a patch" test "$(git -C "$TMP/am" rev-list --count HEAD)" -eq 4
ok "a Build file has what is there: nothing of the next patch" \
	diff <(printf '# what there is\nperf-y += model.o\n') \
	<(git -C "$TMP/am" show HEAD~1:tools/perf/kvm-unified/Build)
ok "author, date and subject are the patch's" grep -qx 'A U Thor Fri, 20 Nov 2026 08:00:00 +0000 kernel: one' \
	<(git -C "$TMP/am" log --format='%an %aD %s')
ok "the tag for new files does not go upstream" not grep -r '^New-files' "$TMP/series"
ok "the cover letter has its subject" grep -q '^Subject: .*a title' "$TMP/series/0000-cover-letter.patch"
ok "and its text" grep -q '^Measured: 42 %' "$TMP/series/0000-cover-letter.patch"
printf 'To: "Doe, Jane" <jane@example.com>,\n\tMax <max@example.com>\n' >"$TMP/to"
printf 'Cc: Rea Der <reader@example.com>,\n\tlist@example.com\n' >"$TMP/cc"
# The header NAME of a message, with the lines that it is folded into.
header_of()
{
	sed '/^$/q' "$2" | sed -n "/^$1:/,/[^,]\$/p"
}
for message in "$TMP"/series/0001-*.patch "$TMP/series/0000-cover-letter.patch"; do
	ok "To: maintainers, $(basename "$message")" diff "$TMP/to" <(header_of To "$message")
	ok "Cc: reviewers and lists, $(basename "$message")" diff "$TMP/cc" <(header_of Cc "$message")
done
ok "what is nobody's goes to who had the patch before it" \
	diff "$TMP/to" <(header_of To "$(echo "$TMP"/series/0002-*.patch)")
ok "the cover letter is from the author" \
	grep -qx 'From: A U Thor <author@example.com>' "$TMP/series/0000-cover-letter.patch"
ok "the series file for quilt has the patches" \
	diff "$TMP/series/series" <(cd "$TMP/series" && printf '%s\n' 000[1-9]-*.patch)
ok "and a diffstat" grep -q '6 files changed' "$TMP/series/0000-cover-letter.patch"

echo forgotten >"$new/perf-kvm-unified/forgotten.h"
compose >"$TMP/out" 2>&1
rc=$?
ok "a new file in no patch is refused" test "$rc" -ne 0
ok "and named" grep -q 'no patch of the series brings: tools/perf/kvm-unified/forgotten.h' "$TMP/out"
done_testing
