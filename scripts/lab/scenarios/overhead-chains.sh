# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2317 # read by scripts/lab/host/run, which calls the ways
# about: overhead, at one period, with callchains of the guest

# shellcheck source=scripts/lab/scenarios/overhead.sh
. "$(dirname "${BASH_SOURCE[0]}")/overhead.sh"
PERIODS=1000000
EXITS=
WAYS="unified chains unwound little inside_chains inside_unwound"

chains()
{
	on_host "chains-$1" perf kvm unified record -q -g -c "$1"
}

unwound()
{
	on_host "unwound-$1" perf kvm unified record -q --call-graph dwarf -c "$1"
}

# What is enough for a program that is not deep
little()
{
	on_host "little-$1" perf kvm unified record -q --call-graph dwarf,1024 -c "$1"
}

inside_chains()
{
	in_the_guest "inside_chains-$1" -g -e cpu-clock -c "$1"
}

inside_unwound()
{
	in_the_guest "inside_unwound-$1" --call-graph dwarf -e cpu-clock -c "$1"
}
