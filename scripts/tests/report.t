#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The report of one profile, and diff: tables, rows, options, and what is refused, with the profile that
# profile.t has recorded. report-views.t has the views of perf, report-profiles.t profiles that are not
# whole, report-export.t the formats of other tools.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/report.sh
. "$(dirname "$0")/report.sh"

# --- for programs --------------------------------------------------------------------

ok "there is a profile" test -s perf.data/data
ok "JSON: an exit code of 0" test "$report_code" -eq 0
ok "JSON: all time is there once" "$TESTS/report-sums.py" "$TMP/json"
ok "JSON: the mode" test "$(json "$TMP/json" 'measurement()["mode"]')" = timeline
ok "JSON: with the host's vmlinux, idle time is known" \
	test "$(json "$TMP/json" 'measurement()["idle_known"]')" = True
report >"$TMP/table"
ok "JSON: the samples of the table" test \
	"$(json "$TMP/json" 'level("guest1")["samples"]')" -eq \
	"$(awk '$1 == "guest1" && /Total samples:/ { print $4 }' "$TMP/table")"
report --format csv >"$TMP/csv"
ok "CSV: as many rows as the JSON has" test "$(wc -l <"$TMP/csv")" -eq \
	"$(json "$TMP/json" '1 + sum(len(x["rows"]) for x in r[0].json["levels"])')"
csv_time()
{
	python3 -c 'import csv, sys
print(sum(int(r["time_ns"]) for r in csv.DictReader(open(sys.argv[1])) if r["level"] == sys.argv[2]))' \
		"$TMP/csv" "$1"
}
# By what the task was called, in lines: name, ns
host_comms()
{
	json "$TMP/json" "'\n'.join(sorted('%s %d' % (comm, sum(x['time_ns'] for x in level('host')['rows']
		if x['comm'] == comm)) for comm in {x['comm'] for x in level('host')['rows']} - {''}))"
}
at_least 5 "JSON: tasks of the host" "$(host_comms | wc -l)"
ok "JSON: the host's tasks have the time that they have in the view" diff <(host_comms) <(kvm_report "" \
	--stdio -q --percent-limit 0 --level host -F period,comm |
	sed -n 's/^ *\([0-9][0-9]*\) *\(.*[^ -]\) *$/\2 \1/p' | LC_ALL=C sort)
# time_of_process PID: ns
time_of_process()
{
	json "$TMP/json" "sum(x['time_ns'] for x in level('host')['rows'] if x.get('pid') == $1)"
}
vmm=$(json "$TMP/json" "next(x['pid'] for x in level('host')['rows'] if x['comm'] == 'qemu-system-x86')")
ok "JSON: --pid: of the host's processes" test \
	"$(report --format json --pid "$vmm" >"$TMP/pid.json"; json "$TMP/pid.json" 'level("host")["time_ns"] - level("host")["hidden_ns"]')" \
	-eq "$(time_of_process "$vmm")"
ok "CSV: and the same time" test "$(csv_time vm)" -eq \
	"$(json "$TMP/json" 'level("guest1")["time_ns"]')"

# --- the overview, and what VMs cost -------------------------------------------------

report --summary >"$TMP/summary"
ok "--time: what the guest was told is of the whole, and left out" not grep -q guest_steal_ns \
	<(report --time 10%-30% --format json)
ok "... and not of the whole" grep -q guest_steal_ns "$TMP/json"
ok "--summary: a line for the VM" grep -qE '^guest1 +1 +[0-9.]+ ' "$TMP/summary"
ok "... its time" test "$(awk '$1 == "guest1" { print $3 }' "$TMP/summary")" = \
	"$(json "$TMP/json" '"%.2f" % (share("guest1", "OS") + share("guest1", "USER"))')"
# A name is of one word or of several.
top_thief()
{
	awk '$1 == "guest1" { for (i = 13; i <= NF; i++) printf "%s ", $i }' "$TMP/summary" |
		grep -F "$(json "$TMP/json" \
			'max(r[0].json["overview"][0]["thieves"], key=lambda one: one["time_ns"])["name"]')"
}
ok "... its thief" top_thief
ok "... a line for the host" grep -qE '^# host: 2 CPUs: for VMs [0-9.]+ %, own work ' "$TMP/summary"
ok "... which guests have maps" grep -qx '# 1 of 1 guest is mapped' "$TMP/summary"
ok "... and no table" not grep -q 'Total samples' "$TMP/summary"
ok "the overview comes first" test "$(grep -nE '^guest1 +1 ' "$TMP/table" | cut -d: -f1)" -lt \
	"$(grep -n '^Host ' "$TMP/table" | cut -d: -f1)"
for level in host vm guests; do
	ok "--level $level: that alone" test \
		"$(report --level $level --format json >"$TMP/level"; json "$TMP/level" \
			'",".join(level["level"] for level in r[0].json["levels"])')" = $level
done
ok "--level: one that is not there" nothing_there --level vms 'knows host, guests, vm and vcpu'
ok "--level vcpu: of a VM with one vCPU, too" \
	test "$(report --level vcpu | grep -o '^guest1, vCPU 0 .*Total')" != ""
ok "-h has no key of perf's that --sort refuses" \
	not grep -qw dtlb <("$PERF" kvm unified report -h 2>&1)
