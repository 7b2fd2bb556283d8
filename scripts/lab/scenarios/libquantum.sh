# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest, two libquantum processes with unequal shares of its vCPU

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=768
# Weights 1024 and 335: 75 % and 25 %.
guest1_NICE="0 5"
# The paper's invocation; 0: until the end of the run.
guest1_ARGS="0,1397,8"
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

ANY_CLOCK=1
LIMIT=1800

measure()
{
	# What perf reads of files it shall have read: the emulator's share is slow, and a virtual clock
	# does not wait for it. Nor has it the time for maps that perf record allows them.
	perf kvm unified record -q -o /run/warm-up.data --proc-map-timeout 10000 -- sleep 0.1
	rm -r /run/warm-up.data
	unified_record perf --proc-map-timeout 10000 -- sleep 10
}

# A busy guest leaves little to the host.
report()
{
	unified_report --format table --percent-limit 0 >report.txt
	unified_report 2>/dev/null >report-short.txt
}
