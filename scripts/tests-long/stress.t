#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Ten minutes of VMs, events and KVM's modules that come and go, on the sanitized kernel, with
# perf_event_open() fuzzed all the time; longer where that is too short for enough of each.
# STRESS_SECONDS for less, STRESS_SEED for another run.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

STRESS_SECONDS=${STRESS_SECONDS:-600}
export STRESS_SECONDS
out=$LAB_OUT/stress

lab_runs stress
# What the scenario has checked, in figures
sed -nE "s/^lab: +([0-9.]+) (.*, at least [0-9]+.*|after [0-9]+ s)/# \2/p" "$out/lab.log"
sed -n 's/^attr-fuzz/# &/p' "$out/keep.log"

counted()
{
	grep -qE "^lab: .* $1: [0-9]+, at least" "$out/lab.log"
}
for what in vms recordings modules NMIs 'vCPU threads moved' 'fuzz: opened' 'fuzz: in-guest' \
		'fuzz: timeline' 'samples of guests, .*'; do
	ok "stress: $what" counted "$what"
done
# The series for the LTS kernel has none.
[ "$BASE" = "$LTS" ] || ok "stress: callchains of guests, fuzzed" counted 'fuzz: callchains'
ok "the kernel had nothing to say" not grep -q 'host kernel complained' "$out/lab.log"
done_testing