ok "... and those that it takes" grep -qw exit_reason <("$PERF" kvm unified report -h 2>&1)
# The same as JSON has of it, with the classes in as many columns as the table has at most
csv_summary()
{
	report --summary --format csv >"$TMP/summary.csv" || return
	python3 - "$TMP/summary.csv" "$TMP/json" <<-'END'
		import csv, json, sys
		(line,) = csv.DictReader(open(sys.argv[1]))
		(vm,) = json.load(open(sys.argv[2]))["overview"]
		ns = dict(vm["classes_ns"])
		ns["running"] = ns.pop("OS") + ns.pop("USER") + ns.pop("VM")
		ns = {("idle" if name == "IDLE" else name).lower().replace("-", "_"): n
		      for name, n in ns.items()}
		found = {name[:-3]: int(line[name]) for name in list(line)[3:15]}
		assert found == ns, (found, ns)
		assert sum(found.values()) == int(line["time_ns"]) == vm["time_ns"]
		for name in "vm", "vcpus", "guest_steal_ns", "worst_vcpu":
		    assert line[name] == str(vm[name]), name
		thief = vm["thieves"][0]
		assert thief["name"] in line["thief"] and int(line["thief_ns"]) == thief["time_ns"]
	END
}
ok "--summary --format csv: what JSON has" csv_summary
ok "... and one line for the VM" test "$(wc -l <"$TMP/summary.csv")" -eq 2
ok "--summary --level" nothing_there --summary --level=host 'not both'
# Of one guest, all that its table has, but not by process
guests_together()
{
	report --level guests --format json >"$TMP/guests" || return
	python3 - "$TMP/guests" "$TMP/json" <<-'END'
		import collections, json, sys
		(together,) = json.load(open(sys.argv[1]))["levels"]
		(vm,) = [l for l in json.load(open(sys.argv[2]))["levels"] if l["level"] == "vm"]
		def sums(level):
		    of = collections.Counter()
		    for row in level["rows"]:
		        # A task that stole is called by its name alone.
		        if row["class"] != "steal":
		            of[row["class"], row["function"], row["module"]] += row["time_ns"]
		    return of
		assert not any(row["comm"] or "pid" in row for row in together["rows"])
		assert together["classes_ns"] == vm["classes_ns"], together["classes_ns"]
		assert sums(together) == sums(vm), sums(together) - sums(vm)
		assert len(sums(together)) < len([r for r in vm["rows"] if r["class"] != "steal"])
	END
}
ok "--level guests: all that the guest's table has, by function and module" guests_together
ok "csv: --level guests" test "$(report --level guests --format csv | tail -n +2 | cut -d, -f1-2 | sort -u)" = 'guests,""'
report --costs >"$TMP/costs"
ok "--costs: what the guest had" test "$(awk '/^# CPU time/ { on = 1 } on && $1 == "guest1" { print $2; exit }' "$TMP/costs")" = \
	"$(json "$TMP/json" '"%.3f" % (r[0].json["costs"]["vms"][0]["guest_ns"] / 1e6)')"
csv_costs()
{
	report --costs --format csv >"$TMP/costs.csv" || return
	python3 - "$TMP/costs.csv" "$TMP/json" <<-'END'
		import csv, json, sys
		*vms, host = csv.DictReader(open(sys.argv[1]))
		costs = json.load(open(sys.argv[2]))["costs"]
		assert [line["vm"] for line in vms] == [one["vm"] for one in costs["vms"]]
		for line, one in list(zip(vms, costs["vms"])) + [(host, costs["host"])]:
		    assert {k: int(v) for k, v in line.items() if v and k != "vm"} == \
		        {"sum_ns": sum(costs["host"].values())} | {k: v for k, v in one.items() if k != "vm"}, line
		assert host["vm"] == "" and not any(line["idle_ns"] for line in vms)
	END
}
ok "--costs --format csv: what JSON has" csv_costs
ok "--costs: with what else was done for it, all of its time by domain switch" test \
	"$(json "$TMP/json" 'r[0].json["costs"]["vms"][0]["sum_ns"]')" -eq \
	"$(report --attribution domain-switch --format json >"$TMP/domain"
		json "$TMP/domain" 'level("host")["classes_ns"]["VM"]')"

# --- two attributions ------------------------------------------------------------------

report --attribution domain-switch --format json >"$TMP/domain"
ok "domain-switch: all time is there once" "$TESTS/report-sums.py" "$TMP/domain"
ok "domain-switch: the guest has what it had" test \
	"$(json "$TMP/domain" 'level("guest1")["classes_ns"]["USER"]')" -eq \
	"$(json "$TMP/json" 'level("guest1")["classes_ns"]["USER"]')"
class()
{
	json "$1" "$2[\"classes_ns\"][\"$3\"]"
}
# taken JSON-FILE: what guest1 did not get, ns
taken()
{
	json "$1" "${VM}[\"taken_ns\"]"
}
ok "domain-switch: the host works for the guest" test "$(class "$TMP/domain" "$VM" HOST)" -gt 0
ok "domain-switch: what it works is not stolen" test \
	$(("$(class "$TMP/domain" "$VM" HOST)" + "$(taken "$TMP/domain")")) -eq \
	"$(taken "$TMP/json")"
ok "domain-switch: the VM has more of the host" test \
	"$(class "$TMP/domain" "$HOST" VM)" -gt "$(class "$TMP/json" "$HOST" VM)"
ok "domain-switch: the ratio line says so" grep -q '^guest1 .*OS:USER:IDLE:HOST:steal' \
	<(report --attribution domain-switch)

# --- less of it ---------------------------------------------------------------------------

