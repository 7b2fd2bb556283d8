#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# When it was, and how long at once: perf kvm unified report --interval, --time, --stalls, and
# --format openmetrics, with the profile that profile.t has recorded. time-axis.t has profiles
# with more steal.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf
"$TOP/scripts/deps.sh" check >&2 || exit 1
ok "there is a profile" test -s "$LAB_OUT/libquantum/perf.data/data"
cd "$LAB_OUT/libquantum" || { done_testing; }

# report OPTION...: as a table, or with --format
report()
{
	case " $* " in
	*' --format '*) set -- "$@" ;;
	*)		set -- --format table "$@" ;;
	esac
	"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" "$@" 2>"$TMP/warnings"
}

# json FILE EXPRESSION
json()
{
	"$TESTS/report-value.py" "$2" "$1"
}

# refused CODE REGEX OPTION...: with that code and a message, and nothing else is wrong
refused()
{
	report "${@:3}" >"$TMP/output"
	[ $? -eq "$1" ] || return 1
	cat "$TMP/warnings"
	grep -qE -e "$2" "$TMP/warnings" && ! grep -E 'damaged|failed|Cannot' "$TMP/warnings"
}

# --- in intervals ------------------------------------------------------------------------

report --format json --interval 1s >"$TMP/json"
ok "--interval: an exit code of 0" test $? -eq 0
ok "--interval: all time of each VM is there once, by class" "$TESTS/report-sums.py" "$TMP/json"
ok "--interval: from the first sample to the last" test \
	"$(json "$TMP/json" 'len(r[0].json["intervals"])')" -eq \
	"$(json "$TMP/json" '-(-(measurement()["end_ns"] - measurement()["zero_ns"]) // 10**9)')"
ok "--interval: each but the first and the last is a second" json "$TMP/json" \
	'1 / all(x["time_ns"] == 10**9 for x in r[0].json["intervals"][1:-1])'
for interval in 100ms 0.5 700ms; do
	report --format json --interval $interval >"$TMP/other"
	ok "--interval $interval: the same time" "$TESTS/report-sums.py" "$TMP/other"
done
# Waits that no sample has seen are shared by the whole: whoever is asked, it is the same.
report --format json --interval 1000s >"$TMP/one"
ok "--interval of more than all: the thief is that of the whole" json "$TMP/one" \
	'1 / all(x["thief"] == y["thieves"][0]["name"] and abs(x["thief_ns"] - y["thieves"][0]["time_ns"]) < 1000
		for x, y in zip(r[0].json["intervals"], r[0].json["overview"], strict=True) if y["thieves"])'
ok "without --interval there are none" not grep -q intervals <(report --format json)
report --format csv --interval 1s >"$TMP/csv"
csv_is_json()
{
	python3 -c 'import csv, json, sys
rows = [(r["vm"], float(r["from_s"]), int(r["time_ns"]), int(r["steal_ns"]), r["thief"], int(r["thief_ns"]),
	 sum(int(v) for k, v in r.items() if k.endswith("_ns") and k not in ("time_ns", "thief_ns")))
	for r in csv.DictReader(open(sys.argv[1]))]
same = [(x["vm"], x["from_s"], x["time_ns"], x["classes_ns"]["steal"], x.get("thief", ""),
	 x.get("thief_ns", 0), x["time_ns"]) for x in json.load(open(sys.argv[2]))["intervals"]]
sys.exit(rows != same)' "$TMP/csv" "$TMP/json"
}
ok "CSV: a row for each of JSON's intervals" csv_is_json
# What one of them has had, and all of them
report --format json --interval 1s --thief '*' >"$TMP/all-thieves"
ok "--thief '*': all that was stolen" json "$TMP/all-thieves" \
	'1 / all(x.get("thief_ns", 0) == x["classes_ns"]["steal"] for x in r[0].json["intervals"])'
