# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: samples taken in NMI context on VMX, on top of a guest; in Bochs

EMULATOR=bochs
SELFTESTS=series
# One CPU sends the NMIs, the other has the guest. Two that are idle are slow in Bochs.
HOST_CPUS=2
LIMIT=1800

measure()
{
	# Of all cases, that in user space is the rarest.
	"$SELFTESTS_DIR/perf_vcpu_nmi_test" -n 5000 -s 60 >nmi.tap 2>nmi.err
}
