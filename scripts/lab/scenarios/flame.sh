# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: the guest of libquantum, with callchains: what a flame graph of a host and its guest shows

# shellcheck source=scripts/lab/scenarios/libquantum.sh
. "$(dirname "${BASH_SOURCE[0]}")/libquantum.sh"

# Nothing but its time is measured here: the guest is to get on beside copies of stacks.
PERIOD=4985000

measure()
{
	FROM_MEMORY=1 unified_record perf --call-graph dwarf -c $PERIOD --proc-map-timeout 10000 -- sleep 10
}

report()
{
	unified_report --format table >report.txt
}
