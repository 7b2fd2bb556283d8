#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The KVM selftests of the series, those of sample and time line with nested paging and
# without, and perf's shell tests, in the lab.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

lab_runs selftests
cd "$LAB_OUT/selftests" || { done_testing; }

hand_on_selftests

shell_tests_pass

lab_runs selftests-shadow
cd "$LAB_OUT/selftests-shadow" || { done_testing; }

hand_on sample.tap sample.err "shadow paging: "
hand_on timeline.tap timeline.err "shadow paging: "
hand_on chains.tap chains.err "shadow paging: "
done_testing
