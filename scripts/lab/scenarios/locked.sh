# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: callchains of guests, on a host that is locked down meanwhile

HOST_VARIANT=locked
HOST_MEM=1024
LIMIT=900
SELFTESTS=series
HOST_CMDLINE=kvmu.clock=any
LOCKDOWN=/sys/kernel/security/lockdown

# in_lockdown NAME: what may be opened
in_lockdown()
{
	cat "$LOCKDOWN" >"$1-lockdown.txt"
	"$SELFTESTS_DIR/guest_callchain_record_test" >"$1.tap" 2>"$1.err" || :
}

measure()
{
	local level

	busybox mount -t securityfs none /sys/kernel/security
	in_lockdown none
	# There is no way back.
	for level in integrity confidentiality; do
		echo "$level" >"$LOCKDOWN"
		in_lockdown "$level"
	done
}
