#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Names of code that has no file, or not where one would look: the scenario symbols.
# By perf script and perf report, too, and on another machine.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PERF=$MAIN_TREE/perf/perf
BIN=usr/bin
GUEST=$MAIN_TREE/guest/root
LIBC=lib/x86_64-linux-gnu/libc.so.6

lab_runs symbols
RESULTS=$LAB_OUT/symbols
cd "$RESULTS" || { done_testing; }

# To another machine, with another home, all goes in one file: perf archive takes from the
# build-id cache here what has samples, the guest's programs included.
export PERF_EXEC_PATH=$MAIN_TREE/perf
pack()
{
	local file

	mkdir -p "$TMP/sender" && cp -r perf.data "$TMP/sender" || return
	for file in "$MAIN_TREE/guest/unstripped/cxx" "$GUEST/$BIN"/{contained,mapped,named}; do
		HOME=$TMP/sender "$PERF" buildid-cache --add "$file" </dev/null || return
	done
	(cd "$TMP/sender" && PATH=$MAIN_TREE/perf:$PATH HOME=$TMP/sender "$PERF" archive --all perf.data)
}
unpack()
{
	mkdir -p "$HOME/.debug" "$TMP/moved" && mv "$TMP"/sender/perf.all-*.tar.bz2 "$TMP/moved" &&
		rm -r "$TMP/sender" && cd "$TMP/moved" && "$PERF" archive --unpack
}
export HOME=$TMP/home
ok "perf archive --all packs the profile and the symbols" pack
ok "and on another machine it is unpacked" unpack
cd "$TMP/moved" || exit

"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --percent-limit 0 --format csv \
	>"$TMP/report.csv" 2>"$TMP/report.err"
"$PERF" script -f -i perf.data -F misc,machine_pid,vcpu,comm,pid,ip,sym,dso >"$TMP/script" 2>"$TMP/script.err"
"$PERF" report -f -i perf.data --stdio --sort comm,sym -k "$TREE/host/vmlinux" \
	>"$TMP/report" 2>"$TMP/report2.err" </dev/null

build_id()
{
	readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# How the report calls it
MODULE='"\[vsock\]"'

# samples COMM FUNCTION [NS-PID]: of the report's rows of that, by regular expression
samples()
{
	python3 - "$TMP/report.csv" "$@" <<'END'
import csv, re, sys
path, comm, function = sys.argv[1:4]
n = 0
for row in csv.DictReader(open(path, encoding="ascii")):
    if row["level"] == "vm" and row["class"] == "USER" and row["comm"] == comm \
            and re.fullmatch(function, row["function"]) \
            and (len(sys.argv) < 5 or row["ns_pid"] == sys.argv[4]):
        n += int(row["samples"])
print(n)
END
}
# has WHAT MINIMUM COMM FUNCTION [NS-PID]
has()
{
	local what=$1 minimum=$2 n
	shift 2

	n=$(samples "$@")
	ok "$what: $n samples" test "$n" -ge "$minimum"
}
share()
{
	awk -v a="$(samples "$1" "$2")" -v b="$(samples "$1" '.*')" 'BEGIN { printf "%.1f", b ? 100 * a / b : 0 }'
}
# mostly PERCENT COMM FUNCTION: that much of the process is in such functions
mostly()
{
	local percent
	percent=$(share "$2" "$3")
	ok "$2: $percent % in functions with their names, of $1" \
		awk -v p="$percent" -v m="$1" 'BEGIN { exit !(p >= m) }'
}

has "JIT: hot function of a perf-PID.map" 200 jit jit_hot
has "JIT: one with a blank in its name" 50 jit 'jit_warm: of two words'
has "JIT: one that came during the measurement" 50 jit jit_late
mostly 95 jit 'jit_.*'
has "JIT in a container: perf-1.map, of its own /tmp" 200 contained-jit jit_hot 1
mostly 95 contained-jit 'jit_.*'
has "Node.js: a compiled function" 200 node 'JS:.*nodeMultiply .*'
has "Node.js: another one" 200 node 'JS:.*nodeSieve .*'
has "Node.js with a jitdump: a compiled function" 200 dumping 'JS:.*nodeMultiply .*'
has "... another one" 200 dumping 'JS:.*nodeSieve .*'
# The same without what these have written
without_symbols()
{
	python3 - "$TESTS" perf.data/guest_map__* "$TMP/without-symbols" <<'END'
import sys
tests, path, out = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, tests)
from badmap import records
with open(out, "wb") as file:
    file.write(records.FILE_HEADER)
    for number, misc, data in records.Good(path).records:
        if number != records.SYMBOLS:
            file.write(records.record(number, data, misc))
    file.write(records.END)
END
	"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" --format csv \
		--guest-map "guest1=$TMP/without-symbols" >/dev/null 2>"$TMP/without.err"
	grep -q 'no function names, as programs made it while they ran and wrote no symbols\. What runs them' "$TMP/without.err"
}
ok "JIT: without symbols, it is said" without_symbols
ok "... of whom" grep -qx 'guest1 (\[JIT\] tid [0-9]*):' "$TMP/without.err"
ok "... and what to do" grep -q '/tmp/perf-<pid>.map' "$TMP/without.err"
ok "... and otherwise, it is not" not grep 'wrote no symbols' "$TMP/report.err"
has "stripped C++: by build-id, demangled" 200 cxx 'mix::Mixer<int>::spin\(int\)'
has "stripped C++: a template of another type" 50 cxx 'mix::Mixer<double>::spin\(int\)'
mostly 95 cxx '.*mix::.*'
has "container: by build-id, and the pid inside is 1" 200 contained-spin contained_spin 1
ok "container: each of its samples has both pids" \
	test "$(samples contained-spin contained_spin 1)" -eq "$(samples contained-spin contained_spin)"
