#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# chains of every day has the callchains of a 6.1 kernel: those of the oldest and the newest one of
# the lab's guests, whose tables are laid out in other ways. And what callchains cost a guest.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/kernel-chains.sh
. "$TESTS/kernel-chains.sh"
# shellcheck source=scripts/tests/overhead.sh
. "$TESTS/overhead.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs chains-kernels
cd "$LAB_OUT/chains-kernels" || { done_testing; }
export HOME=$TMP/home
mkdir -p "$HOME"

"$PERF" kvm unified script -f -i unwound.data --guest-root "$MAIN_TREE/guest/root" \
	-F machine_pid,comm,ip,sym >"$TMP/script" 2>/dev/null

# of_vm PID: the samples of that VM
of_vm()
{
	awk -v pid="$1" '/^[^ \t]/ || /^$/ { mine = 0 }
		$1 == "VM:" { mine = $2 == pid; sub(/^VM: *[0-9]* */, "") }
		mine { print }
		/^$/ { print }' "$TMP/script"
}
# kernel_of GUEST RELEASE
kernel_of()
{
	local pid

	pid=$(sed -n "s/^# guest $1: pid \\([0-9]*\\),.*/\\1/p" report.txt)
	kernel_chains "$2" "$2" "unwound.data/kcore_dir__$pid/kallsyms" < <(of_vm "$pid")
}
kernel_of guest1 5.10
kernel_of guest2 6.12

lab_runs overhead-chains
cd "$LAB_OUT/overhead-chains" || { done_testing; }
PERIOD=$(period)

for way in unified chains unwound little inside_chains inside_unwound; do
	note "overhead, $way: $(overhead "$way-$PERIOD") %, $(wc -c <"$way-$PERIOD.data") bytes"
	ok "$way: nothing was lost" test "$(records "$PERF" PERF_RECORD_LOST "$way-$PERIOD.data")" -eq 0
done
for way in chains unwound little; do
	at_least 1000 "$way: callchains of the guest" \
		"$(records "$PERF" PERF_RECORD_GUEST_CALLCHAIN "$way-$PERIOD.data")"
done
at_most 1 "chains: overhead, %" "$(overhead "chains-$PERIOD")"
# A copy of 8 KiB of each stack costs more than that, wherever it is made.
for way in chains unwound; do
	at_most "$(overhead "inside_$way-$PERIOD")" "$way: overhead, no more than that of the guest's own perf, %" \
		"$(overhead "$way-$PERIOD")"
done
done_testing