ok "--vm" test "$(report --vm guest1 | grep -c 'Total samples')" -eq 2
ok "--vm: one that is not there" not report --vm guest7
ok "--vm: and it says which there are" grep -q "no VM 'guest7'.* There is: guest1" "$TMP/warnings"
ok "--vcpu: the one that there is" grep -q '^guest1 .*Total samples: [1-9]' <(report --vcpu 0)
ok "--vcpu: another one" nothing_there --vcpu 5 'no VM has a vCPU 5'
ok "--vcpu: a range that begins with it" nothing_there --vcpu 0-2 'no VM has a vCPU 1'
ok "--vcpu: one of two" nothing_there --vcpu 0,5 'no VM has a vCPU 5'
ok "--cpu: one without samples" nothing_there --cpu 9 'no sample of CPU 9'
ok "--cpu: one of two" nothing_there --cpu 0,9 'there is no CPU 9; the host has 2'
ok "--time: another one" nothing_there --time 1000000, 'the measurement is from'
ok "--time: backwards" nothing_there --time 20%-10% 'wants start,stop'
ok "--guest-root: of no guest" nothing_there --guest-root nope=/tmp "no guest 'nope'"
ok "--guest-root: and which there are" grep -q ' There is: guest1$' "$TMP/warnings"
ok "--guest-root: two for all guests" nothing_there --guest-root /tmp 'all guests were given two'
two_roots()
{
	! report --guest-root guest1=/tmp --guest-root guest1=/usr || return 1
	cat "$TMP/warnings"
	grep -q 'guest guest1 was given two directories' "$TMP/warnings"
}
ok "--guest-root: two for one" two_roots
for bad in =/tmp guest1= =; do
	ok "refused: --guest-root $bad" nothing_there --guest-root "$bad" "wants DIR or NAME=DIR, not '$bad'"
done
ok "--guest-root: one for all, and one for one" report --guest-root guest1="$guest_files"
vm_pid=$(json "$TMP/json" 'guest()["pid"]')
for name in "$vm_pid" gue; do
	ok "--vm $name: the VM, from the first interval on" diff <(report --vm guest1 --interval 2s --format csv) \
		<(report --vm "$name" --interval 2s --format csv)
done
ok "--vmlinux: not there" nothing_there --vmlinux /nonexistent 'No such file'
ok "--vmlinux: no ELF file" nothing_there --vmlinux "$TMP/json" 'it is no ELF file'
ok "--time: parts in percent with blanks between them" diff <(report --time ' 10%-20%  50%-60% ' --format csv) \
	<(report --time 10%-20%,50%-60% --format csv)
ok "... which is said" grep -qF '10%-20% 50%-60%' <(report --time '10%-20% 50%-60%')
ok "... or a comma and a blank" diff <(report --time '10%-20%, 50%-60%' --format csv) \
	<(report --time 10%-20%,50%-60% --format csv)
ok "refused: --time of nothing, in percent" nothing_there --time 0%-0% 'parts such as'
# time_of OPTION...: ns of all tables
time_of()
{
	report "$@" --format json >"$TMP/part" && json "$TMP/part" 'sum(level["time_ns"] for level in r[0].json["levels"])'
}
ok "--time: parts in percent are all of the time" test "$(($(time_of --time 0%-30%) + $(time_of --time 30%-77%) +
	$(time_of --time 77%-100%)))" -eq "$(time_of)"
ok "--time: from 0 % to 100 % is all" diff <(report --time 0%-100% --format csv) <(report --format csv)
ok "--time: a percent alone is the first part" diff <(report --time 10% --format csv) \
	<(report --time 10%/1 --format csv)
ok "--time: a percent that is no part" not report --time '10%-20% 50%'
ok "... which is said" grep -q "^--time wants .*not '10%-20% 50%'\|^the end .*not '10%-20% 50%'" "$TMP/warnings"
ok "rows that are chosen: it is said" grep -qx '# rows are those of --pid 1 --comms shor --dsos lib\* --symbols q\*, and totals of all' \
	<(report --comms shor --pid 1 -d 'lib*' -S 'q*')
ok "... in JSON" test "$(report --comms shor --format json >"$TMP/chosen"; json "$TMP/chosen" 'measurement()["rows_of"]')" = "--comms shor"
ok "a part is said to be one" grep -q '^# of that, .* --time 0%-50%' <(report --time 0%-50%)
ok "--cpu: half of the host's time" test \
	"$(report --cpu 0 --format json >"$TMP/cpu0"; json "$TMP/cpu0" "$HOST"'["time_ns"]')" -eq \
	"$(json "$TMP/json" 'measurement()["duration_ns"]')"
