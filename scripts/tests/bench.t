#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What make bench makes and measures, in small: the profiles are what they are said to be, and what
# is measured of them is held against its limits.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
"$TOP/scripts/deps.sh" bench >&2 && "$TOP/scripts/build-perf.sh" >&2 || exit 1

PERF=$MAIN_TREE/perf/perf
PROFILE=$LAB_OUT/libquantum/perf.data
BENCH=$TOP/scripts/bench
ok "there is a profile" test -s "$PROFILE/data"

# --- the profiles ----------------------------------------------------------------------------

# json NAME EXPRESSION: of the profile of that name
json()
{
	"$TESTS/report-value.py" "$2" "$TMP/$1.json"
}
report()
{
	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" \
		-i "$TMP/$1" --format json >"$TMP/$1.json" 2>"$TMP/$1.err"
}
# Where the emulator was late, the model has gaps, or an event that comes later than its time, and so
# have its copies.
without_a_word()
{
	cat "$TMP/$1.err"
	! grep -vE -e '^Host: .* of the time is shown as lost' -e '^(Warning:)?$' \
		-e '^[0-9]+ out of order events recorded' "$TMP/$1.err"
}
perf_report()
{
	"$PERF" report --stdio -f -k "$TREE/host/vmlinux" -i "$TMP/$1" "${@:2}"
}
ln -s "$PROFILE" "$TMP/model"
ok "the model is read" report model
# Of the host's time, %. A CPU that is idle in the model is not in all copies, and where the emulator
# was late, the gaps of the model are in each of them.
MOST_LOST=$(json model '2 + 10 * share("host", "lost")')

# enlarged NAME SAMPLES OPTION...: makes the profile. What it consists of is in $TMP/made then.
enlarged()
{
	"$BENCH/enlarge.py" "${@:3}" "$PROFILE" "$TMP/$1" "$2" >"$TMP/made"
}
# make NAME SAMPLES OPTION...: a profile, of which all is true that is of each
make()
{
	local name=$1 size=$2 samples events bytes
	shift 2

	: >"$TMP/made"
	ok "$name: it is made" enlarged "$name" "$size" "$@"
	read -r samples events bytes <"$TMP/made"
	ok "$name: the report reads it" report "$name"
	ok "$name: ... without a warning" without_a_word "$name"
	ok "$name: all time is there once" "$TESTS/report-sums.py" "$TMP/$name.json"
	perf_report "$name" >"$TMP/perf-report" 2>"$TMP/$name.err"
	ok "$name: perf report reads it, too" grep -q libquantum "$TMP/perf-report"
	ok "$name: ... without a warning" without_a_word "$name"
	ok "$name: as many samples as was said" \
		test "$(json "$name" 'measurement()["samples"]')" -eq "$samples"
	ok "$name: as many events of vCPUs" \
		test "$(json "$name" 'measurement()["timeline_events"]')" -eq "$events"
	ok "$name: as many bytes" test "$(stat -c %s "$TMP/$name/data")" -eq "$bytes"
	within $((size / 50)) "$name: samples, and as many as were asked for" "$samples" "$size"
	ok "$name: nothing is lost" \
		test "$(json "$name" 'measurement()["lost"] + measurement()["timeline_lost"]')" -eq 0
	# The times where the copies meet.
	at_most "$MOST_LOST" "$name: % of the host's time that has no samples" \
		"$(json "$name" 'share("host", "lost")')"
}

# level NAME VCPU CLASS: % of a vCPU's time, of all of them if VCPU is None
share_of()
{
	json "$1" "share(guest()[\"name\"], \"$3\", $2)"
}
levels()
{
	json "$1" "len([x for x in r[0].json[\"levels\"] if x[\"level\"] == \"$2\"])"
}

make plain 40000
ok "plain: longer than what it is made of" test "$(json plain 'measurement()["duration_ns"]')" -gt 15000000000

make two-vcpus 40000 --vcpus 2
ok "two vCPUs: two vCPU levels" test "$(levels two-vcpus vcpu)" -eq 2
ok "... of one VM" test "$(levels two-vcpus vm)" -eq 1
ok "... on four CPUs" test "$(json two-vcpus 'measurement()["cpus"]')" -eq 4
within 0.1 "... which did the same, USER %" "$(share_of two-vcpus 0 USER)" "$(share_of two-vcpus 1 USER)"
at_least 99 "... in the same processes, % of the user time" \
	"$(json two-vcpus 'user("guest1", lambda row: row["comm"] == "shor")')"

