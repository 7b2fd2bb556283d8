#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The backport on the LTS kernel: its ABI by the KVM selftests, and that the tool, whose perf is
# newer than this kernel, records and reports there.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
on_lts

PERF=$MAIN_TREE/perf/perf

lab_runs selftests
cd "$LAB_OUT/selftests" || { done_testing; }
hand_on_selftests
shell_tests_pass

# --- a profile -----------------------------------------------------------------------------

lab_runs libquantum
cd "$LAB_OUT/libquantum" || { done_testing; }

"$PERF" kvm unified report --format table -f -i perf.data -k "$TREE/host/vmlinux" \
	--guest-root "$MAIN_TREE/guest/root" --percent-limit 0 >"$TMP/report" 2>"$TMP/warnings"
rc=$?
cat "$TMP/warnings" >&2
ok "perf kvm unified report reads it" test "$rc" -eq 0
head -n 5 "$TMP/report" >&2
ok "it is of that kernel" grep -qE "^# perf kvm unified report: .* kernel ${LTS//./\\.}\." "$TMP/report"
at_least 99 "percent of the guest's user samples that have a process by name" "$(
	sed -n 's/^# guest guest1: .* user samples (\([0-9.]*\) %).*/\1/p' "$TMP/report")"
at_least 1 "events of the timeline" "$(sed -n 's/^# timeline mode: \([0-9]*\) events .*/\1/p' "$TMP/report")"

# Of all samples that are labelled guest and user
"$PERF" script -f -i perf.data -F misc,vcpu_ctx 2>"$TMP/script.err" | grep -E '^ *[A-Z]*Gg ' >"$TMP/user"
at_least 1000 "samples of the guest in user mode" "$(wc -l <"$TMP/user")"
ok "each of them has its CR3" not grep -vE ' guest cr3 0x[1-9a-f][0-9a-f]* ' "$TMP/user"

"$TOP/scripts/lab/cpu-shares" recorded user >"$TMP/truth"
"$TOP/scripts/lab/report-shares" "$TMP/report" guest1 shor >"$TMP/shares"
ok "the guest has two processes" test "$(wc -l <"$TMP/truth")" -eq 2
while read -r -u 3 pid share _; do
	within 2 "percent of process $pid in user mode, by the guest and by the report" "$share" \
		"$(awk -v pid="$pid" '$1 == pid { print $2 }' "$TMP/shares")"
done 3<"$TMP/truth"
done_testing
