#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A Linux guest on Intel's VMX, whose processes a BPF program tells apart by the guest's memory: the
# scenario vmx-linux. The kernel tells CR3 as well, which is the truth.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/schedstat.sh
. "$TESTS/schedstat.sh"
# shellcheck source=scripts/tests/current-tasks.sh
. "$TESTS/current-tasks.sh"

PERF=$MAIN_TREE/perf/perf

# report NAME: of NAME.data, as JSON
report()
{
	"$PERF" kvm unified report -f -i "$1.data" -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" --format json >"$TMP/$1.json"
}

lab_runs vmx-linux
cd "$LAB_OUT/vmx-linux" || { done_testing; }
ok "recorded, by both" grep -qx 'exit code 0' both.out
ok "recorded, by the program alone" grep -qx 'exit code 0' by-bpf.out
check_tasks "VMX" both.data 99
ok "a report of the latter" report by-bpf
ok "... which has all time once" "$TESTS/report-sums.py" "$TMP/by-bpf.json"
at_least 99 "... user samples whose process is named, %" "$(value \
	'100 * guest("guest1")["user_samples_named"] / guest("guest1")["user_samples"]' by-bpf)"
ok "... libquantum in two processes" test "$(value \
	'len({x["pid"] for x in vm_rows("guest1") if x["class"] == "USER" and x["module"].startswith("libquantum")})' by-bpf)" = 2
done_testing
