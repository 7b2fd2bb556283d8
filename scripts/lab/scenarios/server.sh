# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: a guest with a database server: so many transactions with and without profiling

# One instruction is 1 ns. So the CPU is no faster than a real one in what a sample costs,
# which is what shows here: 1 ms has a million instructions.
CLOCK=virtual
CLOCK_SHIFT=0
# See overhead.sh.
QEMU_CPU=max,-erms,-fsrm
HOST_CPUS=1
LIMIT=1800

# 1: the load ends before the measurement does
FOLLOW=1
GUESTS="guest1"
guest1_VCPUS=1
guest1_EXTRA=mariadb
# The initrd is 120 MB, and is there twice until it is unpacked.
guest1_MEM=1024
guest1_NICE=
guest1_VSOCK=1
guest1_TIMEOUT=600
guest1_CMDLINE=cryptomgr.notests

# Of each run
TRANSACTIONS=1500
WARM_UP=100
# Nearly 1 ms and 0.1 ms, not in step with the ticks
PERIOD=997000
SHORT_PERIOD=99700

# What the agent starts has the agent's priority.
LOAD="renice 0 -p \$\$ >/dev/null; exec oltp --events=$TRANSACTIONS run"

# For each run there are NAME-answer, what sysbench says of it, and NAME-guest1-stat.before
# and .after, the guest's own accounting.

# A server that has its own copy of the database, so that each run finds the same. The one
# before has to be gone, as both have the same socket.
fresh_server()
{
	in_guest guest1 stop
	in_guest guest1 "while pidof mariadbd; do usleep 100000; done; rm -rf /run/db /run/mariadbd.sock"
	in_guest guest1 "cp -r /var/lib/mysql /run/db"
	in_guest guest1 start /usr/sbin/mariadbd --defaults-file=/etc/mariadb.cnf --datadir=/run/db
	in_guest guest1 "while [ ! -S /run/mariadbd.sock ]; do usleep 100000; done"
	in_guest guest1 "oltp --events=$WARM_UP run"
}

# load NAME [FIFO]: with the perf that listens there
load()
{
	local guests

	mapfile -t guests < <(bracket_guests)
	bracket.py --in-guest "${guests[@]}" ${2:+--perf "$2"} "/run/$1" "$LOAD"
	cp "/run/$1"-* .
}

without()
{
	fresh_server
	load "$1"
	say "done: $1"
}

# plain NAME PERIOD: perf without anything of ours
plain()
{
	fresh_server
	make_fifos record.ctl record.ack
	perf record -q -a -e cpu-clock -c "$2" -o "/run/$1.data" --delay=-1 \
		--control=fifo:/run/record.ctl,/run/record.ack &
	load "$1" /run/record
	wait $!
	cp "/run/$1.data" .
	rm "/run/$1.data"
	say "recorded $1"
}

# unified NAME PERIOD
unified()
{
	fresh_server
	MAPPED=guest1 IN_GUEST=1 bracketed_record "$1" -c "$2" -- "$LOAD"
}

measure()
{
	go_first
	# What perf reads of files it shall have read.
	perf kvm unified record -q -o /run/warm-up.data -- true
	perf record -q -a -e cpu-clock -o /run/warm-up.plain -- true

	without none-1
	plain plain-1ms $PERIOD
	unified unified-1ms $PERIOD
	without none-2
	unified unified-100us $SHORT_PERIOD
	without none-3
	in_guest guest1 stop
}
