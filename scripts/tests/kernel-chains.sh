# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Callchains of a guest's kernel, held against its code: for the tests that source this, after
# tap.sh.

# percent NAME: what $line has of it
percent()
{
	sed -n "s/^\\(.* \\)\\?$1 \\([0-9.]*\\).*/\\2/p" <<<"$line"
}

# kernel_image RELEASE
kernel_image()
{
	sh "$TREE/src/scripts/extract-vmlinux" "$MAIN_TREE/guest/vmlinuz-$1" >"$TMP/vmlinux"
}

# kernel_chains WHAT RELEASE KALLSYMS <SCRIPT: the chains of the programs calls, of perf script -F
# comm,ip,sym. $line has what kernel-calls.py prints.
kernel_chains()
{
	ok "$1: the image of the kernel" kernel_image "$2"
	line=$("$TESTS/kernel-calls.py" "$TMP/vmlinux" "$3" calls 2>"$TMP/stacks")
	note "$1: $line"
	cat "$TMP/stacks" >&2
	at_least 30 "$1: chains" "$(percent chains)"
	at_least 90 "$1: chains that come to where the kernel was entered, %" "$(percent entered)"
	at_least 70 "$1: calls that are proven by the code, %" "$(percent proven)"
	at_most 5 "$1: calls of something else, %" "$(percent odd)"
	at_most 0 "$1: return addresses without a call" "$(percent wrong)"
	at_least 75 "$1: chains that go on in the program, %" "$(percent programs)"
}
