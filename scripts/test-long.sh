#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test-long.sh [NAME...]: the tests that take too long for every day, scripts/tests-long/*.t
# or those named, as test.sh does those of every day. Two more kernels are built for them.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

ALL=(hot cost package planted nmi processes fuzz stress)
# It compiles, and has what the others leave, of which most have one CPU's work.
BESIDE=series

need_tests "$TOP/scripts/tests-long" "$@"
lock_cache
if [ $# -eq 0 ]; then
	set -- "${ALL[@]}"
	export KVMU_BESIDE=$BESIDE
fi
# Minutes each, the first time: not hidden in the test that needs them.
KERNEL_VARIANT=sanitized "$TOP/scripts/build-kernel.sh"
KERNEL_VARIANT=vanilla "$TOP/scripts/build-kernel.sh"
"$TOP/scripts/setup.sh"
KVMU_SAID_WHY=1
KVMU_TESTS=$TOP/scripts/tests-long "$TOP/scripts/test.sh" "$@"
