# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest, two libquantum processes with unequal shares of its vCPU

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=512
# Weights 1024 and 335: 75 % and 25 %.
guest1_NICE="0 5"

measure()
{
	unified_record -e cpu-clock -c 1000000 -- sleep 5
}

report()
{
	unified_report >report.txt
}
