# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: callchains of the kernels of two guests, 5.10 and 6.12, out of the host

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1 guest2"
for name in $GUESTS; do
	declare "${name}_VCPUS=1" "${name}_MEM=512" "${name}_NICE=" "${name}_TIMEOUT=600"
done
# As in guests.sh
guest1_CMDLINE="cryptomgr.notests pti=off noxsave"
guest2_CMDLINE=cryptomgr.notests
guest1_KERNEL=5.10
guest2_KERNEL=6.12

# Nearly 0.5 ms, not in step with the ticks
PERIOD=498500

measure()
{
	local name

	go_first
	for name in $GUESTS; do
		in_guest "$name" start calls
	done
	unified_record unwound --call-graph dwarf -c $PERIOD -- sleep 6
	for name in $GUESTS; do
		in_guest "$name" stop
	done
}

report()
{
	perf kvm unified report --format table -f -i unwound.data --guest-root "$GUEST_DIR/root" >report.txt
}
