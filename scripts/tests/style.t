#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Style: what the shell, the kernel's checkpatch and a speller have to say.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/checkpatch.sh
. "$(dirname "$0")/checkpatch.sh"
# shellcheck source=scripts/tests/once.sh
. "$(dirname "$0")/once.sh"

# Files of the checkout, by git if it is one: what is not tracked and not
# ignored counts, since it is about to be.
files()
{
	(cd "$TOP" && { git ls-files -co --exclude-standard -- "$@" 2>/dev/null ||
		find "$@" -type f; }) | sort -u
}

shell_files()
{
	local file

	files scripts .ci kernel-selftests perf-kvm-unified | while read -r file; do
		[ -f "$TOP/$file" ] || continue
		case $file in
		*.sh) echo "$file" ;;
		*)
			if head -n 1 "$TOP/$file" | grep -qaE '^#!.*\b(ba)?sh\b'; then
				echo "$file"
			fi
			;;
		esac
	done
}

# Test files of the kernel are shell by the kernel's lights, and sourced there.
shellcheck_file()
{
	(cd "$TOP" && shellcheck -x "$1")
}

# The third line: the second of perf's shell tests is what perf calls them.
has_spdx()
{
	head -n 3 "$TOP/$1" | grep -qE 'SPDX-License-Identifier: \(?GPL-2\.0'
}

spelling()
{
	(cd "$TOP" && files . | grep -vE '\.(deb|data|png|gz)$' |
		xargs -d '\n' codespell --ignore-words-list="$SPELL_OK")
}

# In documents, words of English and those of scripts/tests/words
prose()
{
	local words

	words=$("$TESTS/spelling" "$TOP/README.md" "$TOP"/Documentation/*.{md,rst,txt}) || return 1
	echo "$words"
	[ -z "$words" ]
}
finds_typo()
{
	# shellcheck disable=SC2016 # a listing in a document
	printf 'A vCPU and its steal; a `strnage` listing.\nWhat is wrnog is fuond.\n' >"$TMP/typo.md"
	diff <("$TESTS/spelling" "$TMP/typo.md") <(printf 'fuond\nwrnog\n')
}

# What must not get into the repository: this machine's paths, a mirror's name.
no_local_paths()
{
	! (cd "$TOP" && files . | xargs -d '\n' grep -nIE '/(root|home/[a-z]+|work)/|https?://[^ ]*/(dists|pool)/' --)
}

# counted FILE: passes if the file has no "bad" in it, and counts how often it is called
counted()
{
	echo >>"$TMP/calls"
	not grep -q bad "$1"
}

calls()
{
	wc -l <"$TMP/calls"
}

# plant WHAT FILE LINE: a copy of the rooms with one line more in one file is found wrong
plant()
{
	rm -rf "$TMP/rooms"
	cp -r "$TOP/perf-kvm-unified" "$TMP/rooms"
	sed -i "0,/^#include/s|^#include|$3\n&|" "$TMP/rooms/$2"
	ok "rooms: $1 is found" not "$TESTS/rooms" "$TMP/rooms"
}

"$TOP/scripts/deps.sh" check >&2 && "$TOP/scripts/get-kernel.sh" >&2 || exit 1

# What has passed stays so: not again by one machine.
PASSED=$TMP/passed
: >"$TMP/calls"
echo fine >"$TMP/it"
once "$TMP/it" -- counted "$TMP/it" && once "$TMP/it" -- counted "$TMP/it"
ok "what has passed is not run again" test "$(calls)" -eq 1
echo bad >"$TMP/it"
ok "... but with another content" not once "$TMP/it" -- counted "$TMP/it"
ok "... and again if it has failed" not once "$TMP/it" -- counted "$TMP/it"
ok "... each of these times" test "$(calls)" -eq 3
PASSED=$KVMU_CACHE/passed

shellcheck --version >"$TMP/shellcheck"
# What a script sources is checked with it.
mapfile -t sourced < <(files scripts | grep '\.sh$' | sed "s|^|$TOP/|")
sha256sum "${sourced[@]}" | cut -d' ' -f1 >>"$TMP/shellcheck"
for file in $(shell_files); do
	ok "shellcheck $file" once "$TMP/shellcheck" "$TOP/$file" -- shellcheck_file "$file"
done
declare -f checkpatch >"$TMP/checkpatch"
(
	echo "$CHECKPATCH_OFF"
	cd "$TREE/orig/scripts" && sha256sum checkpatch.pl spelling.txt const_structs.checkpatch
) >>"$TMP/checkpatch"
for file in $(shell_files) $(files perf-kvm-unified kernel-selftests | grep -E '\.[ch]$'); do
	ok "licence tag in $file" has_spdx "$file"
done
for patch in "$TOP"/patches/*/*.patch; do
	[ -f "$patch" ] || continue
	# Some only name new files, and none is signed; make test-long has them as they are sent.
	ok "checkpatch $(basename "$(dirname "$patch")")/$(basename "$patch")" \
		once "$TMP/checkpatch" "$patch" -- checkpatch --ignore NOT_UNIFIED_DIFF,MISSING_SIGN_OFF "$patch"
done
for file in $(files perf-kvm-unified kernel-selftests | grep -E '\.[ch]$'); do
	ok "checkpatch $file" once "$TMP/checkpatch" "$TOP/$file" -- checkpatch --file "$TOP/$file"
done
ok "rooms: each includes only what it may, and there is no circle" "$TESTS/rooms" "$TOP/perf-kvm-unified"
plant "an include of a room that may not be called" axis/states.c '#include "kvm-unified/guests/guests.h"'
plant "a circle of files" axis/gaps.h '#include "axis.h"'
plant "an include by a way of its own" report/exits.c '#include "../lib/sort.h"'
ok "each mutation finds its place in the code" "$TOP/scripts/mutations.sh" --check
ok "... those of each room, too" "$TOP/scripts/tests-long/changed.t" --check
ok "codespell" spelling
ok "aspell: words of English and of the field" prose
ok "... and it finds others" finds_typo
ok "no paths of one machine, no package mirror" no_local_paths
done_testing
