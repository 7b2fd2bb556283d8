# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest whose two vCPUs share a CPU of the host

GUESTS="guest1"
guest1_VCPUS=2
guest1_PIN=0
guest1_NICE=
guest1_TIMEOUT=150
LIMIT=400

measure()
{
	# One for each vCPU, by busybox's taskset: a mask
	in_guest guest1 start taskset 1 shor 0 253 8
	in_guest guest1 start taskset 2 shor 0 253 8
	bracketed_record two-busy -- sleep 6
}
