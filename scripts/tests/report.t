#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What perf kvm unified report can be asked for, with the profile that profile.t
# has recorded.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf
ok "there is a profile" test -s "$LAB_OUT/libquantum/perf.data/data"
cd "$LAB_OUT/libquantum" || { done_testing; }

# kvm_report KVM-OPTION OPTION...: with an option of perf kvm, or with "", without
kvm_report()
{
	"$PERF" kvm ${1:+"$1"} unified report -f -i perf.data -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" "${@:2}" 2>"$TMP/warnings"
}
# report OPTION...: as JSON, CSV or table
report()
{
	case " $* " in
	*' --format '*) kvm_report "" "$@" ;;
	*)		kvm_report "" --format table "$@" ;;
	esac
}

# json FILE EXPRESSION
json()
{
	"$TESTS/report-value" "$2" "$1"
}

# nothing_there OPTION VALUE REGEX: refused, with what there is or is wanted.
nothing_there()
{
	! report "$1" "$2" || return 1
	cat "$TMP/warnings"
	grep -qE -e "$3" "$TMP/warnings"
}

# --- for programs --------------------------------------------------------------------

report --format json >"$TMP/json"
ok "JSON: an exit code of 0" test $? -eq 0
ok "JSON: all time is there once" "$TESTS/report-sums" "$TMP/json"
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
ok "export: not --level guests" test "$("$PERF" kvm unified export -f -i perf.data --level guests 2>&1 >/dev/null |
	grep -c 'is a table of report')" = 1
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
ok "domain-switch: all time is there once" "$TESTS/report-sums" "$TMP/domain"
ok "domain-switch: the guest has what it had" test \
	"$(json "$TMP/domain" 'level("guest1")["classes_ns"]["USER"]')" -eq \
	"$(json "$TMP/json" 'level("guest1")["classes_ns"]["USER"]')"
class()
{
	json "$1" "$2[\"classes_ns\"][\"$3\"]"
}
VM='level("guest1")'
# taken JSON-FILE: what guest1 did not get, ns
taken()
{
	json "$1" "${VM}[\"taken_ns\"]"
}
HOST='level("host")'
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
ok "--guest-root: one for all, and one for one" report --guest-root guest1="$MAIN_TREE/guest/root"
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
for command in annotate script; do
	"$PERF" kvm unified $command --vm guest1 >"$TMP/out" 2>&1
	ok "$command --vm: a usage error" test $? -eq 129
	ok "... which is said" grep -q "^--vm is an option of perf kvm unified report: $command is of all VMs" "$TMP/out"
	ok "$command --vcpu: refused as well" grep -q "^--vcpu is an option of perf kvm unified report: " \
		<("$PERF" kvm unified "$command" -f -i perf.data --vcpu 0 2>&1)
done
ok "--dsos: another version" not_there --dsos libquantum.so.7 \
	"--dsos: there is no module 'libquantum.so.7'. Like it: libquantum.so.8"
ok "--dsos: the guest's own path" not_there --dsos /lib/x86_64-linux-gnu/libquantum.so.8 \
	"--dsos: there is no module '/lib/x86_64-linux-gnu/libquantum.so.8'. Like it: libquantum.so.8"
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
		"$TESTS/report-value" 'level("guest1", None, 0)["time_ns"] <= level("guest1", None, 1)["time_ns"]' \
			"$TMP/parts" "$TMP/json" | grep -qx True
}
ok "--time: parts that overlap are counted once" parts
ok "-q: no warning" test -z "$(report -q --time 0%-50% >/dev/null; cat "$TMP/warnings")"
ok "-q: but errors" not report -q --format xml
ok "-q: with a message" grep -q knows "$TMP/warnings"

# --- other rows -----------------------------------------------------------------------------

report --sort dso --format json >"$TMP/dso"
ok "--sort dso: all time is there once" "$TESTS/report-sums" "$TMP/dso"
ok "--sort dso: a row for each module" test \
	"$(json "$TMP/dso" "len([x for x in ${VM}['rows'] if x['module'] == 'libquantum.so.8'])")" -eq 1
ok "--sort comm,pid" test "$(report --sort comm,pid | sed -n '/^guest1 .*Total samples/,$p' | grep -c ' shor (')" -eq 2
ok "--exit-reasons" grep -q '^guest1 .*Samples not had: ' <(report --exit-reasons)

# --- samples alone ----------------------------------------------------------------------------

report --no-timeline --format json >"$TMP/samples"
ok "--no-timeline: all time is there once" "$TESTS/report-sums" "$TMP/samples"
ok "--no-timeline: and it says so" grep -q '^# sample mode: .*--no-timeline' <(report --no-timeline)

# --- a part of a profile ------------------------------------------------------------------------

# Not the symbols of the machine that makes the report
cp -r perf.data "$TMP/part" && rm -r "$TMP/part"/kcore_dir__*
report -i "$TMP/part" --format json >"$TMP/json-part"
ok "without the guest kernel's symbols: it says so" \
	grep -q "^Guest guest1: its kernel's functions stay without names: .*/kallsyms: " "$TMP/warnings"
quiet()
{
	report -q -i "$TMP/part" >"$TMP/quiet" && [ -s "$TMP/quiet" ] && [ ! -s "$TMP/warnings" ]
}
ok "... but with -q" quiet
kernel_names()
{
	json "$1" "sorted({x['function'] for x in ${VM}['rows'] if x['module'] == '[kernel]'})"
}
ok "... and its functions have no names" test "$(kernel_names "$TMP/json-part")" = "['[unknown]']"
ok "... which they have with them" not grep -qF '[unknown]' <<<"$(kernel_names "$TMP/json")"
kallsyms=$(echo perf.data/kcore_dir__*/kallsyms)
# given KVM-OPTION REPORT: the names are those of that report.
given()
{
	kvm_report "$1" -i "$TMP/part" --format json >"$TMP/json-given"
	[ "$(kernel_names "$TMP/json-given")" = "$(kernel_names "$2")" ]
}
ok "... or which --guestkallsyms gives" given "--guestkallsyms=$kallsyms" "$TMP/json"
mkdir -p "$TMP/mount/${kallsyms//[^0-9]/}/proc"
cp "$kallsyms" "$TMP/mount/${kallsyms//[^0-9]/}/proc"
ok "... or --guestmount" given "--guestmount=$TMP/mount" "$TMP/json"
# As it is of another boot, and as who is not root reads it
sed 's/^fffffff/ffffffe/' "$kallsyms" >"$TMP/moved"
sed 's/^[0-9a-f]*/0000000000000000/' "$kallsyms" >"$TMP/zeros"
ok "another boot's are not used" given "--guestkallsyms=$TMP/moved" "$TMP/json-part"
ok "... and it says so" grep -q '/moved is of another kernel, or of another boot, not used' "$TMP/warnings"
ok "nor those without addresses" given "--guestkallsyms=$TMP/zeros" "$TMP/json-part"
ok "... and it says so, too" grep -q "/zeros has no kernel's symbols with addresses, not used" "$TMP/warnings"
# A copy that was not finished
cut_kallsyms()
{
	mkdir -p "$TMP/part/$(basename "${kallsyms%/*}")"
	head -c "$1" "$kallsyms" >"$TMP/part/${kallsyms#*/}"
	report -i "$TMP/part" --format json >"$TMP/json-cut"
	grep -q "^Guest guest1: .*/kallsyms has $1 bytes, and $(stat -c %s "$kallsyms") in its map" \
		"$TMP/warnings"
}
for size in 0 100 900000; do
	ok "the guest kernel's symbols, of which $size bytes are left: it says so" cut_kallsyms "$size"
done
# What has no end, or never begins, is not waited for.
fifo_kallsyms()
{
	rm "$TMP/part/${kallsyms#*/}"
	mkfifo "$TMP/part/${kallsyms#*/}"
	timeout 30 "$PERF" kvm unified report --format table -f -i "$TMP/part" >"$TMP/table" 2>"$TMP/warnings" &&
		grep -q "^Guest guest1: .*/kallsyms is not a file" "$TMP/warnings"
}
ok "... a fifo in their place: it says so" fifo_kallsyms
# As that says, with the map's name
names_of_map()
{
	report -i "$TMP/part" --format json --guest-map "$(grep -o 'guest1=[^ ]*' "$TMP/warnings")" >"$TMP/json-given"
	[ "$(kernel_names "$TMP/json-given")" = "$(kernel_names "$TMP/json")" ]
}
ok "... and how to have them nevertheless" names_of_map
says_nothing()
{
	report >"$TMP/table" && ! grep functions "$TMP/warnings"
}
ok "of a whole profile it says nothing" says_nothing
# Nothing can be said of guests then, and that is not the measurement's fault.
rm "$TMP/part/vms"
ok "without vms: it says so" grep -q "^# sample mode: .* as guests are not told apart" <(report -i "$TMP/part")
for part in perf.data/data perf.data/vms perf.data/guest_map__*; do
	ok "a file of the profile" not report -i "$part"
	ok "... is not the profile" grep -q "^$part is a file of a profile" "$TMP/warnings"
done
# With what is in front of the command as with what is behind it
ok "-i of perf kvm: the profile" diff "$TMP/json" <(cd / &&
	"$PERF" kvm -i "$OLDPWD/perf.data" unified report -f -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" --format json)
ok "... unless report has one of its own" diff "$TMP/json" <(kvm_report -i/nonexistent --format json)
ok "a command's name that is cut off" diff "$TMP/json" <("$PERF" kvm unified rep -f \
	-k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" --format json)
ok "... to too little" not "$PERF" kvm unified re -f
for option in --guestmount --guestvmlinux --guestkallsyms --guestmodules; do
	ok "$option of perf kvm: not there" not kvm_report "$option=/nonexistent"
	ok "... and it says so" grep -qx -e "$option /nonexistent: No such file or directory" \
		"$TMP/warnings"
done
ok "--guest-code of perf kvm: of no use" not kvm_report --guest-code
ok "... and what is" grep -q 'guest-code is of no use here.* its map' "$TMP/warnings"
ok "a profile without -i: refused" not report perf.data
ok "... and what is right" grep -q 'perf.data is a profile: -i perf.data' "$TMP/warnings"
ok "... a file of a profile likewise" not report perf.data/data
ok "... but not another file" report guest1-console.log -q
ok "no profile" not report -i "$TMP/none"
ok "... which another command makes" grep -q 'perf kvm unified record makes one' "$TMP/warnings"

# --- a map of another boot ----------------------------------------------------------------------

# It is in the profile, and by its words, names of its own would be given.
cp -r perf.data "$TMP/boot"
boot_map=$(echo "$TMP/boot"/guest_map__*)
boot_kallsyms=$(echo "$TMP/boot"/kcore_dir__*/kallsyms)
report --no-guest-maps --format json >"$TMP/json-nameless"
# other_boot MIB KEEP-PROCESSES OPTION...: see other-boot
other_boot()
{
	"$TESTS/other-boot" perf.data/guest_map__* "$1" "$2" "$boot_map" "$boot_kallsyms" &&
		report -i "$TMP/boot" --format json "${@:3}" >"$TMP/json-boot"
}
says_other_boot()
{
	cat "$TMP/warnings"
	[ "$(grep -c '^Guest ' "$TMP/warnings")" -eq 1 ] &&
		grep -q '^Guest guest1: its map is of another guest, or of another boot.* is not used' "$TMP/warnings" &&
		grep -q 'So 100.0 % of the samples' "$TMP/warnings"
}
# Where all samples of the kernel are in the other's, too, as they may be if that is near, only the
# processes tell.
is_in_doubt()
{
	[ "$1" -ne 64 ] && grep -q 'no process of its map was seen running' "$TMP/warnings" &&
		grep -q '"user_samples_named": 0,' "$TMP/json-boot"
}
has_named_nothing()
{
	diff "$TMP/json-nameless" "$TMP/json-boot" || is_in_doubt "$1"
}
says_what_it_is()
{
	says_other_boot || is_in_doubt "$1"
}
for other in "64 1" "10 0" "-10 0"; do
	# shellcheck disable=SC2086 # by how much, and if with its processes
	ok "a map of another boot, ${other% *} MiB away: there is a report" other_boot $other
	ok "... in which it has named nothing, or is in doubt" has_named_nothing "${other% *}"
	ok "... which is said once, and what it costs" says_what_it_is "${other% *}"
done
ok "... but with -q" other_boot 64 1 -q
ok "... it is not" test ! -s "$TMP/warnings"
ok "--no-guest-maps=guest1: without these words" other_boot 64 1 --no-guest-maps=guest1
ok "... the same" diff "$TMP/json-nameless" "$TMP/json-boot"
ok "... with none" not grep '^Guest ' "$TMP/warnings"
ok "... by a pattern" other_boot 64 1 '--no-guest-maps=gu*'
ok "... with none, too" not grep '^Guest ' "$TMP/warnings"
ok "--no-guest-maps: of no guest" nothing_there --no-guest-maps=guest7 -q "no guest 'guest7'.* There is: guest1"
ok "--no-guest-maps=: a name is missing" nothing_there --no-guest-maps= -q 'wants names or patterns'
ok "--guest-maps takes it back" diff "$TMP/json" <(report --no-guest-maps=guest1 --guest-maps --format json)
rm -r "${TMP:?}/boot"

# --- a guest that was booted while it was recorded --------------------------------------------------

# By its clock, some seconds before its map was made, see rebooted
cp -r perf.data "$TMP/rebooted"
rebooted_map=$(echo "$TMP/rebooted"/guest_map__*)
# rebooted NAME OPTION...: to $TMP/NAME.json
rebooted()
{
	report -i "$TMP/rebooted" --format json "${@:2}" >"$TMP/$1.json"
}
# Within the recording, but not near an end of it
within_recording()
{
	local seconds

	for seconds in {2..60..2}; do
		"$TESTS/rebooted" perf.data/guest_map__* "$seconds" "$rebooted_map" && rebooted rebooted || return
		json "$TMP/rebooted.json" '1 / (0.3 < guest("guest1")["samples_before_boot"] /
			sum(x["samples"] for x in vm_rows("guest1")) < 0.7)' >/dev/null 2>&1 && return
	done
	return 1
}
ok "booted while it was recorded: a report" within_recording
ok "... all time is there once" "$TESTS/report-sums" "$TMP/rebooted.json"
ok "... it is said, once" test "$(grep -c '^Guest guest1: by its clock, it was booted after the recording' "$TMP/warnings")" -eq 1
# So short that not as many samples are in them as there are before and after it, however many are lost
# in the rest of the time
rebooted before --time 0%-5%
ok "... before that, nothing of it has a name" json "$TMP/before.json" '1 / all(x["function"] == "[unknown]"
	for x in vm_rows("guest1") if x["class"] in ("OS", "USER"))'
