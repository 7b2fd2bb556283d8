# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftest of PERF_SAMPLE_VCPU on shadow page tables, without nested paging

HOST_MEM=1024
LIMIT=300
SELFTESTS=series
HOST_CMDLINE="kvmu.clock=any kvm_amd.npt=0"

measure()
{
	"$SELFTESTS_DIR/perf_vcpu_sample_test" -n 200 >sample.tap 2>sample.err
}

check()
{
	[ "$(cat /sys/module/kvm_amd/parameters/npt)" = N ]
}
