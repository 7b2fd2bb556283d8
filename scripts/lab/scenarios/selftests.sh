# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the KVM selftests of the series but that of NMIs, and perf's shell tests

HOST_MEM=1024
LIMIT=1800
SELFTESTS=series
# Its guests look at no clock of the host.
HOST_CMDLINE=kvmu.clock=any

measure()
{
	local test name rc=0

	for test in "$SELFTESTS_DIR"/*_test; do
		name=${test##*/}
		# It wants CPUs of its own (nmi.sh).
		[ "$name" != perf_vcpu_nmi_test ] || continue
		say "$name"
		"$test" >"$name.tap" 2>"$name.err" || rc=$?
		tail -n 3 "$name.tap"
	done
	say "perf's shell tests"
	for test in "PERF_SAMPLE_VCPU" "perf record and report of a KVM host"; do
		# From there it finds its tests.
		(cd "$SRC_DIR/tools/perf" && perf test -v "$test") >>perf-test.out 2>&1 || rc=$?
	done
	tail -n 6 perf-test.out
	return "$rc"
}
