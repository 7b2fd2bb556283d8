# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Where the time of vCPUs' threads went, by the scheduler and by a report: for the tests that source
# this, after tap.sh.

# value EXPRESSION NAME: see report-value.py
value()
{
	"$TESTS/report-value.py" "$1" "$TMP/$2.json"
}

# scheduled RECORDING VM COLUMN: percent of the time of a recording of the scenario targets that the
# VM's threads have had a CPU (3), or waited for one (4)
scheduled()
{
	awk -v vm="$2" -v column="$3" -v ns_per_second=1000000000 '
		{ sign = FILENAME ~ /before/ ? -1 : 1 }
		$1 == "uptime" { all += sign * $2 * ns_per_second }
		$1 == vm { s += sign * $column }
		END { printf "%.3f", 100 * s / all }' "$1.before" "$1.after"
}

# waited RECORDING VM: percent of what a guest sees as steal: waiting for a CPU
waited()
{
	value "rows('$2', '[steal] (on') + rows('$2', '[steal] (waking up)') + \
		rows('$2', '[steal] (switching)')" "$1"
}