make many-vcpus 64000 --vcpus 64
ok "64 vCPUs: 64 vCPU levels" test "$(levels many-vcpus vcpu)" -eq 64
ok "... of 8 VMs" test "$(levels many-vcpus vm)" -eq 8
ok "... on 128 CPUs" test "$(json many-vcpus 'measurement()["cpus"]')" -eq 128
ok "... each of which has run a guest" test "$(json many-vcpus \
	'min(x["classes_ns"]["USER"] for x in r[0].json["levels"] if x["level"] == "vcpu")')" -gt 0
ok "... and has threads of its own" test "$("$TESTS/vms-table.py" "$TMP/many-vcpus" |
	awk '{ print $2, $4 }' | sort -u | wc -l)" -eq 64
ok "... whose VMM has a name" test "$(perf_report many-vcpus --sort pid 2>/dev/null | grep -c ':qemu')" -ge 8

make tasks 40000 --tasks 2000 --switches 100
perf_report tasks --sort comm >"$TMP/comms" 2>/dev/null
ok "tasks: all of them are in perf report" test "$(grep -c '% *task-[0-9]* *$' "$TMP/comms")" -eq 2000
with_vcpu()
{
	"$PERF" script -f -k "$TREE/host/vmlinux" -i "$TMP/tasks" -F comm,vcpu_ctx 2>/dev/null |
		grep '^ *task-' | grep -vc 'none *$'
}
ok "... none of them has run on a vCPU" test "$(with_vcpu)" -eq 0
ok "... and the host is not idle" test "$(json tasks 'level("host")["classes_ns"]["IDLE"]')" -eq 0
# As above there are fewer the more gaps the model has.
at_least 1000 "... switches of the vCPU to them" \
	"$(json tasks 'measurement()["timeline_states"]["preempted"]')"
