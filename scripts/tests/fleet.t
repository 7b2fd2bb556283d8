#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A small host of VMs, or one with 24 (FLEETS=fleet): what was planted is found, and nobody else is
# blamed for it; and the time of each vCPU is what the scheduler's own events say.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf
FLEETS=${FLEETS:-fleet-one-cpu}
# What the rows of the causes are called, by how they begin
declare -A ROWS=(
	[hog]='[steal] (on task backup'
	[quota]='[throttled] (by its own limit)'
	[stopped]='[stopped] (by a signal)'
)
# ... and the thief of the overview
HOG='task backup'
# ms; as near as the report is to come to when something began and ended
NEAR=50
# ... of which intervals are so long: the last one may end as much later than what it shows.
STEP=25
MSEC=1000000 SEC=1000000000
# Percent of a VM's time: less is what comes of a moment's doubt about who had the CPU.
SOME=0.5

# report NAME OPTION...: to $TMP/NAME.json
report()
{
	local name=$1
	shift

	"$PERF" kvm unified report -f -i fleet.data -k "$TREE/host/vmlinux" --format json "$@" \
		>"$TMP/$name.json" 2>"$TMP/$name.err"
}

# value EXPRESSION NAME: see report-value.py
value()
{
	"$TESTS/report-value.py" "$1" "$TMP/$2.json"
}

# planted STEP: when that was, ns
planted()
{
	awk -v step="$1" '$1 == step { print $2 }' planted
}

# moment STEP [MS]: that and so much later, as --time has it
moment()
{
	local ns

	ns=$(($(planted "$1") + ${2:-0} * MSEC))
	printf '%d.%09d' $((ns / SEC)) $((ns % SEC))
}

# lasted CAUSE: ms
lasted()
{
	echo $((($(planted "$1-end") - $(planted "$1-begin")) / MSEC))
}

# VMs that it meets, one a line
meets()
{
	sed -n "s/^$1 //p" planted-vms | tr ' ' '\n' | sort
}

# ms_of VM CAUSE NAME
ms_of()
{
	value "rows('$1', '${ROWS[$2]}') / 100 * level('$1')['time_ns'] / $MSEC" "$3"
}

# VMs that have some of the cause's row, one a line
suffer()
{
	value "'\n'.join(sorted(g['name'] for g in r[0].json['guests']
		if rows(g['name'], '${ROWS[$1]}') >= $SOME))" "$2"
}

# takes_most VM CAUSE NAME: of what keeps it from running, that is the largest row.
takes_most()
{
	[[ $(value "max((row for row in level('$1')['rows'] if row['class'] in ('steal', 'stopped', 'throttled')),
		key=lambda row: row['time_ns'])['function']" "$3") == "${ROWS[$2]}"* ]]
}

# --- the VMs ---------------------------------------------------------------------------

vms_are_there()
{
	cut -d' ' -f1 fleet-vms-threads.before | sort -u >"$TMP/vms"
	value "'\n'.join(sorted(g['name'] for g in r[0].json['guests']))" all | diff "$TMP/vms" -
}

threads_are_right()
{
	diff <("$TESTS/vms-table.py" fleet.data | awk '{ print $1, $4, $3 }' | sort) \
		<(awk '$3 != "-" { print $1, $2, $3 }' fleet-vms-threads.before | sort)
}

check_report()
{
	report all
	ok "$1: a report" test $? -eq 0
	ok "$1: in timeline mode" test "$(value 'measurement()["mode"]' all)" = timeline
	ok "$1: without loss" test "$(value 'measurement()["lost_records"]' all)" = 0
	ok "$1: all time of each CPU and vCPU is there once" "$TESTS/report-sums.py" "$TMP/all.json"
	ok "$1: the VM is first that waited most, for whatever reason" value \
		'(lambda waits: 1 / (waits == sorted(waits, reverse=True)))(
			[(x["classes_ns"]["steal"] + x["classes_ns"]["throttled"]) / x["time_ns"]
				for x in r[0].json["overview"]])' all
	ok "$1: all VMs are there" vms_are_there
	ok "$1: $2 of them" test "$(wc -l <"$TMP/vms")" -eq "$2"
	ok "$1: their vCPUs have the threads that KVM says" threads_are_right
}

# --- what was planted ------------------------------------------------------------------

# Until what measures ends: what a vCPU was at then is known from a look that comes later.
check_planted()
{
	local cause vm part

	for cause in hog quota stopped; do
		report before --time "$(moment begin),$(moment $cause-begin -$NEAR)"
		report while --time "$(moment $cause-begin $NEAR),$(moment $cause-end -$NEAR)"
		report after --time "$(moment $cause-end $NEAR),$(moment end)"
		for part in before after; do
			ok "$1, $cause: nobody suffers from it $part it" \
				test "$(suffer $cause $part)" = ""
		done
		ok "$1, $cause: whom it meets suffers from it, and nobody else" \
			diff <(meets $cause) <(suffer $cause all)
		for vm in $(meets $cause); do
			note "$1, $cause: $vm has $(ms_of "$vm" $cause all) ms of it in $(lasted $cause) ms"
			ok "$1, $cause: it is what keeps $vm most from running" \
				takes_most "$vm" $cause while
		done
	done
}

# shown CAUSE: ms from when it was planted until one of the VMs has it in an interval, and from
# when it ended until none has
shown()
{
	local vms sign

	vms=$(meets "$1" | sed "s/.*/'&',/" | paste -sd' ')
	case $1 in
	hog)	sign="x.get('thief') == '$HOG' and x['thief_ns'] >= $MSEC" ;;
	quota)	sign="x['classes_ns']['throttled']" ;;
	*)	sign="x['classes_ns']['$1']" ;;
	esac
	value "(lambda zero, at: '%d %d' % (
			(zero + at[0] * $SEC - $(planted "$1-begin")) / $MSEC,
			(zero + at[-1] * $SEC - $(planted "$1-end")) / $MSEC + $STEP))(
		measurement()['zero_ns'],
		[x['from_s'] for x in r[0].json['intervals'] if x['vm'] in ($vms) and $sign and
			measurement()['zero_ns'] + x['from_s'] * $SEC < $(planted end)])" intervals
}

