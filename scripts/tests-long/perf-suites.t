#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf's own test suites in C, of the base's perf and of the series': the same results, test by test.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

export HOME=$TMP/home
mkdir -p "$HOME" "$TMP/empty"

# run VARIANT: lines "test: result" to $TMP/VARIANT. Without shell tests, which perf finds in the
# source tree: many of them want a PMU.
run()
{
	local perf=$MAIN_TREE/perf${1#series}/perf

	(cd "$TMP/empty" && PERF_EXEC_PATH=$TMP/empty "$perf" test) >"$TMP/$1.out" 2>&1
	sed -nE 's/^ *[0-9.]+: +(.*[^ ]) *: (Ok|FAILED!?|Skip)\b.*/\1: \2/p' "$TMP/$1.out" |
		tr -s ' ' | sort >"$TMP/$1"
	note "${1#-}: $(sed 's/.*: //' "$TMP/$1" | sort | uniq -c | tr -s ' \n' ' ')"
}

ok "the base's perf builds" env PERF_VARIANT=orig "$TOP/scripts/build-perf.sh"
ok "the series' perf builds" "$TOP/scripts/build-perf.sh"
run -orig
run series
at_least 60 "tests that the base's perf passes" "$(grep -c ': Ok$' "$TMP/-orig")"
# again NAME: alone, of both: some want more of a machine than one has that is busy.
again()
{
	local variant

	for variant in -orig series; do
		(cd "$TMP/empty" && PERF_EXEC_PATH=$TMP/empty \
			"$MAIN_TREE/perf${variant#series}/perf" test "$1") >"$TMP/again" 2>&1
		sed -nE 's/^ *[0-9.:]+: +.*: (Ok|FAILED!?|Skip)\b.*/\1/p' "$TMP/again" | tail -n 1
	done | uniq | tee /dev/stderr | wc -l
}

same()
{
	grep -qxF "$1" "$TMP/series" || [ "$(again "${1%: *}")" -eq 1 ]
}

while IFS= read -r line; do
	ok "perf test: $line" same "$line"
done <"$TMP/-orig"

# A shell test of what the series touches. It samples as often as the kernel lets it: a machine may be
# busy for minutes with what it gets, or get too few samples for it, and then it skips itself.
MULTI_RECORD="Zstd perf.data compression/decompression of multi-record data"
(cd "$TREE/src/tools/perf" && PATH=$MAIN_TREE/perf:$PATH perf test "$MULTI_RECORD") >"$TMP/multi" 2>&1
cat "$TMP/multi" >&2
if grep -q "$MULTI_RECORD *: Skip" "$TMP/multi"; then
	skip "perf test: $MULTI_RECORD" "the machine is too busy for two compressed records"
else
	ok "perf test: $MULTI_RECORD" grep -q "$MULTI_RECORD *: Ok" "$TMP/multi"
fi
done_testing