outside=$(awk -F, '/"contained_spin"/ && $1 == "vm" { gsub(/.*"contained-spin",/, ""); split($0, f, ","); print f[1] }' "$TMP/report.csv" | sort -u)
ok "container: outside it is process ${outside:-none}" test "${outside:-1}" -gt 1
has "a program that was started from a memfd: by build-id" 200 memfd:mapped-pr mapped_spin
has "code in a memfd: what it is" 200 mapped '\[unknown\]'
ok "code in a memfd has the memfd's name" grep -q '"memfd:mapped-code (deleted)"' "$TMP/report.csv"
ok "code in huge pages is of the process itself" grep -qE '"\[JIT\] tid [0-9]+","mapped"' "$TMP/report.csv"
has "the vDSO" 50 named __vdso_clock_gettime
ok "a module of the guest's kernel: $(grep -c "$MODULE" "$TMP/report.csv") functions" \
	grep -qE "vsock_(create|release).*$MODULE" "$TMP/report.csv"
has "Rust: demangled, of a file that was deleted, and whose name another file has" 200 gone shelf::turn
mostly 95 gone shelf::turn
has "a file without build-id has no names" 200 no-build-id '\[unknown\]'
# One that went, and came again
"$TESTS/map-modules.py" perf.data/guest_map__* | grep '^failover ' >"$TMP/modules"
cut -c 1-200 "$TMP/modules" >&2
ok "a module that went, and one that came" test "$(wc -l <"$TMP/modules")" -eq 2
{ read -r _ _ since gone _; read -r _ _ back until _; } <"$TMP/modules"
ok "... one from before the map on" test "${since:-none}" = 0
ok "... one from later on until the map's end" test "${gone:-0}" -lt "${back:-0}" -a "${until:-none}" = end
ok "... both with their functions" test "$(grep -c ' failover_register\b' "$TMP/modules")" -eq 2
# BPF programs: one that went, and another, as a rule in its place
"$TESTS/map-modules.py" perf.data/guest_map__* | grep '^bpf_prog_' >"$TMP/programs"
cat "$TMP/programs" >&2
ok "a BPF program that went, and one that came" test "$(wc -l <"$TMP/programs")" -eq 2
"$PERF" kvm unified script -f -i perf.data -F time,ip,sym 2>/dev/null |
	sed -n 's/^ *\([0-9.]*\): *[0-9a-f]* \(bpf_prog_.*_\)\(first\|second\)$/\3 \1/p' >"$TMP/in-programs"
for program in first second; do
	number=$(grep -c "^$program " "$TMP/in-programs")
	ok "... the $program one has samples: $number" test "$number" -ge 100
