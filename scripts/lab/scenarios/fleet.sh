# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: 24 VMs on four CPUs, of which some have a cause to complain, at known times

# What is planted, and whom it meets:
#
#   hog       a task of the host, backup, on CPU 1, beside the VMs that have that CPU only
#   quota     hazel's cgroup gets a limit of its CPU time, and loses it again
#   stopped   the VMM of larch is stopped, and goes on
#
# planted-vms: a line for each, CAUSE VM...; planted: when each began and ended, CAUSE-begin and
# CAUSE-end with ns of perf's clock, and begin and end, between which nothing else is done on the
# host than by perf. fleet-trace.data: what the scheduler did meanwhile, and
# formats/ of which fields its events have; fleet-vms-threads.before and .after: CPU time of the
# VMMs' threads; throttled.before and .after: what the cgroup of hazel says of its limit.

# The CPUs take turns: each has a part of 250 million instructions a second.
CLOCK=virtual
# See two-cpus.sh
QEMU_CPU=max,-hypervisor
HOST_CPUS=4
LIMIT=1800

GUESTS="guest1 guest2"
for name in $GUESTS; do
	declare "${name}_NICE=" "${name}_MEM=256" "${name}_CMDLINE=cryptomgr.notests"
	declare "${name}_TIMEOUT=600"
done
guest1_PIN=0
guest2_PIN=0,3
# The second vCPU later, see two-vcpus.sh.
guest1_VCPUS=2
guest1_CMDLINE+=" maxcpus=1"

# The CPUs of each VM of tiny-vmm, and what it does in turn: us of its user's and its kernel's
# work, us of a halt. Of the ones without a map, no process is known.
HOG_CPU=1
# Of what measures
TOOLS_CPUS=0,2
TINY_VMS="
alder	1	6000	1500	11300	map
ash	1	900	300	37900	map
aspen	1	500	100	26300	map
beech	1	1700	500	67300	map
hazel	2	3000	1000	0	map
birch	2	500	200	41700	map
cedar	2	300	100	27100	-
larch	3	4000	1000	23300	map
oak	0,3	2000	1000	29900	map
cherry	0,3	900	200	53900	map
elm	0,3	200	60	21100	map
fir	0,3	400	110	46100	map
holly	0,3	410	190	49300	map
juniper	0,3	260	80	38900	-
lime	0,3	230	90	43700	map
maple	0,3	160	50	22300	map
pine	0,3	340	120	59100	map
plane	0,3	400	90	77700	map
poplar	0,3	170	60	25900	-
rowan	0,3	640	180	81300	map
spruce	0,3	190	80	30700	map
willow	0,3	1300	400	111900	map
"

CGROUPS=/sys/fs/cgroup
QUOTA_VM=hazel
# us of CPU time in us
QUOTA="6000 20000"
STOPPED_VM=larch

tiny_vms()
{
	awk 'NF { print $1 }' <<<"$TINY_VMS"
}

tiny_pids()
{
	local name

	for name in $(tiny_vms); do
		cat "$name.pid"
	done | paste -sd' '
}

# A map for all of them: one process.
prepare()
{
	"$GUEST_DIR/tiny-vmm" --symbols >tiny.kallsyms
	"$LAB/vmm/tiny-map.py" tiny.kallsyms 10:worker:2000 >tiny.map
}

# The cgroups as systemd has them
set_up_cgroups()
{
	local dir

	mount -t cgroup2 cgroup2 $CGROUPS
	for dir in $CGROUPS $CGROUPS/machine.slice $CGROUPS/system.slice; do
		mkdir -p "$dir"
		echo +cpu >"$dir/cgroup.subtree_control"
	done
}

# cgroup PATH PID: the process is in it.
cgroup()
{
	mkdir "$CGROUPS/$1"
	echo "$2" >"$CGROUPS/$1/cgroup.procs"
}

# vcpu_has_run PID: debugfs has its thread then.
vcpu_has_run()
{
	grep -qs . /sys/kernel/debug/kvm/"$1"-*/vcpu0/pid
}