ok "... and no process" json "$TMP/before.json" '1 / all(x["comm"].startswith("[cr3 ")
	for x in vm_rows("guest1") if x["class"] == "USER")'
rebooted after --time 95%-100%
report --format json --time 95%-100% >"$TMP/json-after"
ok "... and after it, all that it had" diff <(json "$TMP/json-after" 'vm_rows("guest1")') \
	<(json "$TMP/after.json" 'vm_rows("guest1")')
rm -r "${TMP:?}/rebooted"
# A map that was made by hand is of the boot before, or after.
cp -r perf.data "$TMP/set-back"
booted_map=$(echo perf.data/guest_map__*)
ok "a map that is given: a report" report -i "$TMP/set-back" --guest-map "guest1=$booted_map"
ok "a guest whose TSC was set meanwhile" "$TESTS/tsc-changed" "$TMP/set-back"
ok "... with the map that was made at its end: a report" report -i "$TMP/set-back"
ok "... with one that is given: none" not report -i "$TMP/set-back" --guest-map "guest1=$booted_map"
ok "... and why" grep -q '^--guest-map: guest guest1 was booted again while' "$TMP/warnings"
rm -r "${TMP:?}/set-back"

# --- text that was moved to huge pages ----------------------------------------------------------

# hugified HOW: the profile as if the middle of libquantum's text had been, see huge-text
hugified()
{
	rm -rf "$TMP/huge"
	cp -r perf.data "$TMP/huge"
	"$TESTS/huge-text" "$TMP/huge"/guest_map__* libquantum.so.8 "$1" &&
		report -i "$TMP/huge" --format json >"$TMP/json-huge"
}
ok "text that was moved: there is a report" hugified whole
ok "... it has the names of its file" diff "$TMP/json" "$TMP/json-huge"
ok "... where another page of it follows: there is a report" hugified shifted
ok "... it is the process's own code" grep -q '\[JIT\] tid' "$TMP/json-huge"
rm -r "${TMP:?}/huge"

# --- BPF programs of a guest -----------------------------------------------------------------------

# kernel_samples PROFILE: a line for each sample in kernel mode, its function and its module. The
# report's rows are of time, and a sample that comes late stands for more.
kernel_samples()
{
	"$PERF" kvm unified script -f -i "$1" -k "$TREE/host/vmlinux" -F ip,sym,dso 2>/dev/null |
		sed -n 's/^ *ffff[0-9a-f]* //p'
}
read -r in_first in_second behind < <("$TESTS/bpf-code" perf.data "$TMP/bpf")
kernel_samples "$TMP/bpf" >"$TMP/bpf-samples"
samples_in()
{
	awk -v name="$1" '$1 == name' "$TMP/bpf-samples" | wc -l
}
ok "BPF: samples in a program: ${in_first:-none}" test "${in_first:-0}" -gt 0
ok "BPF: they have its name" test "$(samples_in bpf_prog_00_first)" -eq "$in_first"
ok "BPF: a trampoline, up to the next program" test "$(samples_in bpf_trampoline_6442)" -eq "$in_second"
ok "BPF: what is in none has no name" test "$(samples_in '[unknown]')" -ge "$behind"
ok "BPF: far behind the last one there is none" test "$(samples_in bpf_prog_0123456789abcdef_last)" -eq 0
ok "BPF: no name for the kernel's own code" test "$(samples_in bpf_prog_ff_kernel)" -eq 0
rm -r "${TMP:?}/bpf"

# --- modules of a guest that come and go ----------------------------------------------------------

read -r always first second gone late unsure stayed early next unsure_bpf < <("$TESTS/module-code" perf.data "$TMP/modules")
kernel_samples "$TMP/modules" >"$TMP/modules-samples"
# samples_of FUNCTION MODULE
samples_of()
{
	grep -cxF "$1 ($2)" "$TMP/modules-samples"
}
ok "modules: samples in each: ${always:-none}" test "${first:-0}" -gt 0 -a "${second:-0}" -gt 0
ok "modules: one that was there all the time" test "$(samples_of always_code '[always]')" -eq "$always"
ok "modules: one that went has its samples of before" test "$(samples_of first_code '[first]')" -eq "$first"
ok "modules: one in its place has those of behind" test "$(samples_of second_code '[second]')" -eq "$second"
for module in gone late unsure; do
	ok "modules: none where it was not there, or nobody knows: $module" \
		test "$(samples_of "${module}_code" "[$module]")" -eq 0
done
ok "modules: all samples of those have no name" \
	test "$(samples_of '[unknown]' '[unknown]')" -ge $((gone + late + unsure + unsure_bpf))
ok "modules: one that stayed is told by its map" test "$(samples_of '[unknown]' '[stayed]')" -eq "$stayed"
ok "BPF: a program that went has its samples of before: ${early:-none}" \
	test "${early:-0}" -gt 0 -a "$(samples_of bpf_prog_1_early bpf_prog_1_early)" -eq "$early"
ok "BPF: one in its place has those of after" \
	test "${next:-0}" -gt 0 -a "$(samples_of bpf_prog_2_next bpf_prog_2_next)" -eq "$next"
ok "BPF: none where nobody knows when it was there" not grep -q bpf_prog_3_unsure "$TMP/modules-samples"
rm -r "${TMP:?}/modules"

# --- files without a build-id ---------------------------------------------------------------------

GUEST_ROOT=$MAIN_TREE/guest/root
LIBRARY=$GUEST_ROOT/lib/x86_64-linux-gnu/libquantum.so.8
# without_id HOW: the profile as if libquantum had none, see without-build-id
without_id()
{
	rm -rf "$TMP/no-id"
	cp -r perf.data "$TMP/no-id"
	test "$("$TESTS/without-build-id" "$TMP"/no-id/guest_map__* /libquantum.so.8 "$LIBRARY" "$1")" -gt 0 &&
		report -i "$TMP/no-id" --format json >"$TMP/json-no-id"
}
ok "no build-id, the same file: there is a report" without_id print
ok "... all functions have their names" diff "$TMP/json" "$TMP/json-no-id"
ok "... and nothing is said" not grep -q 'without a build-id' "$TMP/warnings"
ok "no build-id, another file of that name: there is a report" without_id other
ok "... no function has a name" not grep -q '"function": "quantum_.*libquantum' "$TMP/json-no-id"
ok "... it is said" grep -q '1 of such names is below --guest-root, and not the guest' "$TMP/warnings"
ok "no build-id, of an older collector: there is a report" without_id none
ok "... no function has a name" not grep -q '"function": "quantum_.*libquantum' "$TMP/json-no-id"
ok "... it is said" grep -q 'user time is in 1 file without a build-id: .*/libquantum.so.8;' "$TMP/warnings"
rm -r "${TMP:?}/no-id"

# --- large files of a guest ------------------------------------------------------------------------

# A copy of the one file that most of the time is in
large=$TMP/large/$(cd "$MAIN_TREE/guest/root" && dirname lib/*/libquantum.so.8)
mkdir -p "$large"
as_it_was()
{
	cp --remove-destination "$MAIN_TREE/guest/root"/lib/*/libquantum.so.8 \
		"$large/libquantum.so.8"
}
# names_of_large OPTION...
names_of_large()
{
	report --format json --guest-root guest1="$TMP/large" "$@" >"$TMP/json-large" &&
		json "$TMP/json-large" "sorted((x['function'], x['samples']) for x in ${VM}['rows']
			if x['module'] == 'libquantum.so.8')"
}
as_it_was
small_names=$(names_of_large)
ok "the functions of one file have names" grep -q quantum_toffoli <<<"$small_names"
truncate -s 1100M "$large/libquantum.so.8"
ok "... with a hole of a gigabyte at its end: the same" test "$(names_of_large)" = "$small_names"
ok "... and nothing is said of it" not grep libquantum <(names_of_large >"$TMP/large-names"; cat "$TMP/warnings")
# over_limit TYPE MIB WORDS: a section of that size, see large-section
over_limit()
{
	as_it_was && "$TESTS/large-section" "$large/libquantum.so.8" "$1" "$2" && names_of_large || return
	cat "$TMP/warnings"
	[ "$(grep -c '^Guest guest1: ' "$TMP/warnings")" -eq 1 ] &&
		grep -qx "Guest guest1: $large/libquantum.so.8 has more than $3, which is the limit:" "$TMP/warnings"
}
ok "a table of symbols of 65 MiB is over a limit: it is said" over_limit 11 65 '64 MiB in a table'
ok "... and the functions have no names" not grep quantum_toffoli "$TMP/json-large"
ok "code of 257 MiB: the same" over_limit 1 257 '256 MiB of code'
ok "... and the functions have no names" not grep quantum_toffoli "$TMP/json-large"
ok "... with -q, nothing is said" test -z "$(names_of_large -q >"$TMP/large-names"; cat "$TMP/warnings")"
rm -r "$TMP/large"

# --- a unikernel ------------------------------------------------------------------------------------

