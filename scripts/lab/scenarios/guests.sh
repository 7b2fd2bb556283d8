# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: three guests on two CPUs, with two kernels, one of them with page table isolation

# What is to be checked, of one recording with three maps:
#
#   guest1   6.1 with KPTI: a process has two CR3s, and one name   shares-alpha, -bravo
#   guest2   6.1 without, the same image                           shares-charlie, cxx
#   guest3   6.12                                                  shares-delta, -alpha
#
# shares-alpha is in shares_alpha(), and so on; nobody has a process of another guest.
# NAME-release: the kernel; NAME-pti: yes or no; shares/NAME-cpu.after: the CPU time that
# the processes had, all of it within the recording.

# See time-axis.sh. Two CPUs in turn: a vCPU may stand still while the other CPU runs.
QEMU_ACCEL=tcg,thread=single
QEMU_ARGS="-icount shift=2,sleep=on"
HOST_CPUS=2
LIMIT=900

# 1: with a collector that follows the guest during the measurement
FOLLOW=1
GUESTS="guest1 guest2 guest3"
for name in $GUESTS; do
	declare "${name}_MEM=512" "${name}_NICE=" "${name}_VSOCK=1" "${name}_TIMEOUT=600"
done
guest1_CMDLINE="cryptomgr.notests pti=on"
guest2_CMDLINE="cryptomgr.notests pti=off"
guest3_CMDLINE=cryptomgr.notests
guest3_KERNEL=6.12

measure()
{
	local name

	for name in $GUESTS; do
		in_guest "$name" uname -r >"$name-release"
		in_guest "$name" "grep -qw pti /proc/cpuinfo && echo yes || echo no" >"$name-pti"
	done
	# From within the recording: so the guests are idle while the collectors begin and
	# end, which then are soon done.
	unified_record -c 997000 -- sh -ec "
		guest-exec $(guest_socket guest1) 'start shares-alpha; NICE=3 start shares-bravo'
		guest-exec $(guest_socket guest2) 'start shares-charlie; start cxx'
		guest-exec $(guest_socket guest3) 'start shares-delta; NICE=3 start shares-alpha'
		for name in $GUESTS; do
			guest-exec $SOCKETS/\$name ready
		done
		sleep 6
		for name in $GUESTS; do
			guest-exec $SOCKETS/\$name cpu >/run/\$name-cpu.after
			guest-exec $SOCKETS/\$name stop
		done"
	mkdir -p shares
	for name in $GUESTS; do
		cp "/run/$name-cpu.after" shares
		: >"shares/$name-cpu.before"
	done
}