both_cpus()
{
	report --cpu 1 --format json >"$TMP/cpu1"
	test $(("$(class "$TMP/cpu0" "$VM" USER)" + "$(class "$TMP/cpu1" "$VM" USER)")) -eq \
		"$(class "$TMP/json" "$VM" USER)"
}
ok "--cpu: the overview is of so many CPUs" grep -q '^# host: 1 CPU: ' <(report --cpu 0 --summary)
ok "--cpu: the guest's time on each CPU is its time" both_cpus
halves()
{
	report --time 0%-50% --format json >"$TMP/half1"
	report --time 50%-100% --format json >"$TMP/half2"
	json "$TMP/half1" "$VM"'["time_ns"]'
	json "$TMP/half2" "$VM"'["time_ns"]'
	# The parts are those of the first and the last sample: a period is missing
	python3 -c 'import sys
a, b, all = map(int, sys.argv[1:])
sys.exit(not(abs(a - b) < 2e6 and 0 <= all - a - b < 2e6))' \
		"$(json "$TMP/half1" "$VM"'["time_ns"]')" "$(json "$TMP/half2" "$VM"'["time_ns"]')" \
		"$(json "$TMP/json" "$VM"'["time_ns"]')"
}
ok "--time: two halves" halves
only()
{
	report --percent-limit 0 "$@" | sed -n '/^guest1 .*Total samples/,$p' |
		awk '$1 ~ /^[0-9]+$/ && !/not asked for/'
}
# all_match REGEX OPTION...: there are rows, and all of them do.
all_match()
{
	local regex=$1 rows
	shift

	rows=$(only "$@")
	echo "$rows"
	[ -n "$rows" ] && ! grep -qvE "$regex" <<<"$rows"
}
ok "--symbols" all_match quantum_toffoli --symbols quantum_toffoli._omp_fn.0
ok "a word: functions with it in their names" all_match quantum_toffoli antum_toff
ok "... as --symbol-filter has them" diff <(report antum_toff) <(report --symbol-filter antum_toff)
ok "... which is no pattern" test -z "$(only 'quantum_t*')"
ok "--symbols: in both processes" test "$(only --symbols quantum_toffoli._omp_fn.0 | wc -l)" -eq 2
ok "--dsos" all_match libquantum --dsos libquantum.so.8
ok "--comms" all_match ' shor \(' --comms shor
ok "the last one counts" all_match ' shor \(' --comms none --comms shor
ok "--symbols: a pattern" test "$(only --symbols 'quantum_toffoli._omp*' | wc -l)" -eq 2
ok "--symbols: a pattern and a name" all_match 'quantum_(toffoli|cnot)' --symbols 'none,quantum_toff*,quantum_cnot._omp_fn.?'
ok "--dsos: a pattern" all_match libquantum --dsos 'libq*'
ok "--comms: a pattern" all_match ' shor \(' --comms 's[a-h]or'
ok "a bracket in front is the name's" all_match ' \[(exit|steal)\] ' --symbols '[exit]*,[steal]*'
ok "... a name has no need of patterns" all_match ' \[kernel\]( |$)' --dsos '[kernel]'
ok "a comma is written with a backslash" all_match quantum_toffoli --symbols 'no\,such,quantum_toff*'
ok "--vm: a pattern" test "$(report --vm 'none,g*' >/dev/null; report --vm 'g*' | grep -c 'Total samples')" -eq 2
ok "--vm: one that no VM is called by" nothing_there --vm 'none,g*' "no VM 'none'"
printf '%s\n' 'quantum_toffoli._omp*' >"$TMP/symbols"
ok "a list can be in a file" test "$(only --symbols "file://$TMP/symbols" | wc -l)" -eq 2
# not_there OPTION VALUE REGEX: it is said, and the rest is as for any filter; with -q it is not.
not_there()
{
	report "$1" "$2" >"$TMP/output" || return
	cat "$TMP/warnings"
	grep -qxE -e "$3" "$TMP/warnings" || return
	[ "$(grep -c 'rows that are not asked for' "$TMP/output")" -eq 2 ] || return
	# It has the tables alone.
	report "$1" "$2" -q >"$TMP/quiet" && [ ! -s "$TMP/warnings" ] &&
		diff <(sed -n '/^Host /,$p' "$TMP/output") "$TMP/quiet"
}
ok "--comms: no such process" not_there --comms nosuch "--comms: there is no process 'nosuch'"
ok "--comms: but one that is like it" not_there --comms shro "--comms: there is no process 'shro'. Like it: shor"
ok "--comms: nor one that the pattern fits" not_there --comms 'no*' "--comms: there is no process 'no\*'"
ok "--symbols: what compilers put behind a name" not_there --symbols quantum_tofoli \
	"--symbols: there is no function 'quantum_tofoli'. Like it: .*quantum_toffoli._omp_fn.0.*"
# As perf's own view calls them, and what is no code
dsos_of_view()
{
	kvm_report "" --stdio -q --percent-limit 0 -d "$1" --vm guest1 | awk '/^ / { print $3 }' | sort -u | paste -sd' '
}
ok "--dsos: a kernel as the view calls it" test "$(dsos_of_view '[kernel.kallsyms]')" = '[kernel.kallsyms]'
ok "... and the guest's" grep -qxE '\[guest.kernel.kallsyms.[0-9]+\]' <(dsos_of_view '[guest.kernel.kallsyms.*')
ok "--dsos: what is no code" test "$(dsos_of_view '[exit]')" = '[exit]'
ok "--kallsyms: no such file" not report --kallsyms "$TMP/none"
ok "... which is said" grep -q -e "^--kallsyms $TMP/none: No such file" "$TMP/warnings"
ok "--percentage=relative is not for --format" not report --format json --percentage relative
ok "... which is said" grep -q 'it knows no --percentage=relative' "$TMP/warnings"
ok "--exit-reasons has a format of its own" grep -q '^guest1 .*Samples not had: ' <(kvm_report "" --exit-reasons)
ok "--dsos: another version" not_there --dsos libquantum.so.7 \
	"--dsos: there is no module 'libquantum.so.7'. Like it: libquantum.so.8"
ok "--dsos: another path in the guest" not_there --dsos /opt/libquantum.so.8 \
	"--dsos: there is no module '/opt/libquantum.so.8'. Like it: libquantum.so.8"
ok "a filter that nothing has in its name" not_there --symbol-filter quantum_tofoli \
	"No function here has 'quantum_tofoli' in its name. Like it: .*quantum_toffoli._omp_fn.0.*"
ok "--pid: no such process" not_there --pid 4000000 "--pid: there is no process '4000000'"
seq -f 'none-%g' 10 >"$TMP/symbols"
ok "--symbols: of many, four are said" test \
	"$(report --symbols "file://$TMP/symbols" >/dev/null; grep -c "no function 'none-" "$TMP/warnings")" -eq 4