check_when()
{
	local cause begin end

	report intervals --interval ${STEP}ms
	ok "$1: all time of each VM is there once, by interval" "$TESTS/report-sums.py" "$TMP/intervals.json"
	for cause in hog quota stopped; do
		read -r begin end < <(shown $cause)
		within $NEAR "$1, $cause: ms from when it began until --interval shows it" "$begin" 0
		within $NEAR "$1, $cause: ms from when it ended" "$end" 0
	done
}

# ranges_shown CAUSE WHAT OPTION...: ms from when it was planted until --interval has a time of WHAT,
# and from when it ended until the last of these has ended
ranges_shown()
{
	"$PERF" kvm unified report -f -i fleet.data -k "$TREE/host/vmlinux" --format table --summary \
		--interval ${STEP}ms "${@:3}" >"$TMP/ranges" 2>"$TMP/ranges.err"
	awk -v zero="$(value 'measurement()["zero_ns"]' all)" -v begin="$(planted "$1-begin")" \
		-v end="$(planted "$1-end")" -v what="$2" '
		/^# VM +from s/ { on = 1; next } /^$/ { on = 0 }
		on && index($0, what) && $2 != "-" && (first == "" || $2 < first) { first = $2 }
		on && index($0, what) && $2 != "-" && $3 > last { last = $3 }
		END { printf "%d %d\n", (zero - begin) / 1e6 + first * 1e3,
			(zero - end) / 1e6 + last * 1e3 }' "$TMP/ranges"
}

# check_ranges NAME CAUSE WHAT OPTION...
check_ranges()
{
	local begin end

	read -r begin end < <(ranges_shown "${@:2}")
	within $NEAR "$1: ms from when $2 began until --interval has a time of $3" "$begin" 0
	within $NEAR "$1: ms from when it ended" "$end" 0
}

