# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests, after tap.sh. The names that a profile has for short-lived processes, against the
# log of a guest. They use $PERF, and $BRIEF, the program that all of them run.

# names_of RECORDING: see guest-names.py
names_of()
{
	"$PERF" script -f -i "$1.data" -F comm,pid,time,ip,vcpu_ctx >"$TMP/$1.script" 2>"$TMP/$1.err"
	"$TESTS/guest-names.py" "$TMP/$1.script" "$1.log" "$1" "$BRIEF" >"$TMP/$1.names"
	note "$1: $(paste -sd, "$TMP/$1.names")"
}

# is RECORDING WHAT MINIMUM [MAXIMUM]: the figure that names_of has found
is()
{
	awk -v what="$2" -v min="$3" -v max="${4:-1e9}" \
		'$1 == what { n++; if ($2 < min || $2 > max) exit 1 } END { if (!n) exit 1 }' "$TMP/$1.names"
}
