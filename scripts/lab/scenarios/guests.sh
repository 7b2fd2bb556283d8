# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: three guests on one CPU, with three kernels, one of them with page table isolation; many small ones

# What is to be checked, of one recording with three maps:
#
#   guest1   6.1 with KPTI: a process has two CR3s, and one name   shares-alpha, -bravo
#   guest2   5.10 without: no build-ids from the kernel            shares-charlie, cxx
#   guest3   6.12                                                  shares-delta, -alpha
#
# shares-alpha is in shares_alpha(), and so on; nobody has a process of another guest.
# Each guest works alone for a while, and then all of them at once, with new processes.
# Then commands for all guests at once, of these and of a dozen VMs of tiny-vmm: many-*.
# NAME-release: the kernel; NAME-pti: yes or no; shares/NAME-cpu.after: the CPU time that
# the processes had that worked alone, all of it within the recording.

# See time-axis.sh.
QEMU_ACCEL=tcg,thread=single
QEMU_ARGS="-icount shift=2,sleep=on"
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

# many NAME OPTION...: a recording: what it says, to NAME.err, and the files that it leaves, to
# NAME.files
many()
{
	local name=$1 rc=0
	shift

	perf kvm unified record -c 997000 -o "/run/$name.data" "$@" 2>"$name.err" || rc=$?
	echo "exit code $rc" >>"$name.err"
	ls "/run/$name.data" >"$name.files" 2>/dev/null || :
	rm -rf "/run/$name.data"
	say "recorded $name"
}

# What guests are asked by: asked takes a second, and says to many-jobs when it begins and ends;
# followed begins with the head of a map, and sends the rest at the end of its input.
write_commands()
{
	printf '#!/bin/sh\n%s\n' 'echo 1 >>many-jobs; sleep 1; cat /run/tiny.map; echo -1 >>many-jobs' >/run/asked
	printf '#!/bin/sh\n%s\n' 'head -c 16 /run/tiny.map; cat; tail -c +17 /run/tiny.map' >/run/followed
	chmod +x /run/asked /run/followed
}

start_idle_vm()
{
	start_tiny_vm "$1" --cr3 2000 --user-us 500 --kernel-us 500 --idle-us 500000
}

# Ctrl-C while guests are asked
interrupted_many()
{
	many many-interrupted --vm 'web-*' --guest-cmd '*=sleep 1234' -- sleep 0.2 &
	until grep -q Asking many-interrupted.err; do sleep 0.1; done
	sleep 0.5
	pkill -INT -x perf
	wait $!
	pgrep -f "sleep 1234" >many-left-behind || :
}

# Names anybody may give: none of them may be run.
many_vms()
{
	local name

	"$GUEST_DIR/tiny-vmm" --symbols >tiny.kallsyms
	"$LAB/vmm/tiny-map" tiny.kallsyms 10:left:2000 >/run/tiny.map
	# shellcheck disable=SC2016 # not this shell's to expand
	for name in web-{1..8} db-1 'x;touch${IFS}injected' '$(touch${IFS}injected)'; do
		start_idle_vm "$name"
	done
	write_commands
	sleep 1
	tiny_vms_run
	export -f start_idle_vm start_tiny_vm
	export GUEST_DIR

	many many-asked --guest-jobs 3 --guest-cmd 'db-1=exit 3' --guest-cmd '*=/run/asked %n' -- sleep 0.2
	many many-followed --guest-follow 'web-*=/run/followed' --guest-cmd '*=cat /run/tiny.map # %p' -- \
		bash -c "start_idle_vm late; sleep 1"
	many many-late --guest-follow '*=/run/followed' -- bash -c "start_idle_vm later; sleep 1"
	many many-deadline --vm 'web-*' --guest-jobs 2 --guest-deadline 6 --guest-cmd '*=sleep 1234' -- sleep 0.2
	many many-timeout --vm 'web-[1-3],db-?' --guest-timeout 1 --guest-cmd '*=sleep 1234' -- sleep 0.2
	many many-no-such --vm 'web-9' --guest-cmd '*=true' -- true
	interrupted_many
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
	# shellcheck disable=SC2016 # the command's to expand
	many many-real --guest-cmd '*=socat -t 60 - VSOCK-CONNECT:$(cat /run/%n.cid):5000' -- sleep 0.2
	many_vms
}
