#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# setup.sh [bare]: all that a lab run needs, built or found up to date. LAB_KERNEL and
# LAB_PERF (see lab.sh) stand in for what is not to be built. bare: no collector, which no guest
# of that run has.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

lock_cache
# All at once, so that what is missing is said before the first long build.
"$TOP/scripts/deps.sh" tree kernel perf lab
[ -n "${LAB_KERNEL:-}" ] || "$TOP/scripts/build-kernel.sh"
if [ -z "${LAB_PERF:-}" ]; then
	"$TOP/scripts/build-perf.sh"
	[ "${1:-}" = bare ] || PERF_VARIANT=collector "$TOP/scripts/build-perf.sh"
fi
"$TOP/scripts/lab/guest-image.sh" "$@"
