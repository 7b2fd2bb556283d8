# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: as libquantum, with what perf does without this series

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=512
guest1_NICE="0 5"

measure()
{
	perf record -a -e cpu-clock -c 1000000 -o perf.data -- sleep 5
	in_guest guest1 cat /proc/kallsyms >guest1.map
}

report()
{
	perf kvm --host --guest --guestkallsyms=guest1.map report -f -i perf.data --stdio >report.txt
}
