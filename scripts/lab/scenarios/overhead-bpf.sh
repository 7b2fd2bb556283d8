# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2317 # read by scripts/lab/host/run, which calls the ways
# about: overhead, at one period, with BPF programs in the place of the series

# shellcheck source=scripts/lab/scenarios/overhead.sh
. "$(dirname "${BASH_SOURCE[0]}")/overhead.sh"
PERIODS=1000000
EXITS=
WAYS="unified bpf with_tasks"

bpf()
{
	on_host "bpf-$1" perf kvm unified record -q --kernel-mode bpf --no-guest-memory -c "$1"
}

# As on a host without the series: with looks at the guest, too, and its current tasks
with_tasks()
{
	as_by_default on_host "with_tasks-$1" perf kvm unified record -q --kernel-mode bpf -c "$1"
}
