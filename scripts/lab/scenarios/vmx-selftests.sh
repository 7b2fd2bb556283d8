# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftests of sample, time line and callchains on VMX, with nested guests; in Bochs

EMULATOR=bochs
SELFTESTS=series

measure()
{
	local rc=0

	# For each case as many as Bochs has time for
	"$SELFTESTS_DIR/perf_vcpu_sample_test" -n 100 >sample.tap 2>sample.err || rc=$?
	"$SELFTESTS_DIR/perf_vcpu_timeline_test" >timeline.tap 2>timeline.err || rc=$?
	"$SELFTESTS_DIR/guest_callchain_record_test" >chains.tap 2>chains.err || rc=$?
	return "$rc"
}