# Its kernel is at low addresses, and its symbols are what nm or its makers say of it.
cp -r perf.data "$TMP/low"
"$TESTS/low-kernel" "$TMP/low/data" perf.data/kcore_dir__*/kallsyms "$TMP/low.kallsyms"
# kernel_names_of KVM-OPTION OPTION...: functions of guest1's kernel, and their samples
kernel_names_of()
{
	kvm_report "$1" --no-guest-maps --format json "${@:2}" >"$TMP/json-low" &&
		json "$TMP/json-low" "sorted((x['function'], x['samples']) for x in ${VM}['rows']
			if x['class'] == 'OS')"
}
high_names=$(kernel_names_of "--guestkallsyms=$(echo perf.data/kcore_dir__*/kallsyms)")
ok "a kernel at high addresses has names, by --guestkallsyms" grep -q clear_page <<<"$high_names"
ok "one at low addresses, without _etext, has the same" test \
	"$(kernel_names_of "--guestkallsyms=$TMP/low.kallsyms" -i "$TMP/low")" = "$high_names"
ok "... and nothing is said of it" not grep kallsyms "$TMP/warnings"
sed 's/ _s*text$/_of_none/' "$TMP/low.kallsyms" >"$TMP/no.kallsyms"
ok "... without _stext and _text: no names" not grep -q clear_page \
	<<<"$(kernel_names_of "--guestkallsyms=$TMP/no.kallsyms" -i "$TMP/low")"
ok "... and it says so" grep -q '/no.kallsyms has neither _stext nor _text, .*, not used' "$TMP/warnings"
ok "--guestvmlinux: refused" not kvm_report "--guestvmlinux=$TREE/host/vmlinux"
ok "... with what is of use" grep -q 'guestvmlinux is of no use here' "$TMP/warnings"
ok "... and is what nm prints" grep -q "guestkallsyms does, for which 'nm FILE'" "$TMP/warnings"
rm -r "$TMP/low" "$TMP"/*.kallsyms

# --- two profiles -----------------------------------------------------------------------------------

# changes OPTION... [OLD] NEW
changes()
{
	"$PERF" kvm unified diff -f -k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" "$@" \
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
	-k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" --format table --summary 2>/dev/null)
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
for command in record report diff annotate script export guest-map; do
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
ok "... and not what is below perf kvm" not grep -q top "$TMP/offers"
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

# exit_code CODE OPTION...
exit_code()
{
	report "${@:2}"
	[ $? -eq "$1" ]
}
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

# What perf makes of a profile has no table of VMs: its time line is of no use then.
injected()
{
	"$PERF" inject -f -i perf.data -o "$TMP/injected" 2>"$TMP/warnings" &&
		report -i "$TMP/injected" --summary >"$TMP/output" || return
	cat "$TMP/warnings"
	grep -q '^# sample mode: ' "$TMP/output" && ! grep 'without a column' "$TMP/warnings"
}
ok "perf inject's output: the time line is not called an event without a column" injected
# Its guests' code is VMs' all the same, in the overview as in the table.
vms_not_told_apart()
{
	local share

	report -i "$TMP/injected" --format json >"$TMP/injected.json" || return
	share=$(json "$TMP/injected.json" '"%.2f" % share("host", "VM")')
	test "$(json "$TMP/injected.json" 'r[0].json["costs"]["host"]["guests_ns"]')" -eq \
			"$(json "$TMP/injected.json" 'level("host")["classes_ns"]["VM"] or -1')" &&
		grep -qF ": for VMs $share % (guests, vCPU not known $share %), own work" "$TMP/output"
}
ok "... and what VMs executed is for VMs, and not called lost" vms_not_told_apart
rm -rf "$TMP/injected"

# --- perf's views: as text ---------------------------------------------------------------

# view OPTION...
view()
{
	kvm_report "" --stdio --percent-limit 0 "$@"
}
# ns NAME KEY: of the table NAME, the ns by what is in the column KEY, sorted
ns()
{
	view -F "period,$2" -t ';' | awk -F ';' -v name="$1" '
		/^# .*Total samples:/ { on = $0 ~ "^# " name " " }
		on && /^ *[0-9]+ *;/ { gsub(/^ +| +$/, "", $1); gsub(/^ +| +$/, "", $2); print $2, $1 }' |
		sort
}
view >"$TMP/view"
ok "stdio: an exit code of 0" test $? -eq 0
ok "stdio: --level guests: a table of that" grep -q '^# 1 guest together .*Total samples:' \
	<(view --level guests)
# What is called the same in user mode and in the kernel is two rows, in a VM's table, too.
classes_apart()
{
	view --level "$1" -s dso,sym -F period,sym -t ';' | awk -F ';' '
		/^ *[0-9]+ *;/ && $2 ~ /\[u\]/ { user += $1 }
		/^ *[0-9]+ *;/ && $2 ~ /\[g\]/ { os += $1 }
		END { printf "%.0f %.0f\n", user, os }' >"$TMP/by-letter"
	report --level "$1" --format json >"$TMP/level"
	diff "$TMP/by-letter" <(json "$TMP/level" '"%d %d" % tuple(r[0].json["levels"][0]["classes_ns"][x]
		for x in ("USER", "OS"))')
}
for level in guests vm; do
	ok "stdio: --level $level -s dso,sym: code of processes and of the kernel is apart" classes_apart $level
done
for options in "-s pid" "-s comm,sym" "--format json --sort comm"; do
	# shellcheck disable=SC2086 # several options
	ok "refused: --level guests $options" exit_code 129 --level guests $options
	ok "refused: --level guests $options: why" grep -q 'tells no processes apart' "$TMP/warnings"
done
view --level guests -s +pid >"$TMP/with-pid"
ok "refused: --level guests -s +pid, as perf adds a key" grep -q 'tells no processes apart' "$TMP/warnings"
ok "stdio: --level guests: no column of processes" not grep -q '^# Overhead .*Command' <(view --level guests)
ok "stdio: --level guests -s symoff: no address is made up" not grep -q ' 0x[0-9a-f]' \
	<(view --level guests -s symoff)
ok "stdio: -q: titles and rows alone" diff <(view -q | grep '^#' | cut -d' ' -f2) <(printf 'Host\nguest1\n')
ok "stdio: -q, where there are no tables: the overview" grep -q '^guest1 ' <(view -q --summary)
ok "stdio: the columns are perf report's" \
	grep -qx '# Overhead  *Pid:Command  *Shared Object  *Symbol *' "$TMP/view"
ok "stdio: a function of a guest's process" \
	grep -qE '^ +[0-9.]+% +[0-9]+:shor +libquantum.so.8 +\[u\] quantum_toffoli' "$TMP/view"
ok "stdio -q: which table it is" grep -q '^# guest1 .*Total samples' <(view -q)
ok "stdio: and what is no code" grep -qE '% .* \[-\] \[exit\] \(' "$TMP/view"
ok "it is what there is without --stdio, where it is no terminal" \
	diff "$TMP/view" <(kvm_report "" --percent-limit 0)
classes_of()
{
	json "$TMP/json" '"\n".join(sorted("%s %d" % (k, v) for k, v in
		'"$1"'["classes_ns"].items() if v))'
}
for level in "Host $HOST" "guest1 $VM"; do
	ok "--sort class: ${level%% *}, to the ns" \
		diff <(classes_of "${level#* }") <(ns "${level%% *}" class)
done
functions_of_guest()
{
	json "$TMP/json" '"\n".join(sorted("%d" % row["time_ns"] for row in level("guest1")["rows"]
		if row["class"] == "USER" and row["function"] != "[unknown]"))' | sort -n
}
ok "the functions of processes, to the ns" diff <(functions_of_guest) \
	<(view -F period,class,tgid,pid,dso,sym -t ';' |
		awk -F ';' '/^# .*Total samples:/ { on = /^# guest1 / }
			on && $2 ~ /USER/ && $NF !~ /\[unknown\]/ { printf "%.0f\n", $1 }' | sort -n)
ok "--sort symbol_size: what is no code has no size" test \
	"$(view --sort class,symbol_size -t ';' | awk -F ';' '$2 ~ /^VM|^exit/ { print $3 + 0 }' | sort -u)" = 0
# by_cpu KEY: the ns of each table by CPU
by_cpu()
{
	kvm_report "" -i "${2:-perf.data}" --stdio --percent-limit 0 --level host,vm -F "period,$1" -t ';' | awk -F ';' '
		/^# .*Total samples:/ { name = $0; sub(/^# /, "", name); sub(/ .*/, "", name) }
		/^ *[0-9]+ *;/ { printf "%s %d %.0f\n", name, $2, $1 }' | sort
}
with_cpu()
{
	for cpu in 0 1; do
		report -i "${1:-perf.data}" -C $cpu --format json >"$TMP/cpu.json"
		json "$TMP/cpu.json" '"\n".join("%s '$cpu' %d" % (one.get("vm", "Host"), one["time_ns"])
			for one in r[0].json["levels"] if one["level"] in ("host", "vm") and one["time_ns"])'
	done | sort
}
by_cpu cpu >"$TMP/by-cpu"
ok "--sort cpu: of each table, to the ns, as --cpu has it" diff "$TMP/by-cpu" <(with_cpu)
# Of vCPUs that move, code is by where it ran, and not by where the nearest sample was taken.
for moved in map-hangs mediated-off vm-starts; do
	ok "--sort cpu: the same of $moved" diff <(by_cpu cpu "../refusals/$moved.data" | grep -v ' -1 ') \
		<(with_cpu "../refusals/$moved.data")
done
at_least 3 "... tables and CPUs" "$(wc -l <"$TMP/by-cpu")"
ok "--sort socket: all CPUs are on one here" diff <(by_cpu socket) \
	<(awk '{ ns[$1 " 0"] += $3 } END { for (i in ns) printf "%s %.0f\n", i, ns[i] }' "$TMP/by-cpu" | sort)
sum_by_name()
{
	awk '{ ns[$1 " " $2] += $3 } END { for (i in ns) printf "%s %.0f\n", i, ns[i] }' | sort
}
# offsets NAME: of the table, what is code, the function without where in it; the ns of each
offsets()
{
	ns "$1" symoff | sed -n 's/^\[\([^]-]\)\] \([^ ]*\)+0x[0-9a-f]* /\1 \2 /p' | sum_by_name
}
functions()
{
	ns "$1" sym | sed -n 's/^\[\([^]-]\)\] \([^ ]*\) \([0-9]*\)$/\1 \2 \3/p' | grep -v '\[unknown\]' |
		sum_by_name
}
ok "--sort symoff: together, they are the function, to the ns" diff <(functions guest1) <(offsets guest1)
ok "... of the host's, too" diff <(functions Host) <(offsets Host)
# Samples of the function with most of them, by where in it
places_by_script()
{
	"$PERF" kvm unified script -f -i perf.data --guest-root "$MAIN_TREE/guest/root" -F ip,sym,symoff 2>/dev/null |
		sed -n 's/.*\(quantum_toffoli\._omp_fn\.0+0x[0-9a-f]*\).*/\1/p' | sort -u
}
ok "... at the places that perf script has" diff <(places_by_script) \
	<(ns guest1 symoff | sed -n 's/^\[u\] \(quantum_toffoli\._omp_fn\.0+0x[0-9a-f]*\) .*/\1/p' | sort -u)
ok "... what is no code has none" grep -qE '^\[-\] \[exit\] \([^+]*\) [0-9]+$' <(ns guest1 symoff)
ok "--sort srcline: what has no line is called as perf report does" \
	grep -qE 'quantum_toffoli\._omp_fn\.0\+[0-9]+' <(view --sort srcline)
ok "... and what is no code by its name" grep -qE '% +\[exit\] \(' <(view --sort srcline)
ok "--hide-unresolved: no function without a name" not grep -q '\[[^-]\] \[unknown\]' <(view -U --sort sym)
ok "... of those that there are" grep -q '\[[^-]\] \[unknown\]' <(view --sort sym)
ok "... and what is no code stays" grep -qE '\[-\] \[exit\] \(' <(view -U --sort sym)
ok "--sort exit_reason: what was taken, by the exit before" \
	diff <(json "$TMP/json" '"\n".join(sorted("%s %d" % (row["function"], row["time_ns"])
			for row in level("guest1")["steal_by_exit_reason"] if row["function"] != "not known"))') \
	<(view -F period,exit_reason,class -t ';' | awk -F ';' '
		/^# .*Total samples:/ { on = /^# guest1 / }
		on && $3 ~ /steal|exit|vmm|stopped|throttled|blocked/ && $2 ~ /[a-z]/ { gsub(/ /, "", $2); ns[$2] += $1 }
		END { for (reason in ns) printf "%s %.0f\n", reason, ns[reason] }' | sort)
