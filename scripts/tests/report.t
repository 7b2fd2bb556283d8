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

# --- for programs --------------------------------------------------------------------

report --format json >"$TMP/json"
ok "JSON: an exit code of 0" test $? -eq 0
ok "JSON: all time is there once" "$TESTS/report-sums" "$TMP/json"
ok "JSON: the mode" test "$(json "$TMP/json" 'measurement()["mode"]')" = timeline
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
ok "CSV: and the same time" test "$(csv_time vm)" -eq \
	"$(json "$TMP/json" 'level("guest1")["time_ns"]')"

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
HOST='level("host")'
ok "domain-switch: the host works for the guest" test "$(class "$TMP/domain" "$VM" HOST)" -gt 0
ok "domain-switch: what it works is not stolen" test \
	$(("$(class "$TMP/domain" "$VM" HOST)" + "$(class "$TMP/domain" "$VM" steal)")) -eq \
	"$(class "$TMP/json" "$VM" steal)"
ok "domain-switch: the VM has more of the host" test \
	"$(class "$TMP/domain" "$HOST" VM)" -gt "$(class "$TMP/json" "$HOST" VM)"
ok "domain-switch: the ratio line says so" grep -q '^guest1 .*OS:USER:HOST:IDLE:steal' \
	<(report --attribution domain-switch)

# --- less of it ---------------------------------------------------------------------------

ok "--vm" test "$(report --vm guest1 | grep -c 'Total samples')" -eq 2
ok "--vm: one that is not there" not report --vm guest7
ok "--vm: and it says which there are" grep -q "no VM 'guest7'.* There is: guest1" "$TMP/warnings"
# nothing_there OPTION VALUE REGEX: refused, with what there is or is wanted.
nothing_there()
{
	! report "$1" "$2" || return 1
	cat "$TMP/warnings"
	grep -qE -e "$3" "$TMP/warnings"
}
ok "--vcpu: the one that there is" grep -q '^guest1 .*Total samples: [1-9]' <(report --vcpu 0)
ok "--vcpu: another one" nothing_there --vcpu 5 'no VM has a vCPU 5'
ok "--vcpu: one of two" nothing_there --vcpu 0,5 'no VM has a vCPU 5'
ok "--cpu: one without samples" nothing_there --cpu 9 'no sample of CPU 9'
ok "--time: another one" nothing_there --time 1000000, 'the measurement is from'
ok "--time: backwards" nothing_there --time 20%-10% 'wants start,stop'
ok "--guest-root: of no guest" nothing_there --guest-root nope=/tmp "no guest 'nope'"
ok "--guest-root: and which there are" grep -qx 'There is: guest1 (pid [0-9]*)' "$TMP/warnings"
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
ok "--vmlinux: not there" nothing_there --vmlinux /nonexistent 'No such file'
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
	report --percent-limit 0 "$@" | sed -n '/^guest1 /,$p' |
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
ok "--symbols: in both processes" test "$(only --symbols quantum_toffoli._omp_fn.0 | wc -l)" -eq 2
ok "--dsos" all_match libquantum --dsos libquantum.so.8
ok "--comms" all_match ' shor \(' --comms shor
ok "the last one counts" all_match ' shor \(' --comms none --comms shor
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
ok "what is not shown is said" grep -q 'rows that are not asked for' <(report --comms shor)
above_five_percent()
{
	report --percent-limit 5 | sed -n '/^guest1 /,$p' | awk '
		$1 ~ /^[0-9]+$/ && !/more below/ { n++; if ($2 < 5) bad = 1 }
		END { exit bad || !n }'
}
ok "--percent-limit" above_five_percent
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
ok "--sort comm,pid" test "$(report --sort comm,pid | sed -n '/^guest1 /,$p' | grep -c ' shor (')" -eq 2
ok "--exit-reasons" grep -q '^guest1 .*Stolen samples: ' <(report --exit-reasons)

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
ok "no profile" not report -i "$TMP/none"
ok "... which another command makes" grep -q 'perf kvm unified record makes one' "$TMP/warnings"

# --- what perf's completion asks for -------------------------------------------------------------

# lists OPTION WORD COMMAND...
lists()
{
	local option=$1 word=$2
	shift 2

	tr ' ' '\n' < <("$PERF" kvm "$@" "$option") | grep -qx -e "$word"
}
ok "perf kvm lists unified" lists --list-cmds unified
for command in record report annotate script guest-map; do
	ok "perf kvm unified lists $command" lists --list-cmds "$command" unified
	ok "... which lists its options" lists --list-opts --verbose unified "$command"
