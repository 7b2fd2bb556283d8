# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: three guests on one CPU, on a virtual clock: recordings whose vCPU times are known

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1 guest2 guest3"
for name in $GUESTS; do
	# Idle once they are up; without the kernel's self-tests, 0.8 s of them.
	declare "${name}_NICE=" "${name}_MEM=256" "${name}_CMDLINE=cryptomgr.notests"
	declare "${name}_TIMEOUT=600"
done

# Nearly 1 ms. In exactly 1 ms every fourth sample would meet the ticks of host and
# guest at the same point of them, since nothing here is ever early or late.
PERIOD=997000
# The sum of a guest's /proc/stat is not all of its time, see guest_steal() in time-axis.t.
ASKED="cat /proc/stat /proc/uptime"
EVENTS=kvm:kvm_entry,kvm:kvm_exit,kvm:kvm_userspace_exit,kvm:kvm_vcpu_wakeup
EVENTS+=,sched:sched_switch,kvm:kvm_vcpu_timeline

# Small, so that it is not long in the same function.
shor()
{
	in_guest "$1" start shor 0 253 8
}

# vcpu_thread GUEST: of the threads of its VMM, the one that has had most CPU time
vcpu_thread()
{
	local task

	for task in /proc/"$(guest_pid "$1")"/task/*; do
		read -r ran _ <"$task/schedstat"
		echo "$ran ${task##*/}"
	done | sort -rn | awk 'NR == 1 { print $2 }'
}

measure()
{
	go_first
	# What perf reads of files it shall have read.
	perf kvm unified record -q -o /run/warm-up.data -- true

	shor guest1
	COUNTED=$EVENTS bracketed_record one-busy -c $PERIOD -- sleep 10

	# Timer interrupts for one process, while another keeps the vCPU busy
	in_guest guest1 start duty 20 200
	COUNTED=$EVENTS bracketed_record interrupts -c $PERIOD -- sleep 2
	in_guest guest1 stop

	for name in $GUESTS; do
		shor "$name"
	done
	bracketed_record three-busy -c $PERIOD -- sleep 6
	# 3 of 10 ms for one of them, and the others want its CPU.
	chrt -d -T 3000000 -D 10000000 -P 10000000 -p 0 "$(vcpu_thread guest1)"
	bracketed_record limited -c $PERIOD -- sleep 2
	chrt -o -p 0 "$(vcpu_thread guest1)"
	# A buffer of one page, and perf kept from reading it for a second
	bracketed_record small-buffer -c $PERIOD -m 1 -- \
		sh -c "sleep 1; kill -STOP \$RECORD; sleep 1; kill -CONT \$RECORD; sleep 1"
	# It wakes up often, and mostly between the deadline and the end of the period.
	in_guest guest1 stop
	in_guest guest1 start duty 1000 3000
	chrt -d -T 3000000 -D 5000000 -P 50000000 -p 0 "$(vcpu_thread guest1)"
	bracketed_record constrained -c $PERIOD -- sleep 2
	chrt -o -p 0 "$(vcpu_thread guest1)"
	for name in $GUESTS; do
		in_guest "$name" stop
	done

	in_guest guest1 start duty 1000000 3000000
	# So that it begins and ends while the guest sleeps: what goes on at the end has no event yet,
	# and of a thread that was just woken up then, it is not known what it was before.
	sleep 2.2
	bracketed_record third -c $PERIOD -- sleep 9
	in_guest guest1 stop

	# Each byte is an exit to the VMM.
	in_guest guest1 "start sh -c 'exec yes >/dev/ttyS1'"
	COUNTED=$EVENTS bracketed_record port-io -c $PERIOD -- sleep 1
	# And so it is where the scheduler takes the CPU away, in KVM or out of it.
	shor guest2
	bracketed_record port-io-shared -c $PERIOD -- sleep 2
	in_guest guest2 stop
	in_guest guest1 stop
}
