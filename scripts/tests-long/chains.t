#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# chains of every day has the callchains of a 6.1 kernel: those of the oldest and the newest one of
# the lab's guests, whose tables are laid out in other ways.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs chains-kernels
cd "$LAB_OUT/chains-kernels" || { done_testing; }
export HOME=$TMP/home
mkdir -p "$HOME"

"$PERF" kvm unified script -f -i unwound.data -F machine_pid,comm,ip,sym >"$TMP/script" 2>/dev/null

# of_vm PID: the samples of that VM
of_vm()
{
	awk -v pid="$1" '/^[^ \t]/ || /^$/ { mine = 0 }
		$1 == "VM:" { mine = $2 == pid; sub(/^VM: *[0-9]* */, "") }
		mine { print }
		/^$/ { print }' "$TMP/script"
}
# percent KIND: of $line
percent()
{
	sed -n "s/^\\(.* \\)\\?$1 \\([0-9.]*\\).*/\\2/p" <<<"$line"
}
kernel_image()
{
	sh "$TREE/src/scripts/extract-vmlinux" "$MAIN_TREE/guest/vmlinuz-$1" >"$TMP/vmlinux"
}
# kernel_of GUEST RELEASE
kernel_of()
{
	local pid

	pid=$(sed -n "s/^# guest $1: pid \\([0-9]*\\),.*/\\1/p" report.txt)
	ok "$2: the image of the kernel" kernel_image "$2"
	line=$(of_vm "$pid" | "$TESTS/kernel-calls" "$TMP/vmlinux" "unwound.data/kcore_dir__$pid/kallsyms" \
		calls 2>"$TMP/stacks")
	note "$2: $line"
	cat "$TMP/stacks" >&2
	at_least 30 "$2: chains" "$(percent chains)"
	at_least 90 "$2: chains that come to where the kernel was entered, %" "$(percent entered)"
	at_least 70 "$2: calls that are proven by the code, %" "$(percent proven)"
	at_most 5 "$2: calls of something else, %" "$(percent odd)"
	at_most 0 "$2: return addresses without a call" "$(percent wrong)"
}
kernel_of guest1 5.10
kernel_of guest2 6.12
done_testing
