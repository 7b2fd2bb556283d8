#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# `make series`: what others get is the tree that is built and tested here, in series that each
# apply to what their cover letter says, and complete. Tried on a small tree.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

small=$TMP/tree
patches=$TMP/patches/linux-$BASE
new=$TMP/new
out=$TMP/series
mkdir -p "$small/kernel" "$small/mm" "$small/scripts" "$patches/covers" \
	"$new/perf-kvm-unified/tests" "$new/kernel-selftests"
printf 'VERSION = %s\nPATCHLEVEL = %s\nSUBLEVEL = 9\nmrproper:\n' "${BASE%.*}" "${BASE#*.}" \
	>"$small/Makefile"
seq 1 20 >"$small/kernel/a.c"
seq 1 20 >"$small/mm/b.c"
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

MEMORY
M:	Mem Ory <memory@example.com>
S:	Maintained
F:	mm/

EOT
echo model >"$new/perf-kvm-unified/model.c"
echo view >"$new/perf-kvm-unified/view.c"
echo test >"$new/perf-kvm-unified/tests/model-test.c"
printf '# what there is\nperf-y += model.o\nperf-y += view.o\n\nperf-test-y += tests/\n' \
	>"$new/perf-kvm-unified/Build"
echo kunit >"$new/kernel-selftests/vcpu_test.c"
echo 'vcpu_test.c kernel/tests/vcpu_test.c' >"$new/kernel-selftests/MANIFEST"
echo "vcpu_test.c kernel/tests/lts_test.c $LTS" >>"$new/kernel-selftests/MANIFEST"

# make_patch FILE SUBJECT SERIES HEADER-LINE [PATH SED-EXPRESSION]: the difference is to what
# the patches before it have made of PATH.
make_patch()
{
	local file=$patches/$1

	printf 'From: A U Thor <author@example.com>\nDate: Fri, 20 Nov 2026 08:00:00 +0000\nSubject: [PATCH] %s\n\nText of %s.\n\n%s\n%s\n%s\n---\n' \
		"$2" "$2" "Fixes: 0123456789ab (\"something\")" "${3:+Series: $3}" "$4" >"$file"
	[ -n "${5:-}" ] || return
	mkdir -p "$TMP/d/a/${5%/*}" "$TMP/d/b/${5%/*}"
	[ -f "$TMP/d/b/$5" ] || cp "$small/$5" "$TMP/d/b/$5"
	cp "$TMP/d/b/$5" "$TMP/d/a/$5"
	sed -i "$6" "$TMP/d/b/$5"
	(cd "$TMP/d" && diff -u --label "a/$5" --label "b/$5" "a/$5" "b/$5") >>"$file"
}

# Of the series, fixes stands alone, and so does mem; sample is on fixes, and timeline on sample;
# tool is not offered.
make_patch 1.patch "kernel: one" fixes '' kernel/a.c 's/^5$/five/'
make_patch 2.patch "perf: two" tool "New-files: tools/perf/kvm-unified/Build tools/perf/kvm-unified/model.c"
make_patch 3.patch "kernel: three" sample "New-files: kernel/tests/*.c" kernel/a.c 's/^7$/seven/'
make_patch 4.patch "perf: four" tool "New-files: tools/perf/kvm-unified/view.c tools/perf/kvm-unified/tests/*"
make_patch 5.patch "mm: five" mem '' mm/b.c 's/^7$/seven/'
make_patch 6.patch "kernel: six" timeline '' kernel/a.c 's/^8$/eight/'
printf '%s.patch\n' 1 2 3 4 5 6 >"$patches/series"

# cover NAME LINE...: a cover letter with these headers
cover()
{
	local name=$1
	shift

	{
		echo "Subject: the title of $name"
		printf '%s\n' "$@"
		printf '\nMeasured: 42 %%.\n\n'
	} | sed '/^$/{ N; /^\n$/D }' >"$patches/covers/$name"
}
cover fixes
cover sample "Prefix: RFC PATCH" "Needs: fixes" "To: Extra <extra@example.com>" "Cc: other-list@example.com"
cover timeline "Needs: sample"
cover mem

compose()
{
	KDIR=$small KVMU_CACHE=$TMP/cache KVMU_PATCHES=$TMP/patches KVMU_NEW=$new \
		KVMU_SERIES=$out "$TOP/scripts/series.sh"
}

# refuse WHAT PATTERN: it is, with that sentence
refuse()
{
	local rc

	compose >"$TMP/out" 2>&1
	rc=$?
	ok "$1: refused" test "$rc" -ne 0
	ok "$1: and said" grep -q "$2" "$TMP/out"
}

git_am()
{
	git -C "$TMP/am" -c user.name=m -c user.email=m@example.com am -q
}