done
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
	"--format json --sort sym," "--format json -H" "--format csv -g" "--format json -F sym" \
	"--tui" "--vcpu a" "--pid 1,x" \
	"--pid ,1" "--vcpu 0,0" "--cpu a" "--cpu ," "--cpu 0-" "--cpu 0-,1" "--cpu 0,,1" \
	"--cpu 0,a" "-C 1-" "--vm guest1,," "--vm guest1,guest1" "--comms file:///none" \
	"--percent-limit 101" "--guest-map x"; do
	# shellcheck disable=SC2086 # an option and its value
	ok "refused: $bad" exit_code 129 $bad
	ok "refused: $bad: what it wants" grep -qE 'knows|wants' "$TMP/warnings"
	ok "refused: $bad: and the option" grep -q 'Usage: perf kvm unified report' "$TMP/warnings"
done
# What takes the profile to tell
ok "refused: --time x,y" exit_code 1 --time x,y
ok "refused: --time x,y: what it wants" grep -q wants "$TMP/warnings"
stray_word()
{
	report --percent-limit 5 stray
	[ $? -eq 129 ] && grep -q 'Unknown argument: stray' "$TMP/warnings"
}
ok "refused: a word that is no option" stray_word
"$PERF" kvm unified guest-map stray >"$TMP/output" 2>&1
ok "... by guest-map, too" grep -q 'Unknown argument: stray' "$TMP/output"
full_disk()
{
	report >/dev/full
	[ $? -eq 1 ] && grep -q 'Cannot print the report: No space left' "$TMP/warnings"
}
ok "a report that cannot be written" full_disk

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
ok "stdio: the columns are perf report's" \
	grep -qx '# Overhead  *Pid:Command  *Shared Object  *Symbol *' "$TMP/view"
ok "stdio: a function of a guest's process" \
	grep -qE '^ +[0-9.]+% +[0-9]+:shor +libquantum.so.8 +\[u\] quantum_toffoli' "$TMP/view"
ok "stdio: and what is no code" grep -qE '% .* \[-\] \[steal\] \(outside: ' "$TMP/view"
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
ok "--sort exit_reason: the steal, by the exit before" \
	diff <(json "$TMP/json" '"\n".join(sorted("%s %d" % (row["function"], row["time_ns"])
			for row in level("guest1")["steal_by_exit_reason"] if row["function"] != "not known"))') \
	<(view -F period,exit_reason,class -t ';' | awk -F ';' '
		/^# .*Total samples:/ { on = /^# guest1 / }
		on && $3 ~ /steal/ && $2 ~ /[a-z]/ { gsub(/ /, "", $2); printf "%s %.0f\n", $2, $1 }' | sort)
ok "--sort vm,vcpu: what the host did for the VM" \
	grep -qE '^ +[0-9.]+% +guest1 +0 +OS' <(view --sort vm,vcpu,class)
ok "--hierarchy: a level for each key" \
	grep -qE '^# +Overhead  Class / Shared Object' <(view -H --sort class,dso)
relative()
{
	view -d libquantum.so.8 --percentage "$1" --sort dso -t ';' |
		awk -F ';' '/libquantum.so.8/ { print $1 + 0 }'
}
ok "--percentage relative: of what is shown" test "$(relative relative)" = 100
ok "--percentage absolute: of all" test "$(relative absolute)" != 100
ok "--percent-limit: what is below is counted" \
	grep -qE '^# [0-9]+ more below 5.00%: [0-9.]+%$' <(kvm_report "" --stdio --percent-limit 5)
ok "--header-only: and no table" not grep -q 'Total samples' <(view --header-only)
ok "... but the header" grep -q '^# hostname' <(view --header-only)
ok "... with the VMs, by perf report, too" grep -q '^# KVM guest : name = guest1, .* vCPUs = 1, map = yes$' \
	<("$PERF" report -f -i perf.data --header-only)
no_such_key()
{
	view --sort nope
	[ $? -eq 1 ] && grep -q "Unknown --sort key: .nope" "$TMP/warnings"
}
ok "refused: a key that there is not" no_such_key
no_chains()
{
	view -g
	[ $? -eq 1 ] && grep -q 'no call chains in this profile: record with -g' "$TMP/warnings"
}
ok "refused: -g without call chains" no_chains
printf '[report]\n\tsort_order = class\n\tpercent-limit = 0\n' >"$TMP/config"
ok "perfconfig: what report.sort_order and report.percent-limit say" \
	diff <(view --sort class) <(PERF_CONFIG=$TMP/config kvm_report "" --stdio)
