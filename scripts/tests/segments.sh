# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests, after tap.sh, with PERF set: the profiles of a recording without an end

# windows DIRECTORY: "from until" of its profiles, in the order of time
windows()
{
	cat "$1"/*.data/data.window
}

# tile DIRECTORY: where one ends the next one begins, and the first and the last one have an open end
tile()
{
	windows "$1"
	windows "$1" | awk '{ ok = NR == 1 ? $1 == 0 : $1 == until && $1 > 0; until = $2; bad += !ok }
		END { exit bad || until != 0 }'
}

# own_times DIRECTORY: see own-time.py, of the report of each profile
own_times()
{
	local dir from until

	for dir in "$1"/*.data; do
		from=0 until=0
		[ ! -e "$dir/data.window" ] || read -r from until <"$dir/data.window"
		"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json -i "$dir" 2>/dev/null |
			"$TESTS/own-time.py" "$from" "$until"
	done
}
