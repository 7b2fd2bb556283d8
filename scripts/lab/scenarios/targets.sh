# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: recordings of single VMs, processes, threads and cgroups: their time line, and no other's

# See time-axis.sh. One CPU, so that the two busy VMs take it from each other.
QEMU_ACCEL=tcg,thread=single
QEMU_ARGS="-icount shift=2,sleep=on"
HOST_CPUS=1

GUESTS=
CGROUPS=/run/cgroup

# What the scheduler says of each vCPU's thread, ns: VM, tid, had a CPU, waited for one; and when
threads()
{
	local name pid task

	echo "uptime $(cut -d' ' -f1 /proc/uptime)"
	for name in one two idler; do
		pid=$(cat "$name.pid")
		for task in /sys/kernel/debug/kvm/"$pid"-*/vcpu*/pid; do
			echo "$name $(cat "$task") $(cat "/proc/$pid/task/$(cat "$task")/schedstat")"
		done
	done
}

# record NAME OPTION...: for 4 s, to NAME.data; NAME.before and .after are the threads'
record()
{
	local name=$1
	shift

	# Until it is done it stays in memory, as in bracketed_record of host/run.
	make_fifos record.ctl record.ack
	perf kvm unified record -c 997000 -o "/run/$name.data" --delay=-1 \
		--control=fifo:/run/record.ctl,/run/record.ack "$@" 2>"$name.err" &
	# It would wait for a perf that has ended.
	timeout 60 bracket --perf /run/record "/run/$name" \
		bash -c "threads >$PWD/$name.before; sleep 4; threads >$PWD/$name.after"
	wait $!
	cp -r "/run/$name.data" .
	rm -r "/run/$name.data"
	say "recorded $name"
}

measure()
{
	local one

	# Always busy, so that what one takes from the other is the same each time
	start_tiny_vm one --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 0
	start_tiny_vm two --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 0
	# A halt that no recording sees more than one end of
	start_tiny_vm idler --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 2500000
	sleep 1
	tiny_vms_run
	one=$(cat one.pid)

	mkdir "$CGROUPS"
	mount -t cgroup2 cgroup2 "$CGROUPS"
	# As it is where anybody uses cgroups: only then do new ones get what is there without being asked
	# for, perf_event.
	echo +cpuset >"$CGROUPS/cgroup.subtree_control"
	mkdir "$CGROUPS/vms"
	echo "$one" >"$CGROUPS/vms/cgroup.procs"
	cat idler.pid >"$CGROUPS/vms/cgroup.procs"

	go_first
	export -f threads
	record all
	record vm --vm one
	record vms --vm 'one,idl*'
	record pid -p "$(cat two.pid)"
	record tid -t "$(cat /sys/kernel/debug/kvm/"$one"-*/vcpu0/pid)"
	record cgroup -G vms
	with_cgroup_v1 "$one"
	tiny_vms_run
}

# The same where perf_event has a hierarchy of its own, as with the first version of cgroups
with_cgroup_v1()
{
	local pid

	for pid in $(<"$CGROUPS/vms/cgroup.procs"); do
		echo "$pid" >"$CGROUPS/cgroup.procs"
	done
	rmdir "$CGROUPS/vms"
	echo -cpuset >"$CGROUPS/cgroup.subtree_control"
	umount "$CGROUPS"
	mount -t cgroup -o perf_event perf_event "$CGROUPS"
	mkdir "$CGROUPS/vms"
	echo "$1" >"$CGROUPS/vms/cgroup.procs"
	cat idler.pid >"$CGROUPS/vms/cgroup.procs"
	record cgroup-v1 -G vms
}
