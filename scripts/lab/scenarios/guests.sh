# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: three guests on one CPU, with three kernels, one of them with page table isolation

# What is to be checked, of one recording with three maps:
#
#   guest1   6.1 with KPTI: a process has two CR3s, and one name   shares-alpha, -bravo
#   guest2   5.10 without: no build-ids from the kernel            shares-charlie, cxx
#   guest3   6.12                                                  shares-delta, -alpha
#
# shares-alpha is in shares_alpha(), and so on; nobody has a process of another guest.
# Each guest works alone for a while, and then all of them at once, with new processes.
# NAME-release: the kernel; NAME-pti: yes or no; shares/NAME-cpu.after: the CPU time that
# the processes had that worked alone, all of it within the recording.

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

# 1: with a collector that follows the guest during the measurement
FOLLOW=1
GUESTS="guest1 guest2 guest3"
for name in $GUESTS; do
	declare "${name}_MEM=512" "${name}_NICE=" "${name}_VSOCK=1" "${name}_TIMEOUT=600"
done
guest1_CMDLINE="cryptomgr.notests pti=on"
# Under QEMU 7.2 the size of the FPU state is not what 5.10 computes, and init dies of a signal.
guest2_CMDLINE="cryptomgr.notests pti=off noxsave"
guest3_CMDLINE=cryptomgr.notests
guest2_KERNEL=5.10
guest3_KERNEL=6.12

programs()
{
	case $1 in
	guest1)	echo "start shares-alpha; NICE=3 start shares-bravo" ;;
	guest2)	echo "start shares-charlie; start cxx" ;;
	guest3)	echo "start shares-delta; NICE=3 start shares-alpha" ;;
	esac
}

# From within the recording: so the guests are idle while the collectors begin and end,
# which then are soon done. A guest that works alone does it all by itself: what the host
# takes from it is time that these guests charge a process for.
work()
{
	local name

	for name in $GUESTS; do
		in_guest "$name" "$(programs "$name"); ready; sleep 3; cpu; stop" >"/run/$name-cpu.after"
	done
	for name in $GUESTS; do
		in_guest "$name" "$(programs "$name"); ready"
	done
	sleep 4
	for name in $GUESTS; do
		in_guest "$name" stop
	done
}

# From within the recording: processes that end before anybody can look at guest2
short_lives()
{
	in_guest guest2 "for i in \$(seq 60); do reuse-odd 30; done"
}

# in_cgroup GUEST: from then on, what its shell starts is in a cgroup, as a container's processes are
in_cgroup()
{
	echo "mkdir /run/cgroup; mount -t cgroup2 none /run/cgroup; mkdir -p /run/cgroup/pods/$1;" \
		"echo 0 >/run/cgroup/pods/$1/cgroup.procs"
}

# Which task a guest runs, by what it has in its memory, beside what the kernel tells of it. The map of
# guest1 is a collector's.
current_tasks()
{
	local name cmds

	for name in $GUESTS; do
		in_guest "$name" "$(in_cgroup "$name"); $(programs "$name"); ready"
	done
	mapfile -t cmds < <(map_cmds guest1)
	export -f short_lives
	try tasks perf kvm unified record --guest-tasks --guest-memory --guest-memory-time 60 \
		"${cmds[@]}" -c 498500 -o /run/tasks.data -- bash -ec short_lives
	cp -r /run/tasks.data .
}

measure()
{
	local name

	go_first
	for name in $GUESTS; do
		in_guest "$name" uname -r >"$name-release"
		in_guest "$name" "grep -qw pti /proc/cpuinfo && echo yes || echo no" >"$name-pti"
	done
	export -f work programs in_guest guest_socket
	export GUESTS SOCKETS
	unified_record perf -c 498500 -- bash -ec work
	mkdir -p shares
	for name in $GUESTS; do
		cp "/run/$name-cpu.after" shares
		: >"shares/$name-cpu.before"
	done
	current_tasks
}
