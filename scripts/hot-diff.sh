#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# hot-diff.sh: what the series changes in the object code of functions that run when it is
# not in use, as a table of instructions: without the series, with it, and how many lines
# of the two differ. The listings are in build/hot/.
#
# Addresses, the targets of jumps and calls within a function, and offsets into
# structures that have grown are not differences; nor is which register holds what.
# What is counted includes what is behind a static branch that is off: the calls of the
# tracepoints. scripts/cost.sh counts what is run.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

OUT=$TOP/build/hot
# Samples; each exit; KVM_RUN, a halt, and a context switch of a vCPU.
FUNCTIONS=(perf_prepare_sample perf_output_sample __perf_event_header_size
	__perf_event_header__init_id perf_swevent_hrtimer perf_tp_event
	vcpu_enter_guest vcpu_run kvm_arch_vcpu_ioctl_run vmx_vcpu_run svm_vcpu_run
	vmx_handle_exit svm_handle_exit
	kvm_vcpu_ioctl kvm_vcpu_halt kvm_sched_in kvm_sched_out)

# listing VMLINUX FUNCTION: its instructions, normalised. gcc may have made clones of it and
# moved cold parts away: the parts that run are in what has the name itself, or NAME.isra.0.
listing()
{
	# shellcheck disable=SC2016 # sed's $
	objdump -d --no-show-raw-insn --no-addresses --disassemble="$2" "$1" |
		sed -nE '/^<.*>:$/,$ { /^<|^$|^Disassembly/d
			s/^[[:space:]]+//
			s/[[:space:]]*#.*//
			s/\b0x[0-9a-f]+\b/N/g
			s/\b[0-9a-f]{6,16}\b/A/g
			s/<([A-Za-z0-9_.]+)\+N>/<\1>/
			s/%(r[0-9]+[dwb]?|[re]?[abcds][xilphl]+)/%R/g
			p }'
}

symbols_of()
{
	nm "$1" | awk '$2 ~ /^[tT]$/ { print $3 }'
}

# name_in SYMBOLS FUNCTION: as it is called there
name_in()
{
	grep -xE -m 1 "$2(\\.(isra|constprop|part)\\.[0-9]+)?" "$1"
}

row()
{
	local function=$1 variant name count=() differ

	for variant in vanilla patched; do
		name=$(name_in "$OUT/symbols-$variant" "$function") || { count+=(inlined); continue; }
		listing "${vmlinux[$variant]}" "$name" >"$OUT/$function-$variant"
		count+=("$(wc -l <"$OUT/$function-$variant")")
	done
	if [ "${count[0]}" = inlined ]; then
		printf '%-30s %9s %9s\n' "$function" "${count[@]}"
		return
	fi
	differ=$(diff "$OUT/$function-vanilla" "$OUT/$function-patched" | grep -c '^[<>]') || :
	printf '%-30s %9d %9d %+7d %9d\n' "$function" "${count[@]}" $((count[1] - count[0])) "$differ"
}

lock_cache
KERNEL_VARIANT=vanilla "$TOP/scripts/build-kernel.sh"
KERNEL_VARIANT='' "$TOP/scripts/build-kernel.sh"
declare -A vmlinux=([vanilla]=$TREE/host-vanilla/vmlinux [patched]=$TREE/host/vmlinux)
rm -rf "$OUT"
mkdir -p "$OUT"
for variant in "${!vmlinux[@]}"; do
	symbols_of "${vmlinux[$variant]}" >"$OUT/symbols-$variant"
done
printf '%-30s %9s %9s %7s %9s\n' instructions without with more differ
for function in "${FUNCTIONS[@]}"; do
	row "$function"
done | tee "$TOP/build/hot.txt"
