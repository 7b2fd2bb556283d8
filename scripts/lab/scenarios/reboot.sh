# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one of two guests is booted again while it is recorded

# When that was, by the host's clock: booted-from and booted-until have seconds, before it was reset
# and when it answered again. Its kernel is at a random place each time.

# See time-axis.sh.
QEMU_ACCEL=tcg,thread=single
QEMU_ARGS="-icount shift=2,sleep=on"
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1 guest2"
for name in $GUESTS; do
	declare "${name}_NICE=" "${name}_MEM=256" "${name}_CMDLINE=cryptomgr.notests" "${name}_TIMEOUT=600"
done
guest1_REBOOTS=1

# From within the recording
boot_again()
{
	sleep 3
	cut -d' ' -f1 /proc/uptime >/run/booted-from
	GUEST_EXEC_TIMEOUT=2 in_guest guest1 "echo b >/proc/sysrq-trigger" || :
	GUEST_EXEC_TIMEOUT=600 in_guest guest1 ready
	cut -d' ' -f1 /proc/uptime >/run/booted-until
	in_guest guest1 start shares-bravo
	sleep 3
}

measure()
{
	go_first
	in_guest guest1 start shares-alpha
	in_guest guest2 start shares-charlie
	export -f boot_again in_guest guest_socket
	export SOCKETS
	MAPPED="guest1 guest2" unified_record perf -c 997000 -- bash -ec boot_again
	cp /run/booted-* .
}
