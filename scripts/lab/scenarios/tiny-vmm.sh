# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: VMs of another VMM than QEMU: two with the same CR3s, one of two vCPUs, two in one process, one whose second vCPU comes and goes

# One CPU, so that the VMs follow each other on it.
CLOCK=virtual
HOST_CPUS=1

# its_map NAME PID:COMM:CR3...: what a collector in the VM would say of it.
its_map()
{
	local name=$1
	shift

	"$LAB/vmm/tiny-map.py" tiny.kallsyms "$@" >"$name.map"
}

measure()
{
	# Twice the same but for the names, and for CR3 6000, which only one's map knows.
	# CR3 a000 is in no map.
	"$GUEST_DIR/tiny-vmm" --symbols >tiny.kallsyms
	its_map one 10:left:2000 11:other:6000
	its_map two 20:right:2000
	# Of the work of each process, the kernel does a third.
	start_tiny_vm one --cr3 2000 --cr3 6000 --cr3 a000 --user-us 3000 --kernel-us 1500
	start_tiny_vm two --cr3 2000 --cr3 6000 --cr3 a000 --user-us 3000 --kernel-us 1500
	# Mostly halted. Its turns are of some sampling periods each: of shorter ones, how many
	# are met depends on how they fall.
	start_tiny_vm three --vcpus 2 --cr3 2000 --user-us 3000 --kernel-us 1000 --idle-us 20000
	sleep 1
	tiny_vms_run

	go_first
	# Turns are of a sample or two each, so that who is met is chance: of twice as many, less
	perf kvm unified record -c 498500 -o /run/perf.data --guest-cmd one="cat $OUT/one.map" \
		--guest-cmd two="cat $OUT/two.map" -- sleep 8
	cp -r /run/perf.data .
	# What the kernel says of which thread runs which vCPU
	(cd /sys/kernel/debug/kvm && grep . ./*/vcpu*/pid) >vcpu-threads
	tiny_vms_run
	two_in_one
	comes_and_goes
}

# What the scheduler says of the threads of VM pair: descriptor, thread, ns it had a CPU. Of the
# directories of its VMs, one has the number of a thread that has ended.
pair_threads()
{
	local vcpu

	for vcpu in /sys/kernel/debug/kvm/*/vcpu0; do
		[ -d "/proc/$(cat pair.pid)/task/$(cat "$vcpu/pid")" ] || continue
		echo "$(basename "${vcpu%/*}" | cut -d- -f2) $(cat "$vcpu/pid")" \
			"$(cut -d' ' -f1 "/proc/$(cat pair.pid)/task/$(cat "$vcpu/pid")/schedstat")"
	done
}

# Two VMs in one process, each with a CR3 of its own
two_in_one()
{
	start_tiny_vm pair --vms 2 --cr3 2000 --cr3 6000 --user-us 3000 --kernel-us 1500 --idle-us 2000
	sleep 1
	tiny_vms_run
	pair_threads >pair.before
	perf kvm unified record -c 997000 -o pair.data -- sleep 4 2>pair.err
	pair_threads >pair.after
	tiny_vms_run
}

# A second vCPU is plugged, and unplugged 1.5 s later.
comes_and_goes()
{
	local pid

	start_tiny_vm grows --plug --cr3 2000 --user-us 3000 --kernel-us 1500 --idle-us 2000
	sleep 1
	tiny_vms_run
	pid=$(cat grows.pid)
	perf kvm unified record -c 997000 -o grows.data -- \
		sh -c "sleep 1; kill -USR1 $pid; sleep 1.5; kill -USR2 $pid; sleep 1.5" 2>grows.err
	tiny_vms_run
}

report()
{
	perf kvm unified report --format table -f -i perf.data >report.txt
}
