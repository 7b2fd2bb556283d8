#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Where each vCPU's time went, against what else is known of it: the host level, the
# scheduler's own numbers, and the guests' /proc/stat.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/schedstat.sh
. "$TESTS/schedstat.sh"

LAB=$LAB_OUT
PERF=$MAIN_TREE/perf/perf

# report NAME OPTION...: to $TMP/NAME.json, and what it warns of to $TMP/NAME.err.
report()
{
	local name=$1
	shift

	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json "$@" \
		>"$TMP/$name.json" 2>"$TMP/$name.err"
}

# value EXPRESSION NAME...
value()
{
	local files=() name

	for name in "${@:2}"; do
		files+=("$TMP/$name.json")
	done
	"$TESTS/report-value.py" "$1" "${files[@]}"
}

# guest_steal RECORDING VM: the steal in the guest's /proc/stat, in percent of its uptime, both
# of a bit more than the recording. Not of the sum in /proc/stat: the guest's kernel tells user time
# by ticks, and one that comes with more steal than a tick's time counts for none. Where that is
# each of them, there is no user time, and the sum is hardly more than the steal.
guest_steal()
{
	awk -v ticks_per_second=100 '
		$1 == "cpu" { steal = $9 - steal }
		$1 ~ /^[0-9]/ { uptime = $1 - uptime }
		END { printf "%.3f", 100 * steal / ticks_per_second / uptime }' \
		"$1-$2-stat.before" "$1-$2-stat.after"
}

# thread_time RECORDING VM COLUMN: percent of the time between the brackets that the
# VM's vCPU threads have had a CPU (3), or waited for one (4)
thread_time()
{
	awk -v column="$3" '
		FILENAME ~ /clock/ { all = $1 - all; next }
		{ if ($2 in t) s += $column - t[$2]; t[$2] = $column }
		END { printf "%.3f", 100 * s / all }' \
		"$1-host-clock.before" "$1-host-clock.after" \
		"$1-$2-schedstat.before" "$1-$2-schedstat.after"
}

# cost RECORDING VM: ms of CPU time that it costs the host
cost()
{
	value "next(x['sum_ns'] for x in r[0].json['costs']['vms'] if x['vm'] == '$2') / 1e6" "$1"
}

# threads_ran RECORDING VM MS: the same of all threads of its VMM, by the scheduler. That is of the time
# between the brackets, which are a little further apart: what they can have had besides, they
# may or may not have had, and so it is what is next to MS.
threads_ran()
{
	awk -v duration="$(value 'measurement()["duration_ns"]' "$1")" -v ms="$3" '
		FILENAME ~ /clock/ { besides = $1 - besides; next }
		FILENAME ~ /before/ { ran[$1] = $2; next }
		{ sum += $2 - ran[$1] }
		END {
			most = sum / 1e6
			least = most - (besides - duration) / 1e6
			print (ms < least ? least : ms > most ? most : ms)
		}' "$1-host-clock.before" "$1-host-clock.after" \
		"$1-$2-threads.before" "$1-$2-threads.after"
}

# check_cost RECORDING VM [PERCENT]
check_cost()
{
	local ms ran percent=${3:-1}

	ms=$(cost "$1" "$2")
	ran=$(threads_ran "$1" "$2" "$ms")
	within "$(awk -v ms="$ran" -v percent="$percent" 'BEGIN { print ms * percent / 100 }')" \
		"$1: what $2 costs the host, and CPU time of its VMM's threads, ms" "$ms" "$ran"
}

# How many events were counted, of those whose names match.
counted()
{
	awk -F, -v events="$2" '$3 ~ events { n += $1 } END { print n + 0 }' "$1-counts.csv"
}

