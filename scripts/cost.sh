#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# cost.sh: what the series costs, in instructions, as a table: an exit, a KVM_RUN and a
# sample on a kernel without the series, with it and not in use, and in use. Two runs of
# the lab's scenario cost, and build/cost.txt.
#
# Ends with 1 if off costs more than it may: see ALLOWED.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

# Instructions that off may cost over the kernel without the series. An exit: a test and a branch,
# for callchains that nobody wants, and one store less. A KVM_RUN: a store, and a load, a test and a
# branch at its begin and at its end, for the tracepoint. (This kernel has no CONFIG_JUMP_LABEL; with
# it, what is off is one no-op each.) A sample: a test and a branch where it is prepared and
# where it is written, and one instruction more.
declare -A ALLOWED=([exit]=2 [run]=12 [guest-sample]=5 [host-sample]=5)
declare -A USED_BY=([exit]=timeline [run]=timeline [guest-sample]=vcpu [host-sample]=vcpu)
declare -A NOT_IN_USE=([exit]=none [run]=none [guest-sample]=plain [host-sample]=plain)

# measure [VARIANT]: the scenario on that kernel; the results as cost-VARIANT.txt
measure()
{
	COST_VARIANT=$1 "$TOP/scripts/lab.sh" cost
	cp "$LAB_OUT/cost/cost.txt" "$TOP/build/cost-${1:-patched}.txt"
}

# value VARIANT WHAT EVENT: the figure that came most often, or -
value()
{
	awk -v what="$2" -v event="$3" \
		'$1 == what && $2 == event { print (NF > 3 ? $6 : "-") }' "$TOP/build/cost-$1.txt"
}

# bytes WHAT EVENT: of what is recorded then, with the series
bytes()
{
	awk -v what="$1" -v event="$2" '$1 == what && $2 == event { print $11 }' "$TOP/build/cost-patched.txt"
}

table()
{
	local what without off on rc=0 verdict

	printf '%-14s %10s %10s %10s %12s %8s\n' instructions without off 'in use' 'off costs' allowed
	for what in exit run guest-sample host-sample; do
		without=$(value vanilla "$what" "${NOT_IN_USE[$what]}")
		off=$(value patched "$what" "${NOT_IN_USE[$what]}")
		on=$(value patched "$what" "${USED_BY[$what]}")
		verdict=
		if [ $((off - without)) -gt "${ALLOWED[$what]}" ]; then
			verdict=' TOO MUCH'
			rc=1
		fi
		printf '%-14s %10d %10d %10d %12d %8d%s\n' "$what" "$without" "$off" "$on" \
			$((off - without)) "${ALLOWED[$what]}" "$verdict"
	done
	return "$rc"
}

# What a stay in the VMM costs, told by the tracepoint, by two that exist already, by the thread's context
# switches and system calls, and by a BPF program; what an exit costs then that KVM handles, of
# which there is nothing to tell; and the bytes that a stay has
ways()
{
	local way run exit run_none exit_none

	run_none=$(value patched run none)
	exit_none=$(value patched exit none)
	printf '%-14s %10s %10s %10s\n' instructions 'a stay' 'an exit' bytes
	for way in timeline existing switches bpf; do
		run=$(value patched run $way)
		exit=$(value patched exit $way)
		printf '%-14s %10d %10d %10d\n' $way $((run - run_none)) $((exit - exit_none)) \
			"$(bytes run $way)"
	done
}

# What a sample costs, in all: without the vCPU, with it, and by a BPF program that emits what that has,
# in place of the sample
samples()
{
	local way

	printf '%-14s %10s %10s %10s %10s\n' instructions guest bytes host bytes
	for way in plain vcpu bpf; do
		printf '%-14s %10d %10d %10d %10d\n' $way \
			"$(value patched guest-sample $way)" "$(bytes guest-sample $way)" \
			"$(value patched host-sample $way)" "$(bytes host-sample $way)"
	done
}

# What a sample costs more that has a callchain of twenty functions by frame pointers, and one that has
# 8 KiB of the stack: of a guest, and of a program of the host
chains()
{
	local what plain

	printf '%-14s %10s %10s\n' instructions 'a chain' 'a stack'
	for what in guest-frames host-frames; do
		plain=$(value patched $what plain)
		printf '%-14s %10d %10d\n' $what $(($(value patched $what chain) - plain)) \
			$(($(value patched $what stack) - plain))
	done
}

lock_cache
measure vanilla
measure ''
rc=0
table >"$TOP/build/cost.txt" || rc=$?
ways >"$TOP/build/cost-ways.txt"
samples >"$TOP/build/cost-samples.txt"
chains >"$TOP/build/cost-chains.txt"
cat "$TOP/build/cost.txt" "$TOP"/build/cost-{ways,samples,chains}.txt
KVMU_SAID_WHY=1
exit "$rc"
