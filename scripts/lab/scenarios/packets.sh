# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: guests that receive packets, by virtio and by an emulated network card

# RECORDING-sent.txt and RECORDING-received.txt: what was sent, and what came there;
# RECORDING-vm.before and .after, just before the first packet and after the last: KVM's
# counters of the guest.
#
CLOCK=virtual
HOST_CPUS=1
HOST_PROGRAMS=send-packets
LIMIT=1800

# Idle once they are up; without the kernel's self-tests, 0.8 s of them.
GUESTS="guest1 guest2"
for name in $GUESTS; do
	declare "${name}_MEM=256" "${name}_NICE=" "${name}_CMDLINE=cryptomgr.notests"
	declare "${name}_TIMEOUT=600"
done
guest1_NET=virtio-net-pci
guest2_NET=vmxnet3

# Nearly 0.5 ms, not in step with the ticks
PERIOD=498500
PORT=9
# Some 2,800 packets a second. The samples' period is 1.38 of the packets', so that one sample
# after the other meets another part of the work: to neighbours that are alike the report would
# give what is between them.
INTERVAL_US=361
COUNT=12000
# In debugfs, of a VM
COUNTERS="exits halt_exits io_exits mmio_exits irq_injections"

# ask_kvm GUEST: in words of a shell, as is that below.
ask_kvm()
{
	printf 'cd /sys/kernel/debug/kvm/%s-*; busybox grep -H . %s' "$(guest_pid "$1")" "$COUNTERS"
}

# send RECORDING GUEST COUNT
send()
{
	printf '(%s) >%s-vm.before; ' "$(ask_kvm "$2")" "/run/packets/$1"
	printf 'send-packets %s %s %s %s >%s-sent.txt; ' "$(net_target "$2")" "$PORT" \
		"$INTERVAL_US" "$3" "/run/packets/$1"
	printf '(%s) >%s-vm.after' "$(ask_kvm "$2")" "/run/packets/$1"
}

# What is executed while packets are sent: a file of the build machine's takes long to open.
copy_programs()
{
	mkdir -p /run/packets
	cp "$(command -v busybox)" "$(command -v send-packets)" /run/bin
}

receiver()
{
	in_guest "$2" "start receive $PORT /run/$1.log"
	in_guest "$2" ready
}

received()
{
	in_guest "$2" stop
	fetch_log "$2" "/run/$1.log" "/run/packets/$1-received.txt"
	cat "/run/packets/$1-sent.txt" "/run/packets/$1-received.txt"
}

# record_packets RECORDING GUEST [MAPPED]
record_packets()
{
	receiver "$1" "$2"
	MAPPED=${3:-} bracketed_record "$1" -c $PERIOD -- \
		busybox sh -c "$(send "$1" "$2" $COUNT)"
	received "$1" "$2"
}

# warm_up GUEST: what has to be set up for packets to arrive shall be there.
warm_up()
{
	receiver "warm-up-$1" "$1"
	busybox sh -c "$(send "warm-up-$1" "$1" 100)"
	received "warm-up-$1" "$1"
}

measure()
{
	local name

	go_first
	copy_programs
	# What perf reads of files it shall have read.
	perf kvm unified record -q -o /run/warm-up.data -- true
	for name in $GUESTS; do
		warm_up "$name"
	done

	bracketed_record idle -c $PERIOD -- busybox sleep 2
	record_packets virtio guest1 guest1
	record_packets vmxnet3 guest2 guest2
	in_guest guest1 start shor 0 253 8
	record_packets computing guest1
	cp /run/packets/* .
}
