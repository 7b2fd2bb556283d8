#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A guest that is booted again while it is recorded: the scenario reboot.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs reboot
cd "$LAB_OUT/reboot" || { done_testing; }

# report RECORDING NAME OPTION...: to $TMP/NAME.json
report()
{
	"$PERF" kvm unified report -f -i "$1.data" -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" --percent-limit 0 --format json "${@:3}" \
		>"$TMP/$2.json" 2>"$TMP/$2.err"
}
# json NAME EXPRESSION: see report-value.py
json()
{
	"$TESTS/report-value.py" "$2" "$TMP/$1.json"
}

# The first one's map is asked for when all is over; the second one's collector ends with its guest.
for recording in asked followed; do
	report $recording all
	ok "$recording: a report" test $? -eq 0
	ok "all time is there once" "$TESTS/report-sums.py" "$TMP/all.json"
	ok "that it was booted is said, of guest1 alone" test \
		"$(grep -o '^Guest [a-z0-9]*: by its clock, it was booted' "$TMP/all.err")" = \
		"Guest guest1: by its clock, it was booted"
	ok "its map is not taken for a foreign one" not grep -q 'is of another guest' "$TMP/all.err"
	at_least 1000 "samples from before that" "$(json all 'guest("guest1")["samples_before_boot"]')"

	report $recording before --time ",$(cat $recording-booted-from)"
	ok "before: no function has a name" json before '1 / all(x["function"] == "[unknown]"
		for x in vm_rows("guest1") if x["class"] in ("OS", "USER"))'
	ok "before: nor has a process" json before '1 / all(x["comm"].startswith("[cr3 ")
		for x in vm_rows("guest1") if x["class"] == "USER")'
	ok "before: the other guest has its names" json before \
		'1 / (user("guest2", lambda x: x["comm"] == "shares-charlie") > 95)'
	report $recording after --time "$(cat $recording-booted-until),"
	at_least 95 "after: its process has its name, % of its user time" \
		"$(json after 'user("guest1", lambda x: x["comm"] == "shares-bravo")')"
	ok "after: nothing of the process from before" json after \
		'1 / all(x["comm"] != "shares-alpha" for x in vm_rows("guest1"))'
	ok "after: the kernel has names" json after '1 / (0.9 < sum(x["samples"] for x in vm_rows("guest1")
		if x["class"] == "OS" and x["function"] != "[unknown]") /
		sum(x["samples"] for x in vm_rows("guest1") if x["class"] == "OS"))'
done
done_testing
