#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The object code of functions that run when the series is not in use: scripts/hot-diff.sh.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

ok "scripts/hot-diff.sh compares" "$TOP/scripts/hot-diff.sh"
sed 's/^/# /' "$TOP/build/hot.txt"

# row FUNCTION: WITHOUT WITH MORE DIFFER
row()
{
	awk -v name="$1" '$1 == name { print $2, $3, $4, $5 }' "$TOP/build/hot.txt"
}

same()
{
	local without with more differ

	read -r without with more differ < <(row "$1")
	echo "$1: $without, $with, $more, $differ"
	[ "$without" -gt 20 ] && [ "$differ" -eq 0 ]
}
for function in svm_vcpu_run vmx_vcpu_run svm_handle_exit vmx_handle_exit \
	__perf_event_header__init_id; do
	ok "$function is the same" same "$function"
done

# vcpu_enter_guest() is a part of it: a branch for callchains that nobody wants, which is patched
# out, and what it leads to.
has_at_most()
{
	local without with more differ

	read -r without with more differ < <(row "$2")
	echo "$2: $without, $with, $more, $differ"
	[ "$without" -gt 20 ] && [ "$more" -le "$1" ]
}
ok "kvm_arch_vcpu_ioctl_run has a branch more" has_at_most 6 kvm_arch_vcpu_ioctl_run

# differs FUNCTION: that the comparison can tell
differs()
{
	echo "$1: $(row "$1")"
	[ "$(row "$1" | cut -d' ' -f4)" -gt 0 ]
}
ok "perf_prepare_sample has something new" differs perf_prepare_sample
ok "kvm_sched_out has something new" differs kvm_sched_out
done_testing
