#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Recordings of single VMs, a process, a thread and a cgroup have the time line of those alone, and
# it says the same as one of the whole host: the scenario targets.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/segments.sh
. "$(dirname "$0")/segments.sh"
# shellcheck source=scripts/tests/schedstat.sh
. "$TESTS/schedstat.sh"

PERF=$MAIN_TREE/perf/perf

lab_runs targets
cd "$LAB_OUT/targets" || { done_testing; }

# Who has events of the time line: names of VMs
vms_with_events()
{
	local vm

	"$PERF" script -f -i "$1.data" -F pid,event 2>/dev/null |
		awk '/kvm_vcpu_timeline/ { print $1 }' | sort -u >"$TMP/pids"
	for vm in idler one two; do
		! grep -qx "$(cat $vm.ended)" "$TMP/pids" || echo $vm
	done | paste -sd,
}

# Whose samples there are, by the VMM's pid, as it is without the table of VMs: names of VMs
vms_with_samples()
{
	"$PERF" script -f -D -i "$1.data/data" 2>/dev/null |
		sed -n 's/^.* PERF_RECORD_SAMPLE(.*): \([0-9]*\)\/.*/\1/p' | sort -u >"$TMP/pids"
	for vm in idler one two; do
		! grep -qx "$(cat $vm.ended)" "$TMP/pids" || echo $vm
		sed -i "/^$(cat $vm.ended)\$/d" "$TMP/pids"
	done | paste -sd,
}
of_nobody_else()
{
	cat "$TMP/pids"
	! [ -s "$TMP/pids" ]
}

while read -r -u 3 name vms; do
	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json -i "$name.data" \
		>"$TMP/$name.json" 2>"$TMP/$name.err"
	ok "$name: a report" test $? -eq 0
	ok "$name: in timeline mode" test "$(value 'measurement()["mode"]' "$name")" = timeline
	ok "$name: events of the time line are of $vms" test "$(vms_with_events "$name")" = "$vms"
	if [ "$name" != all ]; then
		ok "$name: samples are of $vms" test "$(vms_with_samples "$name")" = "$vms"
		ok "$name: and of nobody else" of_nobody_else
	fi
	# Of threads and cgroups, record does not know which VMs they are of.
	case $name in
	tid | cgroup*) ;;
	*)	ok "$name: no table of another VM" test "$vms" = \
			"$(value '",".join(sorted(x["vm"] for x in r[0].json["levels"] if x["level"] == "vm"))' "$name")" ;;
	esac
	ok "$name: none of them is lost" \
		test "$(value 'measurement()["timeline_lost"]' "$name")" = 0
	ok "$name: all time of each vCPU is there once" "$TESTS/report-sums.py" "$TMP/$name.json"
	# Who of many was it? The load on the host is a shell's children.
	[ "$name" != all ] || ok "$name: thieves of one name are told apart" test "$(value \
		'sum(len({y["pid"] for y in x["tasks"]}) == 8 and x["more_tasks"] > 0 and "pid" not in x
			for v in r[0].json["overview"] if v["vm"] == "two"
			for x in v["thieves"] if x["name"] == "task cat")' "$name")" = 1
	for vm in ${vms//,/ }; do
		# What begins and ends the measurement waits for the CPU, too.
		within 4 "$name, $vm: steal, and what its thread waited on a runqueue, %" \
			"$(waited "$name" "$vm")" "$(scheduled "$name" "$vm" 4)"
		within 2 "$name, $vm: steal, and that of the whole host's recording, %" \
			"$(waited "$name" "$vm")" "$(waited all "$vm")"
		[ "$vm" != idler ] || at_least 95 "$name, $vm: idle, %" \
			"$(value "share('$vm', 'idle')" "$name")"
	done
	# Its halts of 2.5 s, while they last, whoever else is recorded; the others never sleep. (There
	# are more seconds than those that are measured.) Once more where it sleeps before the events
	# are disabled.
	looks=$(value 'measurement()["timeline_looks"]' "$name")
	note "$name: vCPUs that had not run for a second: $looks"
	ok "$name: a long halt is heard of while it lasts, and once" \
		test "$looks" -ge 1 -a "$looks" -le 5
done 3<<-END
	all idler,one,two
	vm one
	vms idler,one
	pid two
	tid one
	cgroup idler,one
	cgroup-v1 idler,one
END
for name in vm vms tid cgroup cgroup-v1; do
	within 2 "$name, one: time that VM two had its CPU, and that of the whole host's recording, %" \
		"$(value "rows('one', '[steal] (on VM two:')" $name)" \
		"$(value "rows('one', '[steal] (on VM two:')" all)"
done
# --vm NAME of another VM: it is said.
ok "--vm: a VM that was not recorded" grep -qx -e "--vm: VM 'two' was not recorded: other VMs were" \
	<("$PERF" kvm unified report -f -i vm.data --vm two 2>&1)
# Of what is not recorded nothing is known, which is not a row of code without a name.
unknown_rows()
{
	"$PERF" kvm unified report -f -i "$1.data" -k "$TREE/host/vmlinux" --stdio --level host,vm \
		--percent-limit 0 -F period,dso,sym -t ';' 2>/dev/null |
		awk -F ';' '$2 ~ /^\[unknown time\] *$/ { ns += $1 } END { printf "%.0f", ns }'
}
for name in tid cgroup cgroup-v1; do
	ok "$name: time of which nothing is known, in rows of its own" test "$(unknown_rows $name)" -gt 0 -a \
		"$(unknown_rows $name)" = "$(value 'sum(row["time_ns"] for x in r[0].json["levels"] for row in x["rows"]
			if x["level"] != "vcpu" and row["class"] == "unknown" and row["function"] == "[unknown]")' $name)"
