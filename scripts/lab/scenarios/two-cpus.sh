# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: two-vcpus with a CPU of the host for each

# shellcheck source=scripts/lab/scenarios/two-vcpus.sh
. "$(dirname "${BASH_SOURCE[0]}")/two-vcpus.sh"
HOST_CPUS=2
# Where a host knows that it is emulated, its spinlocks are not fair. Its CPUs take turns here, and
# one that waits for the other's lock (of hrtimers: 7.3 arms them on the other CPU, too) finds it
# taken each time: CPU 1 got nothing done for 20 s.
QEMU_CPU=max,-hypervisor
