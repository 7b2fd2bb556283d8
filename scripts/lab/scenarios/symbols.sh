# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest with code that has no file, or not where one would look: JIT, containers, memfd

# What is to be checked, of one recording with a map:
#
#   process            its time is in                     and its names are in
#   jit                jit_hot, jit_warm..., jit_late     /tmp/perf-PID.map of the guest
#   contained-jit      the same                           /tmp/perf-1.map of its own /tmp
#   node               nodeMultiply, nodeSieve            /tmp/perf-PID.map of the guest
#   cxx                mix::Mixer<int>::spin(int), ...    guest/unstripped/cxx, by build-id
#   contained-spin     contained_spin                     /usr/bin/contained, by build-id
#   mapped memfd       copied_spin, in a memfd            none
#   mapped huge        the same, in huge pages            none
#   mapped hugetlb     the same, out of the reserve       none
#   mapped-program     mapped_spin, in a memfd            /usr/bin/mapped, by build-id
#
# The process that runs in namespaces is the child of "contained".
# See time-axis.sh: ten processes on a CPU that is emulated want a clock that waits.
QEMU_ACCEL=tcg,thread=single
QEMU_ARGS="-icount shift=2,sleep=on"
HOST_CPUS=1
LIMIT=900

# 1: with a collector that follows the guest during the measurement
FOLLOW=1
GUESTS="guest1"
guest1_VCPUS=1
guest1_EXTRA=node
# The initrd is 120 MB, and is there twice until it is unpacked.
guest1_MEM=1024
guest1_NICE=
guest1_VSOCK=1
guest1_TIMEOUT=600
guest1_CMDLINE=cryptomgr.notests

# Nearly 0.5 ms, not in step with the ticks
PERIOD=498500

measure()
{
	go_first
	in_guest guest1 "echo 2 >/proc/sys/vm/nr_hugepages"
	in_guest guest1 start jit
	in_guest guest1 start contained jit
	in_guest guest1 start cxx
	in_guest guest1 start contained
	for where in memfd huge hugetlb program; do
		in_guest guest1 start mapped "$where"
	done
	in_guest guest1 start node --perf-basic-prof /usr/share/hot.js
	in_guest guest1 ready
	# Both of them find in the middle that there is something to compile.
	unified_record perf -c $PERIOD -- sh -c "sleep 4
		guest-exec $(guest_socket guest1) 'kill -USR2 \$(pidof jit contained-jit)'; sleep 4"
	in_guest guest1 stop
}