task=$(json "$TMP/json" '[x["name"][5:] for x in r[0].json["overview"][0]["thieves"] if "pid" in x][0]')
pid=$(json "$TMP/json" '[x["pid"] for x in r[0].json["overview"][0]["thieves"] if "pid" in x][0]')
its_time="[x['time_ns'] for x in r[0].json['overview'][0]['thieves'] if x['name'] == 'task $task'][0]"
for name in "$task" "task $task"; do
	report --format json --interval 1s --thief "$name" >"$TMP/one-thief"
	ok "--thief $name: what the overview has of it" json "$TMP/one-thief" \
		"1 / (abs(sum(x.get('thief_ns', 0) for x in r[0].json['intervals']) - $its_time) < 1000)"
	ok "--thief $name: nobody else" json "$TMP/one-thief" \
		"1 / ({x['thief'] for x in r[0].json['intervals'] if 'thief' in x} == {'task $task'})"
done
report --format json --interval 1s --thief "$pid" >"$TMP/by-pid"
ok "--thief PID: the same" json "$TMP/by-pid" \
	"1 / (abs(sum(x.get('thief_ns', 0) for x in r[0].json['intervals']) - $its_time) < 1000)"
ok "... who was asked for" json "$TMP/by-pid" "1 / (r[0].json['interval_thieves'] == '$pid')"
ok "... what was seen is a part of it" json "$TMP/by-pid" \
	'1 / all(0 <= x["thief_seen_ns"] <= x["thief_ns"] and "thief_at_least" not in x
		for x in r[0].json["intervals"] if "thief" in x)'
report --format csv --interval 1s --thief "$pid" >"$TMP/by-pid.csv"
csv_has_thieves()
{
	python3 -c 'import csv, json, sys
rows = [(int(r["thief_ns"]), int(r["thief_seen_ns"]), r["thief_at_least"])
	for r in csv.DictReader(open(sys.argv[1]))]
same = [(x.get("thief_ns", 0), x.get("thief_seen_ns", 0), "0")
	for x in json.load(open(sys.argv[2]))["intervals"]]
sys.exit(rows != same or not any(row[0] for row in rows))' "$TMP/by-pid.csv" "$TMP/by-pid"
}
ok "... CSV: the same" csv_has_thieves
# Many short-lived threads, more than an interval keeps apart
starts()
{
	"$PERF" kvm unified report -f -i "$LAB_OUT/refusals/vm-starts.data" --format json "$@" 2>/dev/null
}
starts >"$TMP/starts"
ok "many threads: each is a thief once" json "$TMP/starts" \
	'(lambda all_pids: 1 / (any(all_pids) and all(len(set(pids)) == len(pids) for pids in all_pids)))(
		[[t["pid"] for t in x["thieves"] if "pid" in t] for x in r[0].json["overview"]])'
ok "... by a name, if it has ended, too" json "$TMP/starts" \
	'1 / (not any(t["name"].startswith("task ") and t["name"][5:].lstrip(":-").isdigit()
		for x in r[0].json["overview"] for t in x["thieves"]))'
# has_what_overview_has NAME: of each VM that this is a thief of by name or pid; or at least so much
has_what_overview_has()
{
	starts --interval 1000s --thief "$1" >"$TMP/starts-one" || return
	"$TESTS/report-value.py" "(lambda whole, parts: 1 / all(
			parts[vm].get('thief_ns', 0) <= ns + 1000 and
			(parts[vm].get('thief_at_least') or parts[vm]['thief_ns'] >= ns - 1000)
			for vm, ns in whole))(
		[(x['vm'], t['time_ns']) for x in r[0].json['overview'] for t in x['thieves']
			if '$1' in (t['name'], str(t.get('pid')))],
		{x['vm']: x for x in r[1].json['intervals']})" "$TMP/starts" "$TMP/starts-one"
}
looked_for=0
for name in $(json "$TMP/starts" '"\n".join(sorted({t["name"].replace(" ", "?") for x in r[0].json["overview"]
		for t in x["thieves"][:6] if t["name"].startswith(("task ", "VM "))}))') \
	$(json "$TMP/starts" '" ".join(sorted({str(t["pid"]) for x in r[0].json["overview"]
		for t in x["thieves"][:8] if "pid" in t}))'); do
	ok "... --thief '${name//\?/ }' in one interval: what the overview has" has_what_overview_has "${name//\?/ }"
	looked_for=$((looked_for + 1))
