# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: half an hour of a recording without an end, with VMs that come and go, and one that is killed

# See two-cpus.sh.
CLOCK=virtual
QEMU_CPU=max,-hypervisor
HOST_CPUS=1
LIMIT=3600

GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=256
guest1_NICE=
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

# s; a VM in each of so many that comes and goes
DURATION=1800
INTERVAL=60
VISIT_EVERY=100
VISIT=70

# KiB of memory of its own that the recorder $1 has
private_kib()
{
	awk '/^RssAnon:/ { print $2 }' "/proc/$1/status"
}

# A VM comes and goes, and guest1 has something to do.
visit()
{
	start_tiny_vm "visitor$1" --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 60000
	# shellcheck disable=SC2016 # for the guest's shell
	in_guest guest1 'i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done'
	sleep "$VISIT"
	kill "$(cat "visitor$1.pid")"
	mv "visitor$1.pid" "visitor$1.ended"
}

long()
{
	local recorder start=$SECONDS nr=0 code=0

	perf kvm unified record --continuous kept --interval "${INTERVAL}s" --max-size 10G \
		--guest-memory --guest-memory-time 60 2>kept.err &
	recorder=$!
	while [ $((SECONDS - start)) -lt "$DURATION" ]; do
		nr=$((nr + 1))
		visit "$nr"
		sleep $((VISIT_EVERY - VISIT))
		private_kib "$recorder" >>kept.kib
	done
	echo "$nr" >visits
	kill -INT "$recorder"
	wait "$recorder" || code=$?
	echo "$code" >kept-code
	# Links are none when they are copied out of the lab.
	stat -c '%h' kept/kernels/* >kept.links
	du -sB1 kept | cut -f1 >kept.bytes
}

# What is left by a recorder that is killed, a limit that one profile is more than, another clock
killed()
{
	local recorder

	perf kvm unified record --continuous killed --interval 5s -c 997000 2>killed.err &
	recorder=$!
	sleep 9
	kill -KILL $recorder
	wait $recorder || :
	sleep 2
	ls killed >killed-left
	perf kvm unified record --continuous killed --interval 5s --max-size 1B -k mono -c 997000 \
		2>again.err &
	recorder=$!
	sleep 9
	kill -TERM $recorder
	wait $recorder || :
	ls killed >killed-again
}

# seam NR S: ends that long after the second profile has begun
seam()
{
	local recorder

	perf kvm unified record --continuous "seam$1" --interval 5s -c 997000 2>"seam$1.err" &
	recorder=$!
	until [ "$(find "seam$1" -name '*.part' | wc -l)" -eq 2 ]; do sleep 0.1; done
	sleep "$2"
	kill -INT $recorder
	wait $recorder || :
}

seams()
{
	seam 1 0
	seam 2 1.5
	seam 3 2.2
	try no-process perf kvm unified record --continuous none -p 999999
	try delayed perf kvm unified record --continuous none -D 100
}

measure()
{
	go_first
	in_memory long
	start_tiny_vm stays --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 20000
	in_memory seams
	in_memory killed
	tiny_vms_run
	kill "$(cat stays.pid)"
	mv stays.pid stays.ended
}
