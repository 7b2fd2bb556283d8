# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftest of PERF_SAMPLE_VCPU, and perf's shell test of it

HOST_MEM=1024
LIMIT=180
SELFTESTS=1
# Its guests look at no clock of the host.
HOST_CMDLINE=kvmu.clock=any

measure()
{
	local rc=0

	"$SELFTESTS_DIR/perf_vcpu_sample_test" >sample.tap 2>sample.err || rc=$?
	tail -n 3 sample.tap
	say "perf's shell test"
	# From there it finds its tests.
	(cd "$SRC_DIR/tools/perf" && perf test -v "PERF_SAMPLE_VCPU") >perf-test.out 2>&1 || rc=$?
	tail -n 3 perf-test.out
	return "$rc"
}