ok "... and how many more" grep -qx -e '--symbols: nor are there 6 more' "$TMP/warnings"
ok "what is there is not said to be missing" not grep -e '^--' <(report --comms shor --symbols '[exit]*' >/dev/null; cat "$TMP/warnings")
# renamed OLD NEW VALUE: the old name does the same, with a word, and none with -q.
renamed()
{
	diff <(report "$1" "$3") <(report "$2" "$3") || return
	report "$1" "$3" >"$TMP/output"
	grep -qx -e "$1 is called $2 now, as in perf report" "$TMP/warnings" || return
	report "$1" "$3" -q >"$TMP/output"
	! grep called "$TMP/warnings"
}
ok "--symbols was --symbol" renamed --symbol --symbols quantum_toffoli._omp_fn.0
ok "--dsos was --dso" renamed --dso --dsos libquantum.so.8
ok "--comms was --comm" renamed --comm --comms shor
for short in -S:quantum_toffoli._omp_fn.0 -d:libquantum.so.8 -c:shor; do
	ok "${short%:*}, as in perf report" test "$(only "${short%:*}" "${short#*:}" | wc -l)" -ge 1
done
pid=$(only --comms shor | sed -n '1s/.*(\([0-9]*\))$/\1/p')
ok "--pid" all_match "\($pid\)" --pid "$pid"
ok "--pid: of other numbers, none is proposed" not_there --pid "1$pid" \
	"--pid: there is no process '1$pid'"
# The view has threads of the host, by their numbers: the vCPU's, and others.
thread=$(kvm_report "" --stdio -q --level host --percent-limit 0 | awk -v vmm="$vmm" \
	'$2 ~ /^[0-9]+:qemu-system-x86$/ && $2 + 0 != vmm { print $2 + 0; exit }')
ok "--pid: a thread of the host" not_there --pid "$thread" "--pid: $thread is a thread of process $vmm: --pid $vmm"
ok "a table has the host's processes" grep -qE "^ .*\[kernel\] +qemu-system-x86 \($vmm\)$" <(report --percent-limit 0)
ok "what is not shown is said" grep -q 'rows that are not asked for' <(report --comms shor)
above_five_percent()
{
	report --percent-limit 5 | sed -n '/^guest1 .*Total samples/,$p' | awk '
		$1 ~ /^[0-9]+$/ && !/more below/ { n++; if ($2 < 5) bad = 1 }
		END { exit bad || !n }'
}
ok "--percent-limit" above_five_percent
ok "--percent-limit: with a %" diff <(report --percent-limit 5) <(report --percent-limit 5%)
parts()
{
	report --time 0%-60%,40%-100% --format json >"$TMP/parts" &&
		"$TESTS/report-value.py" 'level("guest1", None, 0)["time_ns"] <= level("guest1", None, 1)["time_ns"]' \
			"$TMP/parts" "$TMP/json" | grep -qx True
}
ok "--time: parts that overlap are counted once" parts
ok "-q: no warning" test -z "$(report -q --time 0%-50% >/dev/null; cat "$TMP/warnings")"
ok "-q: but errors" not report -q --format xml
ok "-q: with a message" grep -q knows "$TMP/warnings"

# --- other rows -----------------------------------------------------------------------------

report --sort dso --format json >"$TMP/dso"
ok "--sort dso: all time is there once" "$TESTS/report-sums.py" "$TMP/dso"
ok "--sort dso: a row for each module" test \
	"$(json "$TMP/dso" "len([x for x in ${VM}['rows'] if x['module'] == 'libquantum.so.8'])")" -eq 1
ok "--sort comm,pid" test "$(report --sort comm,pid | sed -n '/^guest1 .*Total samples/,$p' | grep -c ' shor (')" -eq 2
ok "--exit-reasons" grep -q '^guest1 .*Samples not had: ' <(report --exit-reasons)

# --- samples alone ----------------------------------------------------------------------------

report --no-timeline --format json >"$TMP/samples"
ok "--no-timeline: all time is there once" "$TESTS/report-sums.py" "$TMP/samples"
ok "--no-timeline: and it says so" grep -q '^# sample mode: .*--no-timeline' <(report --no-timeline)

# --- two profiles -----------------------------------------------------------------------------------

# changes OPTION... [OLD] NEW
changes()
{
	"$PERF" kvm unified diff -f -k "$TREE/host/vmlinux" --guest-root "$guest_files" "$@" \
		2>"$TMP/warnings"
}
# row_times FILE MEMBER: ns of what is called the same in both and in a report
row_times()
{
	json "$1" '"\n".join(sorted("%s %s %s %d" % (row["function"], row["module"], row["comm"],
		row["'"$2"'"]) for row in level("guest1")["rows"] if row["'"$2"'"]
		and not row["function"].startswith("[steal] (on ") and not row["comm"].startswith("[cr3")))'
}
changes perf.data perf.data >"$TMP/changes"
ok "diff with itself: an exit code of 0" test $? -eq 0
ok "diff with itself: a line for the VM" grep -qE '^guest1 .* \+0.00 ' "$TMP/changes"
ok "diff with itself: no change" test "$(grep -c '^([0-9]* rows, all below 0.50 points)$' "$TMP/changes")" -eq 2
changes --percent-limit 0 --format json perf.data perf.data >"$TMP/changes.json"
ok "diff with itself: not one row has changed" json "$TMP/changes.json" \
	'1 / (not any(row["points"] for level in r[0].json["levels"] for row in level["rows"]))'
# Equal processes are the same there.
ok "diff with itself: processes of one name are told apart by their pids" test \
	"$(json "$TMP/changes.json" 'len({row["pid"] for row in level("guest1")["rows"] if row["comm"] == "shor"})')" -eq 2
changes --old-time 0%-50% --time 50%-100% --sort sym,dso,comm --format json perf.data perf.data \
	>"$TMP/changes.json"
for half in "old 0%-50%" "new 50%-100%"; do
	report --time "${half#* }" --sort sym,dso,comm --format json >"$TMP/half"
	ok "--time, --old-time: all of the ${half% *} half, to the ns" diff \
		<(row_times "$TMP/half" time_ns) <(row_times "$TMP/changes.json" "${half% *}_ns")
