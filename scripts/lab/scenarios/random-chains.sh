# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: callchains of a guest that has random registers (CHAIN_STATES=1000000 for more)

HOST_MEM=1024
STATES=${CHAIN_STATES:-100000}
LIMIT=$((600 + STATES / 50))
# Its guest looks at no clock of the host.
HOST_CMDLINE="kvmu.clock=any kvmu.states=$STATES"
SELFTESTS=series

measure()
{
	local states

	states=$(sed -n 's/.*\bkvmu\.states=\([0-9]*\).*/\1/p' /proc/cmdline)
	"$SELFTESTS_DIR/guest_callchain_record_test" -n "$states" >chains.tap 2>chains.err
}
