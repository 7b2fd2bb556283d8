#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Intel's VMX: the CR3, the VPID and the exit reason of each sample are those of a guest that is
# known, with EPT and VPIDs; without EPT, and without VPIDs: VMX="vmx-shadow vmx-no-vpid".

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf
LAB=$LAB_OUT

# Samples by label: VM, owner, ring, whether it is at an address of the kernel, and what
# the sample says of the vCPU, which are words from the 5th on.
labelled_guest()
{
	awk -v busy="$(cat busy.pid)" -v halting="$(cat halting.pid)" '
		BEGIN { vm[busy] = "busy"; vm[halting] = "halting" }
		!sub(/^ *VM: */, "") { next }
		{
			sub(/\[cr3 /, "[cr3_")
			# pid, VCPU:id, comm, pid, misc, address, id, ...
			line = vm[$1] " " $3 " " ($5 ~ /g/ ? "user" : "kernel") " " \
				($6 ~ /^ffffffff/ ? "high" : "low")
			for (i = 7; i <= NF; i++)
				line = line " " $i
			print line
		}' "$TMP/script"
}

# And of the VMMs' threads: VM, and what the sample says of the vCPU.
labelled_host()
{
	awk -v busy="$(cat busy.pid)" -v halting="$(cat halting.pid)" '
		BEGIN { vm[busy] = "busy"; vm[halting] = "halting" }
		# comm, pid, misc, address, id, ...
		$1 == "tiny-vmm" && $2 in vm {
			line = vm[$2]
			for (i = 5; i <= NF; i++)
				line = line " " $i
			print line
		}' "$TMP/script"
}

# most PERMILLE FILE REGEX: of its lines match, and there are many.
most()
{
	local all matching

	all=$(wc -l <"$2")
	matching=$(grep -cE "$3" "$2")
	echo "$matching of $all, for example not:"
	grep -vE "$3" "$2" | sort | uniq -c | sort -rn | head -n 5
	[ "$all" -ge 300 ] && [ $((matching * 1000)) -ge $((all * $1)) ]
}

# word N FILE VM: those that there are
word()
{
	awk -v n="$1" -v vm="$3" '$1 == vm { print $n }' "$2" | sort -u | paste -sd,
}

# about PERCENT VM REGEX: of the VM's samples match, within 3.
about()
{
	awk -v want="$1" -v vm="$2" -v regex="$3" '$1 == vm { all++; n += $0 ~ regex }
		END { p = 100 * n / (all ? all : 1); print p; exit !(p > want - 3 && p < want + 3) }' \
		"$TMP/guest"
}

# thread VM: what its lines of the timeline begin with; another's may have it as next_pid.
thread()
{
	printf '^ *tiny-vmm +%s ' "$(cat "$1.pid")"
}

# parameter NAME VALUE
parameter()
{
	grep -qxF "/sys/module/kvm_intel/parameters/$1:$2" kvm-intel
}

# rows VM CLASS COMM PID: the modules of what there is in that VM
rows()
{
	awk -F, -v key="vm,\"$1\",,$2,\"$3\",$4" \
		'$1 "," $2 "," $3 "," $4 "," $7 "," $8 == key { print $6 }' "$TMP/csv" | sort -u | paste -sd,
}

# idle VM: percent of its time
idle()
{
	awk -F, -v vm="\"$1\"" '$1 == "vm" && $2 == vm { all += $9; if ($4 == "IDLE" || $4 == "halt-poll") n += $9 }
		END { printf "%d\n", 100 * n / all }' "$TMP/csv"
}

# check_scenario NAME EPT VPID: Y or N each
check_scenario()
{
	local name=$1 vpids vm cr3 vpid='vpid [1-9][0-9]* '

	# 0 is none, and is not shown.
	[ "$3" = Y ] || vpid=
	lab_runs "$name"
	if ! cd "$LAB/$name"; then
		return
	fi
	ok "$name: kvm_intel has ept=$2" parameter ept "$2"
	ok "$name: kvm_intel has vpid=$3" parameter vpid "$3"

	"$PERF" script -f -i perf.data -F sw:misc,machine_pid,vcpu,comm,pid,ip,vcpu_ctx \
		2>/dev/null | grep -v kvm_vcpu_timeline >"$TMP/script"
	"$PERF" script -f -i perf.data -F trace:comm,pid,trace 2>/dev/null >"$TMP/timeline"
	labelled_guest >"$TMP/guest"
	labelled_host >"$TMP/host"
	sort "$TMP/guest" | uniq -c | sort -rn | sed "s/^/$name: /" >&2
	sort "$TMP/host" | uniq -c | sort -rn | sed "s/^/$name: /" >&2

	# --- samples in the guests ----------------------------------------------------

	# What hits a softirq in KVM's window for interrupts has the label, and is not.
	ok "$name: all labelled guest are in vCPU 0's guest, with CR3, VPID, exit reason" \
		most 995 "$TMP/guest" " 0 guest cr3 0x[0-9a-f]+ ${vpid}exit [A-Z_]+\$"
	grep ' 0 guest cr3 ' "$TMP/guest" >"$TMP/in-guest"
	ok "$name: the CR3s of VM busy are those that it was built with, with PCIDs" \
		test "$(word 8 "$TMP/in-guest" busy)" = 0x2001,0x6fff,0xa001
	ok "$name: that of VM halting, too" test "$(word 8 "$TMP/in-guest" halting)" = 0x3002
	grep ^busy "$TMP/in-guest" >"$TMP/busy"
	ok "$name: an external interrupt ended the turn of VM busy" \
		most 990 "$TMP/busy" ' exit EXTERNAL_INTERRUPT$'
	# It exits by itself all the time, and interrupts come meanwhile.
	grep ^halting "$TMP/in-guest" >"$TMP/halting"
	ok "$name: and mostly that of VM halting" most 850 "$TMP/halting" ' exit EXTERNAL_INTERRUPT$'
	for cr3 in 2001 6fff a001; do
		ok "$name: CR3 $cr3 has a third of VM busy" about 33.3 busy " cr3 0x$cr3 "
		ok "$name: CR3 $cr3: ring 0 has a third of that" about 11.1 busy " kernel .* cr3 0x$cr3 "
	done
	ok "$name: what is at the kernel's addresses is ring 0, and nothing else is" \
		test "$(cut -d' ' -f3,4 "$TMP/in-guest" | sort -u | paste -sd,)" = 'kernel high,user low'
	if [ "$3" = Y ]; then
		vpids=$(word 10 "$TMP/in-guest" busy),$(word 10 "$TMP/in-guest" halting)
		ok "$name: each VM has one VPID, not 0 ($vpids)" grep -qxE '[1-9][0-9]*,[1-9][0-9]*' <<<"$vpids"
		ok "$name: not the same" test "${vpids%,*}" != "${vpids#*,}"
	else
		ok "$name: there are no VPIDs" not grep -q ' vpid ' "$TMP/in-guest" "$TMP/host"
	fi

	# --- samples in the host ------------------------------------------------------

	grep ' 0 host ' "$TMP/host" >"$TMP/loaded"
	ok "$name: in the host, with a vCPU loaded: its VPID and exit reason, and no CR3" \
		most 1000 "$TMP/loaded" "^[a-z]+ 0 host ${vpid}exit [A-Z_]+\$"
	ok "$name: among them those in which VM halting executed HLT" \
		grep -qE "^halting 0 host ${vpid}exit HLT\$" "$TMP/loaded"
	for vm in busy halting; do
		[ "$3" = Y ] || continue
		ok "$name: VM $vm has the same VPID there" \
			test "$(word 5 "$TMP/loaded" "$vm")" = "$(word 10 "$TMP/in-guest" "$vm")"
	done

	# --- the timeline ---------------------------------------------------------------

	grep ' vcpu 0 halted ' "$TMP/timeline" >"$TMP/halted"
	ok "$name: VM halting has halted often, always by HLT on VMX" \
		most 1000 "$TMP/halted" "$(thread halting).* exit_reason 0xc isa 1 "
	ok "$name: VM busy never has" not grep -qE "$(thread busy)" "$TMP/halted"
	ok "$name: it was preempted, by external interrupts" \
		grep -qE "$(thread busy).*vcpu 0 preempted .* exit_reason 0x1 isa 1 " "$TMP/timeline"

	# --- the same by a BPF program -----------------------------------------------------

	"$TESTS/vcpus-by-bpf" "$PERF" both.data no-cr3 >"$TMP/vcpus"
	sed '$d' "$TMP/vcpus" | head >&2
	at_least 100 "$name: samples of guests that a BPF program tells the vCPU of, too" \
		"$(tail -n 1 "$TMP/vcpus" | cut -d' ' -f1)"
	ok "$name: each sample has the same vCPU, VPID and exit reason by both" \
		test "$(wc -l <"$TMP/vcpus")" -eq 1

	# --- the report -----------------------------------------------------------------

	"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --format csv \
		>"$TMP/csv" 2>/dev/null
	ok "$name: perf kvm unified report reads it" test $? -eq 0
	ok "$name: report: VM busy has left (10) in its own module" test "$(rows busy USER left 10)" = '"left"'
	ok "$name: report: VM busy has right (11), whose CR3 has a PCID" \
		test "$(rows busy USER right 11)" = '"right"'
	ok "$name: report: the CR3 that is in no map has no name" \
		test "$(rows busy USER '[cr3 0xa000]' '')" = '"[unknown]"'
	ok "$name: report: the kernel of VM busy has names" \
		grep -q '^vm,"busy",,OS,"guest_kernel_work"' "$TMP/csv"
	ok "$name: report: VM halting, without a map, has none" \
		not grep -qE '"halting",.*(guest_kernel_work|left|right)' "$TMP/csv"
	ok "$name: report: VM halting is idle for a part of the time ($(idle halting) %)" \
		test "$(idle halting)" -ge 20 -a "$(idle halting)" -le 80
	ok "$name: report: VM busy is not" test "$(idle busy)" -eq 0
}

for scenario in ${VMX:-vmx}; do
	case $scenario in
	vmx)		check_scenario vmx Y Y ;;
	vmx-shadow)	check_scenario vmx-shadow N Y ;;
	vmx-no-vpid)	check_scenario vmx-no-vpid Y N ;;
	esac
done
[ -z "${VMX:-}" ] || { done_testing; }

# With L2 in a guest, too
lab_runs vmx-selftests
cd "$LAB/vmx-selftests" || { done_testing; }
hand_on sample.tap sample.err "VMX: "
hand_on timeline.tap timeline.err "VMX: "
hand_on chains.tap chains.err "VMX: "
done_testing
