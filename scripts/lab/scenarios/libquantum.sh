# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest, two libquantum processes with unequal shares of its vCPU

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=768
# Weights 1024 and 335: 75 % and 25 %.
guest1_NICE="0 5"
# The paper's invocation; 0: until the end of the run.
guest1_ARGS="0,1397,8"
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

ANY_CLOCK=1
LIMIT=1800

# What the guest tells of its processes' CPU time is of a recording alone, in recorded/ and
# demo-recorded/: when one of two has had more than its share before, the other has more in it.
recorded_work()
{
	in_guest guest1 cpu >/run/cpu.before
	sleep 10
	in_guest guest1 cpu >/run/cpu.after
}

# take_recorded DIR: what recorded_work has left
take_recorded()
{
	local when

	mkdir -p "$1"
	for when in before after; do
		cp "/run/cpu.$when" "$1/guest1-cpu.$when"
	done
}

measure()
{
	# What perf reads of files it shall have read: the emulator's share is slow, and a virtual clock
	# does not wait for it. Nor has it the time for maps that perf record allows them.
	perf kvm unified record -q -o /run/warm-up.data --proc-map-timeout 10000 -- sleep 0.1
	rm -r /run/warm-up.data
	export -f recorded_work in_guest guest_socket
	export SOCKETS
	# What the demo shows: nothing runs in the guest for it.
	FROM_MEMORY=1 unified_record demo --proc-map-timeout 10000 -- bash -ec recorded_work 2>demo.err
	cat demo.err
	take_recorded demo-recorded
	# And with a map that a collector makes in the guest at the end
	unified_record perf --proc-map-timeout 10000 -- bash -ec recorded_work
	take_recorded recorded
	# Two clocks and what is no clock, of the host and of the guest. Periods of which one is a
	# multiple of the other end together, and the second is then always taken in the first's
	# interrupt, or just after it, in the host.
	perf kvm unified record -q -o /run/events.data \
		-e cpu-clock/period=1000000/,task-clock/period=617003/,page-faults/period=1/ -- sleep 2
	cp -r /run/events.data .
}

demo_report()
{
	unified_report -i demo.data --format table "$@" 2>/dev/null
}

# A busy guest leaves little to the host.
report()
{
	unified_report --format table --percent-limit 0 >report.txt
	demo_report --percent-limit 0 >demo-report.txt
	demo_report >demo-report-short.txt
}
