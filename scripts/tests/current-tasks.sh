# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests, after tap.sh. The process of a guest's sample by what the guest has in its memory as
# the current task, against the CR3 that the kernel has put into the sample.

# of_samples MODE SAME|OTHER|NONE: percent of the guests' samples in that mode: 1, 2, 3 for the latter
of_samples()
{
	awk -v mode="$1" -v which="$2" '{
		for (i = 1; $i != mode; i++)
			;
		all = $(i + 1) + $(i + 2) + $(i + 3)
		print all ? 100 * $(i + which) / all : -1
	}' "$TMP/tasks"
}

# check_tasks NAME PROFILE PERCENT [own]: see tasks-by-bpf. At least PERCENT of the samples in user mode
# have the same process by both, and none has another: for the rest, none is told. In the kernel there
# are switches of tasks.
check_tasks()
{
	local name=$1

	"$TESTS/tasks-by-bpf" "$PERF" "$2" "${4:-}" >"$TMP/tasks"
	note "$name: samples with the same, another and no process: $(cat "$TMP/tasks")"
	at_least 300 "$name: samples of guests in user mode" "$(awk '{ print $2 + $3 + $4 }' "$TMP/tasks")"
	ok "$name: none in user mode has another process" test "$(of_samples user 2)" = 0
	at_least "$3" "$name: samples in user mode with the same process by both, %" "$(of_samples user 1)"
	at_most 10 "$name: samples in the kernel with another process, %" "$(of_samples kernel 2)"
}