# By function and module, all guests' rows of all their processes
check_together()
{
	report together --level guests,vm
	ok "$1: all guests together have the time of each, by class" "$TESTS/report-sums.py" "$TMP/together.json"
	ok "$1: and their functions" value \
		'(lambda sums, levels: 1 / (sums([levels[0]]) == sums(levels[1:]) != {}))(
			lambda levels: {key: sum(row["time_ns"] for level in levels for row in level["rows"]
				if (row["class"], row["function"], row["module"]) == key)
				for key in {(row["class"], row["function"], row["module"])
					for level in levels for row in level["rows"]
					if row["class"] in ("OS", "USER")}},
			r[0].json["levels"])' together
	# Its thread had the CPU in KVM_RUN, and not. Of its own VM's vCPUs, the row does not tell which.
	ok "$1: --sort task: vCPUs that have stolen are vCPUs, by VM" diff \
		<("$PERF" kvm unified report -q -f -i fleet.data -k "$TREE/host/vmlinux" --stdio \
			--percent-limit 0 --level guests -s task -F period,task -t ';' 2>/dev/null |
			awk -F ' *; *' '$2 ~ /^VM .*: vcpu/ { sub(/:.*/, "", $2); sum[$2] += $1 }
				END { for (vm in sum) printf "%s %.0f\n", vm, sum[vm] }' | sort) \
		<(value '(lambda takers: "\n".join(sorted("%s %d" % (vm, sum(ns for one, ns in takers if one == vm))
			for vm in {one for one, _ in takers})))([
			(row["function"].split(":")[0][12:] if ": vcpu" in row["function"] else
				row["function"][len("[steal] (own vCPUs of "):-1], row["time_ns"])
			for row in r[0].json["levels"][0]["rows"] if row["function"].startswith("[steal] (own vCPUs of ") or
			row["function"].startswith("[steal] (on VM ") and ": vcpu" in row["function"]])' together)
	ok "$1: what a VM's own threads took is told of by its name" value \
		'1 / (not any(row["function"].startswith(("[steal] (on vcpu", "[steal] (on its VMM"))
			for row in r[0].json["levels"][0]["rows"]))' together
	ok "$1: --vm: guests[] are those alone" test "$("$PERF" kvm unified report -f -i fleet.data \
		-k "$TREE/host/vmlinux" --format json --vm 'b*' 2>/dev/null >"$TMP/some.json"
		value "sorted(g['name'] for g in r[0].json['guests']) == [x for x in sorted(x['vm'] for x in
			r[0].json['overview'])] and len(r[0].json['guests'])" some)" = "$(grep -c ^b "$TMP/vms")"
}

check_thief()
{
	check_ranges "$1" hog "$HOG" --thief "${HOG#task }"
	ok "$1: a thread is a thief once" value \
		"1 / all(len(set(pids)) == len(pids) for pids in
			[[t['pid'] for t in x['thieves'] if 'pid' in t] for x in r[0].json['overview']])" all
	# Shells and what they start end within the recording.
	ok "$1: ... and by a name, if it has ended, too" value \
		"1 / (not any(t['name'].startswith('task ') and t['name'][5:].lstrip(':').isdigit()
			for x in r[0].json['overview'] for t in x['thieves']))" all
}

# throttled: ms that the cgroup says that it was not let run
throttled()
{
	awk '$1 == "throttled_usec" { n = $2 - n } END { printf "%d", n / 1000 }' \
		throttled.before throttled.after
}

check_stopped()
{
	local vm

	vm=$(meets stopped)
	within $NEAR "$1: ms that $vm stood still, and how long it was stopped" \
		"$(ms_of "$vm" stopped all)" "$(lasted stopped)"
	within $NEAR "$1: ms that it was stopped at once, by --stalls, and how long it was" \
		"$(value "[x['longest_ns'] // $MSEC for x in r[0].json['stalls']
			if x['vm'] == '$vm' and x['waits'] == 'stopped'][0]" all)" "$(lasted stopped)"
	check_ranges "$1" stopped stopped
	report summary --summary --format table
	ok "$1: that it was stopped, on the first screen" \
		grep -qE "^# stopped: $vm, [0-9.]+ %;" "$TMP/summary.json"
	ok "$1: nobody else is said to be" test "$(grep -c '^# stopped:' "$TMP/summary.json")" = 1
}

check_quota()
{
	local vm

	vm=$(meets quota)
	# A vCPU that may run again still has to get a CPU.
	within $(($(throttled) / 10)) "$1: ms that $vm lost by its quota, and by its cgroup" \
		"$(ms_of "$vm" quota all)" "$(throttled)"
	ok "$1: by --stalls, $vm was throttled for as long as all of its table" value \
		"1 / ([x['time_ns'] for x in r[0].json['stalls'] if x['vm'] == '$vm' and x['waits'] == 'throttled'][0] ==
		      [x for x in r[0].json['overview'] if x['vm'] == '$vm'][0]['classes_ns']['throttled'])" all
	check_ranges "$1" quota throttled
	ok "$1: by which cgroup's limit, and how often, on the first screen" grep -qxE \
		"# throttled: $vm, by a limit of cgroup /machine.slice/machine-$vm.scope that was taken away meanwhile; it held tasks back in [1-9][0-9]* periods? of the recording" \
		"$TMP/screen.json"
	ok "$1: nobody else is throttled" test \
		"$(value "[x['vm'] for x in r[0].json['overview'] if x['classes_ns']['throttled']]" all)" \
		= "['$vm']"
}