ok "--sort vm,vcpu: what the host did for the VM" \
	grep -qE '^ +[0-9.]+% +guest1 +0 +OS' <(view --sort vm,vcpu,class)
ok "--hierarchy: a level for each key" \
	grep -qE '^# +Overhead  Class / Shared Object' <(view -H --sort class,dso)
relative()
{
	view -d libquantum.so.8 --percentage "$1" --sort dso -t ';' |
		awk -F ';' '!/^#/ && /libquantum.so.8/ { print $1 + 0 }'
}
ok "--percentage relative: of what is shown" test "$(relative relative)" = 100
ok "--percentage absolute: of all" test "$(relative absolute)" != 100
# In one table, a thread has one name, also if it had others before: "Pid:Command" of each row
view --level host -F pid,sym -t ';' | sed -n 's/^ *\([0-9]*:[^;]*[^; ]\) *;.*/\1/p' | sort -u >"$TMP/threads"
at_least 5 "-F pid,sym: threads of the host" "$(wc -l <"$TMP/threads")"
ok "... each by one name" test -z "$(cut -d: -f1 "$TMP/threads" | sort | uniq -d)"
ok "--stdio-color always: in colors" grep -q $'\033\\[' <(view --stdio-color always)
ok "--stdio-color never: in none" not grep -q $'\033' <(view --stdio-color never)
no_such_color()
{
	view --stdio-color pink
	[ $? -eq 129 ] && grep -q "^--stdio-color knows .* but not 'pink'" "$TMP/warnings"
}
ok "refused: --stdio-color pink" no_such_color
ok "--percent-limit: what is below is counted" \
	grep -qE '^# [0-9]+ more below 5.00%: [0-9.]+%$' <(kvm_report "" --stdio --percent-limit 5)
# A tracepoint that this machine has under the number of that of the profile, as the header has it
header_of_timeline()
{
	MALLOC_PERTURB_=165 "$PERF" report -f -i perf.data --header-only |
		sed -n 's/.* name = kvm:kvm_vcpu_timeline, .* config = \(0x[0-9a-f]*\) (\([^)]*\)).*/\1 \2/p'
}
tracefs=/sys/kernel/tracing/events
number=$("$PERF" script -f -i perf.data --header-only |
	sed -n 's/.* name = kvm:kvm_vcpu_timeline, .* config = \(0x[0-9a-f]*\).*/\1/p')
name=$(grep -lx "$((number))" $tracefs/*/*/id 2>/dev/null | sed "s|$tracefs/\(.*\)/\(.*\)/id|\1:\2|")
if [ -n "$name" ]; then
	ok "--header-only: a tracepoint by its number" test "$(header_of_timeline)" = "$number $name"
else
	skip "--header-only: a tracepoint by its number" "this machine has none of that number that can be read"
fi
ok "--header-only: and no table" not grep -q 'Total samples' <(view --header-only)
ok "... but the header" grep -q '^# hostname' <(view --header-only)
ok "... with the VMs, by perf report, too" grep -q '^# KVM guest : name = guest1, .* vCPUs = 1, map = yes$' \
	<("$PERF" report -f -i perf.data --header-only)
# Functions of a file that have no names are in its row, as those that have.
files()
{
	view -q -v --level host --sort dso | awk '/^ / { print $2 }'
}
files >"$TMP/files"
at_least 1 "files of the host" "$(grep -c '^/usr/' "$TMP/files")"
ok "... each is one row" test -z "$(sort "$TMP/files" | uniq -d)"
file=$(grep -m 1 '^/usr/' "$TMP/files")
ok "--dsos: with its directory" diff <(view -q --level host -d "$file") <(view -q --level host -d "${file##*/}")
ok "... there are rows" grep -q '^ .*%' <(view -q --level host -d "$file")

no_such_key()
{
	view --sort nope
	[ $? -eq 129 ] && grep -q "not told apart by 'nope' here, but by .* vcpu" "$TMP/warnings"
}
ok "refused: a key that there is not" no_such_key
# no_such_keys OPTION VALUE...: of perf, but of no use here
no_such_keys()
{
	view "$@"
	[ $? -eq 129 ] && grep -qE "not told apart by '.*' here, but by .* vcpu" "$TMP/warnings"
}
for bad in "--sort weight" "--sort dso,time" "-F overhead,weight" "--hierarchy --sort type"; do
	# shellcheck disable=SC2086 # options and their values
	ok "refused: a key that tells nothing: $bad" no_such_keys $bad
done
# instead KEY WHAT: what there is in place of it
instead()
{
	view --sort "$1"
	grep -q -e "^$2" "$TMP/warnings"
}
ok "refused: --sort time: what tells it" instead time "--interval tells when"
ok "refused: --sort tid: what there is" instead pid,tid "pid is a guest.s process"
# elsewhere OPTION WHAT: one of perf report's, with what there is in place of it, and no more
elsewhere()
{
	view "$1"
	[ $? -eq 129 ] && grep -qE -e "^$1 is not in perf kvm unified report: $2" "$TMP/warnings" &&
		[ "$(wc -l <"$TMP/warnings")" -le 2 ]
}
ok "refused: --stats: what has it" elsewhere --stats '.*perf report has it'
ok "refused: --tid: what there is" elsewhere --tid "use --sort task"
ok "refused: --objdump: what has it" elsewhere --objdump 'perf kvm unified annotate has it'
ok "... these are not in -h" not grep -q -e '--mem-mode' <("$PERF" kvm unified report -h 2>&1)
# All options of perf report are known, if only by name.
options_of()
{
	"$PERF" "$@" --list-opts 2>/dev/null | tr ' ' '\n' | grep -- '^--' | sort -u
}
options_of report >"$TMP/options"
at_least 70 "options of perf report" "$(wc -l <"$TMP/options")"
# unknown_options COMMAND
unknown_options()
{
	while read -r option; do
		"$PERF" kvm unified "$1" "$option" "$TMP/none" 2>&1 | grep "unknown option"
	done <"$TMP/options"
}
ok "perf report's options: each is known" test -z "$(unknown_options report | tee /dev/stderr)"
options_of diff >"$TMP/options"
at_least 20 "options of perf diff" "$(wc -l <"$TMP/options")"
ok "perf diff's options: each is known" test -z "$(unknown_options diff | tee /dev/stderr)"
"$PERF" kvm unified diff -c ratio >"$TMP/out" 2>&1
ok "refused: diff -c: a usage error" test $? -eq 129
ok "... and what there is" grep -q '^--compute is not in perf kvm unified diff: rows are in the order of their points' "$TMP/out"
ok "refused: -x without a parent" test "$(view -x >/dev/null; cat "$TMP/warnings")" = \
	"-x is for --sort parent: without it, no row has a parent"
for bad in '-w -5' '-w 5,x' '--max-stack -1' '--max-stack x'; do
	# shellcheck disable=SC2086 # an option and its value
	ok "refused: $bad" test "$(view $bad >/dev/null; echo $?)" -eq 129
	ok "... what it wants" grep -q -e 'wants' "$TMP/warnings"
done
ok "--children without call chains: it is said" grep -q 'no call chains in this profile: --children' \
	<(view --children; cat "$TMP/warnings")
ok "... and not if nobody asks for it" not grep -q 'no call chains in this profile' \
	<(view; cat "$TMP/warnings")
ok "-G without call chains: it is said" grep -q 'no call chains in this profile: -G' \
	<(view -G >/dev/null; cat "$TMP/warnings")
no_chains()
{
	view -g
	[ $? -eq 1 ] && grep -q 'no call chains in this profile: record with -g' "$TMP/warnings"
}
ok "refused: -g without call chains" no_chains
ok "-g: a word that it does not know is said" grep -q "^-g wants words and numbers .*not 'nosuch'" \
	<("$PERF" kvm unified report -f -i perf.data -g nosuch 2>&1)
printf '[report]\n\tsort_order = class\n\tpercent-limit = 0\n' >"$TMP/config"
ok "perfconfig: what report.sort_order and report.percent-limit say" \
	diff <(view --sort class) <(PERF_CONFIG=$TMP/config kvm_report "" --stdio)
ok "... is for perf's views" diff "$TMP/json" <(PERF_CONFIG=$TMP/config report --format json)
# bad_config VARIABLE VALUE WHY
bad_config()
{
	printf '[report]\n\t%s = %s\n' "$1" "$2" >"$TMP/config"
	! PERF_CONFIG=$TMP/config kvm_report "" --stdio || return
	cat "$TMP/warnings"
	grep -q "$3" "$TMP/warnings"
}
# perf report has keys that this has not.
printf '[report]\n\tsort_order = comm,type\n' >"$TMP/config"
other_keys()
{
	PERF_CONFIG=$TMP/config view "$@" >"$TMP/output" && cat "$TMP/warnings"
}
ok "perfconfig: keys that are of no use here are told of" grep -q \
	'^report.sort_order of perfconfig is not used here; --sort can be given' <(other_keys)
ok "... and not used" diff "$TMP/view" "$TMP/output"
ok "... with --sort there is no word on them" \
	not grep -q sort_order <(other_keys --sort class)
ok "... which counts" diff <(view --sort class) "$TMP/output"
# A typing error in what is ours
other_setting()
{
	printf '[kvm-unified]\n\tguest-rot = /srv\n' >"$TMP/config"
	PERF_CONFIG=$TMP/config view >"$TMP/output" && diff "$TMP/view" "$TMP/output" &&
		grep -qx 'perfconfig: there is no kvm-unified.guest-rot, but kvm-unified.guest-root and kvm-unified.guest-memory' "$TMP/warnings"
}
ok "perfconfig: a setting that there is not is told of" other_setting
ok "refused: perfconfig: a share that cannot be" bad_config percent-limit 300 \
	'^report.percent-limit wants a number'

# --- several events ----------------------------------------------------------------------

# The lab has no counters: a profile in which samples of the clock are those of cycles and
# instructions. How many there are of each function, perf script says.
"$TESTS/add-events" perf.data "$TMP/events.data"
events()
{
	report -i "$TMP/events.data" --format json
}
events >"$TMP/events.json"
# Samples of instructions stand for 750 each, see add-events.
samples_of_instructions()
{
	"$PERF" kvm unified report -f -i "$TMP/events.data" -k "$TREE/host/vmlinux" --stdio \
		--level host --percent-limit 0 -t ';' -F sample,class 2>/dev/null |
		awk -F ';' '/^ *[0-9]/ { split($1, n, " "); sum += n[3] } END { print sum }'
}
ok "several events: as many samples of another as there are" test "$(samples_of_instructions)" -eq \
	"$(json "$TMP/events.json" 'sum(n for event, n in level("host")["counts"].items() if "instructions" in event) // 750')"
ok "several events: all time is there once" "$TESTS/report-sums" "$TMP/events.json"
# counted EVENT PERIOD LEVEL: by the function's name; by script, and by the report
counted_by_script()
{
	"$PERF" kvm unified script -f -i "$TMP/events.data" -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" -F event,ip,sym 2>/dev/null |
		awk -v event="$1" -v period="$2" '
			$1 == event ":" && $3 ~ /^quantum_/ { n[$3]++ }
			END { for (name in n) print name, n[name] * period }' | sort
}
counted_by_report()
{
	json "$TMP/events.json" '"\n".join("%s %d" % pair for pair in sorted(
		__import__("functools").reduce(
			lambda sums, row: dict(sums, **{row["function"]: sums.get(row["function"], 0) +
				row["counts"]["'"$1"'"]}),
			[row for row in level("guest1")["rows"] if row["function"].startswith("quantum_")
				and row["counts"]["'"$1"'"]], {}).items()))'
}
for event in "cycles 1000" "instructions 750"; do
	# shellcheck disable=SC2086 # an event and its period
	counted_by_script $event >"$TMP/counted"
	ok "${event% *}: functions of a guest's processes have some" test -s "$TMP/counted"
	ok "${event% *}: as many as perf script has samples" \
		diff "$TMP/counted" <(counted_by_report "${event% *}")
