# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest whose processes come and go, whose CR3s are reused, and some that stay

# What is to be checked, of three recordings with a map each:
#
#   storm    five programs, 60 processes a second of 20 to 200 ms. storm.log: which
#            there were, and when. A process's samples lie between its start and its
#            end there, and storm-alpha is in storm_alpha() and in no other's function.
#   reuse    two programs, one process at a time, with the same two CR3s for both.
#            reuse.log, as storm's: reuse-odd is never in reuse_even().
#   shares   four processes that stay, with nice values. shares/guest1-cpu.before and
#            .after: the CPU time that they had; scripts/lab/cpu-shares shares user
#
#   release  of its kernel
#   crowd    2,000 processes: crowd.out, what the collector took for them
#
# Of the logs' format see workload/lib/workload.h. The programs of storm and reuse are
# static, at fixed addresses: what a user sample's ip is in guest/unstripped/brief says
# in which of them it was, without any map.

# On a build machine's own clock a storm would be a breeze, as soon
# as that machine has other work: here, 60 a second are 60.
CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

# 1: with a collector that follows the guest during the measurement
FOLLOW=1
GUESTS="guest1"
guest1_VCPUS=1
guest1_MEM=512
guest1_NICE=
guest1_VSOCK=1
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

# Nearly 0.5 ms, for 20,000 samples in 10 s; not in step with the ticks.
PERIOD=498500

# What is recorded has the guest start its work, and stop it again. So the guest is idle
# while the collector begins and ends, which then is soon done.
short_lived()
{
	local ask
	ask="guest-exec.py $(guest_socket guest1)"

	unified_record "$1" -c $PERIOD -- \
		sh -ec "$ask start $1 /run/$1.log; $ask ready; sleep 10; $ask stop"
	fetch_log guest1 "/run/$1.log" "$1.log"
}

# Here, the guest is not asked anything during the recording: what the host takes for
# it from the only CPU is time that the guest's processes believe to have had.
shares()
{
	local nice name=(alpha bravo charlie delta)

	for nice in 0 2 5 8; do
		in_guest guest1 "NICE=$nice start shares-${name[0]}"
		name=("${name[@]:1}")
	done
	in_guest guest1 ready
	shares_record guest1 shares -c $PERIOD -- sleep 15
	in_guest guest1 stop
}

# What the collector costs where there is much to collect.
crowd()
{
	in_guest guest1 "start crowd 2000"
	in_guest guest1 ready
	in_guest guest1 "time -v perf kvm unified guest-map -v -o /run/crowd.map 2>&1; ls -l /run/crowd.map" >crowd.out
	in_guest guest1 stop
}

measure()
{
	go_first
	in_guest guest1 uname -r >release
	short_lived storm
	short_lived reuse
	shares
	crowd
}

# What there was to be seen, for whoever reads the console.
report()
{
	local name

	for name in storm reuse; do
		awk -v name="$name" '
			NR == 1 { first = $4 } { last = $4; life += $5 - $4; cpu += $6 + $7; how[$3]++ }
			END { printf "%s: %d processes, %.1f a second, %.0f ms long, %.1f ms CPU each;",
				name, NR, (NR - 1) / (last - first) * 1e9, life / NR / 1e6, cpu / NR / 1e6
			      for (h in how) printf " %s %d", h, how[h]
			      print "" }' "$name.log"
	done
	cpu-shares shares user
	head -n 1 crowd.out
}
