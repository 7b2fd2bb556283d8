#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The KVM selftests that the kernel has without the series: the same results with it, test by test.
# BASE_SELFTESTS=x86: those of x86 alone.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

# run VARIANT: its results to $TMP/VARIANT
run()
{
	BASE_SELFTESTS_VARIANT=${1#series} lab_runs base-selftests
	sort "$LAB_OUT/base-selftests/results" >"$TMP/$1"
	note "$1: $(cut -d' ' -f2 "$TMP/$1" | sort | uniq -c | tr -s ' \n' ' ')"
}

run vanilla
run series
at_least 40 "selftests that the kernel has" "$(wc -l <"$TMP/vanilla")"
at_least 20 "of these pass" "$(grep -c ' pass$' "$TMP/vanilla")"
ok "the same have run" diff <(cut -d' ' -f1 "$TMP/vanilla") <(cut -d' ' -f1 "$TMP/series")
while read -r name before; do
	after=$(awk -v name="$name" '$1 == name { print $2 }' "$TMP/series")
	ok "$name: $before" test "$after" = "$before"
done <"$TMP/vanilla"
done_testing
