#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf's own views of a profile: report as text, with keys of --sort, fields, several events and call
# chains; annotate and script; and what the user's perfconfig says of guests' files for all of these.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/report.sh
. "$(dirname "$0")/report.sh"

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
	"$PERF" kvm unified script -f -i perf.data --guest-root "$guest_files" -F ip,sym,symoff 2>/dev/null |
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
# by_path OPTION...: a guest's file by its path there has the rows that its name has
by_path()
{
	diff <(view -q --level vm "$@" -d /lib/x86_64-linux-gnu/libquantum.so.8) \
		<(view -q --level vm "$@" -d libquantum.so.8)
}
ok "--dsos: there are rows of the guest's library" test -n "$(view -q --level vm -d libquantum.so.8)"
ok "--dsos: a guest's file, by its path in the guest" by_path
ok "--dsos: ... without its files" diff \
	<("$PERF" kvm unified report -f -q --stdio -i perf.data --level vm -d /lib/x86_64-linux-gnu/libquantum.so.8) \
	<("$PERF" kvm unified report -f -q --stdio -i perf.data --level vm -d libquantum.so.8)
ok "--dsos: with its directory" diff <(view -q --level host -d "$file") <(view -q --level host -d "${file##*/}")
ok "... there are rows" grep -q '^ .*%' <(view -q --level host -d "$file")

no_such_key()
{
	view --sort nope
	[ $? -eq 129 ] && grep -q "there is no 'nope' here; there are: .* vcpu" "$TMP/warnings"
}
ok "refused: a key that there is not" no_such_key
# no_such_keys OPTION VALUE...: of perf, but of no use here
no_such_keys()
{
	view "$@"
	[ $? -eq 129 ] && grep -qE "there is no '.*' here; there are: .* vcpu" "$TMP/warnings"
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
ok "refused: -o: what there is" elsewhere --output 'send its output to a file: > FILE'
ok "refused: --guestmount of perf kvm: what there is" elsewhere --guestmount 'use --guest-root'
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
"$PERF" kvm unified diff --level vm a b >"$TMP/out" 2>&1
ok "refused: diff --level, which report has" test $? -eq 129
ok "... and what there is" grep -q '^--level is not in perf kvm unified diff: it has the host and each VM' "$TMP/out"
for view in script annotate; do
	(cd "$TMP" && "$PERF" kvm unified $view >"$TMP/out" 2>&1)
	ok "$view: no profile" test $? -eq 1
	ok "... and what makes one" grep -q 'perf kvm unified record makes perf\.data, a profile of the host and its guests' "$TMP/out"
done
view -x >/dev/null
ok "refused: -x without a parent" test $? -eq 129
ok "... and what it is for" grep -q -- '-x is for --sort parent: without it, no row has a parent' "$TMP/warnings"
ok "-g: its help has what it takes" grep -q 'call graph value (percent|period)$' \
	<("$PERF" kvm unified report -h 2>&1)
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

# How many there are of each function, perf script says.
make_events_data
events()
{
	report -i "$TMP/events.data" --format json
}
events >"$TMP/events.json"
# Samples of instructions stand for 750 each, see add-events.py.
samples_of_instructions()
{
	"$PERF" kvm unified report -f -i "$TMP/events.data" -k "$TREE/host/vmlinux" --stdio \
		--level host --percent-limit 0 -t ';' -F sample,class 2>/dev/null |
		awk -F ';' '/^ *[0-9]/ { split($1, n, " "); sum += n[3] } END { print sum }'
}
ok "several events: as many samples of another as there are" test "$(samples_of_instructions)" -eq \
	"$(json "$TMP/events.json" 'sum(n for event, n in level("host")["counts"].items() if "instructions" in event) // 750')"
ok "several events: all time is there once" "$TESTS/report-sums.py" "$TMP/events.json"
# counted EVENT PERIOD LEVEL: by the function's name; by script, and by the report
counted_by_script()
{
	"$PERF" kvm unified script -f -i "$TMP/events.data" -k "$TREE/host/vmlinux" \
		--guest-root "$guest_files" -F event,ip,sym 2>/dev/null |
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
# Of four samples that follow each other, one is of cycles and two are of instructions (add-events.py).
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
ok "software events: all time is there once" "$TESTS/report-sums.py" "$TMP/events.json"
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
"$TESTS/to-stream.py" perf.data >"$TMP/as-stream"
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

for command in annotate script; do
	"$PERF" kvm unified $command --vm guest1 >"$TMP/out" 2>&1
	ok "$command --vm: a usage error" test $? -eq 129
	ok "... which is said" grep -q "^--vm is an option of perf kvm unified report: $command is of all VMs" "$TMP/out"
	ok "$command --vcpu: refused as well" grep -q "^--vcpu is an option of perf kvm unified report: " \
		<("$PERF" kvm unified "$command" -f -i perf.data --vcpu 0 2>&1)
done

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

# --- perf's configuration ------------------------------------------------------------------

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
done_testing
