#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test-long.sh [NAME...]: the tests that take too long for every day, scripts/tests-long/*.t
# or those named, as test.sh does those of every day. Two more kernels are built for them.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

ALL=(hot cost series package planted nmi processes fuzz stress)

lock_cache
[ $# -gt 0 ] || set -- "${ALL[@]}"
# Minutes each, the first time: not hidden in the test that needs them.
KERNEL_VARIANT=sanitized "$TOP/scripts/build-kernel.sh"
KERNEL_VARIANT=vanilla "$TOP/scripts/build-kernel.sh"
"$TOP/scripts/setup.sh"
KVMU_SAID_WHY=1
KVMU_TESTS=$TOP/scripts/tests-long "$TOP/scripts/test.sh" "$@"