start_vms()
{
	local name cpus user kernel idle pid

	while read -r name cpus user kernel idle _; do
		[ -n "$name" ] || continue
		PIN=$cpus start_tiny_vm "$name" --cr3 2000 --user-us "$user" \
			--kernel-us "$kernel" --idle-us "$idle"
		pid=$(cat "$name.pid")
		cgroup "machine.slice/machine-$name.scope" "$pid"
		# They go on when perf is ready: where they run, it takes that long.
		wait_until vcpu_has_run "$pid"
		kill -STOP "$pid"
	done <<<"$TINY_VMS"
}

start_guests()
{
	local name

	for name in $GUESTS; do
		cgroup "machine.slice/machine-$name.scope" "$(guest_pid "$name")"
	done
	in_guest guest1 "echo 1 >/sys/devices/system/cpu/cpu1/online"
	in_guest guest1 start shor 0 253 8
	in_guest guest2 start duty 3700 17000
}

# One that stands still until it is its time.
start_hog()
{
	cat >/run/bin/backup <<-'END'
		#!/bin/bash
		kill -STOP $$
		while :; do :; done
	END
	chmod +x /run/bin/backup
	taskset -c $HOG_CPU backup &
	echo $! >/run/hog
	wait_until grep -q "backup) T" "/proc/$!/stat"
	cgroup system.slice/backup.service $!
}

plan()
{
	local limit=$CGROUPS/machine.slice/machine-$QUOTA_VM.scope/cpu.max

	cat <<-END
		0.3	begin		nothing
		1.0	hog-begin	signal CONT $(cat /run/hog)
		2.0	quota-begin	write $limit "$QUOTA"
		3.0	stopped-begin	signal STOP $(cat $STOPPED_VM.pid)
		4.7	stopped-end	signal CONT $(cat $STOPPED_VM.pid)
		6.0	hog-end		signal STOP $(cat /run/hog)
		7.0	quota-end	write $limit max
		8.0	end		nothing
		8.5	rest		nothing
	END
}

throttled()
{
	cat "$CGROUPS/machine.slice/machine-$QUOTA_VM.scope/cpu.stat"
}

# What to tell perf of the maps. They are asked for when all is recorded, and those who make them
# shall have the CPUs for themselves then.
map_options()
{
	local name map first pause

	# shellcheck disable=SC2016 # for the guest's shell
	pause='while read -r pid _; do kill -STOP $pid; done </run/workload.pids'
	first="kill -STOP $(tiny_pids);"
	for name in $GUESTS; do
		first+=" guest-exec.py $(guest_socket "$name") '$pause';"
	done
	while read -r name _ _ _ _ map; do
		[ "$map" = map ] || continue
		printf -- '--guest-cmd\n%s=%s cat %s\n' "$name" "$first" "$OUT/tiny.map"
		first=
	done <<<"$TINY_VMS"
	# shellcheck disable=SC2086 # a list
	guest_cmds $GUESTS
}

measure()
{
	local name maps

	go_first
	taskset -p -c $TOOLS_CPUS $$ >/dev/null
	set_up_cgroups
	start_vms
	start_guests
	start_hog
	mapfile -t maps < <(map_options)
	{
		awk -v cpu=$HOG_CPU '$2 == cpu { vms = vms " " $1 } END { print "hog" vms }' <<<"$TINY_VMS"
		echo "quota $QUOTA_VM"
		echo "stopped $STOPPED_VM"
	} >planted-vms
	plan >steps
	mkdir formats
	for name in sched_switch sched_wakeup; do
		cp "/sys/kernel/tracing/events/sched/$name/format" formats/$name
	done

	throttled >throttled.before
	READY="kill -CONT $(tiny_pids); sleep 0.5" TRACED=sched:sched_switch,sched:sched_wakeup \
		VMS="$(tiny_vms) $GUESTS" bracketed_record fleet -c 997000 \
		--all-cgroups --proc-map-timeout 10000 "${maps[@]}" -- plant.py steps planted
	throttled >throttled.after
	kill -KILL "$(cat /run/hog)"
	for name in $GUESTS; do
		in_guest "$name" stop
	done
	tiny_vms_run
}
