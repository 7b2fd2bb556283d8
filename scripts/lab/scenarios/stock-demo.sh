# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: what KERNEL_MODE=bpf make demo shows: stock-bpf's guest, recorded once, and no collector

# shellcheck source=scripts/lab/scenarios/stock-bpf.sh
. "$(dirname "${BASH_SOURCE[0]}")/stock-bpf.sh"
HOST_PROGRAMS=
guest1_EXTRA=bare

measure()
{
	go_first
	record_guest
}