# take SERIES...: as a maintainer would, one after the other
take()
{
	local name

	rm -rf "$TMP/am"
	cp -r "$small" "$TMP/am"
	git -C "$TMP/am" init -q
	git -C "$TMP/am" add -A
	git -C "$TMP/am" -c user.name=m -c user.email=m@example.com commit -qm base
	for name in "$@"; do
		git_am < <(cd "$out/$name" && xargs cat <series) || return
	done
}

same_as_built()
{
	diff -r -x .git "$TMP/am" "$(echo "$TMP"/cache/*/src)"
}

# message NAME NUMBER
message()
{
	echo "$out/$1/$2"-*.patch
}

# The header NAME of a message, with the lines that it is folded into.
header_of()
{
	awk -v name="$1:" '/^$/ { exit } /^[^ \t]/ { on = $1 == name } on' "$2"
}

printf 'Made by a tool, and tested\nas described.\n' >"$TMP/patches/origin"
compose >"$TMP/said" 2>&1
rc=$?
ok "the series are composed" test "$rc" -eq 0
ok "those with a cover letter, and all" diff <(printf '%s\n' complete fixes mem sample timeline) <(ls "$out")
ok "what is not offered is said" grep -q 'not offered, having no cover letter: tool (2)$' "$TMP/said"
ok "and that nothing can be sent without a sign-off" grep -q "Signed-off-by.*make series SIGNOFF='Name <address>'" "$TMP/said"

ok "all of them apply with git am" take complete
ok "and give the tree that is built" same_as_built
ok "one commit a patch" test "$(git -C "$TMP/am" rev-list --count HEAD)" -eq 7
ok "a Build file has what is there: nothing of the next patch" \
	diff <(printf '# what there is\nperf-y += model.o\n') \
	<(git -C "$TMP/am" show HEAD~3:tools/perf/kvm-unified/Build)
ok "author, date and subject are the patch's" grep -qx 'A U Thor Fri, 20 Nov 2026 08:00:00 +0000 kernel: one' \
	<(git -C "$TMP/am" log --format='%an %aD %s')
ok "our own tags do not go upstream" not grep -rE '^(New-files|Series):' "$out"

for name in fixes mem; do
	ok "$name applies to the pristine tree" take "$name"
done
ok "sample does on fixes" take fixes sample
ok "timeline does on both, and has nothing of them" take fixes sample timeline
ok "what it gives is that of all" diff -r -x .git -x tools -x mm "$TMP/am" "$(echo "$TMP"/cache/*/src)"
ok "sample does not without fixes" not take sample
ok "timeline has its patch only" diff <(echo 0001-kernel-six.patch) "$out/timeline/series"
ok "new files are in the series of their patch" grep -q '^+kunit' "$(message sample 0001)"

letter=$out/sample/0000-cover-letter.patch
ok "the cover letter has its subject" grep -q '^Subject: \[RFC PATCH 0/1\] the title of sample$' "$letter"
ok "a patch has the prefix" grep -q '^Subject: \[RFC PATCH 1/1\] kernel: three$' "$(message sample 0001)"
ok "PATCH where there is none" grep -q '^Subject: \[PATCH 0/1\] the title of fixes$' "$out/fixes/0000-cover-letter.patch"
ok "the text is there, without the headers" not grep -qE '^(Needs|Prefix):' "$letter"
ok "and in whole" grep -q '^Measured: 42 %' "$letter"
ok "it says what it is against" grep -qx "This is against Linux $BASE.9 with these series, in this order:" "$letter"
ok "and which series is needed" grep -qx ' - the title of fixes (fixes)' "$letter"
ok "those that need some are behind them" diff \
	<(printf ' - the title of %s\n' 'fixes (fixes)' 'sample (sample)') \
	<(grep '^ - ' "$out/timeline/0000-cover-letter.patch")
ok "the patches that are needed have their ids" test "$(grep '^prerequisite-patch-id: ' "$letter")" = \
	"prerequisite-patch-id: $(git patch-id --stable <"$(message fixes 0001)" | cut -d' ' -f1)"
ok "and how it was made" diff "$TMP/patches/origin" \
	<(sed -n "$(grep -n '^Made by a tool' "$letter" | cut -d: -f1),+1p" "$letter")
ok "where none is needed, that is said" grep -qx "This is against Linux $BASE.9." "$out/fixes/0000-cover-letter.patch"
ok "and a diffstat" grep -q '2 files changed' "$letter"
ok "the cover letter is from the author" grep -qx 'From: A U Thor <author@example.com>' "$letter"

