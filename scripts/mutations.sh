#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# mutations.sh [NAME...]: break the code in one place at a time and see that a
# test notices. Each mutation is made in a copy; at the end the cache is as
# before. Takes some minutes each: it builds and runs the real thing.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"; on_exit' EXIT

# NAME @ FILE @ SED EXPRESSION @ TEST @ WHAT HAS TO FAIL
#
# cr3-lookup		every CR3 belongs to the first process of the map
# no-cr3		the kernel never says that it has a CR3
# truncated-map		a map without its end counts as whole
# sample-halves		two 32-bit members of the sample in the wrong order
# wake-up-wait		waiting for a CPU after a halt counts as halt
# lost-is-known		what was lost is filled with what was before
# steal-by-nobody	who had the CPU is not looked for
# exec-handover		a process keeps its old page table until its execve() is known of
# time-blind		a CR3 belongs to whoever has it in the end
# no-replay		what happens after the map was begun is not taken over
# first-guest		every sample of a guest is one of the first guest
# one-table		the CR3s of the first guest's map are those of all guests
# svm-cr3		CR3 is taken from where KVM has that of the exit before
# vmread		the VMCS is read where it may not be the current one
# softirq-guest	what hits a softirq is said to have interrupted the guest
# layout		a sample with a vCPU is said to be shorter than it is
# stale-cr3		on SVM, the guest's CR3 is that of the exit before
# softirq-in-guest	softirqs of the interrupt that the guest was running into are the guest's
# not-nested		a nested guest is not said to be one
# behind-nmi		on SVM, an interrupt that hits the handler of an NMI is the guest's
# behind-nmi-protected	... or of a guest whose state is protected
# page-is-halt		a vCPU that waits for the host's swap is said to be halted
# vmx-cr3		on VMX, CR3 is taken from where KVM has that of the exit before
# vmx-shadow-root	... or always from the VMCS, which has KVM's own without EPT
# one-process		every CR3 belongs to one process: equal processes are not
# first-task		who got the CPU first in a short wait had it for all of that
# dear-sample		a sample with a vCPU takes some hundred instructions more
mutations()
{
	cat <<-'END'
	cr3-lookup@perf-kvm-unified/guest-space.c@s/^\treturn find_owner(spaces, end - 1, time, ambiguous);/\treturn \&spaces->entries[0];/@profile@share within 2 points
	no-cr3@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\(\tdata->flags |= PERF_VCPU_PT_ROOT_VALID;\)/+\t(void)data;/@profile@99 % of guest user samples belong
	truncated-map@perf-kvm-unified/guest-stream.c@s/if (ret == -EPIPE)/if (ret == -EPIPE \&\& !(ret = 0))/@profile@refused: a truncated map
	sample-halves@patches/linux-6.12/*-perf-tools-Add-support-for-PERF_SAMPLE_VCPU*@s/^+\t\t\tu.val32\[1\] = vcpu->vpid;/+\t\t\tu.val32[1] = vcpu->vcpu_id;/@perf@Sample parsing
	wake-up-wait@perf-kvm-unified/vcpu-states.c@s/waited = event->run_delay - prev->run_delay/waited = 0/@perf@time axis: states
	lost-is-known@perf-kvm-unified/measurement.c@s/^\tgap.from = m->last_record.sample->cpu.;/\tgap.from = gap.until;/@time-axis@lost
	steal-by-nobody@perf-kvm-unified/time-axis.c@s/interval->kind == VCPU_TIME_PREEMPTED \&\&/interval->kind == VCPU_TIME_NR \&\&/@time-axis@guest2
	exec-handover@perf-kvm-unified/guest-history.c@s/^\t\towners__end_earlier(&owners);//@perf@processes that come and go
	time-blind@perf-kvm-unified/kvm-guests.c@s/vcpu->pt_root, time, &ambiguous/vcpu->pt_root, GUEST_TIME_NONE - 1, \&ambiguous/@processes@storm: .* named right
	no-replay@perf-kvm-unified/guest-load.c@s/entries\[replay->next\].time <= time/entries[replay->next].time < 1/@processes@storm: .* named right
	first-guest@perf-kvm-unified/kvm-guests.c@s/^\t\tif (guest->pid == pid)$/\t\tif (guest->pid == pid || pid > 0)/@vmm@CR3 2000 of VM two
	one-table@perf-kvm-unified/kvm-guests.c@s/guest_spaces__find(&guest->map.spaces,/guest_spaces__find(\&list_first_entry(\&session->kvm_guests->guests, struct kvm_guest, node)->map.spaces,/@vmm@CR3 6000 of VM two
	svm-cr3@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tdata->pt_root = npt_enabled ? vmcb->save.cr3 : /+\tdata->pt_root = /@kunit@kvm_svm_perf_data: svm_perf_data_in_guest
	vmread@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@/^+void vmx_get_perf_data/,/^+}/s/^+\tif (!in_guest)$/+\tif (0)/@kunit@the lab runs the scenario host-only
	softirq-guest@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\t\tin_guest = false;/+\t\tin_guest = in_guest;/@kunit@perf_data_softirq_is_host
	layout@patches/linux-6.12/*-perf-core-Add-PERF_SAMPLE_VCPU-*@s/^+\t\tdata->dyn_size += sizeof(data->vcpu) - sizeof(data->vcpu.flags);/+\t\tdata->dyn_size += sizeof(data->vcpu.flags);/@kunit@vcpu_sample_layout
	stale-cr3@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tdata->pt_root = npt_enabled ? vmcb->save.cr3 : /+\tdata->pt_root = /@selftests@in the one loop it is the one
	softirq-in-guest@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tif (in_serving_softirq())/+\tif (0)/@selftests@softirq that perf labels guest
	not-nested@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tif (is_guest_mode(vcpu))/+\tif (0)/@selftests@samples of L2 say so
	behind-nmi@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tif (vmcb->control.exit_code == SVM_EXIT_NMI \&\& !in_nmi())/+\tif (0)/@kunit@svm_perf_data_behind_nmi
	behind-nmi-protected@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tif (!in_guest)$/+\tif (!in_guest || (data->flags \& PERF_VCPU_PROTECTED))/@kunit@svm_perf_data_behind_nmi
	page-is-halt@patches/linux-6.12/*-KVM-Add-the-kvm_vcpu_timeline-*@s/^+\tif (kvm_vcpu_is_blocking(vcpu) \&\& !kvm_arch_vcpu_awaits_page(vcpu))/+\tif (kvm_vcpu_is_blocking(vcpu))/@selftests@pages: and never halted
	vmx-cr3@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tif (exec_controls_get(vmx) & CPU_BASED_CR3_LOAD_EXITING)/+\tif (vmx)/@vmx@vmx: the CR3s of VM busy
	vmx-shadow-root@patches/linux-6.12/*-KVM-x86-Add-exit-reason-*@s/^+\tif (exec_controls_get(vmx) & CPU_BASED_CR3_LOAD_EXITING)/+\tif (!vmx)/@vmx@vmx-shadow: the CR3s of VM busy
	one-process@perf-kvm-unified/guest-space.c@s/^\treturn find_owner(spaces, end - 1, time, ambiguous);/\treturn \&spaces->entries[0];/@evaluation@user time of the two processes
	first-task@perf-kvm-unified/cpu-tracks.c@s/^\t\t\tshares__pick(\(.*\));/\t\t\t(shares__pick(\1), track->marks[m].task);/@perf@who had the CPU in short waits
	dear-sample@patches/linux-6.12/*-perf-core-Add-PERF_SAMPLE_VCPU-*@s/^+\tperf_guest_get_vcpu(&data->vcpu);/+\tfor (volatile int i = 0; i < 100; i++) perf_guest_get_vcpu(\&data->vcpu);/@evaluation@over perf record -a
	END
}

# mutate NAME FILE EXPRESSION: all inputs of apply.sh, one of them broken.
mutate()
{
	local dir=$WORK/$1 file

	mkdir -p "$dir"
	cp -r "$TOP/patches" "$TOP/perf-kvm-unified" "$TOP/Documentation" \
		"$TOP/kernel-selftests" "$dir"
	file=$(cd "$dir" && compgen -G "$2")
	sed -i "$3" "$dir/$file"
	! cmp -s "$dir/$file" "$TOP/$file" || die "$1: the expression changes nothing in $2"
	KVMU_NEW=$dir KVMU_PATCHES=$dir/patches/$BASE
	export KVMU_NEW KVMU_PATCHES
}

case ${1:-} in
-h | --help)
	print_help
	mutations | cut -d@ -f1
	exit 0
	;;
esac
for name; do
	mutations | cut -d@ -f1 | grep -qxF -- "$name" ||
		die "no mutation '$name', only: $(mutations | cut -d@ -f1 | paste -sd' ')"
done

lock_cache
missed=0
while IFS='@' read -r -u 3 name file expression test expected; do
	[ $# -eq 0 ] || [[ " $* " = *" $name "* ]] || continue
	say "mutation $name: $file"
	if (mutate "$name" "$file" "$expression" && "$TOP/scripts/build-kernel.sh" &&
		"$TOP/scripts/build-perf.sh" && ! "$TOP/scripts/test.sh" "$test") \
		>"$WORK/$name.out" 2>&1 &&
		grep -q "^not ok .*$expected" "$TOP/build/test/$test.tap"; then
		say "    caught: $(grep -m1 "^not ok .*$expected" "$TOP/build/test/$test.tap")"
	else
		tail -n 5 "$WORK/$name.out" | sed 's/^/    | /'
		grep '^not ok' "$TOP/build/test/$test.tap" | sed 's/^/    | /' || :
		say "    NOT caught by '$expected' in $test"
		missed=$((missed + 1))
	fi
done 3< <(mutations)

say "building the unbroken code again"
"$TOP/scripts/build-kernel.sh"
"$TOP/scripts/build-perf.sh"
say "$missed mutations not caught"
KVMU_SAID_WHY=1
[ "$missed" -eq 0 ]
