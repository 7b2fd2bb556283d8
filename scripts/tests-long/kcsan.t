#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Two minutes of what stress.t has, on a kernel with KCSAN: no race in what the series adds.
# STRESS_SECONDS for more, STRESS_SEED for another run.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

STRESS_SECONDS=${STRESS_SECONDS:-120}
export STRESS_SECONDS
out=$LAB_OUT/kcsan

lab_runs kcsan
sed -nE "s/^lab: +([0-9.]+) (.*, at least [0-9]+.*|after [0-9]+ s)/# \2/p" "$out/lab.log"
cat "$out/host-console.log" "$out/host-dmesg.log" | sed -n 's/.*BUG: KCSAN: //p' | sort | uniq -c |
	sort -rn >"$TMP/races"
sed 's/^/# /' "$TMP/races" | head -n 20
# Else it was not on.
at_least 1 "places where the kernel races, in all" "$(wc -l <"$TMP/races")"
ok "none of them is the series'" not grep -q 'host kernel complained' "$out/lab.log"
done_testing
