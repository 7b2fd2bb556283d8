# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest, two libquantum processes with unequal shares of its vCPU

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=512
# Weights 1024 and 335: 75 % and 25 %.
guest1_NICE="0 5"
# A smaller number than the paper's 1397: under emulation that one takes longer to
# set up its register than the measurement lasts.
guest1_ARGS="0,253,8"

measure()
{
	unified_record -- sleep 5
}

report()
{
	unified_report >report.txt
}
