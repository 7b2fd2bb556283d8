# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one of two guests is booted again while it is recorded, and once more while it is followed

# When that was, by the host's clock: NAME-booted-from and NAME-booted-until have seconds, before it
# was reset and when it answered again. Its kernel is at a random place each time.

CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1 guest2"
for name in $GUESTS; do
	declare "${name}_NICE=" "${name}_MEM=256" "${name}_CMDLINE=cryptomgr.notests" "${name}_TIMEOUT=600" "${name}_VSOCK=1"
done
guest1_REBOOTS=2

# From within the recording
boot_again()
{
	sleep 3
	cut -d' ' -f1 /proc/uptime >"/run/$1-booted-from"
	GUEST_EXEC_TIMEOUT=2 in_guest guest1 "echo b >/proc/sysrq-trigger" || rm -f /run/no-answer
	GUEST_EXEC_TIMEOUT=600 in_guest guest1 ready
	cut -d' ' -f1 /proc/uptime >"/run/$1-booted-until"
	in_guest guest1 start shares-bravo
	sleep 3
}

# record_boot NAME
record_boot()
{
	in_guest guest1 start shares-alpha
	unified_record "$1" -c 997000 -- bash -ec "boot_again $1"
	in_guest guest1 stop
	cp "/run/$1-booted-"* .
}

measure()
{
	go_first
	export -f boot_again in_guest guest_socket
	export SOCKETS
	in_guest guest2 start shares-charlie
	record_boot asked
	FOLLOW=1 record_boot followed
}
