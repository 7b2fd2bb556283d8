# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: Intel's VMX: a VM whose CR3s have PCIDs, and one that halts; in Bochs

EMULATOR=bochs

# Python is not inside. Of the kernel's symbols perf record needs these, and reads all of them
# several times, which takes 3 s each time on the emulated clock.
prepare()
{
	grep -wE '_text|_stext|_etext|_edata' "$GUEST_DIR/../host/System.map" >kallsyms
	"$GUEST_DIR/tiny-vmm" --symbols >tiny.kallsyms
	"$LAB/vmm/tiny-map.py" tiny.kallsyms 10:left:2000 11:right:6000 >busy.map
}

measure()
{
	local vms

	mount --bind kallsyms /proc/kallsyms
	# Of the work of each process, the kernel does a third. CR3 a001 is in no map; its PCID
	# is that of another CR3.
	start_tiny_vm busy --cr3 2001 --cr3 6fff --cr3 a001 --user-us 3000 --kernel-us 1500 --idle-us 0
	# Exits all the time, and halts.
	start_tiny_vm halting --cr3 3002 --user-us 500 --kernel-us 200 --idle-us 1000
	sleep 0.5
	tiny_vms_run

	# While perf begins and ends they stand still: for the emulator, all that is executed
	# takes as long as what is measured.
	mapfile -t vms < <(cat busy.pid halting.pid)
	kill -STOP "${vms[@]}"
	unified_record perf -c 997000 --guest-cmd busy="cat $OUT/busy.map" -- \
		sh -c "kill -CONT ${vms[*]}; sleep 4; kill -STOP ${vms[*]}"
	tiny_vms_run
	# A BPF program tells the same, but for CR3.
	kill -CONT "${vms[@]}"
	perf record -a --sample-vcpu --bpf-vcpu -e cpu-clock -c 997000 -o both.data -- sleep 0.5
	kill -STOP "${vms[@]}"
	grep . /sys/module/kvm_intel/parameters/* >kvm-intel
}
