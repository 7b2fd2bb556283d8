# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by what looks at the results of scripts/lab/scenarios/overhead.sh, in their directory.

# elapsed NAME: the time that the guest's work took, ns of the virtual clock
elapsed()
{
	sed -n 's/.*mono_ns=\([0-9]*\).*/\1/p' "$1.txt" | sed -n '1p;$p' | paste -sd- |
		awk -F- '{ print $2 - $1 }'
}
# overhead NAME: percent of the work without a recording
overhead()
{
	awk -v with="$(elapsed "$1")" -v without="$(elapsed none-2)" \
		'BEGIN { printf "%.3f\n", 100 * (with / without - 1) }'
}
# period: of a scenario that has a single one, ns
period()
{
	local file

	for file in unified-*.data; do
		file=${file#unified-}
		echo "${file%.data}"
	done
}
# records PERF WHAT FILE: how many records perf script -D prints as that
records()
{
	"$1" script -f -D -i "$3" 2>/dev/null | grep -c "$2"
}
