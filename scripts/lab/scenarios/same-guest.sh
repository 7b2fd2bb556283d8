# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # read by scripts/lab.sh
# about: the guest of stock-bpf on a host with the series, to be held beside it

# shellcheck source=scripts/lab/scenarios/stock-bpf.sh
. "$(dirname "${BASH_SOURCE[0]}")/stock-bpf.sh"
HOST_DEBIAN=
HOST_PROGRAMS=

measure()
{
	go_first
	steady
	# Reported as that of stock-bpf
	cp -r steady.data perf.data
}
