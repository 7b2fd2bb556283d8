# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: a host with a kernel as Debian has it, 6.12: a guest's functions by process, all the same

CLOCK=virtual
HOST_CPUS=1
HOST_DEBIAN=6.12
HOST_PROGRAMS=without-bpf
LIMIT=1800

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=512
guest1_NICE="0 5"
guest1_ARGS="0,1397,8"
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

# programs: how many BPF programs the kernel has
programs()
{
	"$LAB/bpf-programs.py"
}

# Killed while it records: no program is left.
killed()
{
	programs >programs.before
	perf kvm unified record -o /run/killed.data -- sleep 60 2>/run/killed.err &
	sleep 3
	programs >programs.during
	kill -KILL $!
	wait $! || :
	pkill sleep || :
	sleep 0.5
	programs >programs.after
}

# runs PID: how often that process's programs on samples have run, and for how many ns: 7 is
# BPF_PROG_TYPE_PERF_EVENT of include/uapi/linux/bpf.h
runs()
{
	awk '
		FNR == 1 { on_samples = 0 }
		$1 == "prog_type:" { on_samples = $2 == 7 }
		on_samples && $1 == "run_time_ns:" { ns += $2 }
		on_samples && $1 == "run_cnt:" { n += $2 }
		END { print n + 0, ns + 0 }' "/proc/$1/fdinfo/"* 2>/dev/null
}

# has_run PID TIMES
has_run()
{
	test "$(runs "$1" | cut -d' ' -f1)" -ge "$2"
}

# program_cost NAME OPTION...: "NAME RUNS NS" to cost.txt, of a recording with these options
program_cost()
{
	local name=$1 pid
	shift
	perf kvm unified record --kernel-mode bpf -c 997000 -o /run/cost.data "$@" -- sleep 600 2>"/run/cost.err" &
	pid=$!
	wait_until has_run "$pid" 2000
	echo "$name $(runs "$pid")" >>cost.txt
	kill -INT "$pid"
	wait "$pid" || :
	rm -r /run/cost.data
}

# What the program on samples costs while the guest works, and while no guest runs
costs()
{
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	program_cost guest --no-guest-memory
	program_cost guest-tasks --guest-memory
	kill -STOP "$(guest_pid guest1)"
	program_cost host --no-guest-memory
	kill -CONT "$(guest_pid guest1)"
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
}

# VMs that take the CPU from each other, and one that halts: all.data, with their threads' times
states()
{
	local name

	start_tiny_vm one --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 0
	start_tiny_vm two --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 0
	start_tiny_vm idler --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 50000
	sleep 1
	tiny_vms_run
	VMS="one two idler" bracketed_record all -c 997000 -- sleep 4 2>all.err
	tiny_vms_run
	for name in one two idler; do
		kill "$(cat $name.pid)"
		rm $name.pid
	done
}

# A program that does the same all the time: its functions have the same shares on any host.
steady()
{
	in_guest guest1 "stop; start calls; ready"
	perf kvm unified record --guest-memory -c 498500 -o steady.data -- sleep 4 2>steady.err
	in_guest guest1 stop
}

# Processes that nobody can look at before they end: see processes.sh
storm()
{
	in_guest guest1 "stop; start storm /run/storm.log; ready"
	perf kvm unified record --guest-memory -c 498500 -o storm.data -- sleep 6
	in_guest guest1 stop
	fetch_log guest1 /run/storm.log storm.log
}

# What is said where BPF cannot be had. A kernel that is locked down stays so.
refusals()
{
	mount -t tmpfs none /sys/kernel/btf
	try no-btf perf kvm unified record --kernel-mode bpf -o no.data -- true
	try no-btf-auto perf kvm unified record -o no.data -- true
	umount /sys/kernel/btf
	try no-bpf without-bpf perf kvm unified record --kernel-mode bpf -o no.data -- true
	try no-bpf-auto without-bpf perf kvm unified record -o no.data -- true
	try filter perf record -a -e cpu-clock --filter 'ip > 4096' --bpf-vcpu -o no.data -- true
	try task perf record -e cpu-clock --bpf-vcpu -o no.data -- true
	try nobody setpriv --reuid 65534 --clear-groups perf kvm unified record --kernel-mode bpf -o no.data -- true
	mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
	echo confidentiality >/sys/kernel/security/lockdown
	try locked perf kvm unified record --kernel-mode bpf -o no.data -- true
}

# What the guest does, and its own accounting of that while it is recorded
record_guest()
{
	local when

	uname -r >release
	# Not in step with the guest's ticks: its kernel switches tasks then.
	ASKED=cpu bracketed_record perf --guest-memory -c 997000 -- sleep 10 2>record.err
	cat record.err
	mkdir -p recorded
	for when in before after; do
		mv "perf-guest1-stat.$when" "recorded/guest1-cpu.$when"
	done
}

measure()
{
	go_first
	record_guest
	try series perf kvm unified record --kernel-mode series -o no.data -- true
	try plain perf kvm unified record --kernel-mode plain -o plain.data -- sleep 1
	costs
	storm
	steady
	killed
	states
	refusals
}

report()
{
	unified_report --format table --percent-limit 0 >report.txt
	unified_report --format table --percent-limit 0.4 >report-short.txt 2>/dev/null
}
