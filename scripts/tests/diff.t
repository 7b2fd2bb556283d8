#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf kvm unified diff finds what was planted: the scenario diff, three recordings of VMs of
# which a process becomes slower, and another VM comes to their CPU. What it does with one profile
# is in report.t.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs diff
cd "$LAB_OUT/diff" || { done_testing; }

# unified COMMAND OPTION...
unified()
{
	"$PERF" kvm unified "$1" -f -k "$TREE/host/vmlinux" "${@:2}" 2>"$TMP/warnings"
}

# json FILE EXPRESSION
json()
{
	"$TESTS/report-value.py" "$2" "$1"
}

# first TABLE FILE: its first row, as from old to new, points, VM and so on
first()
{
	awk -v table="$1" 'on == 2 { print; exit } on { on = 2 } index($0, table) == 1 { on = 1 }' "$2" |
		tr -s ' ' ' '
}

unified diff before.data slower.data >"$TMP/slower"
ok "a process that is slower: an exit code of 0" test $? -eq 0
cat "$TMP/slower" >&2
ok "... is the first row" grep -qE '^ [0-9.]+ [0-9.]+ \+[0-9.]+ alpha \[unknown\] left left$' \
	<(first 'VMs, ' "$TMP/slower")
ok "... which its VM's line has, too, as the first" grep -qE '^alpha .*\+[0-9.]+' \
	<(sed -n '/^# VM /{n;p}' "$TMP/slower")
ok "... and the host" grep -qE ' \+[0-9.]+ \[alpha\] \(VM\)$' <(first 'Host, ' "$TMP/slower")

unified diff --format json before.data slower.data >"$TMP/slower.json"
adds_up()
{
	json "$1" 'len(r[0].json["levels"]) if all(
		sum(row[side + "_ns"] for row in level["rows"]) == level[side]["time_ns"]
		== sum(level[side]["classes_ns"].values())
		for level in r[0].json["levels"] for side in ("old", "new") if side in level) else 1 / 0'
}
ok "JSON: all time of both is there once" adds_up "$TMP/slower.json"
# as_report PROFILE SIDE
as_report()
{
	unified report --format json -i "$1" >"$TMP/report.json"
	diff <(json "$TMP/report.json" '"\n".join(sorted(level.get("vm", "host") + str(level["classes_ns"])
			for level in r[0].json["levels"]))') \
		<(json "$TMP/slower.json" '"\n".join(sorted(level.get("vm", "host") +
			str(level["'"$2"'"]["classes_ns"]) for level in r[0].json["levels"]))')
}
ok "JSON: the old one's classes are those of its report" as_report before.data old
ok "JSON: and the new one's" as_report slower.data new
ok "JSON: two measurements" json "$TMP/slower.json" \
	'1 / (r[0].json["old"]["end_ns"] < r[0].json["new"]["start_ns"])'
share_of()
{
	json "$TMP/slower.json" '[row["'"$2"'_percent"] for row in level("alpha")["rows"]
		if row["comm"] == "'"$1"'"][0]'
}
# Each turn of right is one of left, which is of the same length before, and three times as long
# then. The samples of some hundred turns are not quite that.
within 0.15 "before, left has by as much as right" \
	"$(awk -v l="$(share_of left old)" -v r="$(share_of right old)" 'BEGIN { print l / r }')" 1
within 0.3 "then, by three times as much" \
	"$(awk -v l="$(share_of left new)" -v r="$(share_of right new)" 'BEGIN { print l / r }')" 3
# They have other pids in the other boot.
ok "a process is told by its name" test \
	"$(json "$TMP/slower.json" '[row.get("pid") for row in level("alpha")["rows"] if row["comm"]]')" = \
	'[None, None]'
ok "... unless pids are asked for" test "$(unified diff --format csv --sort comm,pid before.data slower.data |
	awk -F, '$7 == "\"left\"" { print $8 }' | sort -n | paste -sd,)" = 10,30

unified diff slower.data neighbour.data >"$TMP/neighbour"
cat "$TMP/neighbour" >&2
ok "another VM on the CPU: the first row is what it steals" \
	grep -qE '^ 0.00 [0-9.]+ \+[0-9.]+ alpha \[steal\] \(on VM gamma: vcpu0\) *$' \
	<(first 'VMs, ' "$TMP/neighbour")
ok "... the host has it as the first, too" grep -qE '^ 0.00 [0-9.]+ \+[0-9.]+ \[gamma\] \(VM\)$' \
	<(first 'Host, ' "$TMP/neighbour")
ok "a VM that has come is said" grep -qxF '# came, only in new: gamma (their rows: perf kvm unified report --vm)' "$TMP/neighbour"
ok "... and one that has gone" grep -qF '# gone, only in old: beta (' "$TMP/neighbour"
ok "... and what they did" grep -qE '^gamma +- +[1-9][0-9.]+ +- ' "$TMP/neighbour"
ok "idle comes last" grep -qE ' alpha +\[idle\] \(halt_exit\) *$' \
	<(sed -n '/^VMs, /,/^(/p' "$TMP/neighbour" | tail -n 2)
unified diff --format json slower.data neighbour.data >"$TMP/neighbour.json"
ok "JSON: all time of both is there once, of VMs that came and went, too" adds_up "$TMP/neighbour.json"
ok "JSON: VMs that came and went" test \
	"$(json "$TMP/neighbour.json" '[(vm, [side for side in ("old", "new") if side in level(vm)])
		for vm in ("alpha", "beta", "gamma")]')" = \
	"[('alpha', ['old', 'new']), ('beta', ['old']), ('gamma', ['new'])]"
ok "CSV: the same" test "$(unified diff --format csv slower.data neighbour.data |
	awk -F, '$1 == "vm" { print $2, $3 }' | sort -u | paste -sd,)" = \
	'"alpha" both,"beta" old,"gamma" new'
# points OLD NEW: of each row of alpha
points()
{
	unified diff --format csv "$1" "$2" |
		awk -F, -v sign="$3" '$2 == "\"alpha\"" { printf "%s %.4f\n", $5, sign * $13 + 0 }' | sort
}
ok "the other way round, it has the other sign" \
	diff <(points slower.data neighbour.data 1) <(points neighbour.data slower.data -1)

ok "--vm: one of those" test "$(unified diff --vm gamma slower.data neighbour.data |
	grep -cE '^(alpha|beta|gamma) ')" -eq 1
ok "--vm: by a pattern" test "$(unified diff --vm '*m*' slower.data neighbour.data |
	grep -cE '^(alpha|beta|gamma) ')" -eq 1
short_for_a_vm()
{
	! unified diff --vm gam slower.data neighbour.data >/dev/null || return
	cat "$TMP/warnings"
	grep -qx -e "--vm: 'gam' is VM 'gamma' here: give its name." "$TMP/warnings"
}
ok "--vm: what is short for one of either" short_for_a_vm
ok "--vm: one that is in none" not unified diff --vm delta slower.data neighbour.data
ok "... and which there are" test "$(grep -c "no VM 'delta' in .*: .*alpha" "$TMP/warnings")" -eq 2
ok "--guest-root: of one that has come" unified diff --guest-root gamma=/tmp slower.data neighbour.data
ok "--guest-root: of none" not unified diff --guest-root delta=/tmp slower.data neighbour.data
cp -r slower.data "$TMP/no-map.data" && rm "$TMP"/no-map.data/guest_map__*
unified diff before.data "$TMP/no-map.data" >"$TMP/no-map"
ok "a guest with a map in one alone: that is said" \
	grep -q '^There are maps in OLD alone of: alpha\.' "$TMP/warnings"
done_testing