done
sorted_rows()
{
	json "$TMP/changes.json" '1 / all(abs(a["points"]) >= abs(b["points"]) or b["class"] == "IDLE"
		for level in r[0].json["levels"] for a, b in zip(level["rows"], level["rows"][1:]))'
}
ok "the largest change comes first" sorted_rows
changes --percent-limit 0 --old-time 0%-50% --time 50%-100% perf.data perf.data >"$TMP/changes"
# Points of the VM's rows, but for those that are idle
text_points()
{
	sed -n '/^VMs, /,/^$/p' "$TMP/changes" |
		awk '$3 ~ /^[-+]/ && !/\[idle\]/ { sub(/^[-+]/, "", $3); print $3 }'
}
ok "... as text, too" diff <(text_points) <(text_points | sort -rn)
ok "... of which there are some" test "$(text_points | wc -l)" -ge 5
ok "what each is of is said" test "$(grep -cE '^# of that, --time (0%-50%|50%-100%)$' "$TMP/changes")" -eq 2
# How much changes is chance: of what there is, the third largest is the limit.
limited_points()
{
	local limit

	# ... as it was before it was rounded
	limit=$(text_points | sort -rn | awk 'NR == 3 { print $1 - 0.005 }')
	changes --percent-limit "$limit" --old-time 0%-50% --time 50%-100% perf.data perf.data \
		>"$TMP/changes"
	[ "$(text_points | wc -l)" -ge 3 ] &&
		text_points | awk -v limit="$limit" '$1 < limit { bad = 1 } END { exit bad }'
}
ok "--percent-limit: in points" limited_points
ok "--sort class: a row for each" test \
	"$(changes --sort class --format csv perf.data perf.data | awk -F, '$1 == "vm" { print $4 }' | sort | uniq -d | wc -l)" -eq 0
ok "... for report, too" test \
	"$(report --sort class --format csv | awk -F, '$1 == "vm" { print $4 }' | sort | uniq -d | wc -l)" -eq 0
ok "--comms: only rows of these" test \
	"$(changes --format csv --comms shor perf.data perf.data | awk -F, '$1 == "vm" { print $7 }' | sort -u)" = '"shor"'
# Their pids are of one boot.
changes --format csv perf.data perf.data >"$TMP/changes.csv"
ok "thieves are told by their names" grep -qE '^vm,.*"\[steal\] \(on task [^,]*\)"' "$TMP/changes.csv"
ok "... and not by their pids" not grep -q 'steal.*pid ' "$TMP/changes.csv"
ok "--no-timeline, --attribution" changes --no-timeline --attribution domain-switch perf.data perf.data
cp -r perf.data "$TMP/perf.data" && cp -r "$TMP/perf.data" "$TMP/perf.data.old"
ok "perf.data.old and perf.data, as perf diff" diff <(changes --format csv perf.data perf.data) \
	<(cd "$TMP" && changes --format csv)
ok "one profile is the new one" diff <(changes --format csv perf.data perf.data) \
	<(cd "$TMP" && changes --format csv "$LAB_OUT/libquantum/perf.data")
rm -r "$TMP/perf.data.old"
no_old()
{
	(cd "$TMP" && ! changes) && sed -n 1p "$TMP/warnings" | grep -qx 'OLD, perf.data.old:' &&
		grep -q 'Cannot read perf.data.old: No such file' "$TMP/warnings"
}
ok "no old one: it is said which" no_old
no_profile()
{
	echo nothing >"$TMP/none" && ! changes perf.data "$TMP/none" &&
		grep -qx "NEW, $TMP/none:" "$TMP/warnings" && grep -q 'as a profile' "$TMP/warnings"
}
ok "what is no profile: the same" no_profile
rm "$TMP/none"
three()
{
	changes a b c
	[ $? -eq 129 ] && grep -q 'Two profiles are compared, not 3' "$TMP/warnings"
}
ok "refused: three" three
# in_front OPTION FILE SUBCOMMAND...
in_front()
{
	! "$PERF" kvm "$1" "$2" unified "${@:3}" 2>"$TMP/warnings" &&
		grep -q "^perf kvm unified $3: $1 $2 in front of it is of no use for it" "$TMP/warnings"
}
ok "refused: perf kvm -i, of diff" in_front -i perf.data diff
ok "refused: perf kvm -o, of report" in_front -o "$TMP/front" report -i perf.data
ok "refused: perf kvm -i, of record" in_front -i "$TMP/front" record -- true
files_in_front()
{
	"$PERF" kvm -i perf.data -o "$TMP/front" unified export -f --format folded &&
		test -s "$TMP/front" && rm "$TMP/front"
}
ok "perf kvm -i and -o, of export" files_in_front
ok "perf kvm unified -i FILE report" diff <(report --summary) <("$PERF" kvm unified -i perf.data report -f \
	-k "$TREE/host/vmlinux" --guest-root "$guest_files" --format table --summary 2>/dev/null)
ok "diff: one message of a key that there is not" test \
	"$(changes --sort nope; grep -cE 'nope' "$TMP/warnings")" -eq 1
ok "... or that would be added to the default" test \
	"$(changes --sort +comm; grep -o '[+]comm' "$TMP/warnings" | wc -l)" -eq 1
ok "--format: the same" test "$(report --format json --sort +comm; grep -o '[+]comm' "$TMP/warnings" | wc -l)" -eq 1
for bad in '--sort nope' '--format xml' '--percent-limit x' '--sort ,'; do
	# shellcheck disable=SC2086 # an option and its value
	ok "diff refuses: $bad" not changes $bad perf.data perf.data
	ok "diff refuses: $bad: what it wants" grep -qE 'knows|wants' "$TMP/warnings"
