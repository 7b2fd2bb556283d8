#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Style: what the shell, the kernel's checkpatch and a speller have to say.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

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
	head -n 3 "$TOP/$1" | grep -q 'SPDX-License-Identifier: GPL-2.0'
}

# The tree's own checkpatch. What is off: MAINTAINERS is one patch of its own,
# so every new file would be remarked upon; the names of libelf's types and of
# inttypes.h's formats are not ours to choose; tools/ has strlcpy() and no
# strscpy(); TRACE_EVENT() is laid out with open parentheses everywhere; a uapi
# header has no BIT(); a message for the user is not broken in two, so that it
# can be searched for; macros for tests and tables are used once; the one
# comparison of two constants is the kernel's; and a flag that a signal handler
# sets is volatile.
# The tree has no history to look a Fixes: up in.
CHECKPATCH_OFF=UNKNOWN_COMMIT_ID,FILE_PATH_CHANGES,CAMELCASE,STRLCPY,OPEN_ENDED_LINE,BIT_MACRO
CHECKPATCH_OFF+=,VOLATILE,LONG_LINE_STRING,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,CONSTANT_COMPARISON

checkpatch()
{
	# It leaves files in the directory it runs in.
	(cd "$TMP" && perl "$TREE/orig/scripts/checkpatch.pl" --root="$TREE/orig" \
		--strict --quiet --no-summary --show-types --ignore "$CHECKPATCH_OFF" "$@")
}

spelling()
{
	(cd "$TOP" && files . | grep -vE '\.(deb|data|png|gz)$' |
		xargs -d '\n' codespell --ignore-words-list="$SPELL_OK")
}

# What must not get into the repository: this machine's paths, a mirror's name.
no_local_paths()
{
	! (cd "$TOP" && files . | xargs -d '\n' grep -nIE '/(root|home/[a-z]+|work)/|https?://[^ ]*/(dists|pool)/' --)
}

"$TOP/scripts/deps.sh" check >&2 && "$TOP/scripts/get-kernel.sh" >&2 || exit 1

for file in $(shell_files); do
	ok "shellcheck $file" shellcheck_file "$file"
done
for file in $(shell_files) $(files perf-kvm-unified kernel-selftests | grep -E '\.[ch]$'); do
	ok "licence tag in $file" has_spdx "$file"
done
for patch in "$TOP/patches/$BASE"/*.patch; do
	[ -f "$patch" ] || continue
	ok "checkpatch $(basename "$patch")" checkpatch "$patch"
done
for file in $(files perf-kvm-unified kernel-selftests | grep -E '\.[ch]$'); do
	ok "checkpatch $file" checkpatch --file "$TOP/$file"
done
ok "codespell" spelling
ok "no paths of one machine, no package mirror" no_local_paths
done_testing
