# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest whose two busy vCPUs share one CPU of the host, on a virtual clock

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1"
guest1_VCPUS=2
guest1_MEM=256
guest1_NICE=
# The second one later: a vCPU that spins for the other does so for a whole slice.
guest1_CMDLINE="cryptomgr.notests maxcpus=1"
guest1_TIMEOUT=600

measure()
{
	go_first
	in_guest guest1 "echo 1 >/sys/devices/system/cpu/cpu1/online"
	# One for each vCPU, by busybox's taskset: a mask
	in_guest guest1 start taskset 1 shor 0 253 8
	in_guest guest1 start taskset 2 shor 0 253 8
	MAPPED=guest1 bracketed_record two-busy -c 997000 -- sleep 6
}

report()
{
	perf kvm unified report --format table -f -i two-busy.data --guest-root "$GUEST_DIR/root" >report.txt
}
