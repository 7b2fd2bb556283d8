# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: samples taken in NMI context, on top of a guest (NMI_COUNT=100000 for more)

# One CPU sends them; the guest's vCPU moves between the others.
HOST_CPUS=3
HOST_MEM=1024
NMIS=${NMI_COUNT:-20000}
LIMIT=$((400 + NMIS / 50))
# Its guest looks at no clock of the host.
HOST_CMDLINE="kvmu.clock=any kvmu.nmis=$NMIS"
SELFTESTS=series

measure()
{
	local nmis

	nmis=$(sed -n 's/.*\bkvmu\.nmis=\([0-9]*\).*/\1/p' /proc/cmdline)
	"$SELFTESTS_DIR/perf_vcpu_nmi_test" -n "$nmis" -s $((300 + nmis / 50)) >nmi.tap 2>nmi.err
}
