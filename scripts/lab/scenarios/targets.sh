# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: recordings of single VMs, processes, threads and cgroups: their time line, and no other's; and of CPUs that come and go

# See two-cpus.sh. One CPU, so that the two busy VMs take it from each other; another
# one comes in the end.
CLOCK=virtual
QEMU_CPU=max,-hypervisor
HOST_CPUS=2
HOST_CMDLINE=maxcpus=1
LIMIT=1800

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

	# Until it is done all stays in memory, as in bracketed_record of host/run.
	make_fifos record.ctl record.ack
	perf kvm unified record -c 997000 -o "/run/$name.data" --delay=-1 \
		--control=fifo:/run/record.ctl,/run/record.ack "$@" 2>"$name.err" &
	# It would wait for a perf that has ended.
	timeout 60 bracket.py --perf /run/record "/run/$name" \
		bash -c "threads >/run/$name.before; sleep 4; threads >/run/$name.after"
	wait $!
	cp -r "/run/$name.data" "/run/$name.before" "/run/$name.after" .
	rm -r "/run/$name.data" "/run/$name.before" "/run/$name.after"
	say "recorded $name"
}

CPU1=/sys/devices/system/cpu/cpu1/online

# mark NAME: when that is, s, to NAME.mark
mark()
{
	cut -d' ' -f1 /proc/uptime >"$1.mark"
}

# move VM CPU
move()
{
	taskset -acp "$2" "$(cat "$1.pid")" >/dev/null
}

# CPU 1 goes offline, and is back. One VM goes there and stays, another comes back.
cpu_goes()
{
	mark hotplug-begin
	sleep 1.5
	echo 0 >$CPU1
	sleep 1
	echo 1 >$CPU1
	mark hotplug-move
	move stays 1
	move returns 1
	sleep 2
	move returns 0
	mark hotplug-return
	sleep 1
	mark hotplug-end
}

# CPU 1 is offline at the start.
cpu_comes()
{
	mark offline-begin
	sleep 1
	echo 1 >$CPU1
	mark offline-move
	move stays 1
	sleep 2
	mark offline-end
}

# ... and at the end, too.
cpu_visits()
{
	sleep 1
	echo 1 >$CPU1
	sleep 2.5
	echo 0 >$CPU1
}

# end_vms VM...
end_vms()
{
	local name

	for name; do
		kill "$(cat "$name.pid")"
		mv "$name.pid" "$name.ended"
	done
}

# A BPF program that tells the vCPUs of samples: beside the kernel, which does it as well here, and
# in its place
by_bpf()
{
	try both perf record -a --sample-vcpu --bpf-vcpu -e cpu-clock -c 997000 -o both.data -- sleep 2
	try by-bpf perf kvm unified record --kernel-mode bpf -c 997000 -o by-bpf.data -- sleep 2
	perf kvm unified record --kernel-mode bpf -c 997000 -o - -- sleep 1 2>by-bpf-stream.err |
		cat >by-bpf.stream
	try by-bpf-pid perf kvm unified record --kernel-mode bpf -p "$(cat stays.pid)" -o no.data -- true
	try by-bpf-one-cpu perf kvm unified record --kernel-mode bpf -C 1 -c 997000 -o by-bpf-one-cpu.data \
		-- sleep 1
	try by-what perf kvm unified record --kernel-mode what -o no.data -- true
	try by-both perf kvm unified record --kernel-mode bpf --no-sample-vcpu -o no.data -- true
	try tasks-plain perf kvm unified record --guest-tasks --guest-memory --kernel-mode plain \
		-o no.data -- true
	try tasks-memory perf kvm unified record --guest-tasks --no-guest-memory -o no.data -- true
	try tasks-pid perf kvm unified record --guest-tasks --guest-memory -p "$(cat stays.pid)" \
		-o no.data -- true
	try record-pid perf record --bpf-vcpu -p "$(cat stays.pid)" -o no.data -- true
}

# What runs on a CPU that perf does not record
cpus_come_and_go()
{
	echo 1 >$CPU1
	start_tiny_vm stays --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 0
	start_tiny_vm returns --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 2000
	sleep 1
	tiny_vms_run
	move stays 0
	move returns 0
	export CPU1
	export -f cpu_goes cpu_comes cpu_visits mark move
	try hotplug perf kvm unified record -c 997000 -o hotplug.data -- bash -c cpu_goes
	move stays 0
	echo 0 >$CPU1
	try offline perf kvm unified record -c 997000 -o offline.data -- bash -c cpu_comes
	echo 0 >$CPU1
	try visits perf kvm unified record -c 997000 -o visits.data -- bash -c cpu_visits
	echo 1 >$CPU1
	move stays 1
	by_bpf
	tiny_vms_run
	end_vms stays returns
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
	in_memory continuous
	in_memory live
	tiny_vms_run
	end_vms one two idler
	in_memory cpus_come_and_go
}

# A recording without an end: profiles that overlap, one that a signal begins. More of it is in the
# scenario continuous.
continuous()
{
	local recorder code

	# shellcheck disable=SC2016 # for the shell that runs it
	perf kvm unified record --continuous continuous --interval 5s -c 997000 --on-profile \
		'sleep 1; test -s "$1/data" && echo "$(nice) $1" >>on-profile && exit 3' \
		2>continuous.err &
	recorder=$!
	sleep 9
	try continuous-locked perf kvm unified record --continuous continuous
	kill -HUP $recorder
	sleep 5
	kill -INT $recorder
	code=0
	wait $recorder || code=$?
	echo $code >continuous-code
	ls continuous >continuous-ended
}

# has_reports NR: of perf kvm unified top
has_reports()
{
	[ "$(grep -cE '^# [0-9:]{8}$' live.txt)" -ge "$1" ]
}

# What goes on now, until there are two reports of it
live()
{
	local live code=0

	perf kvm unified top -c 997000 -- --level guests --percent-limit 1 >live.txt 2>live.err &
	live=$!
	wait_until has_reports 2
	kill -INT $live
	wait $live || code=$?
	echo $code >live-code
	find /tmp -name 'perf-kvm-top*' >live-left
	try live-refused perf kvm unified top --interval 1s
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
