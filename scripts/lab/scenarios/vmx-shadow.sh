# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the same as vmx, without EPT: KVM's shadow page tables

# shellcheck source=scripts/lab/scenarios/vmx.sh
. "$(dirname "${BASH_SOURCE[0]}")/vmx.sh"
HOST_CMDLINE=kvm_intel.ept=0
