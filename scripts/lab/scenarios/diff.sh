# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: three recordings: as it was, with a slower process, and with one more VM on the CPU

# One CPU, so that the VMs have to share it.
CLOCK=virtual
HOST_CPUS=1

PROCESSES="--user-us 3000 --kernel-us 500 --idle-us 4000"
# A vCPU that is woken up now and then
LIGHT="--cr3 2000 --user-us 300 --kernel-us 100 --idle-us 20000"

# boot NAME OPTION...: a VM, in place of one of that name
boot()
{
	local name=$1
	shift

	[ ! -f "$name.pid" ] || halt "$name"
	start_tiny_vm "$name" "$@"
}

halt()
{
	kill "$(cat "$1.pid")"
	wait "$(cat "$1.pid")" || :
	mv "$1.pid" "$1.old-pid"
}

# record_as NAME GUEST=MAP...
record_as()
{
	local name=$1 guest maps=()
	shift

	for guest in "$@"; do
		maps+=(--guest-cmd "${guest%%=*}=cat $OUT/${guest#*=}")
	done
	sleep 0.5
	tiny_vms_run
	perf kvm unified record -q -B -c 997000 -o "/run/$name.data" "${maps[@]}" -- sleep 2
	cp -r "/run/$name.data" .
	say "recorded $name"
}

measure()
{
	"$GUEST_DIR/tiny-vmm" --symbols >tiny.kallsyms
	"$LAB/vmm/tiny-map.py" tiny.kallsyms 10:left:2000 11:right:6000 >first.map
	# As after another boot: with other pids
	"$LAB/vmm/tiny-map.py" tiny.kallsyms 30:left:2000 31:right:6000 >second.map
	go_first

	# shellcheck disable=SC2086 # lists of options
	{
		boot alpha --cr3 2000 --cr3 6000 $PROCESSES
		boot beta $LIGHT
		record_as before alpha=first.map
		# Its turn is three times as long.
		boot alpha --cr3 2000 --cr3 2000 --cr3 2000 --cr3 6000 $PROCESSES
		record_as slower alpha=second.map
		halt beta
		boot gamma --cr3 2000 --user-us 5000 --kernel-us 1000 --idle-us 0
		record_as neighbour alpha=second.map
	}
}

# Nothing takes longer on a virtual clock than this: scripts/tests/diff.t compares them outside.
report()
{
	:
}