# A guest that waits for its VMM
check_packets()
{
	local at_work wanted vmm

	lab_runs packets-short
	cd "$LAB/packets-short" || { done_testing; }
	report virtio -i virtio.data
	ok "packets: a report" test $? -eq 0
	ok "packets: all time is there once" "$TESTS/report-sums.py" "$TMP/virtio.json"
	check_cost virtio guest1
	# On one CPU: the guest is halted meanwhile, or wants the CPU.
	at_work="rows('guest1', '[idle] (halt_exit), with')"
	wanted="rows('guest1', '[steal] (on its VMM') + rows('guest1', '[steal] (on something not sampled)')"
	vmm=$(value "(100 / level('guest1')['time_ns'] *
		next(x['vmm_ns'] for x in r[0].json['costs']['vms'] if x['vm'] == 'guest1'))" virtio)
	at_least 10 "packets: the guest is halted, with the VMM at work for it, %" "$(value "$at_work" virtio)"
	within 2 "packets: ... or wants its CPU, and what the VMM's threads took of that, %" \
		"$(value "$at_work + $wanted" virtio)" "$vmm"
	at_most 0 "packets: nobody works for the one that gets none, %" \
		"$(value "rows('guest2', '[idle] (halt_exit), with')" virtio)"
}

if [ "${TIME_AXIS:-}" = packets-short ]; then
	check_packets
	done_testing
fi
lab_runs time-axis
cd "$LAB/time-axis" || { done_testing; }

# waits_and_events NAME: how many waits of vCPUs that ran there are, and events that have ended one
waits_and_events()
{
	value "sum(x['number'] for x in r[0].json['stalls'] if 'vcpu' in x and x['waits'] == 'stolen')" "$1"
	value 'measurement()["timeline_states"]["preempted"]' "$1"
}

for name in one-busy interrupts three-busy limited small-buffer constrained third port-io; do
	# With intervals, whose time is all there once, too
	report "$name" -i "$name.data" --interval 100ms
	ok "$name: a report" test $? -eq 0
	ok "$name: in timeline mode" test "$(value 'measurement()["mode"]' "$name")" = timeline
	ok "$name: all time of each CPU and vCPU is there once" \
		"$TESTS/report-sums.py" "$TMP/$name.json"
	mapfile -t waits < <(waits_and_events "$name")
	# With what has begun or ends outside of the measurement, and what is lost
	within 6 "$name: waits of vCPUs that ran, and events of them" "${waits[@]}"
	report "$name-samples" -i "$name.data" --no-timeline --interval 100ms
	ok "$name, from samples alone: all time is there once" \
		"$TESTS/report-sums.py" "$TMP/$name-samples.json"
done

# --- one VM busy (Tables 4 and 5) --------------------------------------------------------

within 0.1 "one busy: the guest's steal and the host's time for others, %" \
	"$(value 'share("guest1", "taken")' one-busy)" \
	"$(value '100 - rows("host", "[guest1]")' one-busy)"
at_most 5 "one busy: its steal, %" "$(value 'share("guest1", "taken")' one-busy)"
at_least 95 "one busy: the idle ones' idle time, %" \
	"$(value 'min(share("guest2", "idle"), share("guest3", "idle"))' one-busy)"

# --- three VMs on one CPU (Tables 12 and 13) -----------------------------------------------

for guest in guest1 guest2 guest3; do
	within 0.1 "three busy: $guest's steal and the host's time for others, %" \
		"$(value "share('$guest', 'taken')" three-busy)" \
		"$(value "100 - rows('host', '[$guest]')" three-busy)"
done
# A VM steals also what KVM does for it, so its thread's time is what to compare with.
for other in guest2 guest3; do
	within 1 "three busy: guest1's steal on VM $other and the time that VM had, %" \
		"$(value "rows('guest1', '[steal] (on VM $other:')" three-busy)" \
		"$(thread_time three-busy $other 3)"
done

# --- a limit of its own ------------------------------------------------------------------------

# Whoever has its CPU meanwhile has not stolen it.
within 2 "limited: guest1 is throttled for 7 of each 10 ms, %" \
	"$(value 'share("guest1", "throttled")' limited)" 70
at_most 2 "limited: its steal, %" "$(value 'share("guest1", "steal")' limited)"
ok "limited: by what, in JSON" test "$(value "r[0].json['overview'][[x['vm'] for x in
		r[0].json['overview']].index('guest1')]['limits']" limited)" = \
	"[{'kind': 'SCHED_DEADLINE', 'quota_ns': 3000000, 'period_ns': 10000000}]"
ok "limited: nobody else is throttled" test \
	"$(value 'share("guest2", "throttled") + share("guest3", "throttled")' limited)" = 0.000