done
at_least 20 "one: time that VM two had its CPU, %" "$(value "rows('one', '[steal] (on VM two:')" all)"

# --- CPUs of the host that come and go ---------------------------------------------

# away RECORDING FROM UNTIL: percent of it that a VM was on the CPU that perf does not record
away()
{
	value "100e9 * ($(cat "$1-$3.mark") - $(cat "$1-$2.mark")) / measurement()['duration_ns']" cpus
}
# cpus RECORDING: a report in which all time is there once
cpus()
{
	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json -i "$1.data" \
		>"$TMP/cpus.json" 2>"$TMP/warnings" && "$TESTS/report-sums.py" "$TMP/cpus.json"
}
ok "a CPU goes offline and is back: a report" cpus hotplug
ok "... which warns" grep -q 'CPU 1 has no samples for .* was it offline?' "$TMP/warnings"
# is_lost VM RECORDING UNTIL: for half of the time at least that it was there, as an event may tell of
# states; and not before it was to go there. What moves a VM, and what ends the recording, take
# their time.
is_lost()
{
	local lost

	lost=$(value "rows('$1', '[lost]')" cpus)
	at_least "$(half_of "$(away "$2" move "$3")")" "... lost while it was there, %" "$lost"
	at_most "$(value "100 - $(away "$2" begin move)" cpus)" "... and not before, %" "$lost"
}
half_of()
{
	awk -v all="$1" 'BEGIN { print all / 2 }'
}
is_lost stays hotplug end
is_lost returns hotplug return
ok "a CPU comes online: a report" cpus offline
ok "... which warns" grep -q 'CPUs of the host came online meanwhile' "$TMP/warnings"
is_lost stays offline end
ok "a CPU comes online and goes: a report" cpus visits
ok "... which warns" grep -q 'CPUs of the host came online meanwhile' "$TMP/warnings"

# --- vCPUs of samples that a BPF program tells ---------------------------------------

"$TESTS/vcpus-by-bpf" "$PERF" both.data >"$TMP/vcpus"
sed '$d' "$TMP/vcpus" | head >&2
at_least 2000 "samples of guests that both tell the vCPU of" "$(tail -n 1 "$TMP/vcpus" | cut -d' ' -f1)"
ok "each sample has the same vCPU, CR3, ASID and exit reason by both" \
	test "$(wc -l <"$TMP/vcpus")" -eq 1
