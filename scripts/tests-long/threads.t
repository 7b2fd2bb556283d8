#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The report's two threads, under ThreadSanitizer: the unit tests of the time axis, and a profile
# of 16 CPUs, whose JSON has to be the same as with one thread.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

ok "perf builds with TSan" env PERF_VARIANT=tsan "$TOP/scripts/build-perf.sh"
TSAN_PERF=$MAIN_TREE/perf-tsan/perf
PERF=$MAIN_TREE/perf/perf
export TSAN_OPTIONS="exitcode=66 halt_on_error=1"

ok "unit tests of the time axis" "$TSAN_PERF" test 'kvm unified: time axis'

lab_runs tiny-vmm
"$TOP/scripts/bench/widen.py" "$LAB_OUT/tiny-vmm/perf.data" "$TMP/wide" 16 >&2
# report PERF CPUS FILE: as JSON
report()
{
	taskset -c "$2" "$1" kvm unified report -f -i "$TMP/wide" --format json >"$3"
}
ok "a wide profile, by one thread" report "$PERF" 0 "$TMP/one.json"
ok "... and by two, under TSan" report "$TSAN_PERF" 0,1 "$TMP/two.json"
ok "... is the same to the ns" cmp "$TMP/one.json" "$TMP/two.json"
done_testing
