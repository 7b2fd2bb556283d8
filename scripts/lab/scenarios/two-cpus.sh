# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab/host/run
# about: two-vcpus with a CPU of the host for each

# shellcheck source=scripts/lab/scenarios/two-vcpus.sh
. "$(dirname "${BASH_SOURCE[0]}")/two-vcpus.sh"
HOST_CPUS=2
