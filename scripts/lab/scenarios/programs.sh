# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: runs LAB_PROGRAMS (paths of static programs) on the host; LAB_EMULATOR=bochs: on VMX
#
# What NAME prints is in NAME.out afterwards, and its exit code in NAME.rc: what they mean
# is for the caller to say. LAB_CPUS is how many CPUs there are, LAB_CMDLINE goes to the
# kernel.

EMULATOR=${LAB_EMULATOR:-qemu}
HOST_CPUS=${LAB_CPUS:-1}
HOST_CMDLINE=${LAB_CMDLINE:-}
# For each of them, on the emulated clock.
PROGRAM_SECONDS=60

prepare()
{
	mkdir programs
	# shellcheck disable=SC2086 # a list
	install -t programs ${LAB_PROGRAMS:?names no programs}
}

measure()
{
	local program name rc

	for program in programs/*; do
		name=$(basename "$program")
		rc=0
		timeout "$PROGRAM_SECONDS" "$program" >"$name.out" 2>&1 || rc=$?
		echo "$rc" >"$name.rc"
		say "$name: exit code $rc"
	done
	# They would be sent with the results.
	rm -r programs
}