done
ok "... of some" test "$looked_for" -ge 3
# One that had a CPU for long
long=$(json "$TMP/starts" '[x["name"][5:] for x in r[0].json["overview"][0]["thieves"]
	if x["name"].startswith("task ")][0]')
starts --interval 1s --thief "$long" >"$TMP/starts-one"
starts --interval 1s --summary --thief "$long" --format table >"$TMP/table"
# The sum of the rows, in us. They are to the ms, and one of 0.000 s is not there.
sum=$(awk '/^# VM +from s/ { on = 1; next } /^$/ { on = 0 } on { sum += $4 } END { printf "%.0f", sum * 1000000 }' \
	"$TMP/table")
ok "--thief: as text, the same sum" json "$TMP/starts-one" \
	"(lambda ns: 1 / ($sum > 0 and abs(sum(ns) / 1000 - $sum) <= 500 * len(ns) + 1))(
		[x.get('thief_ns', 0) for x in r[0].json['intervals']])"
no_such_thief()
{
	report --interval 1s --summary --thief nosuchtask >"$TMP/table" || return 1
	cat "$TMP/warnings"
	grep -qF "'nosuchtask' had no CPU" "$TMP/warnings"
}
ok "--thief: one that there is not" no_such_thief
ok "--thief without --interval" refused 129 '--thief is for --interval' --thief "$task"
report --interval 1s --summary >"$TMP/table"
ok "as text: a row for each, too" test "$(grep -cE '^ +[0-9]+\.000  ' "$TMP/table")" -eq \
	"$(json "$TMP/json" 'len(r[0].json["intervals"])')"
# The last one is shorter.
peak=$(json "$TMP/json" '"%.2f %.3f %s" % max((100 * x["classes_ns"]["steal"] / x["time_ns"], -x["from_s"],
	x["thief"]) for x in r[0].json["intervals"] if x["time_ns"] >= 5e8 and x["classes_ns"]["steal"])' |
	sed 's/ -/ /')
note "the peak: $peak"
# spark TABLE: peak, when, and the thief of the line of guest1
spark()
{
	awk '/^# steal over time/ { on = 1 }
		on && $1 == "guest1" { printf "%s %s", $3, $4; for (i = 7; i <= NF; i++) printf " %s", $i; exit }' "$1"
}
ok "a line for the VM: its peak, when it was, and the thief then" test "$(spark "$TMP/table")" = "$peak"
marks()
{
	awk '/^# steal over time/ { on = 1 } on && $1 == "guest1" { print $5; exit }' "$1" | wc -m
}
ok "... and a mark for each interval" test "$(LC_ALL=C.UTF-8 marks "$TMP/table")" -eq \
	"$(json "$TMP/json" 'len(r[0].json["intervals"]) + 1')"
report --interval 1ms --summary >"$TMP/many"
ok "... or for several" test "$(LC_ALL=C.UTF-8 marks "$TMP/many")" -le 121
ok "it is in perf's view, too" grep -q '^# steal over time' \
	<("$PERF" kvm unified report -f -i perf.data --summary --stdio --interval 1s 2>/dev/null)
ok "--vm: only this one" test "$(report --format csv --interval 1s --vm guest1 | wc -l)" -eq "$(wc -l <"$TMP/csv")"
ok "less than a period is refused" refused 1 '^--interval: there is a sample each 1.000 ms' --interval 999us
ok "... but not a period" report --interval 1ms --summary
for bad in 0s 1x 1m -1s ''; do
	ok "refused: --interval '$bad'" refused 129 "wants a time such as 1s.*not '$bad'" --interval "$bad"
done
ok "refused: --tui" not "$PERF" kvm unified report -f -i perf.data --tui --interval 1s
ok "--level has no rows of these" refused 129 'level is for tables' --format csv --interval 1s --level vm

# --- the times that people type ---------------------------------------------------------