done
ok "the host's counts have those of its VM" test \
	"$(json "$TMP/events.json" 'level("guest1")["counts"]["cycles"]')" -eq \
	"$(json "$TMP/events.json" 'next(row["counts"]["cycles"] for row in level("host")["rows"]
		if row["class"] == "VM")')"
ok "... and all" test $(("$(json "$TMP/events.json" 'level("host")["counts"]["cycles"]')" / 1000)) -eq \
	"$("$PERF" script -f -i "$TMP/events.data" -F event 2>/dev/null | grep -cx ' *cycles: *')"
view -i "$TMP/events.data" >"$TMP/view-events"
ok "a column for each, and IPC" grep -qE '^ +[0-9.]+% +[0-9.]+% +[0-9.]+% .* [0-9]\.[0-9][0-9] *$' \
	"$TMP/view-events"
ok "... which are named" grep -qx '# Overhead: time, cycles, instructions' "$TMP/view-events"
ipc_of()
{
	json "$TMP/events.json" '"%.2f" % (lambda counts: counts["instructions"] / counts["cycles"])(
		next(row["counts"] for row in level("host")["rows"] if row["function"] == "'"$1"'"))'
}
ok "IPC: instructions by cycles" test "$(ipc_of pv_native_safe_halt)" = \
	"$(view -i "$TMP/events.data" --sort sym,ipc -t ';' |
		awk -F ';' '/pv_native_safe_halt/ { print $NF + 0; exit }' | xargs printf '%.2f')"
# Class and samples of all tables: those of a row are its time by the period, rounded. CSV has them
# add up, so that some are one more or less.
class_samples()
{
	paste -d ' ' <(view -n --sort class -t ';' |
			awk -F ';' 'NF == 3 && $1 ~ /^ *[0-9.]+% *$/ { gsub(/ /, ""); print $3, $2 }' | sort) \
		<(report --format csv --sort class | awk -F , 'NR > 1 { print $4, $10 }' | sort) |
		awk '{ print } $1 != $3 || $2 - $4 > 1 || $4 - $2 > 1 { bad = 1 } END { exit bad || NR < 5 }'
}
ok "-n: as many samples as all of a row's time is" class_samples
# Rows are sorted by what they show: each table begins anew, after a line of its own.
by_samples()
{
	view -F sample,class,sym -t ';' | awk -F ';' 'NF != 3 || $1 !~ /^ *[0-9]+ *$/ { last = -1; next }
		{ n++; bad += last >= 0 && $1 + 0 > last; last = $1 + 0 } END { exit bad || n < 20 }'
}
ok "-F sample: most samples first" by_samples
# unknown_in_view OPTION..., unknown_in_json OPTION...: ns of which nothing is known, of all tables
unknown_in_view()
{
	view "$@" -F period,dso,sym -t ';' |
		awk -F ';' '$2 ~ /^\[unknown time\] *$/ { ns += $1 } END { printf "%.0f\n", ns }'
}
unknown_in_json()
{
	report --format json "$@" >"$TMP/unknown.json"
	json "$TMP/unknown.json" 'sum(row["time_ns"] for x in r[0].json["levels"] for row in x["rows"]
		if row["class"] == "unknown" and row["function"] == "[unknown]")'
}
for profile in perf.data events.data; do
	ok "$profile: what is not known is not the same row as code without a name" test \
		"$(unknown_in_view -i "$profile")" = "$(unknown_in_json -i "$profile")"
done
# Of four samples that follow each other, one is of cycles and two are of instructions (add-events).
samples_of()
{
	echo $(($(json "$TMP/events.json" "level(\"host\")[\"counts\"][\"$1\"]") / $2))
}
within 2 "... as it was made: two samples of instructions for each of cycles" \
	"$(samples_of instructions 750)" "$((2 * $(samples_of cycles 1000)))"
view --sort ipc >/dev/null
ok "--sort ipc without such events: a warning" grep -q "^No row has an IPC: .*record -e cycles,instructions" \
	"$TMP/warnings"
ok "--sort ipc without such events: a column without values" \
	not grep -qE ' [0-9]+\.[0-9][0-9] *$' <(view --sort dso,ipc | grep -v '^#')
ok "one event: no counts in JSON" not grep -q '"counts"' "$TMP/json"

# of_task NAME: --comms leaves what the host's table has of that, and nothing else
of_task()
{
	kvm_report "" --stdio -q --percent-limit 0 --level host | awk -v name="$1" '
		/^ / && $2 ~ "^[0-9]+:" name "$" { $1 = ""; print }' | sort >"$TMP/wanted"
	[ -s "$TMP/wanted" ] && diff "$TMP/wanted" <(kvm_report "" --stdio -q --percent-limit 0 \
		--level host --comms "$1" | awk '/^ / { $1 = ""; print }' | sort)
}
ok "--comms: a task of the host" of_task qemu-system-x86
ok "--comms: what idles" of_task swapper
ok "--comms: only what is of guests, from a guest's table" not grep -q qemu \
	<(kvm_report "" --stdio -q --percent-limit 0 --level vm --comms qemu-system-x86)

# --- and the call chains of the host ---

chains=$LAB_OUT/refusals/chains.data
ok "there is a profile with call chains" test -d "$chains"
# Functions that have called others, and were not sampled themselves
only_callers()
{
	"$PERF" kvm unified export -f -i "$chains" -k "$TREE/host/vmlinux" 2>/dev/null |
		sed 's/ [0-9]*$//' | awk -F ';' '
			{ leaf[$NF]; for (i = 1; i < NF; i++) if ($i ~ /^[a-z_0-9]+_\[k\]$/) called[$i] }
			END { for (f in called) if (!(f in leaf)) { sub(/_\[k\]$/, "", f); print f } }'
}
caller=$(only_callers | sort | head -n 1)
chains()
{
	"$PERF" kvm unified report -f -i "$chains" -k "$TREE/host/vmlinux" --stdio \
		"$@" 2>"$TMP/warnings"
}
chains -S "$caller" >/dev/null
ok "--symbols: one that was not sampled, but has called what was" \
	grep -q "^--symbols: '$caller' has called what was sampled" "$TMP/warnings"
chains >"$TMP/chains"
ok "-H: no callers' time, and rows in their places" not grep -q Children \
	<(chains -H -g none)
chains -H --children -g none >/dev/null
ok "-H --children: that there is no such column" grep -qx 'With --hierarchy there is no column of --children' \
	"$TMP/warnings"
chains -H -g none >/dev/null
ok "... and if nobody asked for it, not a word" not grep -q -e --children "$TMP/warnings"
ok "-H: a process is above its modules" grep -qE '^ +[0-9.]+% +[0-9]+:qemu-system-x86' <(chains -H -g none)
ok "-g: columns for callers and for code itself" grep -q '^# Children .*Self' "$TMP/chains"
ok "-g: the callers of a function" grep -qE '^ +[|-].*[a-z_]+' "$TMP/chains"
# Of callers: children, and themselves
callers_have_more()
{
	awk '/do_syscall_64/ && $1 + 0 > $2 + 0 { found = 1 } END { exit !found }' \
		"$TMP/chains"
}
ok "-g: a caller has what it calls" callers_have_more
ok "-g: callers in the kernel are the kernel's" test \
	"$(awk '/ do_syscall_64/ { print $(NF - 1) }' <(chains -g none --sort sym) | sort -u)" = '[k]'
ok "--inline: inlined functions are callers" grep -q '(inlined)' <(chains -g none --inline)
ok "--no-inline: they are not" not grep -q '(inlined)' <(chains -g none --no-inline)
# only_named NAME: its rows are there, with what it has called, and no other's
only_named()
{
	chains -g none "$1" >"$TMP/named"
	awk -v name="$1" '$1 ~ /%$/ { n++; others += !index($0, name); more += $1 + 0 > $2 + 0 }
		END { exit !(n && more && !others) }' "$TMP/named"
}
ok "-g: a word: rows of callers with it in their names, too" only_named do_syscall_64
# Half of it without symbols, as a caller and as itself
kernels()
{
	"$PERF" kvm unified report -f -i "$chains" --ignore-vmlinux --kallsyms /dev/null --stdio -g none \
		--sort dso --level host --percent-limit 0 2>"$TMP/warnings" | grep -c '\[kernel'
}
ok "-g: the host's kernel is one module" test "$(HOME=$TMP kernels)" -eq 1
ok "--no-children: no such column" not grep -q Children <(chains --no-children)
ok "--no-call-graph: no callers" not grep -qE -- '--[a-z0-9.]*--|---' <(chains --no-call-graph)
ok "what is recorded without is the same" diff \
	<(chains --no-call-graph --no-children --sort class -F period,class) \
	<(chains --no-children -g none --sort class -F period,class)

events=$LAB_OUT/libquantum/events.data
ok "there is a profile with several events" test -d "$events"
"$PERF" kvm unified report -f -i "$events" --format json >"$TMP/events.json" 2>"$TMP/warnings"
ok "software events: all time is there once" "$TESTS/report-sums" "$TMP/events.json"
ok "software events: no word of samples left out" not grep -q 'not in this report' "$TMP/warnings"
# The first clock's samples and the second's are not compared: where their periods are in step with
# the host's ticks, one of them may find the guest less often.
guest_samples_of()
{
	"$PERF" script -f -i "$events" -F event,vcpu_ctx 2>/dev/null | grep -c "$1.*: .* guest "
}
another_clock=$(guest_samples_of task-clock)
at_least 1 "software events: another clock has seen the guest, samples" "$another_clock"
ok "... each stands for its period" test "$((another_clock * 617003))" -eq \
	"$(json "$TMP/events.json" 'level("guest1")["counts"]["task-clock/period=617003/"]')"
ok "software events: page faults of the host, none of the guest" json "$TMP/events.json" \
	'1 / (level("host")["counts"]["page-faults/period=1/"] > 0 ==
		level("guest1")["counts"]["page-faults/period=1/"])'
# All rows of the host, and those of --percent-limit: some have less of the time, and more faults.
events_host()
{
	"$PERF" kvm unified report -f -i "$events" --stdio --level host --percent-limit "$1" 2>/dev/null
}
events_host 0 | grep '^ ' >"$TMP/rows"
events_host 1 >"$TMP/limited"
# shellcheck disable=SC2016 # awk's $
ok "several events: rows with little time, and more of another event" \
	awk '$1 + 0 < 1 && $3 + 0 >= 1 { found = 1 } END { exit !found }' "$TMP/rows"
ok "... --percent-limit is of the time" diff <(awk '$1 + 0 >= 1' "$TMP/rows") <(grep '^ ' "$TMP/limited")
ok "... which is said" grep -qE '^# [0-9]+ more below 1.00% of time: ' "$TMP/limited"
# hidden_percent COLUMN: of the rows that are not shown
hidden_percent()
{
	awk -v column="$1" '$1 + 0 < 1 { sum += $column } END { printf "%.2f\n", sum }' "$TMP/rows"
}
within 0.2 "... with what they have of page faults" "$(hidden_percent 3)" "$(
	sed -nE 's/^# [0-9]+ more below 1.00% of time: .*, and ([0-9.]+)% of page-faults.*/\1/p' "$TMP/limited")"
# --- perf's own commands ---------------------------------------------------------------

guest_files=$MAIN_TREE/guest/root
views()
{
	"$PERF" kvm unified "$1" -f -i perf.data --guest-root "$guest_files" "${@:2}" \
		2>"$TMP/warnings"
}
views script -F comm,ip,sym,dso >"$TMP/script"
ok "script: an exit code of 0" test $? -eq 0
ok "script: a guest's function has its name, and its file is the guest's" \
	grep -qF "($guest_files/" <(grep "quantum_.*/libquantum.so.8)" "$TMP/script")