done
# differ WHAT NEW WORDS: the measurements are not alike, which is said, but not with -q.
differ()
{
	changes perf.data "$2" >"$TMP/changes"
	ok "$1: it is said" grep -q "^$3" "$TMP/warnings"
	changes -q perf.data "$2" >"$TMP/changes"
	ok "... but not with -q" test ! -s "$TMP/warnings"
}
differ "another event" "$LAB_OUT/refusals/faults.data" 'The events are not the same, cpu-clock.* and page-faults'
differ "another period" "$LAB_OUT/refusals/mediated-cpu-clock.data" 'The periods are not the same, 1.000 ms and 0.250'
differ "no time line" "$LAB_OUT/refusals/host-only.data" 'NEW is without a time line'

# --- what perf's completion asks for -------------------------------------------------------------

# lists OPTION WORD COMMAND...
lists()
{
	local option=$1 word=$2
	shift 2

	tr ' ' '\n' < <("$PERF" kvm "$@" "$option") | grep -qx -e "$word"
}
ok "perf kvm lists unified" lists --list-cmds unified
for command in record report top diff annotate script export guest-map; do
	ok "perf kvm unified lists $command" lists --list-cmds "$command" unified
	ok "... which lists its options" lists --list-opts --verbose unified "$command"
done
# offers WORD LINE: the shell, for the last word of perf LINE
offers()
{
	local words

	IFS=' ' read -ra words <<<"$2."
	words[-1]=${words[-1]%.}
	"$TESTS/complete" "$PERF" "$MAIN_TREE/src/tools/perf/perf-completion.sh" "${words[@]}" |
		tee "$TMP/offers"
	grep -qx -e "$1 *" "$TMP/offers"
}
ok "completion: what is below perf kvm unified" offers guest-map 'kvm unified '
ok "... and not what is below perf kvm" not grep -q buildid "$TMP/offers"
ok "... behind an option of perf kvm, too" offers report 'kvm --host unified re'
ok "... and its options" offers --vcpu 'kvm unified report --vc'
ok "... and export's" offers --level 'kvm unified export --le'
ok "... and diff's" offers --old-time 'kvm unified diff --old'
ok "... and not perf report's" not offers --mem-mode 'kvm unified report --'
ok "perf's own are completed as before" offers latency 'sched la'
ok "... and what has a command's name behind it" offers --mem-mode 'report --mem'
# Connections of the host are what maps of the lab's guests come by.
not_from_host()
{
	! "$PERF" kvm unified guest-map --from-host </dev/null >"$TMP/out" 2>&1 || return
	cat "$TMP/out"
	grep -qx -- '--from-host: standard input is no vsock connection' "$TMP/out"
}
ok "guest-map --from-host: refused for what is no connection of the host" not_from_host
no_command()
{
	"$PERF" kvm unified "$@" 2>"$TMP/warnings"
	[ $? -eq 129 ] && grep -qE "^ *report +[a-z]" "$TMP/warnings"
}
ok "no command: those that there are, and what they do" no_command
ok "... so does -h" no_command -h
ok "... and one that is not there" no_command nope

# --- how often, for record ----------------------------------------------------------------------

# record_refused CODE OPTION...
record_refused()
{
	"$PERF" kvm unified record -o "$TMP/none" "${@:2}" -- true 2>"$TMP/warnings"
	[ $? -eq "$1" ] && [ ! -e "$TMP/none" ]
}
for rate in '-F 0' '-c 0' '-F -5' '-c -5' '-c max' '-F 1k' '-c ,'; do
	# shellcheck disable=SC2086 # options and their values
	ok "refused: $rate" record_refused 129 $rate
	ok "... by name" grep -qE '^-[Fc] (0 takes no samples|wants a number)' "$TMP/warnings"
done
for option in dry-run kcore switch-output=1s threads timestamp-filename; do
	ok "refused: --$option" record_refused 129 "--$option"
	ok "... by name" grep -q "^--${option%=*} is not in perf kvm unified record: " "$TMP/warnings"
done
ok "refused: -F and -c" record_refused 1 -F 10 -c 10
ok "... by name" grep -q '^-F and -c cannot' "$TMP/warnings"

ok "refused: looks at guests that take no time" record_refused 1 --guest-memory-time 0
ok "... by name" grep -q '^--guest-memory-time wants seconds' "$TMP/warnings"

# It would take the place of the profile before.
ok "refused: a command that is not there" record_refused 1 -q -- no-such-command
ok "... by name, with -q, too" grep -qx "Cannot start 'no-such-command': No such file or directory" "$TMP/warnings"

# --- what makes no sense -----------------------------------------------------------------------

# Where perf's option parser would call them with a value of NULL
refused_negation()
{
	"$PERF" kvm unified "$@" 2>"$TMP/warnings"
	[ $? -eq 129 ] && grep -qF "${2#--}' isn't available" "$TMP/warnings"
}
for option in --no-guest-map --no-guest-root --no-format --no-attribution --no-input --no-vm; do
	ok "refused: report $option" refused_negation report "$option"
done
for option in --no-guest-cmd --no-guest-follow --no-guest-timeout --no-output --no-event \
	--no-proc-map-timeout; do
	ok "refused: record $option" refused_negation record "$option"
done

