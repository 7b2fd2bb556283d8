# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftests of PERF_SAMPLE_VCPU on VMX, nested guests and NMIs too; in Bochs

EMULATOR=bochs
# One of them sends the NMIs.
HOST_CPUS=2
SELFTESTS=1
# What Bochs has time for
SAMPLES=100
NMIS=2000

measure()
{
	local rc=0

	"$SELFTESTS_DIR/perf_vcpu_sample_test" -n $SAMPLES >sample.tap 2>sample.err || rc=$?
	say "selftest: exit code $rc"
	"$SELFTESTS_DIR/perf_vcpu_nmi_test" -n $NMIS >nmi.tap 2>nmi.err || rc=$?
	return "$rc"
}
