#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A host in lockdown: guests' callchains, and what else their stacks hold, as registers are.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

lab_runs locked
cd "$LAB_OUT/locked" || { done_testing; }

for level in none integrity confidentiality; do
	ok "the kernel was in lockdown: $level" grep -qF "[$level]" "$level-lockdown.txt"
	hand_on "$level.tap" "$level.err" "lockdown $level: "
done
ok "... and it is confidentiality that refuses them" \
	grep -qF 'locked down: no callchains of guests' confidentiality.tap
for level in none integrity; do
	ok "... not $level" not grep -qF 'locked down' "$level.tap"
done
done_testing
