# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests, after tap.sh.

# The tree's own checkpatch. What is off: MAINTAINERS is one patch of its own,
# so every new file would be remarked upon; the names of libelf's types and of
# inttypes.h's formats are not ours to choose; tools/ has strlcpy() and no
# strscpy(); TRACE_EVENT() is laid out with open parentheses everywhere; a uapi
# header has no BIT(); a message for the user is not broken in two, so that it
# can be searched for; macros for tests and tables are used once; the one
# comparison of two constants is the kernel's; a flag that a signal handler sets is
# volatile; the fields of perf script are one string in pieces; options that commands
# share are a macro, as perf's OPTS_EVSWITCH() is; and parse_options_subcommand() writes
# to the usage.
# The tree has no history to look a Fixes: up in.
CHECKPATCH_OFF=UNKNOWN_COMMIT_ID,FILE_PATH_CHANGES,CAMELCASE,STRLCPY,OPEN_ENDED_LINE,BIT_MACRO
CHECKPATCH_OFF+=,COMPLEX_MACRO,STATIC_CONST_CHAR_ARRAY,VOLATILE,SPLIT_STRING,LONG_LINE_STRING,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,CONSTANT_COMPARISON

checkpatch()
{
	# It leaves files in the directory it runs in.
	(cd "$TMP" && perl "$TREE/orig/scripts/checkpatch.pl" --root="$TREE/orig" \
		--strict --quiet --no-summary --show-types --ignore "$CHECKPATCH_OFF" "$@")
}