ok "script: without the guest's files, its functions have no names" \
	not grep -q quantum_ <("$PERF" kvm unified script -f -i perf.data -F comm,ip,sym,dso 2>/dev/null)
ok "script: a guest that there is not" not views script --guest-root nope=/tmp
ok "... and which there are" grep -q 'There is: guest1' "$TMP/warnings"
views script -F time --ns >"$TMP/times"
# since FROM UNTIL: samples from so many seconds after the first one on
since()
{
	awk -v from="$1" -v until="$2" 'NR == 1 { first = $1 + 0 }
		$1 + 0 >= first + from && $1 + 0 <= first + until' "$TMP/times"
}
at_least 10 "samples of a part of a second" "$(since .5 1 | wc -l)"
for time in '--time +500ms,+1' '--time=+.5,+1s'; do
	# shellcheck disable=SC2086 # an option and its value
	ok "script $time: since the first sample" diff <(since .5 1) <(views script -F time --ns $time)
done
ok "script --time: the last one counts" diff <(since .5 1) \
	<(views script -F time --ns --time +1,+2 --time +.5,+1)
ok "script --time: several" diff <(since .1 .2; since .5 1) \
	<(views script -F time --ns --time '+.5,+1 +.1,+.2')
ok "script --time: from the last sample" diff \
	<(awk 'NR == FNR { last = $1 + 0; next } $1 + 0 >= last - .5' "$TMP/times" "$TMP/times") \
	<(views script -F time --ns --time -500ms,)
ok "script --time: by the clock, as perf script has it" diff <(since .5 1) \
	<(views script -F time --ns --time "$(since .5 1 |
		awk '{ sub(":", "") } NR == 1 { from = $1 } END { print from "," $1 }')")
ok "script --time: parts in percent with blanks between them" diff \
	<(views script -F time --ns --time '10%-20%  50%-60%') \
	<(views script -F time --ns --time 10%-20%,50%-60%)
ok "... and one of perf script" test -n "$(views script -F time --time 10%)"
for time in +1,x +4,+2 '10%-20% 50%'; do
	ok "script --time $time: refused" not views script --time "$time"
	ok "... which is said" grep -qF "'$time'" "$TMP/warnings"
done
ok "script --time: after the end" not views script --time +1000,+2000
ok "... which is said" grep -q '^--time: the measurement is from ' "$TMP/warnings"
views script --reltime --time +1,+2
ok "script --reltime: a usage error" test $? -eq 129
ok "... what it knows" grep -q 'have no sign: --time 1,2' "$TMP/warnings"
"$TESTS/to-stream" perf.data >"$TMP/as-stream"
"$PERF" kvm unified script -i - --time +1, <"$TMP/as-stream" >"$TMP/script" 2>"$TMP/warnings"
ok "script of a stream: it has no such times" test $? -eq 1
ok "... which is said" grep -q 'does not say when its first and last samples were' "$TMP/warnings"
views annotate --stdio -s quantum_toffoli._omp_fn.0 >"$TMP/annotate"
ok "annotate: an exit code of 0" test $? -eq 0
ok "annotate: instructions of a guest's function" \
	grep -q '<quantum_toffoli._omp_fn.0>:' "$TMP/annotate"
ok "annotate: ... and no word on kernels" not grep -q 'not annotated' "$TMP/warnings"
ok "... nor on files" not grep -q guest-root "$TMP/warnings"
ok "annotate: and some that samples have hit" \
	grep -qE '^ +[1-9][0-9]*\.[0-9]+ +: +[0-9a-f]+:' "$TMP/annotate"

guest_kernel_function()
{
	kvm_report "" --stdio -q --level vm -F sym -d '[guest.kernel.*' | awk '/\[g\]/ { print $2; exit }'
}
views annotate --stdio -s "$(guest_kernel_function)" >"$TMP/annotate"
ok "annotate: a function of a guest's kernel: an exit code of 0" test $? -eq 0
ok "... no code" test ! -s "$TMP/annotate"
ok "... which is said, and what there is" \
	grep -q "^Functions of guests' kernels are not annotated: .* vmlinux" "$TMP/warnings"
ok "... and no error of perf's" not grep -qE 'Internal error|objdump:|Error' "$TMP/warnings"

# Without the guest's files
annotate()
{
	"$PERF" kvm unified annotate -f -i perf.data -k "$TREE/host/vmlinux" --stdio "$@" \
		>"$TMP/annotate" 2>"$TMP/warnings"
}
annotate quantum_toffoli._omp_fn.0
ok "annotate: a function whose file is missing: an exit code of 0" test $? -eq 0
ok "... no code" test ! -s "$TMP/annotate"
ok "... which is said" grep -q '^No sample is known to be in quantum_toffoli._omp_fn.0\. ' "$TMP/warnings"
libquantum='^  /.*/libquantum\.so\.8[^ ]* of guest guest1 \([0-9]+ samples?\) is not'
ok "... which file it may be in, and what helps" \
	grep -qE "$libquantum here: --guest-root guest1=DIR$" "$TMP/warnings"
annotate --guest-root "$TMP" -s quantum_toffoli._omp_fn.0
ok "... below a directory that has it not" \
	grep -qE "$libquantum below $TMP: --guest-root guest1=DIR$" "$TMP/warnings"
for asked in '-s%s' --symbol=%s '%s --percent-limit 5' '--stdio2 %s'; do
	# shellcheck disable=SC2046,SC2059 # options, and a format
	annotate $(printf -- "$asked" quantum_toffoli._omp_fn.0)
	ok "annotate $asked: the function is known" \
		grep -q '^No sample is known to be in quantum_toffoli._omp_fn.0\. ' "$TMP/warnings"
done
# None is shown: that takes objdump a while for each.
annotate --percent-limit 100
ok "annotate: all functions: those in missing files are left out" \
	grep -qx 'Functions of files that are missing are not annotated:' "$TMP/warnings"
ok "... with the files" grep -qE "$libquantum here" "$TMP/warnings"
ok "... and no error of perf's" not grep -qE 'Internal error|objdump:|Error' "$TMP/warnings"
host_function=$(kvm_report "" --stdio -q --level host -F sym -d '[kernel.kallsyms]' |
	awk '/\[k\]/ { print $2; exit }')
annotate -s "$host_function"
ok "annotate: a function of the host" test -s "$TMP/annotate"
# A guest's kernel may have been in a function of that name, which is said.
ok "... no word on guests' files" not grep -q -e '--guest-root guest1=' "$TMP/warnings"

# --- for other tools --------------------------------------------------------------------

# --format html is a program beside perf, which gets all else.
mkdir "$TMP/beside"
printf '#!/bin/sh\nprintf "%%s\\n" "$@"\nexit 3\n' >"$TMP/beside/perf-kvm-unified-page"
chmod +x "$TMP/beside/perf-kvm-unified-page"
page_is_run()
{
	local code=0

	"$PERF" --exec-path="$TMP/beside" kvm unified report -i some "$@" -o x.html --vm a >"$TMP/args" || code=$?
	cat "$TMP/args"
	[ "$code" -eq 3 ] &&
		cmp "$TMP/args" <(printf '%s\n' --perf "$(realpath "$PERF")" -i some -o x.html --vm a)
}
ok "--format=html: the program for that is run, with all other arguments" page_is_run --format=html
ok "--format html: the same" page_is_run --format html
ok "--form html, as perf takes options: the same" page_is_run --form html
ok "--forma=html: the same" page_is_run --forma=html
ok "--for html: it may be --force" grep -q 'Ambiguous option: for ' \
	<("$PERF" kvm unified report --for html 2>&1)
page_is_missing()
{
	local code=0

	"$PERF" --exec-path=/nowhere kvm unified report -i some --format html 2>"$TMP/err" || code=$?
	cat "$TMP/err"
	[ "$code" -eq 1 ] && grep -q '^Cannot run perf-kvm-unified-page.*: No such file' "$TMP/err"
}
ok "--format html without it: refused" page_is_missing
ok "html is a format of report alone" not "$PERF" kvm unified diff --format html old new

# export_of OPTION...
export_of()
{
	"$PERF" kvm unified export -f -i perf.data -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" "$@" 2>"$TMP/warnings"
}
export_of >"$TMP/folded"
ok "export: an exit code of 0" test $? -eq 0
ok "export: the time of the report, in each function, process and state" \
	"$TESTS/folded-sums" "$TMP/folded" "$TMP/json"
ok "export: a guest's function in its process on its vCPU" \
	grep -qE '^guest1;vCPU 0;shor-[0-9]+;quantum_toffoli[^;]* [0-9]+$' "$TMP/folded"
ok "export: the guest's kernel" grep -qE '^guest1;vCPU 0;\[kernel\];[^;]+_\[k\] [0-9]+$' "$TMP/folded"
ok "export: who has stolen" grep -qE '^guest1;vCPU 0;\[steal\];\(.*\) [0-9]+$' "$TMP/folded"
ok "export: the VM on the host" grep -qE '^\[host\];\[guest1\] [0-9]+$' "$TMP/folded"
ok "export: the host's processes" grep -qE '^\[host\];[^;]+-[0-9]+;.*_\[k\] [0-9]+$' "$TMP/folded"
export_of --level vm >"$TMP/folded-vm"
report --level vm --format json >"$TMP/json-vm"
ok "export: --level vm: no vCPUs" not grep -q '^guest1;vCPU' "$TMP/folded-vm"
ok "... and the same time" "$TESTS/folded-sums" "$TMP/folded-vm" "$TMP/json-vm"
ok "... which is all there is" not grep -vq '^guest1;' "$TMP/folded-vm"
report --time 10%-30% --format json >"$TMP/json-time"
ok "export: --time" "$TESTS/folded-sums" <(export_of --time 10%-30%) "$TMP/json-time"
report --attribution domain-switch --format json >"$TMP/domain"
ok "export: --attribution" \
	"$TESTS/folded-sums" <(export_of --attribution domain-switch) "$TMP/domain"
ok "export: --comms: that alone" not grep -vq '^guest1;vCPU 0;shor-' <(export_of --comms shor)
export_of --format pprof >"$TMP/pprof"
ok "pprof: the time of the report, in code, idle, stolen, and the rest" \
	"$TESTS/pprof" "$TMP/pprof" sums "$TMP/json"
"$TESTS/pprof" "$TMP/pprof" stacks >"$TMP/pprof-stacks"
ok "pprof: a guest's function, with its process and vCPU as labels" \
	grep -qE '^vcpu guest1 0 shor [0-9]+ cpu: quantum_toffoli[^;]* [0-9]+$' "$TMP/pprof-stacks"
ok "pprof: who has stolen" grep -qE '^vcpu guest1 0 - - steal: \[steal\];\(.*\) [0-9]+$' "$TMP/pprof-stacks"
ok "pprof: idle time of the host" grep -qE '^host - - swapper 0 idle: pv_native_safe_halt_\[k\] [0-9]+$' \
	"$TMP/pprof-stacks"
ok "pprof: --level vm" "$TESTS/pprof" <(export_of --format pprof --level vm) sums "$TMP/json-vm" vm
ok "pprof: --attribution" \
	"$TESTS/pprof" <(export_of --format pprof --attribution domain-switch) sums "$TMP/domain"
