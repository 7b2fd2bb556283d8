# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: stock-bpf with Debian's 6.1, in which a sample's time is not known to BPF programs

# shellcheck source=scripts/lab/scenarios/stock-bpf.sh
. "$(dirname "${BASH_SOURCE[0]}")/stock-bpf.sh"
HOST_DEBIAN=6.1