# stands_out CAUSE: which of the VMs has how much of a time that others have is chance, where CPUs
# are slow and take turns. What was planted catches the eye all the same: it is the thief's share
# that is the largest of all.
stands_out()
{
	local met

	met=$(meets "$1" | sed "s/.*/'&',/" | paste -sd' ')
	value "(lambda shares: max(share for vm, name, share in shares
			if vm in ($met) and name == '$HOG') >
		max(share for vm, name, share in shares if name != '$HOG'))(
		[(x['vm'], x['thieves'][0]['name'], x['thieves'][0]['time_ns'] / x['time_ns'])
			for x in r[0].json['overview'] if x['thieves']])" all |
		grep -qx True
}

check_first_screen()
{
	local vm seconds=$EPOCHREALTIME

	report screen --summary --format table
	# Seconds are for what hangs: ten times what it takes.
	at_most 20 "$1: s until the first screen is there" \
		"$(awk -v from="$seconds" -v to="$EPOCHREALTIME" 'BEGIN { print to - from }')"
	ok "$1: a line for each VM on it, and not more than a screen" \
		test "$(grep -cf <(sed 's/.*/^& /' "$TMP/vms") "$TMP/screen.json")" -eq 24 \
		-a "$(wc -l <"$TMP/screen.json")" -le 40
	ok "$1: no thief that was not planted has so large a share as the hog has of one" stands_out hog
	ok "$1: who that is, on the first screen" \
		grep -qE ' task backup, pid [0-9]+, in backup.service$' "$TMP/screen.json"
	ok "$1: what it has stolen from all whom it meets, on the first screen" grep -qE \
		"^# stolen from these 24 VMs together [0-9.]+ ms:.* $(value "'%.2f' % (100 * [x['time_ns'] for x in
			r[0].json['thieves'] if x['name'] == '$HOG'][0] / sum(x['classes_ns']['steal']
			for x in r[0].json['overview']))" all) % $HOG, pid [0-9]+, in backup.service \(from $(
		value "[x['vms'] for x in r[0].json['thieves'] if x['name'] == '$HOG'][0]" all) VMs\)" \
		"$TMP/screen.json"
	ok "$1: whose cgroup is known" grep -q "on task backup, pid [0-9]*, in backup.service)" \
		"$TMP/all.json"
	vm=$(meets stopped)
	within 0.5 "$1: $vm is said to be stopped, %" "$(value "share('$vm', 'stopped')" all)" \
		"$(awk -v ms="$(lasted stopped)" -v ns="$(value "measurement()['duration_ns']" all)" \
			'BEGIN { print 100 * ms * 1000000 / ns }')"
	ok "$1: nobody else is" test \
		"$(value "sum(x['classes_ns']['stopped'] > 0 for x in r[0].json['overview'])" all)" = 1
}

# A VM that is halted for good, and a recording without the looks that say so
check_silent()
{
	local vm
	local -a args=("$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json
		--no-guest-maps)

	vm=$(meets quota)
	"$TESTS/silence.py" fleet.data "$TMP/silent" "$(cat "$vm.pid")"
	"${args[@]}" -i "$TMP/silent" >"$TMP/silent.json"
	# Of a stream, all is kept until the end.
	"$TESTS/to-stream.py" "$TMP/silent" | "${args[@]}" -i - >"$TMP/kept.json"
	ok "$1: without looks, a VM that halts for good has the same times as if all was known" \
		diff "$TMP/silent.json" "$TMP/kept.json"
	at_least 49 "$1: $vm is idle for the half of the time in which it has no sample, %" \
		"$(value "share('$vm', 'IDLE')" silent)"
}

# Samples of guests have the cgroup of the vCPU's thread.
check_perf_report()
{
	"$PERF" report -f -i fleet.data -k "$TREE/host/vmlinux" --stdio --sort cgroup \
		>"$TMP/cgroups" 2>/dev/null
	ok "$1: perf report has the cgroup of each VM" test \
		"$(grep -o '/machine.slice/machine-[a-z0-9]*.scope' "$TMP/cgroups" | sort -u | wc -l)" -eq 24
}

# --- what others say of each vCPU's time --------------------------------------------------