# It runs for three periods at once: how many samples that are is chance.
within 1 "limited: all that it has not, and the host's time for others, %" \
	"$(value 'share("guest1", "taken")' limited)" "$(value '100 - rows("host", "[guest1]")' limited)"

# The scheduler makes it wait for the next period when it wakes up after its deadline, of which it
# tells nobody. So its last sleep in a period of 50 ms begins in the first 5 ms, and lasts 3 ms. How
# much of the rest it waits so, and how much because it has run for 3 ms, is chance.
at_most 16 "constrained: guest1's waits after halts are not called idle, %" \
	"$(value 'share("guest1", "IDLE")' constrained)"
at_least 1 "... but are not known, %" "$(value 'share("guest1", "unknown")' constrained)"
at_most 2 "constrained: and are nobody's, %" "$(value 'share("guest1", "steal")' constrained)"
ok "constrained: with the cause, in JSON" test "$(value "r[0].json['overview'][[x['vm'] for x in
		r[0].json['overview']].index('guest1')]['limits']" constrained)" = \
	"[{'kind': 'SCHED_DEADLINE', 'quota_ns': 3000000, 'period_ns': 50000000}]"

# --- one third busy (Tables 14 and 15) ------------------------------------------------------

# Idle time follows the machine's clock: where that is very busy, samples of the idle CPU are late
# (less so by lab/emulator-clock.c), and the report says that it is not known what was then.
at_most 5 "a third: the host's time that no sample stands for, %" \
	"$(value 'share("host", "lost")' third)"
within 1 "a third: the guest's idle time and the host's, with that, %" \
	"$(value 'share("guest1", "idle")' third)" \
	"$(value 'share("host", "idle") + share("host", "lost")' third)"
within 1 "a third: the guest's idle time and two thirds, %" \
	"$(value 'share("guest1", "idle")' third)" 66.667
at_most 3 "a third: its steal, %" "$(value 'share("guest1", "taken")' third)"

# --- what others say of steal -----------------------------------------------------------------

for name in one-busy three-busy third; do
	for guest in guest1 guest2 guest3; do
		within 1 "$name, $guest: steal that the guest sees in its /proc/stat, %" \
			"$(waited "$name" "$guest")" "$(guest_steal "$name" "$guest")"
		within 0.5 "$name, $guest: steal, and what its thread waited on a runqueue, %" \
			"$(waited "$name" "$guest")" "$(thread_time "$name" "$guest" 4)"
	done
done
# A third of the time it is on the way into KVM_RUN or out of it.
report port-io-shared -i port-io-shared.data --interval 100ms
ok "port-io-shared: all time of each CPU and vCPU is there once" \
	"$TESTS/report-sums.py" "$TMP/port-io-shared.json"
for guest in guest1 guest2; do
	within 1 "port-io-shared, $guest: steal, and what its thread waited on a runqueue, %" \
		"$(waited port-io-shared "$guest")" "$(thread_time port-io-shared "$guest" 4)"
done
ok "three busy: the guest sees steal at all" \
	awk -v s="$(guest_steal three-busy guest1)" 'BEGIN { exit !(s > 50) }'

# --- from samples alone --------------------------------------------------------------------------

for name in one-busy three-busy third; do
	for class in OS USER idle steal exit vmm stopped throttled blocked lost unknown; do
		note "$name, guest1: $class from events, from samples:" \
			"$(value "share('guest1', '$class')" "$name") %," \
			"$(value "share('guest1', '$class')" "$name-samples") %"
	done
done
within 1 "one busy: steal from events and from samples, %" \
	"$(value 'share("guest1", "taken")' one-busy)" \
	"$(value 'share("guest1", "taken")' one-busy-samples)"
within 2 "three busy: steal from events and from samples, %" \
	"$(value 'share("guest1", "taken")' three-busy)" \
	"$(value 'share("guest1", "taken")' three-busy-samples)"
within 2 "a third: idle time from events and from samples, %" \
	"$(value 'share("guest1", "idle")' third)" \
	"$(value 'share("guest1", "idle")' third-samples)"

# --- lost is lost -----------------------------------------------------------------------------------

at_least 1 "too small a buffer: records lost" "$(value 'measurement()["lost_records"]' small-buffer)"
at_least 1 "too small a buffer: the time shown as lost, %" \
	"$(value 'share("host", "lost")' small-buffer)"