printf 'To: "Doe, Jane" <jane@example.com>,\n\tMax <max@example.com>\n' >"$TMP/to"
printf 'Cc: Rea Der <reader@example.com>,\n\tlist@example.com\n' >"$TMP/cc"
for message in "$(message fixes 0001)" "$out/fixes/0000-cover-letter.patch"; do
	ok "To: maintainers, $(basename "$message")" diff "$TMP/to" <(header_of To "$message")
	ok "Cc: reviewers and lists, $(basename "$message")" diff "$TMP/cc" <(header_of Cc "$message")
done
ok "To: and Cc: of the cover letter are added" grep -c '	Extra <extra@example.com>\|	other-list@example.com' \
	<(header_of To "$(message sample 0001)"; header_of Cc "$(message sample 0001)")
ok "each series goes to its own maintainers" diff <(echo 'To: Mem Ory <memory@example.com>') \
	<(header_of To "$out/mem/0000-cover-letter.patch")
ok "the series file for quilt has the patches" \
	diff "$out/complete/series" <(cd "$out/complete" && printf '%s\n' 000[1-9]-*.patch)
ok "the mailbox has the messages" test "$(grep -c '^From [0-9a-f]\{40\} ' "$out/sample/series.mbox")" -eq 2

SIGNOFF='Per Son <person@example.com>' TRAILERS=$'Assisted-by: A tool\nTested-by: Per Son <person@example.com>' \
	compose >"$TMP/said" 2>&1
ok "SIGNOFF: nothing is missing then" not grep -q SIGNOFF "$TMP/said"
ok "SIGNOFF: the trailers are in the patch's own paragraph, the sign-off is the last" diff \
	<(printf '%s\n' 'Fixes: 0123456789ab ("something")' 'Assisted-by: A tool' \
		'Tested-by: Per Son <person@example.com>' 'Signed-off-by: Per Son <person@example.com>') \
	<(sed -n '/^Fixes/,/^---$/p' "$(message fixes 0001)" | sed '$d')
for message in "$(message fixes 0001)" "$out/fixes/0000-cover-letter.patch"; do
	ok "SIGNOFF: it is from that person, $(basename "$message")" \
		grep -qx 'From: Per Son <person@example.com>' "$message"
done
ok "SIGNOFF: git am takes it" take fixes
SIGNOFF='just a name' refuse "SIGNOFF without an address" "has to be 'Name <address>'"

cover sample
refuse "a series that needs one that it does not say" '3.patch does not apply to Linux .*cover letter of sample'
cover sample "Needs: fixes"
cover fixes "Needs: timeline"
refuse "series that need each other" 'need each other: '
cover fixes "Needs: tool"
refuse "a needed series without a cover letter" 'covers/fixes needs tool, which has no cover letter'
cover fixes "Wants: more"
refuse "a header that is unknown" 'covers/fixes: not a header that is known'
cover fixes
cover nothing
refuse "a cover letter without patches" 'covers/nothing: no patch says Series: nothing'
rm "$patches/covers/nothing"
sed -i '/^Series:/d' "$patches/5.patch"
refuse "a patch of no series" '5.patch: no line Series: NAME'
sed -i 's/^Fixes:.*/&\nSeries: mem/' "$patches/5.patch"

rm "$patches/covers/mem"
ok "a series that is not offered any more" compose
ok "is not left there" not test -e "$out/mem"

echo forgotten >"$new/perf-kvm-unified/forgotten.h"
refuse "a new file in no patch" 'no patch of the series brings: tools/perf/kvm-unified/forgotten.h'

# The LTS kernel: one series of those that name none, with a test that is not part of it
patches=$TMP/patches/linux-$LTS
mkdir -p "$patches"
sed -i "s/^VERSION.*/VERSION = ${LTS%.*}/; s/^PATCHLEVEL.*/PATCHLEVEL = ${LTS#*.}/" "$small/Makefile"
rm -rf "$TMP/d"
make_patch 1.patch "kernel: one" '' '' kernel/a.c 's/^5$/five/'
make_patch 2.patch "kernel: test" lab 'New-files: kernel/tests/*'
printf '%s.patch\n' 1 2 >"$patches/series"
ok "$LTS: a series is composed" env BASE="$LTS" KDIR="$small" KVMU_CACHE="$TMP/cache-lts" \
	KVMU_PATCHES="$TMP/patches" KVMU_NEW="$new" KVMU_SERIES="$out" "$TOP/scripts/series.sh"
ok "$LTS: of the patches without a series" diff <(echo 0001-kernel-one.patch) "$out/backport/series"
ok "$LTS: it applies" take backport
ok "$LTS: the series of mainline are still there" test -d "$out/complete"

# Those of this repository: each new file has its patch. What they build is seen in make test-long.
ok "the series of this repository is composed" env KVMU_SERIES="$TMP/ours" "$TOP/scripts/series.sh"
done_testing
