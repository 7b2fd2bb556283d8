# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: callchains of one guest, out of the host, by frame pointers and by tables: a known tree of calls

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=256
guest1_NICE=
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

# Nearly 0.5 ms, not in step with the ticks
PERIOD=498500

measure()
{
	go_first
	in_guest guest1 start calls
	in_guest guest1 start calls-nofp
	unified_record chains -g -c $PERIOD -- sleep 4
	# Long enough for some sixty samples in the kernel for each of the programs
	FROM_MEMORY=1 unified_record unwound --call-graph dwarf -c $PERIOD -- sleep 3
	# The same programs, by the guest's own perf
	in_guest guest1 "perf record -q -a -g -e cpu-clock -c $PERIOD -o /run/perf.data -- sleep 4"
	in_guest guest1 "cat /run/perf.data" >inside.data
	in_guest guest1 stop
	in_guest guest1 start calls-jit
	unified_record jit -g -c $PERIOD -- sleep 2
	in_guest guest1 stop
}

report()
{
	perf kvm unified report --format table -f -i chains.data --guest-root "$GUEST_DIR/root" >report.txt
}