at_least 1 "too small a buffer: the guest's time shown as lost, %" \
	"$(value 'share("guest1", "lost")' small-buffer)"
ok "too small a buffer: a warning" grep -q 'is shown as lost' "$TMP/small-buffer.err"
ok "too small a buffer: what to do" grep -q 'record with a larger buffer' "$TMP/small-buffer.err"
# Of what is known, steal has the part that it has without loss.
within 3 "too small a buffer: steal's part of the known time, and in the run before, %" \
	"$(value '100 * share("guest1", "taken") / (100 - share("guest1", "lost"))' small-buffer)" \
	"$(value 'share("guest1", "taken")' three-busy)"
ok "--sort task: a vCPU that has stolen is called as elsewhere" grep -qE '^ +[0-9.]+% +VM guest[23]: vcpu0 *$' \
	<("$PERF" kvm unified report -f -i three-busy.data --stdio --sort task --vm guest1 2>/dev/null)
ok "without loss: no warning" not grep -q 'lost' "$TMP/three-busy.err"

# --- what it costs ------------------------------------------------------------------------------------

# Events that exist already and say the same: who had the CPU, out to the VMM, back, woken up
events_for_one()
{
	local others timeline

	others=$(counted "$1" 'kvm_entry|kvm_userspace_exit|kvm_vcpu_wakeup|sched_switch')
	timeline=$(counted "$1" 'kvm_vcpu_timeline')
	note "$1: $timeline events of the time line," \
		"$(awk -F, '/^[0-9]/ { printf "%s%s %s", n++ ? ", " : "", $1, $3 }' "$1-counts.csv")" >&2
	awk -v o="$others" -v t="$timeline" 'BEGIN { if (t) printf "%.1f", o / t }'
}
for name in one-busy interrupts; do
	at_least 5 "$name: other events that say the same, for an event of the time line" \
		"$(events_for_one "$name")"
done
# Each exit is one to the VMM, and has one event; of the others it is two.
at_least 2 "port-io: other events that say the same, for an event of the time line" \
	"$(events_for_one port-io)"

check_cost one-busy guest1
# Of a thousand samples, those of others are twenty, and five of these are chance.
check_cost port-io guest1 1.5

# --- two vCPUs on one CPU (Tables 8 and 9) ----------------------------------------------------------------

lab_runs two-vcpus
cd "$LAB/two-vcpus" || { done_testing; }
report two -i two-busy.data --interval 500ms
ok "two vCPUs: a report" test $? -eq 0
ok "two vCPUs: all time is there once, and for each vCPU it is duration / period" \
	"$TESTS/report-sums.py" "$TMP/two.json"
for vcpu in 0 1; do
	other=$((1 - vcpu))
	within 1 "two vCPUs: vCPU $vcpu's steal on the other, %" \
		"$(value "rows('guest1', '[steal] (on vcpu$other)', $vcpu)" two)" 50
done
report first -i two-busy.data --vcpu 0
ok "two vCPUs: --vcpu 0: its table, and not the VM's" test \
	"$(value '[x["level"] for x in r[0].json["levels"]]' first)" = "['host', 'vcpu']"
report list -i two-busy.data --vcpu 0,1
report range -i two-busy.data --vcpu 0-1
ok "two vCPUs: --vcpu 0-1: both, as 0,1" test \
	"$(value 'r[0].json["levels"]' range)" = "$(value 'r[0].json["levels"]' list)"
"$PERF" kvm unified report -f -i two-busy.data --level vm --vcpu 0 >"$TMP/first.table" 2>"$TMP/first.err"
ok "two vCPUs: --level vm --vcpu 0: the VM's, with a title" grep -q '^# guest1, 1 of 2 vCPUs ' "$TMP/first.table"
# All the time, and so in each half second of it; the last one is shorter.
for worst in min max; do
	within 3 "two vCPUs: the VM's steal in half a second, $worst., %" \
		"$(value "$worst(100 * x['classes_ns']['steal'] / x['time_ns']
			for x in r[0].json['intervals'][:-1])" two)" 50
done
ok "two vCPUs: the thief in each of them is the other" test \
	"$(value '{x["thief"] for x in r[0].json["intervals"][:-1]}' two)" = "{'its other vCPUs'}"
done_testing