# part TIME FILE
part()
{
	report --format json --interval 1s --time "$1" >"$2"
	"$TESTS/report-sums.py" "$2" | grep -v time
}
# intervals FILE: when they begin, and ns
intervals()
{
	json "$1" '" ".join("%.3f:%d" % (x["from_s"], x["time_ns"]) for x in r[0].json["intervals"])'
}
part +2,+4 "$TMP/part"
ok "--time +2,+4: two seconds" test "$(intervals "$TMP/part")" = "2.000:1000000000 3.000:1000000000"
ok "... and no warning" not grep -q -e '^--time' "$TMP/warnings"
ok "... which are those of the whole" json "$TMP/part" \
	"1 / (r[0].json['intervals'] == [x for x in __import__('json').load(open('$TMP/json'))['intervals'] if 2 <= x['from_s'] < 4])"
clock()
{
	json "$TMP/json" '"%.9f" % (measurement()["zero_ns"] / 1e9 + '"$1)"
}
part "$(clock 2),$(clock 4)" "$TMP/absolute"
same_levels()
{
	diff <(json "$1" 'r[0].json["levels"]') <(json "$2" 'r[0].json["levels"]')
}
ok "--time of the host's clock: the same" same_levels "$TMP/part" "$TMP/absolute"
for same in +2s,+4s +2000ms,+4000000us "+2,+3 +3,+4" "+3,+4 +2,+3.5"; do
	part "$same" "$TMP/same"
	ok "--time $same: the same" same_levels "$TMP/part" "$TMP/same"
done
part +0, "$TMP/all"
ok "--time +0,: all" same_levels "$TMP/json" "$TMP/all"
part -1.5s, "$TMP/end"
ok "--time -1.5s,: from the end" test \
	"$(json "$TMP/end" 'sum(x["time_ns"] for x in r[0].json["intervals"])')" -eq 1500000000
part ,-1 "$TMP/begin"
ok "--time ,-1: up to a second before it" test \
	"$(json "$TMP/begin" 'sum(x["time_ns"] for x in r[0].json["intervals"])')" -eq \
	"$(json "$TMP/json" 'measurement()["duration_ns"] - 10**9')"
length=$(json "$TMP/json" '(measurement()["end_ns"] - measurement()["zero_ns"]) / 1e9')
part +5,+1000 "$TMP/clipped"
ok "--time +5,+1000: what there is of it" test \
	"$(json "$TMP/clipped" 'r[0].json["intervals"][-1]["from_s"]')" = \
	"$(json "$TMP/json" 'r[0].json["intervals"][-1]["from_s"]')"
ok "... with a warning" grep -q -e '^--time: from 5.000 to 1000.000 s since the start is more than there is' "$TMP/warnings"
ok "... that says what there is" grep -q -e "^from [0-9.]* to $length s, and" "$TMP/warnings"
part 0.5,"$(json "$TMP/json" 'measurement()["end_ns"] / 1e9')" "$TMP/clipped"
ok "--time by the clock: the warning is by the clock, too" \
	grep -q -e "^--time: from 0.500 to [0-9.]* s of the host's clock is more than there is" "$TMP/warnings"
part -1000s, "$TMP/clipped"
ok "--time -1000s,: all, with a warning" grep -q -e '^--time: from -[0-9.]* to' "$TMP/warnings"
first=$(report --summary | sed -n 's/^# perf kvm unified report: .* s from \([0-9.]*\) on the .*/\1/p')
ok "--time from the first line's start: there is one" test -n "$first"
report --time "$first," >/dev/null
ok "--time from the first line's start: no warning" not grep -q -e '^--time' "$TMP/warnings"
ok "--time +1000,: nothing, and what there is" refused 1 '^--time: the measurement is from [0-9.]* to ' --time +1000,
ok "... not that signs are needed, which are there" not grep -q 'need a' "$TMP/warnings"
ok "--time 1,2: no such time of the host's clock, and how to say seconds since the start" \
	refused 1 '^--time: the measurement is from .* Seconds since its start need a$' --time 1,2