ok "pprof: the same each time" cmp "$TMP/pprof" <(export_of --format pprof)
export_of --format rows >"$TMP/rows"
ok "rows: the time of the report, in each class, function and process" "$TESTS/rows-sums" "$TMP/rows" "$TMP/json"
ok "rows: such as a fleet's database takes" "$TOP/scripts/fleet/load" --check --window 2026-11-30T10:00:00 "$TMP/rows"
ok "rows: --level vcpu: none of the host" not grep -q '"level": "host"' <(export_of --format rows --level vcpu)
export_of --format speedscope >"$TMP/speedscope"
ok "speedscope: the time of the report, in each function" "$TESTS/speedscope" "$TMP/speedscope" "$TMP/json"
ok "speedscope: --time" "$TESTS/speedscope" <(export_of --format speedscope --time 10%-30%) "$TMP/json-time"
export_of --format trace >"$TMP/trace"
ok "trace: tracks without gaps, with the time of the report" "$TESTS/trace" "$TMP/trace" "$TMP/json"
ok "trace: who has stolen" grep -qE '"name":"steal","args":\{"cpu":[0-9]+,"by": "[^"]+"' "$TMP/trace"
ok "trace: the vCPU on its CPU" grep -q '"pid":1,.*"name":"guest1 vCPU 0"' "$TMP/trace"
ok "trace: an idle CPU has its task, as in a trace of the scheduler" grep -q '"name":"swapper"' "$TMP/trace"
ok "trace: --time" "$TESTS/trace" <(export_of --format trace --time 10%-30%) "$TMP/json-time"
ok "trace: --level vcpu: no CPU, and no flow to one" \
	not grep -qE '"pid":1,"tid":[1-9]|"ph":"[sf]"' <(export_of --format trace --level vcpu)
ok "trace: --level host: no vCPU" not grep -q '"pid":2,"tid":1,"ts"' <(export_of --format trace --level host)
# to_terminal OPTION...: standard output is one.
to_terminal()
{
	env PERF_PAGER=cat timeout 60 script -qec "$PERF kvm unified export -f -i perf.data $*" /dev/null \
		</dev/null >"$TMP/warnings"
}
ok "refused: pprof's format to a terminal" not to_terminal --format pprof
ok "... and what to do" grep -q 'is not for a terminal: give -o FILE' "$TMP/warnings"
# What is written to a file, with another one in its place
exported()
{
	echo before >"$TMP/out.folded"
	export_of -o "$TMP/out.folded" >"$TMP/out" && test ! -s "$TMP/out" &&
		diff "$TMP/folded" "$TMP/out.folded" && test "$(cat "$TMP/out.folded.old")" = before
}
ok "export: -o, and what was there is kept" exported
# export_fails CODE MESSAGE OPTION...
export_fails()
{
	local code=0

	export_of "${@:3}" >"$TMP/out" || code=$?
	cat "$TMP/warnings"
	[ "$code" -eq "$1" ] && grep -qE -e "$2" "$TMP/warnings" && [ ! -s "$TMP/out" ]
}
ok "refused: export of a VM that there is not" export_fails 1 "no VM 'guest7'.* There is: guest1" \
	--vm guest7 -o "$TMP/out.folded"
ok "... and what was written before stays" diff "$TMP/folded" "$TMP/out.folded"
ok "refused: export in a format that there is not" \
	export_fails 129 "--format knows folded, pprof, rows, speedscope, trace, but not 'svg'" --format svg
ok "refused: a time line of processes" export_fails 129 'knows no --pid and --comms' --format trace --comms shor
ok "refused: vCPUs of the host" export_fails 129 'is of vCPUs: --level host has none' --format speedscope --level host
ok "refused: a time line of VMs" export_fails 129 'no time line of its own' --format trace --level vm
ok "refused: export of vCPUs and of VMs" export_fails 129 'not both' --level vm,vcpu
ok "refused: export with a stray word" export_fails 129 'Unknown argument: stray' stray
ok "export to a full disk" export_fails 1 'Cannot write to /dev/full: No space left' -o /dev/full
ok "... which is still there" test -c /dev/full
full_stdout()
{
	export_of >/dev/full
	[ $? -eq 1 ] && grep -q 'Cannot write to standard output: No space left' "$TMP/warnings"
}
ok "... as standard output" full_stdout
# A part of a file must not be taken for all. ulimit counts KiB.
too_large()
{
	local code=0

	(ulimit -f 8 -c 0 && export_of --format rows -o "$TMP/out.rows") || code=$?
	[ "$code" -eq "$((128 + $(kill -l XFSZ)))" ] && [ ! -e "$TMP/out.rows" ]
}
ok "export is ended while it writes: no part of the file is left" too_large
# Ctrl-C when the file is there; it may be whole then.
interrupted()
{
	local code=0 pid

	# A job that is started in the background ignores Ctrl-C, unless it is one of a shell with jobs.
	set -m
	export_of --format rows -o "$TMP/out.rows" &
	pid=$!
	set +m
	while [ ! -e "$TMP/out.rows" ] && kill -0 "$pid" 2>/dev/null; do :; done
	kill -INT -- "-$pid" 2>/dev/null
	wait "$pid" || code=$?
	if [ -e "$TMP/out.rows" ]; then
		cmp "$TMP/rows" "$TMP/out.rows"
	else
		[ "$code" -eq 130 ]
	fi
}
ok "export, and Ctrl-C: all of the file, or nothing" interrupted
rm -f "$TMP/out.rows"
ok "export to a directory that there is not" export_fails 1 'none/out: No such file' -o "$TMP/none/out"

export_of -i "$TMP/events.data" >"$TMP/folded-events"
report -i "$TMP/events.data" --format json >"$TMP/of-events.json"
ok "export: of several events, the time" \
	"$TESTS/folded-sums" "$TMP/folded-events" "$TMP/of-events.json"

# With callers: the outermost first, and the time that there is without
export_of -i "$chains" >"$TMP/folded-chains"
"$PERF" kvm unified report -f -i "$chains" -k "$TREE/host/vmlinux" --format json \
	>"$TMP/json-chains" 2>/dev/null
ok "export: callers are outside" grep -qE \
	'^\[host\];[^;]+;(.*;)?do_syscall_64_\[k\];(.*;)?[a-z_0-9]+_\[k\] [0-9]+$' "$TMP/folded-chains"
ok "... and what was hit is inside of them, once" not grep -E '([a-z_]*safe_halt_\[k\]);\1' \
	<(grep 'safe_halt_\[k\] [0-9]*$' "$TMP/folded-chains")
ok "export: with callers, the time of the report" \
	"$TESTS/folded-sums" "$TMP/folded-chains" "$TMP/json-chains"

# Where SIGPIPE is ignored: who reads it has had enough.
mkfifo "$TMP/pipe"
# unread COMMAND OPTION...: into a pipe that nobody reads any more
unread()
{
	(
		trap '' PIPE
		# shellcheck disable=SC2094 # nothing is in it
		exec 8<>"$TMP/pipe" 9>"$TMP/pipe" 8>&-
		"$PERF" kvm unified "$@" >&9 2>"$TMP/errors"
	)
	echo "exit code $?" >>"$TMP/errors"
}
failed_silently()
{
	grep -qx 'exit code [1-9][0-9]*' "$TMP/errors" && ! grep -E 'Broken pipe|Cannot' "$TMP/errors"
}
for command in "report -f -i perf.data --format json" "export -f -i perf.data -o -" \
	"diff --format csv perf.data perf.data"; do
	# shellcheck disable=SC2086 # options
	unread $command
	ok "${command%% *}, into a pipe that nobody reads any more: it fails, without a word" failed_silently
	ok "... as if SIGPIPE had ended it" grep -qx 'exit code 141' "$TMP/errors"
done
unread report -f -i perf.data --stdio
ok "... report, as text: the same" grep -qx 'exit code 141' "$TMP/errors"

# --- a stream --------------------------------------------------------------------------

# stream FILE OPTION...: a report of it, as JSON if nothing else is said
stream()
{
	case " $* " in
	*' --format '*|*' --stdio '*) ;;
	*)	set -- "$@" --format json ;;
	esac
	# shellcheck disable=SC2002 # a pipe, as perf record has one in front of it
	cat "$1" | "$PERF" kvm unified report -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" "${@:2}" 2>"$TMP/warnings"
}
# streamed DIR OPTION...: what a stream has of it is what the directory has, to the ns, and
# what is to be said of it. Neither maps nor what looks at vCPUs have said are in a stream.
streamed()
{
	local dir=$TMP/unseen

	rm -rf "$dir"
	cp -r "$1" "$dir" && rm -f "$dir/vcpu_looks" || return
	shift
	"$TESTS/to-stream" "$dir" >"$TMP/of-dir" && stream "$TMP/of-dir" "$@" >"$TMP/streamed" ||
		return
	case " $* " in
	*' --format '*|*' --stdio '*) ;;
	*)	set -- "$@" --format json ;;
	esac
	"$PERF" kvm unified report -f -i "$dir" -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" --no-guest-maps "$@" 2>"$TMP/of-dir.warnings" |
		diff -q - "$TMP/streamed" && diff "$TMP/of-dir.warnings" "$TMP/warnings"
}
map=$(echo perf.data/guest_map__*)
ok "stream: all of the report is as of the directory" streamed perf.data
ok "stream: in sample mode, too" streamed perf.data --no-timeline
ok "stream: as CSV" streamed perf.data --format csv
ok "stream: as a table" streamed perf.data --format table
ok "stream: in intervals from the same moment on" streamed perf.data --format csv --interval 1s
ok "stream: as perf's text" streamed perf.data --stdio --sort class,vm,sym
ok "stream: with a map that is given, and names" streamed perf.data --guest-map guest1="$map"
ok "... which are those of the guest" grep -q quantum_toffoli "$TMP/streamed"
ok "stream: with several events" streamed "$TMP/events.data"
ok "stream: with call chains" streamed "$LAB_OUT/refusals/chains.data" --stdio -g
"$TESTS/to-stream" perf.data >"$TMP/stream"
# diff_of OLD NEW: as CSV, of what a stream has, too
diff_of()
{
	"$PERF" kvm unified diff -f -k "$TREE/host/vmlinux" --no-guest-maps --format csv "$@" 2>>"$TMP/warnings"
}
rm -rf "$TMP/unseen"
cp -r perf.data "$TMP/unseen"
rm -f "$TMP/unseen/vcpu_looks"
diff_of "$TMP/unseen" "$TMP/unseen" >"$TMP/of-dirs"
at_least 10 "diff: rows" "$(wc -l <"$TMP/of-dirs")"
ok "diff: a function of the host is one row, whatever processes it is of" \
	test -z "$(awk -F, '$1 == "host" { print $4, $5, $6 }' "$TMP/of-dirs" | sort | uniq -d; grep '^host,.*"swapper"' "$TMP/of-dirs")"
ok "diff: the new one as a stream" diff "$TMP/of-dirs" <(diff_of "$TMP/unseen" - < <(cat "$TMP/stream"))
ok "diff: the old one" diff "$TMP/of-dirs" <(diff_of - "$TMP/unseen" < <(cat "$TMP/stream"))
exported_stream()
{
	# shellcheck disable=SC2002 # a pipe, as perf record has one in front of it
	cat "$TMP/stream" | "$PERF" kvm unified export -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" --guest-map guest1="$map" >"$TMP/folded-stream" 2>"$TMP/warnings" &&
		stream "$TMP/stream" --guest-map guest1="$map" >"$TMP/json-stream" &&
		"$TESTS/folded-sums" "$TMP/folded-stream" "$TMP/json-stream" &&
		grep -q '^guest1;vCPU 0;shor-[0-9]*;quantum_toffoli' "$TMP/folded-stream"
}
ok "stream: export" exported_stream
"$TESTS/to-stream" perf.data late >"$TMP/late"
stream "$TMP/stream" >"$TMP/stream.json"
# Until the first sample or event of the guest, its vCPU's thread is a thread like any other.
stream "$TMP/late" >"$TMP/late.json"
ok "stream: VMs that are known at its end only are the same" diff \
	<(json "$TMP/stream.json" 'guest()') <(json "$TMP/late.json" 'guest()')
within 0.2 "stream: ... and have the same, USER %" "$(json "$TMP/stream.json" 'share("guest1", "USER")')" \
	"$(json "$TMP/late.json" 'share("guest1", "USER")')"
# Without a time line, what is over leaves the axis before the VM has its name.
intervals_of()
{
	stream "$1" --no-timeline --interval 2s --format csv "${@:2}" | cut -d, -f1-4
}
ok "stream: ... in intervals, too" diff <(intervals_of "$TMP/late") <(intervals_of "$TMP/late" --vm guest1)
ok "stream: ... and not by what it was called before" not stream "$TMP/late" --no-timeline \
	--interval 2s --vm "vm-$vm_pid"
