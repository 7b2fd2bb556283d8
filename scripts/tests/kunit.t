#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The KUnit suites of the series, which the lab's host runs when it boots. Each of
# their cases is a check here.

# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

SUITES="kvm_svm_perf_data kvm_vmx_perf_data kvm_x86_perf_data perf_vcpu_sample"

lab_runs host-only
cd "$LAB_OUT/host-only" || { done_testing; }
sed 's/^\[ *[0-9.]*\] //' host-dmesg.log >"$TMP/ktap"

# cases SUITE: its lines "ok N CASE" or "not ok N CASE"
cases()
{
	awk -v suite="$1" '
		/# Subtest: / { on = $NF == suite }
		on && /^    (not )?ok / { sub(/^ */, ""); print }' "$TMP/ktap"
}

for suite in $SUITES; do
	cases "$suite" >"$TMP/cases"
	ok "KUnit has the suite $suite, with cases" test -s "$TMP/cases"
	while read -r line; do
		ok "$suite: ${line##* }" test "${line%% *}" = ok
	done <"$TMP/cases"
	sed -n "/# Subtest: $suite\$/,/ok [0-9]* $suite\$/p" "$TMP/ktap" | grep -A 8 EXPECTATION >&2
	ok "$suite passes" grep -qE "^ok [0-9]+ $suite\$" "$TMP/ktap"
done

done_testing