ok "refused: --time +4,+2" refused 1 "^--time: '\+4,\+2' ends before it begins" --time +4,+2
for bad in +2 +,+1 ,+0 '+1x,' +1,+2,+3; do
	ok "refused: --time $bad" refused 1 "wants start,stop .*|or parts such .*not '" --time "$bad"
done
ok "the first line tells start and length" test \
	"$(sed -n 's/^# perf kvm unified report: \([0-9.]*\) s from \([0-9.]*\) on the host.s clock, .*/\1 \2/p' "$TMP/table")" = \
	"$(json "$TMP/json" '"%.3f %.6f" % (measurement()["duration_ns"] / 1e9, measurement()["start_ns"] / 1e9)')"

# --- how long at once -----------------------------------------------------------------------

stall()
{
	json "$TMP/json" "[x for x in r[0].json['stalls'] if x['vm'] == 'guest1' and 'vcpu' not in x and x['waits'] == '$1'][0]$2"
}
report --stalls --summary >"$TMP/stalls"
ok "--stalls: a line for waits of a vCPU that ran" grep -qE '^guest1 +stolen +[0-9]+ ' "$TMP/stalls"
ok "... and for those after a wake-up" grep -qE '^guest1 +wake-up +[0-9]+ ' "$TMP/stalls"
ok "... the number, the longest and whose it was" test \
	"$(awk '$2 == "stolen" { printf "%s %s", $3, $7; for (i = 12; i <= NF; i++) printf " %s", $i }' "$TMP/stalls")" = \
	"$(stall stolen '["number"]') $(stall stolen '["longest_ns"] / 1e6') $(stall stolen '["thief"]')"
# One that lasts at the end has no event, and one at the beginning may have none.
ok "as many waits as there are events of them" json "$TMP/json" \
	"1 / (0 <= sum(x['number'] for x in r[0].json['stalls'] if 'vcpu' in x) -
		measurement()['timeline_states']['preempted'] <= 2)"
ok "CSV: of the VM, and of its vCPU" test "$(report --format csv --stalls | grep -c '^"guest1",')" -eq 4
for options in "--stalls --interval 1s" "--costs --interval 1s" "--stalls --costs"; do
	# shellcheck disable=SC2086 # several options
	ok "refused: two tables as CSV: $options" refused 129 'has one table: --interval, --stalls or --costs' \
		--format csv $options
done
ok "without --stalls there is no such table" not grep -q 'waited for a CPU' "$TMP/table"

# --- for Prometheus ----------------------------------------------------------------------------

report --format openmetrics >"$TMP/metrics"
ok "openmetrics: an exit code of 0" test $? -eq 0
ok "alerts: the rules are Prometheus' own, and alert on what they should" \
	"$TESTS/promtool" test rules "$TESTS/alerts.yml"
ok "openmetrics: promtool has nothing to say" "$TESTS/promtool" check metrics <"$TMP/metrics"
# metrics FILE EXPRESSION: as OpenMetrics has them, s are the samples; with Debian's Python
metrics()
{
	/usr/bin/python3 -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
s = [sample for family in parse(open(sys.argv[1]).read()) for sample in family.samples]
print(eval(sys.argv[2]))' "$@"
}
ok "openmetrics: it is OpenMetrics, too" metrics "$TMP/metrics" 'len(s)'
ok "openmetrics: all time of the vCPU" test \
	"$(metrics "$TMP/metrics" '"%.9f" % sum(x.value for x in s if x.name == "perf_kvm_vcpu_time_seconds")')" = \
	"$(json "$TMP/json" '"%.9f" % (level("guest1")["time_ns"] / 1e9)')"
ok "openmetrics: its steal" test \
	"$(metrics "$TMP/metrics" '["%.9f" % x.value for x in s if x.labels.get("class") == "steal" and
		x.labels["vm"] == "guest1" and x.labels["vcpu"] == "0"][0]')" = \
	"$(json "$TMP/json" '"%.9f" % (level("guest1")["classes_ns"]["steal"] / 1e9)')"
