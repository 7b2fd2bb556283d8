# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftests of sample, time line and callchains on shadow page tables, without NPT

HOST_MEM=1024
LIMIT=900
SELFTESTS=series
HOST_CMDLINE="kvmu.clock=any kvm_amd.npt=0"

measure()
{
	local rc=0

	"$SELFTESTS_DIR/perf_vcpu_sample_test" -n 200 >sample.tap 2>sample.err || rc=$?
	"$SELFTESTS_DIR/perf_vcpu_timeline_test" >timeline.tap 2>timeline.err || rc=$?
	"$SELFTESTS_DIR/guest_callchain_record_test" >chains.tap 2>chains.err || rc=$?
	return "$rc"
}

check()
{
	[ "$(cat /sys/module/kvm_amd/parameters/npt)" = N ]
}
