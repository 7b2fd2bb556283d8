#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Names of processes that come and go, of CR3s that are used again, and shares of CPU
# time, against what the guest itself says: the scenario processes, or SCENARIO, whose
# guest has the kernel RELEASE.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"
# shellcheck source=scripts/tests/names.sh
. "$TESTS/names.sh"

PERF=$MAIN_TREE/perf/perf

SCENARIO=${SCENARIO:-processes}
RELEASE=${RELEASE:-6.1}
lab_runs "$SCENARIO"
cd "$LAB_OUT/$SCENARIO" || { done_testing; }
if [ -f "$MAIN_TREE/guest/vmlinuz-$RELEASE" ]; then
	ok "the guest runs $RELEASE" test "$(cut -d. -f1,2 release)" = "$RELEASE"
else
	skip "the guest runs $RELEASE" "the kernel could not be downloaded: it runs 6.1"
fi

# As another machine: what is needed is in the profile, but for the programs, which
# are found by build-id.
export HOME=$TMP/home
mkdir -p "$HOME"
BRIEF=$MAIN_TREE/guest/unstripped/brief
"$PERF" buildid-cache --add "$BRIEF" </dev/null >&2

# right_percent RECORDING: of the samples whose program is proved by their function
right_percent()
{
	awk '{ n[$1] = $2 } END { printf "%.3f", n["busy"] ? 100 * n["right"] / n["busy"] : 0 }' "$TMP/$1.names"
}

# json RECORDING EXPRESSION: of the report
json()
{
	[ -f "$TMP/$1.json" ] ||
		"$PERF" kvm unified report -f -i "$1.data" -k "$TREE/host/vmlinux" --percent-limit 0 \
			--format json >"$TMP/$1.json" 2>"$TMP/$1.report-err"
	"$TESTS/report-value.py" "$2" "$TMP/$1.json"
}

# --- a storm of short-lived processes -------------------------------------------------

names_of storm
ok "storm: at least 50 processes a second" is storm rate 50
# Where the machine is busy, a few wait for longer.
ok "storm: nine of ten last 20 to 200 ms" is storm lasting 90
ok "storm: of five programs" is storm programs 5 5
ok "storm: there are samples enough" is storm busy 5000
ok "storm: half of them had a CR3 that was another program's before" is storm reused 50
ok "storm: $(right_percent storm) % of the samples are named right, of 99" \
	awk -v r="$(right_percent storm)" 'BEGIN { exit !(r >= 99) }'
ok "storm: none has a wrong name" is storm wrong 0 0
ok "storm: or that of another process of the program" is storm strangers 0 0
note "storm: $(json storm '"%d of %d user samples named, %d shared, %d ambiguous" % tuple(guest()["user_samples" + x] for x in ("_named", "", "_shared", "_ambiguous"))')"
ok "storm: 99 % of all user samples have a process" \
	test "$(json storm 'guest()["user_samples_named"] >= 0.99 * guest()["user_samples"]')" = True
ok "storm: the collector followed, its clock is known, and it missed nothing" \
	test "$(json storm '[guest()[x] for x in ("followed", "clock", "missed_processes", "missed_events")]')" = "[True, True, 0, 0]"

# Of a map that is cut off, nothing is taken: not what it begins with, either.
cp -r storm.data "$TMP/cut.data"
truncate -s -100 "$TMP"/cut.data/guest_map__*
cut_off()
{
	"$PERF" kvm unified report -f -i "$TMP/cut.data" --format json >"$TMP/cut.json" 2>"$TMP/cut.err" &&
		grep 'stays without names: its map ' "$TMP/cut.err" &&
		"$TESTS/report-value.py" "$1" "$TMP/cut.json"
}
ok "storm: half a map is no map" grep -qx "\[False, False, 0\]" \
	<(cut_off '[guest()[x] for x in ("map", "followed", "address_spaces")]')

# The report says what perf script says.
ok "storm: the report's rows have the process of their function, too" \
	test "$(json storm 'sum(x["samples"] for x in vm_rows() if x["function"].startswith("storm_") and x["function"].replace("_", "-") != x["comm"])')" = 0
ok "storm: and there are such rows" \
	test "$(json storm 'sum(x["samples"] for x in vm_rows() if x["function"].startswith("storm_")) > 5000')" = True

# --- the same CR3, one program after the other ------------------------------------------

names_of reuse
ok "reuse: there are samples enough" is reuse busy 5000
ok "reuse: CR3s change hands" is reuse reused 30
ok "reuse: not one sample is given to the wrong program" is reuse wrong 0 0
ok "reuse: nor to another process of the program" is reuse strangers 0 0
ok "reuse: nor to none" is reuse unnamed 0 0