for bad in "--format xml" "--attribution none" "--format csv --sort cpu" \
	"--format json --sort ," "--format json -H" "--format csv -g" "--format json -F sym" \
	"--format json --children" "--format csv -G" "--format table --max-stack 3" \
	"--tui" "--vcpu a" "--pid 1,x" \
	"--pid ,1" "--vcpu 0,0" "--vcpu 0-" "--vcpu 3-1" "--vcpu 0-1,1" "--vcpu 0-99999999" "--cpu a" "--cpu ," "--cpu 0-" "--cpu 0-,1" "--cpu 0,,1" \
	"--cpu 0,a" "-C 1-" "--vm guest1,," "--vm guest1,guest1" \
	"--percent-limit 101" "--guest-map x" "--format csv -n" \
	"--format json -t ;" "--format table -w 9" "--format csv -p foo" "--costs --vcpu 0" \
	"-g graph,0.5,caller,function,count"; do
	# shellcheck disable=SC2086 # an option and its value
	ok "refused: $bad" exit_code 129 $bad
	ok "refused: $bad: what it wants" grep -qE 'knows|wants' "$TMP/warnings"
	ok "refused: $bad: and the option" grep -q 'Usage: perf kvm unified report' "$TMP/warnings"
done
ok "refused: -t ." test "$(kvm_report "" --stdio -t . >/dev/null; echo $?)" -eq 129
ok "refused: -t .: why" grep -q "^ *Error: -t wants another separator: '.' is in numbers" "$TMP/warnings"
kvm_report "" --summary --level vcpu
ok "refused: a sentence, and not all options" test "$(wc -l <"$TMP/warnings")" -le 6
kvm_report "" --percentage foo
ok "refused: --percentage foo: what it wants" grep -qx -e "--percentage wants relative or absolute, not 'foo'" "$TMP/warnings"
# refused_file FILE WHY
refused_file()
{
	report --comms "file://$1"
	[ $? -eq 129 ] && grep -qx -e "--comms: $2" "$TMP/warnings"
}
: >"$TMP/empty"
ok "refused: a list that is not there" refused_file /none "Cannot read /none: No such file or directory"
ok "refused: a list that is a directory" refused_file / "Cannot read /: Is a directory"
ok "refused: a list with nothing in it" refused_file "$TMP/empty" "There is no name in $TMP/empty"
# What takes the profile to tell
ok "refused: --format csv --exit-reasons" exit_code 129 --format csv --exit-reasons
ok "refused: --format csv --exit-reasons: what has it" grep -q 'JSON has it' "$TMP/warnings"
for bad in --header --header-only -I; do
	for format in json csv openmetrics; do
		ok "refused: --format $format $bad" exit_code 129 --format $format $bad
		ok "refused: --format $format $bad: why" grep -q 'is text\|are text' "$TMP/warnings"
	done
done
ok "refused: --symfs, which would hide the guest's files" exit_code 129 --symfs /tmp
ok "refused: --symfs: what to do" grep -q 'give -k for the host' "$TMP/warnings"
ok "refused: --guest-root of a directory that there is not" exit_code 1 --guest-root guest1=/none
ok "... by name" grep -qx -e '--guest-root guest1=/none: No such file or directory' "$TMP/warnings"
ok "refused: --format csv --sort comm,nope" exit_code 129 --format csv --sort comm,nope
ok "... and which of the keys" grep -q "but not 'nope'" "$TMP/warnings"
ok "refused: --time x,y" exit_code 1 --time x,y
ok "refused: --time x,y: what it wants" grep -q wants "$TMP/warnings"
for text in --summary --header "--interval 1s" --stalls --costs; do
	# shellcheck disable=SC2086 # an option and its value
	ok "refused: --tui $text" exit_code 129 --tui $text
	ok "refused: --tui $text: why" grep -q 'are text: not for --tui' "$TMP/warnings"
done
stray_word()
{
	report --percent-limit 5 filter stray
	[ $? -eq 129 ] && grep -q 'Unknown argument: stray' "$TMP/warnings"
}
ok "refused: a second word that is no option" stray_word
no_symfs()
{
	"$PERF" kvm unified report -f -i perf.data --summary --symfs /none >"$TMP/output" 2>"$TMP/warnings"
	[ $? -eq 1 ] && grep -qx -e '--symfs /none: No such file or directory' "$TMP/warnings"
}
ok "refused: --symfs that is not there" no_symfs
no_fields()
{
	kvm_report "" --stdio -F "$1"
	[ $? -eq 129 ] && grep -q -e "--fields wants keys.*, not '$1'" "$TMP/warnings"
}
ok "refused: -F ''" no_fields ''
ok "refused: -F ," no_fields ,
ok "taken as by perf report: a comma at the end" diff \
	<(kvm_report "" --stdio -F overhead,sym) <(kvm_report "" --stdio -F overhead,sym,)
ok "taken as by perf report: what is so in any case" diff \
	<(kvm_report "" --stdio) <(kvm_report "" --stdio --group --skip-empty)
"$PERF" kvm unified guest-map stray >"$TMP/output" 2>&1
ok "... by guest-map, too" grep -q 'Unknown argument: stray' "$TMP/output"
full_disk()
{
	report >/dev/full
	[ $? -eq 1 ] && grep -q 'Cannot print the report: No space left' "$TMP/warnings"
}
ok "a report that cannot be written" full_disk

# --- another machine -----------------------------------------------------------------------------

# foreign WHAT COMMAND...: a process can see another name of the machine than it has.
foreign()
{
	setarch linux32 "$PERF" kvm unified "${@:2}" >"$TMP/output" 2>"$TMP/warnings"
	[ $? -eq 1 ] && cat "$TMP/warnings" && grep -qx "$1 is for x86-64, and this is i[0-9]86\." "$TMP/warnings" &&
		! [ -s "$TMP/output" ]
}
ok "record: refused on another machine" foreign "perf kvm unified record" record -o "$TMP/foreign" -- true
ok "guest-map: refused on another machine" foreign guest-map guest-map
ok "report: works there" setarch linux32 "$PERF" kvm unified report -f -i perf.data --summary
done_testing
