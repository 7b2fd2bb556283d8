#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh: time and memory of the report, beside those of perf report, on profiles of many
# samples. They are made of the demo's, whose samples are repeated on the clock. Prints a
# table, which is also build/bench.txt.
#
# BENCH_SAMPLES: sizes, in millions of samples (1 4 16). BENCH_TIMES: runs of each (3).

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

PROFILE=$LAB_OUT/libquantum/perf.data
DIR=$TREE/bench
OUT=$TOP/build/bench.txt
# A sample takes some 70 bytes.
MB_OF_A_MILLION=70
MILLION=1000000

# row MILLIONS: makes a profile of so many samples, measures both commands
row()
{
	local made results what seconds mib ratio
	local perf=$MAIN_TREE/perf/perf
	local files="-f -k $TREE/host/vmlinux -i $DIR/perf.data"

	rm -rf "$DIR"
	mkdir -p "$DIR"
	made=$("$TOP/scripts/bench/enlarge" "$PROFILE" "$DIR/perf.data" \
		"$(($1 * MILLION))")
	results=$("$TOP/scripts/bench/measure" "${BENCH_TIMES:-3}" \
		"kvm-unified-report=$perf kvm unified report --stdio $files --guest-root $MAIN_TREE/guest/root" \
		"report=$perf report --stdio $files")
	while read -r what seconds mib ratio; do
		printf '%10d %-20s %8s %8s %8s\n' "$made" "$what" "$seconds" "$mib" "$ratio"
	done <<<"$results"
	rm -rf "$DIR"
}

table()
{
	local millions

	printf '%10s %-20s %8s %8s %8s\n' samples command s MiB ratio
	for millions in ${BENCH_SAMPLES:-1 4 16}; do
		row "$millions"
	done
}

[ -d "$PROFILE" ] || "$TOP/scripts/lab.sh" libquantum
"$TOP/scripts/build-perf.sh"
most=$(tr ' ' '\n' <<<"${BENCH_SAMPLES:-1 4 16}" | sort -n | tail -n1)
need_space "$TREE" $((most * MB_OF_A_MILLION + MB_OF_A_MILLION))
trap 'rm -rf "$DIR"' EXIT
table | tee "$OUT.new"
mv "$OUT.new" "$OUT"
