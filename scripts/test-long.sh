#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test-long.sh [NAME...]: the tests that take too long for every day, scripts/tests-long/*.t
# or those named, as test.sh does those of every day. Six more kernels are built for them: with
# sanitizers, of either base, with KCSAN, with lockdown, without the series, and that of the other base.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

ALL=(lab stock reboot continuous fleet fleet-sql processes many chains random-chains flame page packets vmx vmx-nmi vmx-linux hostile
	flakes changed threads lts agentless evaluation hot cost kvm-selftests kvm-unit-tests package deb planted perf-suites nmi lts-nmi lts-accuracy processes-old fuzz memory stress kcsan locked lts-stress)
# They compile, and have what the others leave, of which most have one CPU's work.
BESIDE="series lts-series"

need_tests "$TOP/scripts/tests-long" "$@"
lock_cache
if [ $# -eq 0 ]; then
	set -- "${ALL[@]}"
	export KVMU_BESIDE=$BESIDE
fi
# Minutes each, the first time: not hidden in the test that needs them.
for name in "$@"; do
	case $name in
	kvm-unit-tests)
		[ -z "${KVM_UNIT_TESTS:-}" ] ||
			KERNEL_VARIANT=vanilla "$TOP/scripts/build-kernel.sh" ;;
	hot|cost|kvm-selftests)
		KERNEL_VARIANT=vanilla "$TOP/scripts/build-kernel.sh" ;;
	planted|stress)
		KERNEL_VARIANT=sanitized "$TOP/scripts/build-kernel.sh" ;;
	kcsan|locked)
		KERNEL_VARIANT=$name "$TOP/scripts/build-kernel.sh" ;;
	lts-stress)
		(on_lts && KERNEL_VARIANT=sanitized "$TOP/scripts/build-kernel.sh") ;;
	lts|lts-nmi|lts-accuracy)
		(on_lts && "$TOP/scripts/build-kernel.sh" && "$TOP/scripts/build-selftests.sh") ;;
	esac
done
"$TOP/scripts/setup.sh"
KVMU_SAID_WHY=1
KVMU_TESTS=$TOP/scripts/tests-long "$TOP/scripts/test.sh" "$@"
