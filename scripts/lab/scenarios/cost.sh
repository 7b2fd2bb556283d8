# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: what an exit, a KVM_RUN and a sample cost, in instructions

# One instruction is 1 ns, and so one tick of the TSC; nothing else runs.
CLOCK=virtual
CLOCK_SHIFT=0
HOST_CPUS=1
HOST_PROGRAMS=kvm-cost
# So that the kernel of another build does as well: scripts/cost.sh.
HOST_VARIANT=${COST_VARIANT:-}

NO_SUCH_EVENT=3

# cost WHAT EVENT: a line "WHAT EVENT RESULT", or "WHAT EVENT -" if this kernel has no such event.
cost()
{
	local result rc=0

	result=$(kvm-cost "$1" "$2") || rc=$?
	case $rc in
	0)	say "$1 $2: $result" ;;
	"$NO_SUCH_EVENT") result=- ;;
	*)	return "$rc" ;;
	esac
	echo "$1 $2 $result" >>cost.txt
}

measure()
{
	local what event

	for what in exit run; do
		for event in none timeline existing switches bpf; do
			cost "$what" "$event"
		done
	done
	for what in guest-sample host-sample; do
		for event in plain vcpu bpf; do
			cost "$what" "$event"
		done
	done
	for what in guest-frames host-frames; do
		for event in plain chain stack; do
			cost "$what" "$event"
		done
	done
}
