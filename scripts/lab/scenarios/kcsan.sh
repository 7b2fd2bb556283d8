# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: what stress has, on a kernel that looks for races

# shellcheck source=scripts/lab/scenarios/stress.sh
. "$(dirname "${BASH_SOURCE[0]}")/stress.sh"

HOST_VARIANT=kcsan
# What the series has added, or has code in
KCSAN_ASKED_FOR='kvm_sched_in|kvm_sched_out|kvm_vcpu_halt|kvm_vcpu_timeline|kvm_vcpu_ioctl'
KCSAN_ASKED_FOR+='|get_perf_data|kvm_guest_get_vcpu|perf_sample_(save|finish)_vcpu'
KCSAN_ASKED_FOR+='|(note|walk|guest)_callchain|chain_(read|translate|frames)'
# ... and what that is inlined into
KCSAN_ASKED_FOR+='|kvm_arch_pmi_in_guest|perf_callchain|perf_sample_ustack'
KCSAN_ASKED_FOR+='|perf_prepare_sample|perf_output_sample'
