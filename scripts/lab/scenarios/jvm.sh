# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: one guest with a Java VM whose heap is too small for its work, and one whose is not

# Two recordings, small-heap and large-heap, of the same number of transactions, and what the
# workload says of them in NAME-answer: they take a time of a virtual clock.
CLOCK=virtual
HOST_CPUS=1
LIMIT=1800

GUESTS="guest1"
guest1_VCPUS=1
guest1_EXTRA=jvm
guest1_MEM=512
guest1_NICE=
guest1_CMDLINE=cryptomgr.notests
guest1_TIMEOUT=600

# Nearly 1 ms, see time-axis.sh.
PERIOD=997000

# With these orders, 5 MB are in use at any time.
ORDERS=17000
WARM_UP=10000
TRANSACTIONS=20000
# Four threads of the collector, as a JVM has where there are four CPUs, which was the paper's
# guest. All memory is touched at once, and all code compiled at once as well as can be: neither
# is to be part of what is measured.
JAVA=(java -XX:+UseParallelGC -XX:ParallelGCThreads=4 -XX:+AlwaysPreTouch
	-XX:-TieredCompilation)

# shop NAME HEAP
shop()
{
	in_guest guest1 "mkfifo /run/$1.ask /run/$1.answer"
	in_guest guest1 start "${JAVA[@]}" -Xms"$2" -Xmx"$2" -cp /usr/share/shop Shop \
		$ORDERS $WARM_UP "/run/$1.ask" "/run/$1.answer"
	in_guest guest1 ready
	MAPPED=guest1 IN_GUEST=1 bracketed_record "$1" -c $PERIOD -- \
		"echo $TRANSACTIONS >/run/$1.ask; cat /run/$1.answer"
	in_guest guest1 stop
}

measure()
{
	go_first
	# What perf reads of files it shall have read.
	perf kvm unified record -q -o /run/warm-up.data -- true

	shop small-heap 8m
	shop large-heap 16m
}

# For whoever reads the console.
report()
{
	cat small-heap-answer large-heap-answer
}
