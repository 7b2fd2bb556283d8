# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: what profiling costs a guest's fixed piece of work, in instructions

# One instruction of the host or of the guest is 1 ns, and nothing else is: how long the
# guest's work takes is how many instructions it and all that interrupts it have.
CLOCK=virtual
CLOCK_SHIFT=0
# The emulator counts each byte that REP MOVSB moves, which hardware moves by the cache line.
# Without these features the kernel moves eight bytes by an instruction.
QEMU_CPU=max,-erms,-fsrm
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=256
guest1_NICE=
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

# ns, as in the paper
PERIODS="10000000 2500000 1000000 100000"
# Whether kvm_entry and kvm_exit are to be recorded, too
EXITS=1
WAYS="plain unified inside"
# Twice the work, so that what perf does now and then (it wakes up when half of its buffer is
# full) is in the time as often as it should be
WORK="shor 0 91 8 2"

# NAME.txt has two lines of the guest's work, before and after it, with the guest's clock;
# NAME.data what was recorded, which begins before the work and ends after it.

# on_host NAME COMMAND...: the work, with a perf record of the host
on_host()
{
	local name=$1 data=/run/$1.data
	shift

	# shellcheck disable=SC2086 # a command and its arguments
	"$@" -o "$data" -- guest-exec.py "$(guest_socket guest1)" $WORK >"$name.txt" 2>"$name.err"
	# Of a directory, what has been measured
	[ ! -d "$data" ] || data+=/data
	cp "$data" "$name.data"
	rm -r "/run/$name.data"
	say "$name"
}

# in_the_guest NAME OPTION...: with a perf record there
in_the_guest()
{
	local name=$1
	shift

	in_guest guest1 "perf record -q -a $* -o /run/perf.data -- $WORK" >"$name.txt"
	in_guest guest1 "cat /run/perf.data" >"$name.data"
	in_guest guest1 "rm /run/perf.data"
	say "$name"
}

plain()
{
	on_host "plain-$1" perf record -q -a -e cpu-clock -c "$1"
}

unified()
{
	on_host "unified-$1" perf kvm unified record -q -c "$1"
}

inside()
{
	in_the_guest "inside-$1" -e cpu-clock -c "$1"
}

without()
{
	# shellcheck disable=SC2086
	in_guest guest1 $WORK >"$1.txt"
	say "$1"
}

measure()
{
	local period way

	go_first
	perf kvm unified record -q -o /run/warm-up.data -- true
	perf record -q -a -e cpu-clock -o /run/warm-up.data -- true
	in_the_guest warm-up -e cpu-clock
	without none-1
	without none-2
	for period in $PERIODS; do
		for way in $WAYS; do
			"$way" "$period"
		done
	done
	[ -z "$EXITS" ] || on_host exits perf record -q -a -e kvm:kvm_entry,kvm:kvm_exit -c 1
}