# Without the clock it cannot be told when, and nothing is guessed.
no_clock=$TMP/no-clock.data
cp -r reuse.data "$no_clock"
"$TESTS/drop-records.py" "$no_clock/vms" 100 2>&1 >&2
"$PERF" script -f -i "$no_clock" -F comm,pid,time,ip,vcpu_ctx >"$TMP/no-clock.script" 2>/dev/null
"$TESTS/guest-names.py" "$TMP/no-clock.script" reuse.log reuse "$BRIEF" >"$TMP/no-clock.names"
note "reuse, without the clock: $(paste -sd, "$TMP/no-clock.names")"
ok "reuse: without the guest's clock there are the same samples" is no-clock busy 5000
ok "reuse: and nothing is guessed: none has a wrong name" is no-clock wrong 0 0
ok "reuse: but hardly any has one" is no-clock unnamed 5000
"$PERF" kvm unified report -f -i "$no_clock" >/dev/null 2>"$TMP/no-clock.err"
ok "reuse: and the report says so" grep -q 'clock cannot be told' "$TMP/no-clock.err"

# The same for what happened when the collector was not there: here, in the second half.
half=$TMP/half.data
cp -r storm.data "$half"
"$TESTS/end-early.py" "$half"/guest_map__*
"$PERF" script -f -i "$half" -F comm,pid,time,ip,vcpu_ctx >"$TMP/half.script" 2>/dev/null
"$TESTS/guest-names.py" "$TMP/half.script" storm.log storm "$BRIEF" >"$TMP/half.names"
note "storm, followed for half of the time: $(paste -sd, "$TMP/half.names")"
ok "storm: followed for half of the time, no sample has a wrong name" is half wrong 0 0
ok "storm: there are some that have the right one" is half right 1000
ok "storm: and some that have none" is half unnamed 1000
"$PERF" kvm unified report -f -i "$half" >/dev/null 2>"$TMP/half.err"
ok "storm: and the report says so" grep -q 'are of times when it was not followed' "$TMP/half.err"

# --- shares of CPU time -------------------------------------------------------------------

shares()
{
	"$TOP/scripts/lab/cpu-shares" shares user
}
samples=$(json shares 'guest()["user_samples"]')
ok "shares: $samples guest user samples, 20,000 at least" test "$samples" -ge 20000
ok "shares: four processes" test "$(shares | wc -l)" -eq 4
while read -r pid percent _; do
	within 1 "shares: percent of user time in process $pid, by the guest and by the report" \
		"$percent" "$(json shares "user(None, lambda x: x.get('pid') == $pid, lambda x: x['comm'].startswith('shares-'))")"
done < <(shares)

# --- no map at all -----------------------------------------------------------------------

kallsyms=$(echo storm.data/kcore_dir__*/kallsyms)
without_map()
{
	"$PERF" kvm "$@" unified report -f -i storm.data -k "$TREE/host/vmlinux" --no-guest-maps \
		--percent-limit 0 --format csv 2>"$TMP/without.err"
}
without_map --guestkallsyms "$kallsyms" >"$TMP/without.csv"
ok "no map: the kernel's functions have names, by --guestkallsyms" \
	grep -q '^vm,"guest1",,OS,"clear_page_erms","\[kernel\]"' "$TMP/without.csv"
ok "no map: user code is kept apart by CR3" grep -q '^vm,"guest1",,USER,.*"\[cr3 0x[0-9a-f]*\]"' "$TMP/without.csv"
ok "no map: no process is made up" not grep -q '^vm,"guest1",,USER,.*"storm' "$TMP/without.csv"
mount=$TMP/mount/$(json storm 'guest()["pid"]')
mkdir -p "$mount/proc"
cp "$kallsyms" "$mount/proc/kallsyms"
without_map --guestmount "$TMP/mount" >"$TMP/mounted.csv"
ok "no map: the same by --guestmount" grep -q '^vm,"guest1",,OS,"clear_page_erms","\[kernel\]"' "$TMP/mounted.csv"
without_map --guestkallsyms /etc/passwd >/dev/null
ok "no map: what is no kallsyms is said" grep -q "has neither _stext nor _text" "$TMP/without.err"

# --- what the collector takes -----------------------------------------------------------

# The virtual clock counts 4 ns for each instruction: of all that runs, host and guest.
crowd_seconds()
{
	sed -n 's/.*Elapsed (wall clock) time (h:mm:ss or m:ss): *\([0-9]*\)m \([0-9.]*\)s/\1 \2/p' crowd.out |
		awk '{ print 60 * $1 + $2 }'
}
instructions=$(awk -v s="$(crowd_seconds)" 'BEGIN { printf "%.2f", s / 4 }')
rss=$(sed -n 's/.*Maximum resident set size (kbytes): //p' crowd.out)
note "crowd: $(sed -n '1p' crowd.out); $instructions billion instructions, $rss KiB"
ok "crowd: a map of 2,000 processes" grep -qE '^20[0-9][0-9] processes in 1 passes' crowd.out
ok "crowd: in less than 3 billion instructions, a second" \
	awk -v i="$instructions" 'BEGIN { exit !(i > 0 && i < 3) }'
ok "crowd: in less than 100 MiB" test "${rss:-999999}" -lt 102400

done_testing