report --format openmetrics --time -2s, >"$TMP/metrics-of-time"
ok "openmetrics: --time: the recording is as long as what is told of it" test \
	"$(metrics "$TMP/metrics-of-time" '[x.value for x in s if x.name == "perf_kvm_recording_seconds"][0]')" = 2.0
ok "... and so are all its times of a vCPU" test \
	"$(metrics "$TMP/metrics-of-time" '"%.9f" % sum(x.value for x in s if x.name == "perf_kvm_vcpu_time_seconds")')" = \
	2.000000000
ok "openmetrics: the longest wait" test \
	"$(metrics "$TMP/metrics" '["%.9f" % x.value for x in s if x.name == "perf_kvm_vm_stall_seconds" and
		x.labels["waits"] == "stolen" and x.labels["quantile"] == "1"][0]')" = \
	"$(stall stolen '["longest_ns"] / 1e9' >/dev/null; json "$TMP/json" '"%.9f" % ([x for x in r[0].json["stalls"]
		if x["waits"] == "stolen"][0]["longest_ns"] / 1e9)')"
thieves_of()
{
	metrics "$1" '[(x.labels["thief"], "%.9f" % x.value) for x in s if x.name == "perf_kvm_vm_thief_seconds"]'
}
ok "openmetrics: the five who have stolen most" test "$(thieves_of "$TMP/metrics")" = \
	"$(json "$TMP/json" '[(x["name"], "%.9f" % (x["time_ns"] / 1e9)) for x in r[0].json["overview"][0]["thieves"][:5]]')"
costs_of()
{
	metrics "$TMP/metrics" '[(x.labels["cost"], "%.9f" % x.value) for x in s if x.name == "'"$1"'"]'
}
ok "openmetrics: what the VM costs the host" test "$(costs_of perf_kvm_vm_cost_seconds)" = \
	"$(json "$TMP/json" '[(k[:-3], "%.9f" % (v / 1e9)) for k, v in r[0].json["costs"]["vms"][0].items() if k not in ("vm", "sum_ns")]')"
ok "openmetrics: ... and what is no VM's" test "$(costs_of perf_kvm_host_cpu_seconds)" = \
	"$(json "$TMP/json" '[(k[:-3], "%.9f" % (v / 1e9)) for k, v in r[0].json["costs"]["host"].items()]')"
ok "openmetrics: --vcpu: no costs, which are of whole VMs" not grep -q 'cost=' \
	<(report --format openmetrics --vcpu 0)
"$PERF" kvm unified report -f -i perf.data --ignore-vmlinux --kallsyms /dev/null --format openmetrics \
	>"$TMP/metrics" 2>/dev/null
ok "openmetrics: where idle time is not known, it is in the host's own" test "$(costs_of perf_kvm_host_cpu_seconds |
	grep -o "'[a-z_]*'," | tr -d "\n',")" = own_work_or_idleguestsunknown
for option in '--interval 1s' --exit-reasons; do
	# shellcheck disable=SC2086 # an option and its value
	ok "openmetrics: $option has no place there" refused 129 'openmetrics has no --interval and --exit-reasons' --format openmetrics $option
done
# A task may have any name: that of one is made of what metrics have another meaning for.
thief=$(json "$TMP/json" '[x["name"][5:] for x in r[0].json["overview"][0]["thieves"] if x["name"].startswith("task ")][0]')
hostile()
{
	cp -r perf.data "$TMP/hostile" &&
		python3 -c 'import sys
path, old = sys.argv[1:]
data = open(path, "rb").read()
new = b"\"\\\n\x1b"[:len(old)] + old[4:].encode()
assert old.encode() in data
open(path, "wb").write(data.replace(old.encode(), new))' "$TMP/hostile/data" "$thief" &&
		report -i "$TMP/hostile" --format openmetrics >"$TMP/metrics" &&
		"$TESTS/promtool" check metrics <"$TMP/metrics" && thieves_of "$TMP/metrics" | tee "$TMP/thieves"
	grep -qF 'task "\\??'"${thief:4}" "$TMP/thieves"
}
note "a thief: $thief"
ok "openmetrics: a task with quotes in its name" hostile
done_testing