at_least 600 "... rows of tasks that took the CPU" \
	"$(json tasks 'len([x for x in vm_rows() if x["function"].startswith("[steal] (on task task-")])')"

STAYS=21700
make port-io 6000 --exits "$STAYS"
# There are fewer in a second the more gaps the model has, as the emulator was late.
at_least 10000 "port I/O: stays in the VMM in a second" "$(json port-io \
	'measurement()["timeline_states"]["user"] * 1e9 / measurement()["duration_ns"]')"
# So are the samples' times.
within 5 "... % of the vCPU's time, by the events and by the samples" \
	"$(json port-io 'rows("guest1", "[vmm] (")')" \
	"$(json port-io "(100 * (1 - measurement()['guest_samples'] * 2 / measurement()['samples']) *
		measurement()['timeline_states']['user'] * 1e9 / measurement()['duration_ns'] / $STAYS)")"

# --- a wide host: the same, side by side -----------------------------------------------------

COPIES=8
widen()
{
	"$BENCH/widen.py" "$@" "$COPIES" >"$TMP/made"
}
ok "wide: it is made" widen "$PROFILE" "$TMP/wide"
ok "... the report reads it" report wide
ok "... each copy has the same, to the ns" "$TESTS/same-copies.py" "$TMP/model.json" "$TMP/wide.json" "$COPIES"
ok "... as many bytes as was said" \
	test "$(stat -c %s "$TMP/wide/data")" -eq "$(awk '{ print $3 }' "$TMP/made")"
ok "... on as many CPUs" test "$(json wide 'measurement()["cpus"]')" -eq \
	$((COPIES * $(json model 'measurement()["cpus"]')))

ok "a header with fewer CPUs than the samples" \
	widen --old-header "$PROFILE" "$TMP/old-header"
ok "... the report reads it" report old-header
ok "... and says so once" test "$(grep -c '^There are records of CPU ' "$TMP/old-header.err")" -eq 1
ok "... perf does not say it, too" not grep -q 'clamping' "$TMP/old-header.err"
ok "... each copy has the same, to the ns" \
	"$TESTS/same-copies.py" "$TMP/model.json" "$TMP/old-header.json" "$COPIES"

refuses()
{
	! "$BENCH/enlarge.py" "$@" "$TMP/refused" 1000 >"$TMP/out" 2>&1 || return
	cat "$TMP/out"
	grep -q '^enlarge\.py: ' "$TMP/out" && [ "$(wc -l <"$TMP/out")" -eq 1 ]
}
ok "a profile of several vCPUs is no model" refuses --vcpus 2 "$TMP/two-vcpus"
ok "... nor is what is none" refuses "$TMP"

# --- what is measured ------------------------------------------------------------------------

quick()
{
	BENCH_SAMPLES=0.05 BENCH_SHAPES=2-vcpus BENCH_TIMES=1 "$TOP/scripts/bench.sh"
}
quick >"$TMP/out" 2>"$TMP/err"
ok "the short form of make bench gets to its end" test $? -eq 0
sed 's/^/# /' "$TMP/out"
ok "... a line for each profile, with figures" test \
	"$(grep -cE '^(samples|2 vCPUs)( +[0-9.]+){9}$' "$TMP/out")" -eq 2
ok "... what is not looked at is said" test "$(grep -c '^not looked at: ' "$TMP/out")" -eq 9
ok "... and there is no document" not grep -q '^written: ' "$TMP/out"
ok "... but figures" python3 -m json.tool "$TOP/build/bench/bench.json"

asks()
{
	! env "$@" "$TOP/scripts/bench.sh" >"$TMP/out" 2>&1 || return
	cat "$TMP/out"
	[ "$(grep -cv '^ ' "$TMP/out")" -eq 1 ]
}
ok "a shape that there is not" asks BENCH_SHAPES=round
ok "... and the message says which there are" grep -q '2-vcpus 64-vcpus 20000-tasks port-io' "$TMP/out"
ok "samples that are no number" asks BENCH_SAMPLES="many"
ok "no run at all" asks BENCH_TIMES=0
ok "more samples than there is room for" asks BENCH_SAMPLES=999999
ok "... and the message says so" grep -q '^error: not enough disk space: ' "$TMP/out"
ok "a command that fails" not "$BENCH/measure.py" 1 a=true b=false
ok "no screen: the command has ended" not "$BENCH/first-screen" "^a screen" false

# --- what is held against limits, of literal figures ----------------------------------------

# find S-OF-16-M MIB-OF-16-M S-OF-64-M SCREEN-OF-4-M SWITCHES: perf report takes 10 s for 16 M,
# ours takes 16 MiB for 0.1 M and 1 s for 4 M
find_in()
{
	python3 - "$@" >"$TMP/rows.json" <<-'END'
		import json, sys
		large, mib, largest, screen, switches = map(float, sys.argv[1:])
		def row(millions, s, mib=16, perf=1, screen=1):
		    return {"shape": "samples", "millions": millions, "times": 3, "events": 0,
		            "samples": round(millions * 1000000), "bytes": 70, "first_screen": screen,
		            "unified": {"s": s, "mib": mib, "ratio": s / perf, "cpu_s": s},
		            "report": {"s": perf, "mib": 8, "ratio": 1, "cpu_s": perf},
		            "growth": {"unified": s / 16, "by_report": 1}}
		print(json.dumps({"clock": [row(0.1, 0.1), row(4, 1, screen=screen), row(16, large, mib, 10),
		                            row(64, largest)], "shapes": [], "switches_s": switches}))
	END
	"$BENCH/find.py" "$TMP/rows.json" --versions "a machine 1" --output "$TMP/bench.json" &&
		"$TOP/scripts/evaluation/evaluate.py" properties --output "$TMP/bench.json"
}
holds()
{
	find_in "$@" >"$TMP/out" && cat "$TMP/out" && [ "$(grep -c '^holds' "$TMP/out")" -eq 5 ]
}
# fails WHAT FIGURE...: and nothing else does
fails()
{
	! find_in "${@:2}" >"$TMP/out" || return
	cat "$TMP/out"
	[ "$(grep -c '^FAILS' "$TMP/out")" -eq 1 ] && grep -q "^FAILS .*$1" "$TMP/out"
}
ok "all properties hold at their limits" holds 7 80 17.59 3 0.5
ok "0.7 of perf report's time at most" fails 'time, by that of perf report' 7.1 80 17.59 3 0.5
ok "64 MiB more at most" fails 'private memory' 7 81 17.59 3 0.5
ok "a sample may take 10 % more time" fails 'CPU time of a record' 7 80 17.7 3 0.5
ok "... and much less" holds 7 80 14.3 3 0.5
ok "the first screen in 3 s" fails 'the first screen' 7 80 17.59 3.1 0.5
ok "the switches in 0.5 s" fails 'switches' 7 80 17.59 3 0.6
done_testing