done
ok "... all of the one before all of the other" test "$(cut -d ' ' -f 1 "$TMP/in-programs" | uniq | xargs)" = "first second"
# time_of COMM: percent of the guest's user time that are in functions without a name
time_of()
{
	python3 - "$TMP/report.csv" "$1" <<'END'
import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1], encoding="ascii"))
        if row["level"] == "vm" and row["class"] == "USER"]
part = [row for row in rows if row["comm"] == sys.argv[2] and row["function"] == "[unknown]"]
print("%.1f" % (100 * sum(int(row["time_ns"]) for row in part) / sum(int(row["time_ns"]) for row in rows)))
END
}
ok "... which is said, with its part of the time, $(time_of no-build-id) %" \
	grep -qF "$(time_of no-build-id) % of guest1's user time is in 1 file without a build-id: /opt/contained-spin;" \
	"$TMP/report.err"
ok "... once" test "$(grep -c 'without a build-id' "$TMP/report.err")" -eq 1
# Those of libc.so.6 are of another file.
ok "and not those of the file that has its name in another container" \
	not grep -E '^vm,.*"(contained|copied|main|run_inside|copy|on_signal)[a-z_]*",[^,]*,"no-build-id"' \
	"$TMP/report.csv"
ok "nothing of a guest is taken for a file of the host" not grep -E '\((/tmp|/usr|/memfd)[^)]*\)$' <(grep '^VM:' "$TMP/script")

# A copy of the guest's files has the one without a build-id.
mkdir -p "$TMP/spin/opt"
cp "$GUEST/$BIN/spin" "$TMP/spin/opt/contained-spin"
HOME=$TMP/nobody "$PERF" kvm unified report -f -i perf.data --guest-root "$TMP/spin" --format csv \
	>"$TMP/spin.csv" 2>"$TMP/spin.err"
of_spin='^vm,.*"spin_without_id","contained-spin",'
ok "without a build-id, by the file itself: it has names" grep -qE "$of_spin\"no-build-id\"" "$TMP/spin.csv"
ok "... another program of that name has not" not grep -qE "$of_spin\"contained-spin\"" "$TMP/spin.csv"
ok "... and nothing is said" not grep -q 'without a build-id' "$TMP/spin.err"
# Of the code, not of the names: a program that was linked again
cp "$GUEST/$BIN/contained" "$TMP/spin/opt/contained-spin"
HOME=$TMP/nobody "$PERF" kvm unified report -f -i perf.data --guest-root "$TMP/spin" --format csv \
	>"$TMP/other.csv" 2>"$TMP/other.err"
ok "without a build-id, another file: it has no names" \
	not grep -E '^vm,.*"no-build-id"' <(grep '"contained-spin"' "$TMP/other.csv" | grep -v '"\[unknown\]"')
ok "... which is said" grep -q "1 of such names is below --guest-root, and not the guest's" "$TMP/other.err"

# What perf knows, every command of it knows.
for name in jit_hot jit_late 'nodeMultiply' 'mix::Mixer<int>::spin' contained_spin mapped_spin \
	__vdso_clock_gettime shelf::turn; do
	ok "perf script names $name" grep -qF "$name" <(grep '^VM:' "$TMP/script")
	ok "perf report names $name" grep -qF "$name" "$TMP/report"
done
"$PERF" annotate -f -i perf.data --stdio -s contained_spin >"$TMP/annotate" 2>"$TMP/annotate.err" </dev/null
ok "perf annotate shows the code of contained_spin" grep -qE '^ +[0-9.]+ +: +[0-9a-f]+:' "$TMP/annotate"

# A copy of the guest's files, in which the stripped program says where its symbols are
link=$TMP/link/$BIN
mkdir -p "$link/.debug"
objcopy --only-keep-debug "$MAIN_TREE/guest/unstripped/cxx" "$link/.debug/cxx.debug"
strip -o "$link/cxx" "$MAIN_TREE/guest/unstripped/cxx"
(cd "$link/.debug" && objcopy --add-gnu-debuglink=cxx.debug "$link/cxx")
HOME=$TMP/nobody "$PERF" kvm unified report -f -i perf.data --guest-root "$TMP/link" --format csv \
	>"$TMP/link.csv" 2>"$TMP/link.err"
