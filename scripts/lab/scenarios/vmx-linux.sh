# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: Intel's VMX: a Linux guest's processes by a BPF program that reads its memory; in Bochs

EMULATOR=bochs
HOST_MEM=1024
HOST_QEMU=1
LIMIT=3600

guest1_MEM=256
guest1_NICE="0 5"
guest1_ARGS="0,1397,8"
guest1_KERNEL=6.12
guest1_CMDLINE="cryptomgr.notests mitigations=off"

# See vmx.sh.
prepare()
{
	grep -wE '_text|_stext|_etext|_edata' "$GUEST_DIR/../host/System.map" >kallsyms
}

guest_has_started()
{
	grep -q 'guest: workload started' guest1-console.log
}

measure()
{
	local pid

	mount --bind kallsyms /proc/kallsyms
	start_guest guest1
	pid=$(cat /run/guest1.pid)
	PATIENCE=1200 wait_until guest_has_started
	sleep 1
	try both perf kvm unified record --guest-tasks --guest-memory --guest-memory-time 60 \
		-c 997000 -o both.data -- sleep 3
	try by-bpf perf kvm unified record --kernel-mode bpf --guest-memory --guest-memory-time 60 \
		-c 997000 -o by-bpf.data -- sleep 3
	kill "$pid"
}