# by_bpf REPORT-OPTION...: all time is there once, and guests' CR3s are known
by_bpf()
{
	"$PERF" kvm unified report -f -k "$TREE/host/vmlinux" --format json "$@" >"$TMP/bpf.json" &&
		"$TESTS/report-sums.py" "$TMP/bpf.json" &&
		test "$(value 'measurement()["kernel_mode"]' bpf)" = bpf &&
		test "$(value 'guest("stays")["user_samples"]' bpf)" -ge 200
}
ok "--kernel-mode bpf: a report" by_bpf -i by-bpf.data
at_least 55 "... stays: in its process, %" "$(value 'share("stays", "USER")' bpf)"
ok "... perf script has the vCPU, too" test "$("$PERF" script -f -i by-bpf.data -F vcpu_ctx 2>/dev/null |
	grep -c 'guest cr3 0x2000 asid .* exit interrupt')" -ge 2000
ok "... of one CPU" by_bpf -i by-bpf-one-cpu.data
stream_by_bpf()
{
	by_bpf -i - <by-bpf.stream
}
ok "... as a stream" stream_by_bpf
ok "the others are told by the kernel" test "$(value 'measurement()["kernel_mode"]' all)" = series
ok "refused: --kernel-mode bpf of a process" refused by-bpf-pid 'whole CPUs are recorded: no -G, -p'
ok "refused: another --kernel-mode" refused by-what "wants auto, series, bpf or plain, not 'what'"
ok "refused: --kernel-mode bpf without vCPUs" refused by-both \
	'--no-sample-vcpu is --kernel-mode plain, and not bpf'
ok "refused: --guest-tasks without vCPUs" refused tasks-plain 'no --kernel-mode plain'
ok "refused: --guest-tasks of a process" refused tasks-pid 'With --guest-tasks whole CPUs are recorded'
ok "refused: --guest-tasks without guests' memory" refused tasks-memory 'no --no-guest-memory'
# A recording without an end: its profiles overlap, and each has a part of the time that is its own
ok "--continuous: two profiles that are whole, and the last one" test "$(wc -l <continuous-ended)" -eq 3
ok "--continuous: each begins where the last one has ended" tile continuous
own_times continuous >"$TMP/own"
ok "--continuous: the report is of that part: of the host and three VMs" test "$(wc -l <"$TMP/own")" -eq 12
ok "... to the ns" not grep False "$TMP/own"
# Of the first one, the time before its first sample is not known.
ok "--continuous: at its seams nothing is lost, or not known" test \
	"$(sed -n 5,8p "$TMP/own" | grep -c ' True [0-9]* 0$')" -eq 4
ok "--on-profile: it has run for each one that was complete, in turn, nice" diff on-profile \
	<(sed 's,^,19 continuous/,' continuous-ended)
ok "--on-profile: also for the last one, and its exit code is told" test \
	"$(grep -c -- '--on-profile: exit code 3 for continuous/.*\.data$' continuous.err)" -eq 3
ok "--continuous: Ctrl-C ends it, as perf record" test "$(cat continuous-code)" -eq 130
ok "refused: --continuous where there is one" refused continuous-locked 'Another recorder writes to continuous'
ok "top: two reports, each with the VMs" test "$(grep -cE '^one +1 ' live.txt)" -ge 2
ok "top: ... of five seconds that are its own" test "$(
	grep -cE '^# of that, the tables are of --time ([0-9.]+)?,[0-9.]+$' live.txt)" -ge 2
ok "top: what comes after -- is report's" test "$(grep -c '^3 guests together ' live.txt)" -ge 2
ok "top: SIGINT ends it well" test "$(<live-code)" -eq 0
ok "top: it leaves nothing" test ! -s live-left -a -e live-left
ok "top: what record refuses is told, with its exit code" refused live-refused \
	'--interval wants at least 5 s'
ok "refused: perf record --bpf-vcpu of a process" refused record-pid '--bpf-vcpu wants whole CPUs'
done_testing