ok "stripped C++: by debuglink, below --guest-root" grep -q '"mix::Mixer<int>::spin(int)","cxx"' "$TMP/link.csv"

# Of the program nothing but what debuginfo packages have of it, in the build-id cache: that
# does not say where its code is in the program's file.
id=$(build_id "$MAIN_TREE/guest/unstripped/cxx")
mkdir -p "$TMP/debuginfo/.debug/.build-id/${id:0:2}/${id:2}"
cp "$link/.debug/cxx.debug" "$TMP/debuginfo/.debug/.build-id/${id:0:2}/${id:2}/debug"
HOME=$TMP/debuginfo "$PERF" kvm unified report -f -i perf.data --format csv >"$TMP/debuginfo.csv" 2>&1
ok "debuginfo without the program: there is a report" grep -q '"\[unknown\]","cxx"' "$TMP/debuginfo.csv"
ok "and no name in it is a wrong one" \
	not grep -vE '"(\[unknown\]|mix::Mixer<int>::spin\(int\))","cxx"' <(grep '"cxx","cxx"' "$TMP/debuginfo.csv")

# A file of the same name that is another one: said, and not used.
mkdir -p "$TMP/other/$BIN"
cp "$MAIN_TREE/guest/unstripped/jit" "$TMP/other/$BIN/contained-spin"
cp "$MAIN_TREE/guest/unstripped/jit" "$TMP/other/$BIN/cxx"
HOME=$TMP/nobody "$PERF" kvm unified report -f -i perf.data --guest-root "$TMP/other" --format csv \
	>"$TMP/wrong.csv" 2>"$TMP/wrong.err"
ok "a file with another build-id: it is said" grep -q 'another build-id, not used' "$TMP/wrong.err"
ok "and there is a report all the same" grep -q '"cxx"' "$TMP/wrong.csv"
ok "and it is not used" not grep -qE '"(main|jit_[a-z]*)","cxx"' "$TMP/wrong.csv"

# What a collector says where it cannot follow, and what it leaves: nothing
for why in "no-btf CONFIG_DEBUG_INFO_BTF" "lockdown locked down"; do
	file=$RESULTS/${why%% *}-follow.txt
	cat "$file" >&2
	ok "guest-map-follow, ${why%% *}: it is said" grep -q "${why#* }" "$file"
	ok "guest-map-follow, ${why%% *}: in one sentence" test "$(wc -l <"$file")" -eq 3
	ok "guest-map-follow, ${why%% *}: it is an error" grep -qx 'exit code 1' "$file"
	ok "guest-map-follow, ${why%% *}: no map is left" \
		grep -q '/tmp/refused.*No such file' "$file"
done

# Without CR3s, there is a map of all else: the kernel's functions have names, processes do not.
for why in "no-btf CONFIG_DEBUG_INFO_BTF" "lockdown locked down"; do
	name=${why%% *}
	cat "$RESULTS/$name.txt" >&2
	ok "guest-map, $name: it is said" grep -q "${why#* }" "$RESULTS/$name.txt"
	ok "guest-map, $name: there is a map" grep -qx 'exit code 0' "$RESULTS/$name.txt"
	"$PERF" kvm unified report -f -i perf.data --guest-map "guest1=$RESULTS/$name.map" \
		--format csv >"$TMP/$name.csv" 2>"$TMP/$name.err"
	cat "$TMP/$name.err" >&2
	ok "... $name: the report reads it" test $? -eq 0
	ok "... $name: functions of the kernel have names" \
		grep -qE '^vm,.*"[a-z_]+[a-z]","\[(guest\.)?kernel' "$TMP/$name.csv"
	ok "... $name: no process has" not grep -qE '"(jit|cxx|node)"' "$TMP/$name.csv"
	ok "... $name: its code is by CR3" grep -q '"\[cr3 0x' "$TMP/$name.csv"
	ok "... $name: one sentence says why" test "$(grep -c 'no CR3s' "$TMP/$name.err")" -eq 1
	"$PERF" script -f -i "$RESULTS/$name.map" --show-mmap-events 2>/dev/null |
		grep -F "/$LIBC" >"$TMP/$name.maps"
	ok "... $name: files have their build-ids" grep -qF " <$(build_id "$GUEST/$LIBC")>]" "$TMP/$name.maps"
done
done_testing
