#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: from nothing to a report of a host and its guest.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

say "perf kvm unified, demo. What is downloaded and built goes to $KVMU_CACHE."
"$TOP/scripts/lab.sh" libquantum
say ""
cat "$TOP/build/lab/libquantum/report.txt"
