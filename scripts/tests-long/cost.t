#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What the series costs in instructions, not in use and in use: scripts/cost.sh.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

ok "scripts/cost.sh measures" "$TOP/scripts/cost.sh"
sed 's/^/# /' "$TOP/build/cost.txt"

# column WHAT N: of the table
column()
{
	awk -v what="$1" -v n="$2" '$1 == what { print $n }' "$TOP/build/cost.txt"
}

# costs WHAT LEAST MOST: off, over the kernel without the series
costs()
{
	local cost

	cost=$(column "$1" 5)
	echo "$1: $cost of $(column "$1" 2), which is to be from $2 to $3"
	[ "$(column "$1" 2)" -gt 0 ] && [ "$cost" -ge "$2" ] && [ "$cost" -le "$3" ]
}
# A store less, if it is for another reason than an interrupt
ok "off, an exit costs a test and a branch at most" costs exit -1 2
# From 0: the kernel without the series has nothing that this one has not.
ok "off, a KVM_RUN costs at most 12 instructions" costs run 0 12
ok "off, a sample in the guest costs at most 5 instructions" costs guest-sample 0 5
ok "off, a sample in the host costs at most 5 instructions" costs host-sample 0 5

# What is in use must show, or nothing was measured.
dearer()
{
	echo "$1: $(column "$1" 4) in use, $(column "$1" 3) off"
	[ "$(column "$1" 4)" -gt $(($(column "$1" 3) + $2)) ]
}
ok "in use, a KVM_RUN writes a record" dearer run 100
ok "in use, a sample in the guest has more in it" dearer guest-sample 20
ok "in use, a sample in the host has more in it" dearer host-sample 10

# way NAME N: of the second table
way()
{
	awk -v way="$1" -v n="$2" '$1 == way { print $n }' "$TOP/build/cost-ways.txt"
}
sed 's/^/# /' "$TOP/build/cost-ways.txt"
ok "a stay in the VMM costs less by kvm_vcpu_timeline than by existing events" \
	test "$(way timeline 2)" -lt "$(way existing 2)"
for name in existing switches bpf; do
	ok "a stay in the VMM is recorded by $name, in more bytes than none" test "$(way "$name" 4)" -gt 0
done
ok "its record by kvm_vcpu_timeline is smaller than those of existing events" \
	test "$(way timeline 4)" -gt 0 -a "$(way timeline 4)" -lt "$(way existing 4)"
for name in existing bpf; do
	ok "an exit that KVM handles costs nothing by kvm_vcpu_timeline, and something by $name" \
		test "$(way timeline 3)" -eq 0 -a "$(way "$name" 3)" -gt 0
done
sed 's/^/# /' "$TOP/build/cost-samples.txt"
# sample WAY N: of the third table
sample()
{
	awk -v way="$1" -v n="$2" '$1 == way { print $n }' "$TOP/build/cost-samples.txt"
}
# Time, thread, address: 8 bytes each, after 8 of a header. The vCPU: 8 of flags, 24 of a vCPU that is loaded.
ok "a sample with the vCPU has its bytes" test "$(sample plain 3) $(sample vcpu 3)" = "32 64"
ok "... in the host, the flags alone" test "$(sample vcpu 5)" -eq 40
ok "a BPF program makes a record of a guest's sample" test "$(sample bpf 3)" -gt "$(sample plain 3)"
ok "... for which it takes instructions" test "$(sample bpf 2)" -gt 100
sed 's/^/# /' "$TOP/build/cost-chains.txt"
# chain WHAT N: of the fourth table
chain()
{
	awk -v what="$1" -v n="$2" '$1 == what { print $n }' "$TOP/build/cost-chains.txt"
}
ok "a callchain of a guest is measured" test "$(chain guest-frames 2)" -gt 1000
ok "and a copy of its stack" test "$(chain guest-frames 3)" -gt 1000
done_testing
