# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: the demo's guest without a collector, named out of its memory; and one that has one, to compare

# What is to be checked, of one recording without a collector:
#
#   guest1   the demo's: no perf is in it (guest1-perf)	shor, twice
#   guest2   has the collector, for comparison		spin
#
# record.err: what the recording says. NAME.ps: the guest's processes, by its own word, before and
# after. NAME-kallsyms: the symbols of its kernel, by its own word; NAME.map and NAME-map.out: what
# guest-map --host makes of it. stopped.before and .after: what KVM has counted of guest1, and what
# of it is resident, around a look while its VMM is stopped: nothing else could change them.
# NAME.out: what is refused.

GUESTS="guest1 guest2"
guest1_VCPUS=1
guest1_MEM=768
guest1_NICE="0 5"
guest1_ARGS="0,1397,8"
guest1_TIMEOUT=600
guest1_EXTRA=bare
guest1_PIN=0
guest2_VCPUS=1
guest2_MEM=512
guest2_ARGS="0,253,8"
guest2_TIMEOUT=600
guest2_PIN=1
guest1_CMDLINE=cryptomgr.notests
guest2_CMDLINE=cryptomgr.notests

LIMIT=1800

guest_says()
{
	in_guest "$1" "ps -o pid,comm" >>"$1.ps"
}

# What KVM has counted, and what is resident: of a VM that is stopped, nothing changes it but a look.
count()
{
	local pid
	pid=$(guest_pid guest1)

	grep -s . /sys/kernel/debug/kvm/"$pid"-*/{exits,io_exits,mmio_exits,irq_exits,halt_exits,tlb_flush,pages_4k,pages_2m} |
		sed 's|.*/||'
	grep -E '^(VmRSS|VmSwap|RssAnon|RssFile|RssShmem):' "/proc/$pid/status"
}

look_while_stopped()
{
	local pid
	pid=$(guest_pid guest1)

	kill -STOP "$pid"
	sleep 0.2
	count >stopped.before
	try guest1-map perf kvm unified guest-map --host guest1 -o guest1.map
	count >stopped.after
	kill -CONT "$pid"
}

measure()
{
	in_guest guest1 "ls /usr/bin/perf 2>&1 || :" >guest1-perf
	guest_says guest1
	guest_says guest2
	as_by_default perf kvm unified record -o /run/perf.data -- sleep 10 2>record.err
	cat record.err
	cp -r /run/perf.data .
	guest_says guest1
	guest_says guest2
	say "recorded"

	look_while_stopped
	in_guest guest2 cat /proc/kallsyms >guest2-kallsyms
	try guest2-map perf kvm unified guest-map --host "$(guest_pid guest2)" -o guest2.map
	in_guest guest2 "perf kvm unified guest-map -o -" >guest2-collector.map

	try without as_by_default perf kvm unified record --no-guest-memory -q -o /run/without.data -- sleep 0.5
	ls /run/without.data >without.files
	# Ctrl-C while the first looks are made, which take longer in emulation
	try interrupted as_by_default timeout --preserve-status -s INT 1 \
		perf kvm unified record -o /run/interrupted.data -- true
	ls -d /run/interrupted.data* >interrupted.left 2>/dev/null || :
	try one as_by_default perf kvm unified record -o /run/one.data -p "$(guest_pid guest2)" -- sleep 0.5
	ls /run/one.data >one.files
	# No Linux is in this one.
	start_tiny_vm tiny --cr3 2000 --user-us 500 --kernel-us 500
	sleep 1
	try tiny perf kvm unified guest-map --host tiny -o tiny.map
	try no-such perf kvm unified guest-map --host guest9 -o no.map
	try no-root setpriv --reuid=65534 --clear-groups perf kvm unified guest-map --host "$(guest_pid guest1)" -o /tmp/no.map
	try both perf kvm unified guest-map --host guest1 --follow -o no.map
}

report()
{
	unified_report --format table --percent-limit 0 >report.txt
	unified_report --format table --percent-limit 0.4 >report-short.txt 2>/dev/null
}
