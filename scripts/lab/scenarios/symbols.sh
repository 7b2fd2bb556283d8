# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest with code that has no file, or not where one would look: JIT, containers, memfd

# What is to be checked, of one recording with a map:
#
#   process            its time is in                     and its names are in
#   jit                jit_hot, jit_warm..., jit_late     /tmp/perf-PID.map of the guest
#   contained-jit      the same                           /tmp/perf-1.map of its own /tmp
#   node               nodeMultiply, nodeSieve            /tmp/perf-PID.map of the guest
#   dumping            the same                           its jitdump, jit-PID.dump
#   cxx                mix::Mixer<int>::spin(int), ...    guest/unstripped/cxx, by build-id
#   contained-spin     contained_spin                     /usr/bin/contained, by build-id
#   mapped memfd       copied_spin, in a memfd            none
#   mapped huge        the same, in huge pages            none
#   mapped hugetlb     the same, out of the reserve       none
#   mapped-program     mapped_spin, in a memfd            /usr/bin/mapped, by build-id
#   named              __vdso_clock_gettime               the vDSO, whose names are in the map
#                      vsock_create and others            the module vsock
#   gone               shelf::turn, mangled by Rust       /usr/bin/named, by build-id: it was deleted,
#                                                         and another file has its name
#   bpf                bpf_prog_..._first, _second: BPF programs, one where the other was before
#   no-build-id        spin_without_id                    the file itself, which has the name of contained-spin's
#
# The process that runs in namespaces is the child of "contained".
# Ten processes on a CPU that is emulated want a clock that waits.
CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

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
	in_guest guest1 "insmod /lib/modules/\$(uname -r)/failover.ko"
	in_guest guest1 "echo 2 >/proc/sys/vm/nr_hugepages"
	in_guest guest1 start jit
	in_guest guest1 start contained jit
	in_guest guest1 start cxx
	in_guest guest1 start contained
	in_guest guest1 start contained spin
	in_guest guest1 start named vdso
	in_guest guest1 start named module
	in_guest guest1 "cp /usr/bin/named /tmp/gone; start /tmp/gone rust"
	for where in memfd huge hugetlb program; do
		in_guest guest1 start mapped "$where"
	done
	in_guest guest1 start bpf first second
	in_guest guest1 start node --perf-basic-prof /usr/share/hot.js
	in_guest guest1 "ln -s /usr/bin/node /tmp/dumping; cd /tmp;" \
		"start /tmp/dumping --perf-prof /usr/share/hot.js"
	in_guest guest1 ready
	in_guest guest1 "rm /tmp/gone; cp /usr/bin/jit /tmp/gone"
	# Two find in the middle that there is something to compile; BPF programs and a module go and come.
	unified_record perf -c $PERIOD -- sh -c "sleep 4
		guest-exec.py $(guest_socket guest1) 'kill -USR2 \$(pidof jit contained-jit bpf)'
		guest-exec.py $(guest_socket guest1) 'rmmod failover; insmod /lib/modules/\$(uname -r)/failover.ko'
		sleep 4"
	in_guest guest1 stop
	refusals
}

# map_refused NAME: what guest-map says where it cannot read CR3s, and its exit code: with
# --follow it can do nothing, without it NAME.map is a map all the same.
map_refused()
{
	in_guest guest1 "exec 2>&1; perf kvm unified guest-map --follow -o /tmp/refused;" \
		"echo exit code \$?; ls /tmp/refused*" >"$1-follow.txt" || :
	in_guest guest1 "perf kvm unified guest-map -o - 2>/tmp/said; echo exit code \$? >>/tmp/said" \
		>"$1.map" || :
	in_guest guest1 "cat /tmp/said" >"$1.txt" || :
}

refusals()
{
	in_guest guest1 "mount --bind /dev/null /sys/kernel/btf/vmlinux"
	map_refused no-btf
	in_guest guest1 "umount /sys/kernel/btf/vmlinux"
	in_guest guest1 "mount -t securityfs none /sys/kernel/security &&" \
		"echo confidentiality >/sys/kernel/security/lockdown"
	map_refused lockdown
}
