# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: faults that a kernel with sanitizers has to report; this one is to fail

HOST_VARIANT=sanitized
# See stress.sh.
QEMU_ARGS="-machine q35"
HOST_CMDLINE="no5lvl kvmu.clock=any"

# The module is built by the test: scripts/tests-long/planted.t.
measure()
{
	! insmod "$LAB/../../build/planted/planted.ko"
}
