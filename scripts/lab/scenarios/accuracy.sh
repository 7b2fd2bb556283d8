# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: the same work natively and in a guest, and two equal processes, on a virtual clock

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

# What is over before its map could be made has it from the collector that follows.
FOLLOW=1
GUESTS="guest1"
guest1_VSOCK=1
guest1_VCPUS=1
guest1_MEM=256
guest1_NICE=
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

PERIOD=997000
# One factoring from its beginning to its end. The paper's, of 1397, takes far longer.
WORK="shor 0 91 8 1"

# What the host runs is the guest's own program.
natively()
{
	local root=$GUEST_DIR/root lib

	lib=$(echo "$root"/lib/*-linux-gnu)
	OMP_NUM_THREADS=1 LD_LIBRARY_PATH=$lib "$root/usr/bin/shor" "${@:2}"
}

measure()
{
	local ask
	ask="guest-exec.py $(guest_socket guest1)"

	go_first
	perf kvm unified record -q -o /run/warm-up.data -- true
	natively shor 0 15 8 1 >/dev/null
	in_guest guest1 "shor 0 15 8 1" >/dev/null

	export -f natively
	unified_record native -c $PERIOD -- bash -c "natively $WORK" >native.txt
	# shellcheck disable=SC2086 # a command and its arguments
	unified_record guest -c $PERIOD -- $ask $WORK >guest.txt

	# Two processes of one program, each with all of its own.
	in_guest guest1 start shor 0 91 8
	in_guest guest1 start shor 0 91 8
	in_guest guest1 ready
	shares_record guest1 two -c $PERIOD -- sleep 20
	in_guest guest1 stop
}

report()
{
	cpu-shares two user
}
