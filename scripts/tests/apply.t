#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The series applies, and applying is incremental. The properties are tried on a
# tree of three files, for speed.

# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

APPLY=$TOP/scripts/apply.sh

ok "the series applies to linux-$BASE without fuzz" "$APPLY"

small=$TMP/tree
patches=$TMP/patches/linux-$BASE
mkdir -p "$small/kernel" "$patches" "$TMP/new/perf-kvm-unified"
echo new >"$TMP/new/perf-kvm-unified/new.c"
printf 'VERSION = %s\nPATCHLEVEL = %s\nmrproper:\n' "${BASE%.*}" "${BASE#*.}" >"$small/Makefile"
seq 1 20 >"$small/kernel/a.c"
seq 1 20 >"$small/kernel/b.c"

# make_patch NAME FILE SED-SCRIPT: against the pristine file.
make_patch()
{
	mkdir -p "$TMP/diff/a/kernel" "$TMP/diff/b/kernel"
	cp "$small/$2" "$TMP/diff/a/$2"
	sed "$3" "$small/$2" >"$TMP/diff/b/$2"
	(cd "$TMP/diff" && diff -u "a/$2" "b/$2") >"$patches/$1"
}

apply()
{
	KDIR=$small KVMU_CACHE=$TMP/cache KVMU_PATCHES=$TMP/patches KVMU_NEW=$TMP/new "$APPLY"
}

src()
{
	echo "$TMP"/cache/*/src
}

# Contents and times of all files, to compare before and after.
state()
{
	(cd "$(src)" && find . -type f -printf '%p %T@\n' | sort)
}

make_patch one.patch kernel/a.c 's/^5$/five/'
make_patch two.patch kernel/b.c 's/^5$/five/'
printf '# a comment\n\none.patch\ntwo.patch # another\n' >"$patches/series"

ok "a series of two applies" apply
ok "the first patch is in" grep -qx five "$(src)/kernel/a.c"
ok "the second patch is in" grep -qx five "$(src)/kernel/b.c"
ok "a new file is there" grep -qx new "$(src)/tools/perf/kvm-unified/new.c"
ok "the pristine copy is untouched" cmp "$small/kernel/a.c" "$TMP"/cache/*/orig/kernel/a.c
ok "the user's tree is untouched" not grep -q five "$small/kernel/a.c"

state >"$TMP/before"
apply >"$TMP/out" 2>&1
state >"$TMP/after"
ok "a second run says nothing" not test -s "$TMP/out"
ok "a second run changes no file" cmp "$TMP/before" "$TMP/after"

echo newer >"$TMP/new/perf-kvm-unified/new.c"
ok "a changed new file: it is taken" apply
ok "... as it is" grep -qx newer "$(src)/tools/perf/kvm-unified/new.c"
state >"$TMP/before"

make_patch two.patch kernel/b.c 's/^5$/FIVE/'
ok "a changed patch applies" apply
state >"$TMP/after"
ok "only its file is new" test "$(diff "$TMP/before" "$TMP/after" | grep '^>' | cut -d' ' -f2)" = ./kernel/b.c
ok "the changed patch is in" grep -qx FIVE "$(src)/kernel/b.c"

rm "$(src)"/../stamps/applied
cp "$TMP/after" "$TMP/before"
ok "an interrupted run is done again" apply
state >"$TMP/after"
ok "and changes no file that was right" cmp "$TMP/before" "$TMP/after"

echo one.patch >"$patches/series"
ok "a shorter series applies" apply
ok "what a dropped patch changed is pristine again" cmp "$small/kernel/b.c" "$(src)/kernel/b.c"
ok "and newer than what was built from it" test "$(src)/kernel/b.c" -nt "$small/kernel/b.c"

printf -- '--- /dev/null\n+++ b/kernel/new.c\n@@ -0,0 +1 @@\n+new\n' >"$patches/new.patch"
printf 'one.patch\nnew.patch\n' >"$patches/series"
ok "a patch may add a file" apply
ok "the new file is there" grep -qx new "$(src)/kernel/new.c"
echo one.patch >"$patches/series"
apply >/dev/null 2>&1
ok "and it goes with its patch" not test -e "$(src)/kernel/new.c"

state >"$TMP/before"
sed 's/^ 4$/ IV/' "$patches/one.patch" >"$patches/bad.patch"
echo bad.patch >"$patches/series"
apply >"$TMP/out" 2>&1
rc=$?
state >"$TMP/after"
ok "a patch that needs fuzz is refused" test "$rc" -ne 0
ok "the message names the patch" grep -q 'patch bad.patch does not apply' "$TMP/out"
ok "and shows the rejected hunk" grep -q 'a.c.rej' "$TMP/out"
ok "and the tree is as it was" cmp "$TMP/before" "$TMP/after"

# A git tree is copied as what git tracks, with the changes not yet committed.
: >"$patches/series"
echo junk >"$small/kernel/a.o"
git -C "$small" init -q && git -C "$small" add Makefile kernel/a.c kernel/b.c
echo 21 >>"$small/kernel/a.c"
ok "a git tree applies" apply
ok "with its uncommitted changes" cmp "$small/kernel/a.c" "$(src)/kernel/a.c"
ok "without its build products" not test -e "$(src)/kernel/a.o"

echo missing.patch >"$patches/series"
apply >"$TMP/out" 2>&1
rc=$?
ok "a missing patch is refused" test "$rc" -ne 0
ok "and named" grep -q 'names missing.patch, which does not exist' "$TMP/out"
done_testing