ok "... is for perf's views" diff "$TMP/json" <(PERF_CONFIG=$TMP/config report --format json)

# --- several events ----------------------------------------------------------------------

# The lab has no counters: a profile in which samples of the clock are those of cycles and
# instructions. How many there are of each function, perf script says.
"$TESTS/add-events" perf.data "$TMP/events.data"
events()
{
	report -i "$TMP/events.data" --format json
}
events >"$TMP/events.json"
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
ok "... as it was made: 1.5" test "$(ipc_of pv_native_safe_halt | cut -c1-3)" = 1.5
ok "--sort ipc without such events: a column without values" \
	not grep -qE '[0-9]\.[0-9][0-9] *$' <(view --sort dso,ipc | grep -v '^#')
ok "one event: no counts in JSON" not grep -q '"counts"' "$TMP/json"

# --- and the call chains of the host ---

chains=$LAB_OUT/refusals/chains.data
ok "there is a profile with call chains" test -d "$chains"
chains()
{
	"$PERF" kvm unified report -f -i "$chains" -k "$TREE/host/vmlinux" --stdio \
		"$@" 2>"$TMP/warnings"
}
chains >"$TMP/chains"
ok "-g: columns for callers and for code itself" grep -q '^# Children .*Self' "$TMP/chains"
ok "-g: the callers of a function" grep -qE '^ +[|-].*[a-z_]+' "$TMP/chains"
# Of callers: children, and themselves
callers_have_more()
{
	awk '/do_syscall_64/ && $1 + 0 > $2 + 0 { found = 1 } END { exit !found }' \
		"$TMP/chains"
}
ok "-g: a caller has what it calls" callers_have_more
ok "--no-children: no such column" not grep -q Children <(chains --no-children)
ok "--no-call-graph: no callers" not grep -qE -- '--[a-z0-9.]*--|---' <(chains --no-call-graph)
ok "what is recorded without is the same" diff \
	<(chains --no-call-graph --no-children --sort class -F period,class) \
	<(chains --no-children -g none --sort class -F period,class)

events=$LAB_OUT/refusals/events.data
ok "there is a profile with several events" test -d "$events"
"$PERF" kvm unified report -f -i "$events" --format json >"$TMP/events.json" 2>"$TMP/warnings"
ok "software events: all time is there once" "$TESTS/report-sums" "$TMP/events.json"
ok "software events: no word of samples left out" not grep -q 'not in this report' "$TMP/warnings"
# A clock of half the period, in the guest: about the time of the first
ok "software events: another clock has counted the guest's time" json "$TMP/events.json" \
	'1 / (0.8 < sum(level("guest2")["counts"].values()) /
		sum(level("guest2")["classes_ns"][c] for c in ("OS", "USER")) < 1.25)'
ok "software events: page faults of the host, none of the guest" json "$TMP/events.json" \
	'1 / (level("host")["counts"]["page-faults/period=1/"] > 0 ==
		level("guest2")["counts"]["page-faults/period=1/"])'
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
views annotate --stdio -s quantum_toffoli._omp_fn.0 >"$TMP/annotate"
ok "annotate: an exit code of 0" test $? -eq 0
ok "annotate: instructions of a guest's function" \
	grep -q '<quantum_toffoli._omp_fn.0>:' "$TMP/annotate"
ok "annotate: and some that samples have hit" \
	grep -qE '^ +[1-9][0-9]*\.[0-9]+ +: +[0-9a-f]+:' "$TMP/annotate"

# --- the host's kernel where it does not run -------------------------------------------

mkdir -p "$TMP/home"
HOME=$TMP/home "$PERF" kvm unified report --format table -f -i perf.data >"$TMP/elsewhere" 2>"$TMP/warnings"
ok "without the host's kernel: a report" test $? -eq 0
ok "without the host's kernel: that is said" grep -q "The host's kernel has no symbols here" "$TMP/warnings"
ok "without the host's kernel: its functions do not get names of the kernel that runs here" \
	not grep -E '^ .* \[kernel\]$' <(awk '/^Host/ { on = 1 } /^$/ { on = 0 } on && !/\[unknown\]/' "$TMP/elsewhere" |
		sed 's/ *$//')
done_testing
