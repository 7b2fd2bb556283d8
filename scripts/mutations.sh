#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# mutations.sh [NAME...]: break the code in one place at a time and see that a
# test notices. Each mutation is made in a copy; at the end the cache is as
# before. Takes some minutes each: it builds and runs the real thing.
#
# mutations.sh --check: only that each still finds its place in the code.
# mutations.sh --show NAME: the file and the sed expression of one, a line each.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"; on_exit' EXIT

# NAME @ FILE, OR A PATTERN OF SOME @ SED EXPRESSION @ TEST @ WHAT HAS TO FAIL
#
# In patches, what one adds is what those behind it find: lines are changed where they are
# added, and where they stand around the changes of others.
#
# cr3-lookup		every CR3 belongs to the first process of the map
# truncated-map		a map without its end counts as whole
# sample-halves		two 32-bit members of the sample in the wrong order
# wake-up-wait		waiting for a CPU after a halt counts as halt
# any-sample		a record of a BPF program is of any sample that comes after it
# lost-is-known		what was lost is filled with what was before
# no-looks		a long state that was seen is not believed
# look-twice		a long state is written down with each look
# lost-state		a state whose event is lost was the run before it
# deaf-thread		what a sink returns is not heard where the steps are made in a thread
# steal-by-nobody	who had the CPU is not looked for
# exec-handover		a process keeps its old page table until its execve() is known of
# time-blind		a CR3 belongs to whoever has it in the end
# no-replay		what happens after the map was begun is not taken over
# first-guest		every sample of a guest is one of the first guest
# one-table		the CR3s of the first guest's map are those of all guests
# one-process		every CR3 belongs to one process: equal processes are not
# first-task		who got the CPU first in a short wait had it for all of that
# boot-pids		processes are compared by their pids, which are of one boot
# no-cr3		the kernel never says that it has a CR3
# layout		a sample with a vCPU is said to have more words than it has
# last-sample		what a sample has of a vCPU is that of the sample before
# exclude-guest		an event that excludes guests is told of them
# permission		who may not profile the kernel may have CR3s
# softirq-guest		what hits a softirq is said to have interrupted the guest
# softirq-label		... and is labelled as the guest's
# new-thread		a thread that takes a vCPU over brings what it has waited before
# behind-exit		an interrupt behind an exit for another reason is the guest's
# not-nested		a nested guest is not said to be one
# not-smm		system management mode is not said
# protected		a guest whose state is protected is not said to be one
# never-run		a vCPU that has never run has an exit reason
# svm-emulated		on SVM, an exit code that emulation has made up is said to be the CPU's
# svm-long		on SVM, exit codes have 32 bits
# vmx-modifiers		on VMX, what is beside the basic exit reason is cut off
# vmx-failed		on VMX, an entry that has failed has an exit reason
# page-is-halt		a vCPU that waits for the host's swap is said to be halted
# halt-is-wait		a vCPU that is halted is said to wait for the host
# no-count		the events of the time line have no numbers
# from-before		a state from before the tracepoint was on is told with its length
# dear-sample		a sample with a vCPU takes some hundred instructions more
mutations()
{
	cat <<-'END'
	cr3-lookup@perf-kvm-unified/format/spaces.c@s/^\treturn find_owner(spaces, end - 1, time, ambiguous);/\treturn \&spaces->entries[0];/@profile@share of samples within
	truncated-map@perf-kvm-unified/format/stream.c@s/if (ret == -EPIPE)/if (ret == -EPIPE \&\& !(ret = 0))/@profile@refused: a truncated map
	sample-halves@patches/linux-7.3/*.patch@s/^+\t\tu.val32\[1\] = vcpu->vpid;/+\t\tu.val32[1] = vcpu->vcpu_id;/@perf@Sample parsing
	wake-up-wait@perf-kvm-unified/axis/states.c@s/max(time, state->start), event.waited, event.cpu/max(time, state->start), 0, event.cpu/@perf@time axis: states
	lost-is-known@perf-kvm-unified/measure/feed.c@s/^\tgap.from = m->cpus\[sample->cpu\].last_record;/\tgap.from = gap.until;/@time-axis@lost
	no-looks@perf-kvm-unified/axis/states.c@s/if (ret || !state__is_run(state) || time <= state->start)/if (ret || state->kind != VCPU_TIME_NR)/@perf@long states that were seen
	look-twice@perf-kvm-unified/record/looks.c@s/^\tseen->nr_same = LOOKS_OF_RUNNABLE;//@perf@looks at vCPU threads
	kernels-once@perf-kvm-unified/record/kernels.c@s/ret = has_text.kept, text, size. . replace_by_link.file, kept. : -EEXIST;/ret = -EEXIST;/@perf@symbols of kernels, kept once
	hook-nice@perf-kvm-unified/record/profile-hook.c@s/^#define LOWEST_PRIORITY.*/#define LOWEST_PRIORITY 18/@perf@a command for each profile
	segments-copy@perf-kvm-unified/record/segments.c@s/ || is_copy.part, last.//@perf@profiles of a recording without an end
	segments-size@perf-kvm-unified/record/segments.c@s/^\t\tsize -= entry->size;//@perf@profiles of a recording without an end
	window-order@perf-kvm-unified/format/window.c@s/from >= until/from > until/@perf@the part of a profile that is its own
	lost-state@perf-kvm-unified/axis/states.c@s/if (!ret \&\& event.after_lost \&\&/if (!ret \&\& 0 \&\&/@perf@one state that is lost
	deaf-thread@perf-kvm-unified/axis/worker.c@s/return ret ?: worker->ret;/return worker->ret;/@perf@in a thread of its own
	steal-by-nobody@perf-kvm-unified/axis/axis.c@s/interval->kind != VCPU_TIME_PREEMPTED ||/interval->kind != VCPU_TIME_NR ||/@time-axis@guest2
	exec-handover@perf-kvm-unified/collector/history.c@s/^\t\towners__end_earlier(&owners);/\t\tif (0)\n\t\t\towners__end_earlier(\&owners);/@perf@processes that come and go
	any-sample@perf-kvm-unified/guests/contexts.c@s/(!told->time || told->time == time)/true/@perf@vCPUs that a BPF program tells
	time-blind@perf-kvm-unified/guests/resolve.c@s/vcpu->pt_root, time, &ambiguous/vcpu->pt_root, GUEST_TIME_NONE - 1, \&ambiguous/@processes@storm: .* named right
	no-replay@perf-kvm-unified/guests/load.c@s/entries\[replay->next\].time <= time/entries[replay->next].time < 1/@processes@storm: .* named right
	first-guest@perf-kvm-unified/guests/guests.c@/^struct kvm_guest \*kvm_guests__find(/,/^}/s/^\treturn guest;$/\treturn list_first_entry(\&session->kvm_guests->guests, struct kvm_guest, node);/@vmm@CR3 2000 of VM two
	one-table@perf-kvm-unified/guests/resolve.c@s/guest_spaces__find(&guest->map.spaces,/guest_spaces__find(\&list_first_entry(\&session->kvm_guests->guests, struct kvm_guest, node)->map.spaces,/@vmm@CR3 6000 of VM two
	one-process@perf-kvm-unified/format/spaces.c@s/^\treturn find_owner(spaces, end - 1, time, ambiguous);/\treturn \&spaces->entries[0];/@evaluation@user time of the two processes
	first-task@perf-kvm-unified/axis/tracks.c@s/^\tmark->who = shared;/\treturn 0;/@perf@who had the CPU in short waits
	boot-pids@perf-kvm-unified/report/changes.c@s/if (keep_pids ||/if (true ||/@diff@is the first row
	no-cr3@patches/linux-7.3/*.patch@s/^\([+ ]\)\t\tdata->flags |= PERF_VCPU_PT_ROOT_VALID;/\1\t\t(void)data;/@profile@99 % of guest user samples belong
	layout@patches/linux-7.3/*.patch@s/^\([+ ]#define PERF_VCPU_NR_WORDS\t.*\) - 1)$/\1)/@kunit@vcpu_sample_layout
	last-sample@patches/linux-7.3/*.patch@s/^\([+ ]\)\tmemset(&data->vcpu, 0, sizeof(data->vcpu));/\1\t(void)data;/@kunit@vcpu_sample_asks_anew
	exclude-guest@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif ((vcpu->flags & PERF_VCPU_IN_GUEST) && !sample_guest)/\1\tif (0)/@selftests@exclude_guest: what has interrupted the guest says that
	permission@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (attr.sample_type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_VCPU)) {/\1\tif (attr.sample_type \& PERF_SAMPLE_PHYS_ADDR) {/@selftests@permission: but not the vCPU
	softirq-guest@patches/linux-7.3/*.patch@s/(NMI_MASK | SOFTIRQ_OFFSET)/NMI_MASK/@kunit@perf_data_softirq_is_host
	softirq-label@patches/linux-7.3/*.patch@s/(NMI_MASK | SOFTIRQ_OFFSET)/NMI_MASK/@selftests@no softirq is labelled guest
	new-thread@patches/linux-7.3/*.patch@s/^\([+ ]\)\t\t\tvcpu->timeline.run_delay = kvm_vcpu_run_delay();/\1\t\t\t(void)vcpu;/@selftests@thread: what it has waited before
	behind-exit@patches/linux-7.3/*.patch@s/^+\t \* .*did not interrupt the guest\.$/+\t *\/ kvm_before_interrupt(vcpu, KVM_HANDLING_IRQ); \/*/@selftests@interrupts behind an exit for another reason
	not-nested@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (is_guest_mode(vcpu))$/\1\tif (0)/@selftests@samples of L2 say so
	not-smm@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (is_smm(vcpu))$/\1\tif (0)/@selftests@smm: and those in the handler say so
	protected@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (vcpu->kvm->arch.has_protected_state\b.*)$/\1\tif (0)/@kunit@perf_data_protected
	never-run@patches/linux-7.3/*.patch@s/^\([+ ]\)\t\tif (vcpu->arch.last_vmentry_cpu == -1 || (/\1\t\tif ((/@kunit@perf_data_never_run
	svm-emulated@patches/linux-7.3/*.patch@s/^\([+ ]\)\t    ((data->flags & PERF_VCPU_IN_GUEST) || vmcb == to_svm(vcpu)->vmcb01.ptr))$/\1\t    1)/@kunit@svm_perf_data_nested
	svm-long@patches/linux-7.3/*.patch@s/^\([+ ]\)\tdata->exit_reason = vmcb->control.exit_code;/\1\tdata->exit_reason = (u32)vmcb->control.exit_code;/@kunit@svm_perf_data_long_code
	vmx-modifiers@patches/linux-7.3/*.patch@s/^\([+ ]\)\tdata->exit_reason = exit_reason.full;/\1\tdata->exit_reason = exit_reason.basic;/@kunit@vmx_perf_data_modifiers
	vmx-failed@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (!exit_reason.failed_vmentry && exit/\1\tif (exit/@kunit@vmx_perf_data_failed_entry
	page-is-halt@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (kvm_vcpu_is_blocking(vcpu) && !kvm_arch_vcpu_awaits_page(vcpu))/\1\tif (kvm_vcpu_is_blocking(vcpu))/@selftests@pages: and never halted
	halt-is-wait@patches/linux-7.3/*.patch@s/^\([+ ]\)\tif (kvm_vcpu_is_blocking(vcpu) && !kvm_arch_vcpu_awaits_page(vcpu))/\1\tif (0)/@selftests@halted: the vCPU is halted
	no-count@patches/linux-7.3/*.patch@s/^\([+ ]\)\ttl->seq++;/\1\ttl->seq = 1;/@selftests@moved: all are counted
	from-before@patches/linux-7.3/*.patch@s/^\([+ ]\)\t    tl->generation == atomic_read(&kvm_vcpu_timeline_generation))/\1\t    true)/@selftests@of a state that began before the tracepoint was on
	dear-sample@patches/linux-7.3/*.patch@s/^\([+ ]\)\tperf_guest_get_vcpu(&data->vcpu);/\1\tfor (volatile int i = 0; i < 100; i++) perf_guest_get_vcpu(\&data->vcpu);/@evaluation@over perf record -a
	END
}

# mutate NAME PATTERN EXPRESSION: all inputs of apply.sh, one of them broken.
mutate()
{
	local dir=$WORK/$1 files

	mkdir -p "$dir"
	cp -r "$TOP/patches" "$TOP/perf-kvm-unified" "$TOP/Documentation" \
		"$TOP/kernel-selftests" "$dir"
	mapfile -t files < <(cd "$dir" && compgen -G "$2")
	(cd "$dir" && sed -i "$3" "${files[@]}")
	! diff -rq "$TOP/${2%%/*}" "$dir/${2%%/*}" >/dev/null ||
		die "$1: the expression changes nothing in $2"
	KVMU_NEW=$dir KVMU_PATCHES=$dir/patches
	export KVMU_NEW KVMU_PATCHES
}

# All that do not find their place
check_mutations()
{
	local name pattern expression rc=0

	while IFS='@' read -r -u 3 name pattern expression _; do
		(mutate "$name" "$pattern" "$expression") || rc=1
		rm -rf "${WORK:?}/$name"
	done 3< <(mutations)
	return "$rc"
}

case ${1:-} in
-h | --help)
	print_help
	mutations | cut -d@ -f1
	exit 0
	;;
--check)
	check_mutations
	exit
	;;
--show)
	mutations | grep "^${2:?a name}@" | cut -d@ -f2,3 | tr '@' '\n'
	exit
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