ok "stream: in a file" diff "$TMP/stream.json" \
	<(kvm_report '' -i "$TMP/stream" --format json)
ok "stream: -i -, in front of unified" diff <(stream "$TMP/stream" --format csv) \
	<("$PERF" kvm -i - unified report -k "$TREE/host/vmlinux" --format csv \
		--guest-root "$guest_files" <"$TMP/stream")
ok "stream: --header-only" grep -q '^# KVM guest : name = guest1, .* vCPUs = 1, map = no$' \
	<(stream "$TMP/stream" --stdio --header-only)
ok "... which has what the recording says" grep -q '^# nrcpus online : 2$' \
	<(stream "$TMP/stream" --stdio --header-only)
ok "... and no more" not grep -q 'Total samples' <(stream "$TMP/stream" --stdio --header-only)
ok "stream: perf script has as many samples" test \
	"$("$PERF" script -i - -F event <"$TMP/stream" 2>/dev/null | wc -l)" -eq \
	"$("$PERF" script -f -i perf.data -F event 2>/dev/null | wc -l)"
ok "stream: perf report tells the guest's address spaces apart" grep -q '%.*\[cr3 0x' \
	<("$PERF" report -i - --stdio --sort comm <"$TMP/stream" 2>/dev/null)
ok "stream: perf kvm unified script" grep -q '\[cr3 0x' \
	<("$PERF" kvm unified script -i - --guest-root "$guest_files" -F comm <"$TMP/stream" 2>/dev/null)
# stream_refused WHAT MESSAGE COMMAND...: of what the command writes
stream_refused()
{
	local what=$1 message=$2
	shift 2

	"$@" >"$TMP/bad-stream"
	ok "refused: $what" not stream "$TMP/bad-stream"
	ok "... and it is said" grep -qE "$message" "$TMP/warnings"
}
no_stream='is no stream of perf kvm unified record -o -'
stream_refused "an empty stream" "$no_stream" true
stream_refused "a stream of something else" "$no_stream" cat "$PERF"
stream_refused "the file of a directory" "$no_stream" cat perf.data/data
stream_refused "the table of VMs alone" 'does not say what was recorded' cat perf.data/vms
stream_refused "the map of a guest" 'does not say what was recorded' cat "$map"
stream_refused "a stream that ends in its header" 'does not say what was recorded' \
	head -c 3000 "$TMP/stream"
ok "refused: a VM that there is not" not stream "$TMP/stream" --vm guest7
ok "... and which there are" grep -q "no VM 'guest7' in standard input. There is: guest1" "$TMP/warnings"
ok "refused: a map of a guest that there is not" not stream "$TMP/stream" --guest-map guest7="$map"
ok "... and which there are, too" grep -q 'There is: guest1' "$TMP/warnings"
ok "refused: --guest-map for perf script" not "$PERF" kvm unified script -i - \
	--guest-map guest1="$map" <"$TMP/stream"
ok "refused: -g without call chains" not stream "$TMP/stream" --stdio -g
ok "... and nothing else is said" test "$(cat "$TMP/warnings")" = \
	"There are no call chains in this profile: record with -g"
head -c "$(($(stat -c %s "$TMP/stream") / 2))" "$TMP/stream" >"$TMP/cut-stream"
stream "$TMP/cut-stream" >"$TMP/cut.json"
ok "a stream that is cut off: what there is adds up" "$TESTS/report-sums" "$TMP/cut.json"
ok "... and it is said" grep -q 'The stream ends before the recording did' "$TMP/warnings"
# All but the records that stand in vms, and the one behind them
head -c -"$(($(stat -c %s perf.data/vms) - 16 - 8))" "$TMP/late" >"$TMP/nameless"
stream "$TMP/nameless" >"$TMP/nameless.json"
ok "a VM without a name is called by its pid" json "$TMP/nameless.json" \
	'guest("vm-%s" % guest()["pid"])'
# What a nameless VM did before its first record, and after its last one, is not known. All between is
# the same.
same_meanwhile()
{
	stream "$TMP/nameless" --time +1,-1s >"$TMP/nameless-later.json" &&
		stream "$TMP/late" --time +1,-1s >"$TMP/later.json" || return
	diff <(json "$TMP/nameless-later.json" 'level(guest()["name"])["classes_ns"]') \
		<(json "$TMP/later.json" 'level("guest1")["classes_ns"]')
}
ok "... and has its time, to the ns, but for the first and the last second" same_meanwhile
ok "record: a map has no place in a stream" grep -q 'want a directory for the maps' \
	<("$PERF" kvm unified record -o - --guest-cmd guest1=true 2>&1 | cat)

# --- a recorder that was killed ------------------------------------------------------------

# killed NAME SIZE [compressed]: what is left of the profile then, in $TMP/NAME; see killed-profile
killed()
{
	cp -r perf.data "$TMP/$1" && "$TESTS/killed-profile" "$TMP/$1" "${@:2}"
}
# of_killed NAME OPTION...: its report
of_killed()
{
	"$PERF" kvm unified report -f -i "$TMP/$1" -k "$TREE/host/vmlinux" "${@:2}" \
		2>"$TMP/warnings" </dev/null
}
killed_says='The recorder was killed, or had no room left on its disk'
killed killed all
of_killed killed --format json >"$TMP/killed.json"
ok "killed: a report" test $? -eq 0
ok "killed: all time is there once" "$TESTS/report-sums" "$TMP/killed.json"
ok "killed: all samples" test "$(json "$TMP/killed.json" 'measurement()["samples"]')" -eq \
	"$(json "$TMP/json" 'measurement()["samples"]')"
ok "killed: and all of the time line" test "$(json "$TMP/killed.json" 'measurement()["timeline_events"]')" -eq \
	"$(json "$TMP/json" 'measurement()["timeline_events"]')"
ok "killed: the guest is there until the end" \
	json "$TMP/killed.json" '1 / (rows("guest1", "[absent]") == 0)'
ok "killed: the kernel of this machine is not that of the recording" \
	json "$TMP/killed.json" '1 / (measurement()["kernel"] == "")'
ok "killed: it is said once" test "$(grep -c "$killed_says" "$TMP/warnings")" -eq 1
ok "killed: and nothing besides" not grep -E 'WARNING|terminated|truncated' "$TMP/warnings"
killed killed-z all compressed
of_killed killed-z --format json >"$TMP/killed-z.json"
ok "killed, compressed: it is smaller" test "$(stat -c %s "$TMP/killed-z/data")" -lt \
	$(($(stat -c %s "$TMP/killed/data") / 2))
ok "killed, compressed: the same report" diff "$TMP/killed.json" "$TMP/killed-z.json"
ok "killed: perf script reads it" grep -q 'kvm:kvm_vcpu_timeline' \
	<("$PERF" script -f -i "$TMP/killed" -F event 2>/dev/null)
rm "$TMP/killed/data.timeline_format"
of_killed killed --format json >"$TMP/killed.json"
ok "killed, without the format of the time line: all samples" \
	test "$(json "$TMP/killed.json" 'measurement()["samples"]')" -eq \
	"$(json "$TMP/json" 'measurement()["samples"]')"
rm "$TMP/killed/vms"
ok "killed, without VMs: a report" grep -q 'Total samples' <(of_killed killed --format table)
ok "killed, without VMs: both are said" grep -q "$killed_says" "$TMP/warnings"
# The size of no record is odd.
killed killed-half 700001
of_killed killed-half --format json >"$TMP/killed-half.json"
ok "killed within a record: what there is adds up" "$TESTS/report-sums" "$TMP/killed-half.json"
ok "killed within a record: what there is" json "$TMP/killed-half.json" \
	"1 / (1000 < measurement()['samples'] < $(json "$TMP/json" 'measurement()["samples"]'))"
if [ "$(id -u)" -eq 0 ]; then
	killed foreign all
	chown -R 65534 "$TMP/foreign"
	ok "killed, and another user's: it is said" grep -q 'not owned by current user' \
		<("$PERF" kvm unified report -i "$TMP/foreign" 2>&1 </dev/null)
fi
killed none 3
ok "killed before the first record: refused" not of_killed none --stdio
ok "killed before the first record: and it is said" \
	grep -q 'has no record: its recorder was killed' "$TMP/warnings"

# All of perf's commands find the files of guests where the user's perfconfig says that they are.
# configured ROOTS COMMAND...: with these
configured()
{
	printf '[kvm-unified]\n\tguest-root = %s\n' "$1" >"$TMP/config"
	PERF_CONFIG=$TMP/config "$PERF" "${@:2}" -f -i perf.data 2>"$TMP/warnings"
}
ok "perfconfig: perf report has the functions of a guest's programs" \
	grep -q 'shor .* quantum_toffoli' <(configured "$guest_files" report --stdio)
ok "... of one guest" grep -q quantum_ <(configured "guest1=$guest_files,other=/nowhere" report --stdio)
ok "... and of no other one's files" not grep -q quantum_ <(configured "other=$guest_files" report --stdio)
ok "... which are not asked for" not grep -q guest-root "$TMP/warnings"
ok "perfconfig: perf script has them" \
	grep -qF "($guest_files/" <(configured "$guest_files" script -F comm,ip,sym,dso)
ok "perfconfig: perf annotate has their instructions" grep -q '<quantum_toffoli._omp_fn.0>:' \
	<(configured "$guest_files" annotate --stdio -s quantum_toffoli._omp_fn.0)
ok "perfconfig: and so has perf kvm unified report" \
	grep -q quantum_toffoli <(configured "$guest_files" kvm unified report --format csv)
ok "--guest-root comes first" grep -q quantum_toffoli \
	<(configured guest1=/nowhere kvm unified report --format csv --guest-root "$guest_files")
ok "... and nothing is said of the other" not grep -q nowhere "$TMP/warnings"
# said ROOTS SENTENCE
said()
{
	configured "$1" report --stdio >"$TMP/output"
	cat "$TMP/warnings"
	grep -qxF "$2" "$TMP/warnings"
}
ok "perfconfig: a directory that is not there" said guest1=/nowhere \
	"kvm-unified.guest-root: the directory of guest1: No such file or directory"
ok "perfconfig: one that depends on where perf is run" said guest1=some/where \
	"kvm-unified.guest-root wants /DIR or NAME=/DIR, not 'guest1=some/where'"
ln -s "$guest_files" "$TMP/a,b"
# perfconfig has a meaning for backslashes, too.
ok "perfconfig: a comma in a directory's name" \
	grep -q quantum_toffoli <(configured "other=/nowhere,$TMP/a\\\\,b" report --stdio)

# --- the host's kernel where it does not run -------------------------------------------

mkdir -p "$TMP/home"
HOME=$TMP/home "$PERF" kvm unified report --format table -f -i perf.data >"$TMP/elsewhere" 2>"$TMP/warnings"
ok "without the host's kernel: a report" test $? -eq 0
ok "without the host's kernel: that is said" grep -q "The host's kernel has no symbols here" "$TMP/warnings"
ok "without the host's kernel: how long it was idle is not known" grep -qE \
	'^# host: .*, own work or idle [0-9.]+ %, lost or unknown' "$TMP/elsewhere"
ok "without the host's kernel: that is above the tables, too" \
	grep -q '^# idle time of the host counts as OS' "$TMP/elsewhere"
ok "without the host's kernel: ... which has which build-id" \
	grep -qE '^\(its build-id is [0-9a-f]{40}\)$' "$TMP/warnings"
HOME=$TMP/home "$PERF" kvm unified report --format json -f -i perf.data >"$TMP/json" 2>/dev/null
ok "without the host's kernel: JSON has that, too" \
	test "$(json "$TMP/json" 'measurement()["idle_known"]')" = False
ok "without the host's kernel: its functions do not get names of the kernel that runs here" \
	not grep -E '^ .* \[kernel\]$' <(awk '/^Host/ { on = 1 } /^$/ { on = 0 } on && !/\[unknown\]/' "$TMP/elsewhere" |
		sed 's/ *$//')
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