# furthest COLUMN BUT: by how much the report's figure there, and the one before it, which is the
# scheduler's, are apart in the vCPU in which that is the most, but for so many others
furthest()
{
	awk -v column="$1" '{ d = $column - $(column - 1); printf "%.3f %s %s\n", d < 0 ? -d : d, $1, $2 }' \
		"$TMP/states" | sort -rn | sed -n "$(($2 + 1))p"
}

# ms: the kernel counts a wait from the runqueue's clock, and CPUs that take turns stand still
MOST_LATER=3

# check_states SCENARIO VCPUS POINTS [BUT]: all but so many of the vCPUs
check_states()
{
	local column what most vcpu

	report steady --time "$(moment begin),$(moment end)"
	"$TESTS/sched-states.py" fleet-trace.data formats fleet.data "$TMP/steady.json" \
		"$(planted begin)" "$(planted end)" >"$TMP/states"
	cat "$TMP/states" >&2
	ok "$1: the scheduler's events tell of each vCPU" test "$(wc -l <"$TMP/states")" -eq "$2"
	while read -r -u 3 column what; do
		read -r most vcpu < <(furthest "$column" 0)
		note "$1, $what: furthest from the scheduler's events in $vcpu, $most points"
		read -r most vcpu < <(furthest "$column" "${4:-0}")
		at_most "$3" "$1, $what, and by the scheduler's events: points apart" "$most"
	done 3<<-END
		4 running
		6 steal
		8 halted or stopped
	END
	# The load balancer may move a thread that sleeps.
	read -r most vcpu < <(awk '{ printf "%.3f %s\n", $11 - $10, $1 }' "$TMP/states" | sort -rn)
	note "$1: longest wait after a wake-up: $vcpu has $most ms more than by the scheduler's events"
	at_most $MOST_LATER "$1, longest wait after a wake-up: ms more than by the scheduler's events" "$most"
}

# --- a large host ----------------------------------------------------------------------

# The same on 128 CPUs, with 200 VMs of 8 vCPUs, for ten minutes: made, so it is the numbers that count.
LARGE_VMS=200 LARGE_VCPUS=8 LARGE_SECONDS=600 LARGE_MB=1500

large_has_all()
{
	test "$(value '([int(measurement()["duration_ns"] / 1e9), len(r[0].json["overview"])] +
		sorted({x["time_ns"] / measurement()["duration_ns"] for x in r[0].json["overview"]}))' large)" = \
		"[$LARGE_SECONDS, $LARGE_VMS, $LARGE_VCPUS.0]"
}

check_large()
{
	local fleet=$PWD

	need_space "$TMP" $LARGE_MB
	ok "$1 made large: 200 VMs of 8 vCPUs, for ten minutes" "$TOP/scripts/bench/fleet.py" fleet.data "$TMP/fleet.data"
	cd "$TMP"
	ok "$1 made large: a report" report large
	ok "$1 made large: nothing is amiss" not grep -Ei 'truncated|lost|missing|refused|warning' "$TMP/large.err"
	ok "$1 made large: all time of each VM and its vCPUs" large_has_all
	ok "$1 made large: all time of each CPU and vCPU is there once" "$TESTS/report-sums.py" "$TMP/large.json"
	"$PERF" kvm unified report -f -i fleet.data -k "$TREE/host/vmlinux" --stdio >"$TMP/overview" 2>&1
	ok "$1 made large: a line for each VM, and no tables" \
		test "$(grep -c '^vm-[0-9]* *8 ' "$TMP/overview") $(grep -c 'Total samples:' "$TMP/overview")" = "$LARGE_VMS 0"
	cd "$fleet"
	rm -r "$TMP/fleet.data"
}

# --- the scenarios -------------------------------------------------------------------------

# wants SCENARIO: is among FLEETS, and has run
wants()
{
	[[ " $FLEETS " == *" $1 "* ]] || return
	lab_runs "$1"
	cd "$LAB_OUT/$1"
}

if wants fleet; then
	check_report fleet 24
	check_together fleet
	check_planted fleet
	check_when fleet
	check_thief fleet
	check_first_screen fleet
	check_perf_report fleet
	check_silent fleet
	check_stopped fleet
	check_quota fleet
	# CPUs that take turns stand still, some for a ms, between two looks at the clock: it is the
	# four VMs that the hog meets, whose CPU has most switches, that this is seen in.
	check_states fleet 25 0.7 4
	check_large fleet
fi
if wants fleet-one-cpu; then
	check_report "one CPU" 7
	check_together "one CPU"
	check_thief "one CPU"
	check_stopped "one CPU"
	check_states "one CPU" 7 0.3
fi
done_testing
