#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Callchains of a guest, out of the host: the scenario chains, whose programs have a known tree of
# calls, with and without frame pointers.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/kernel-chains.sh
. "$TESTS/kernel-chains.sh"

PERF=$MAIN_TREE/perf/perf
ROOT=$MAIN_TREE/guest/root
# PERF_RECORD_GUEST_CALLCHAIN, and PERF_RECORD_GUEST_ORC of a map
RECORD=23
ORC=108
# Of the scenario's samples, ns
PERIOD=498500

lab_runs chains
cd "$LAB_OUT/chains" || { done_testing; }
export HOME=$TMP/home
mkdir -p "$HOME"

map=$(echo chains.data/guest_map__*)

# export_to FILE PROFILE: a stream has no map of its own.
export_to()
{
	"$PERF" kvm unified export -f -i "$2" --guest-root "$ROOT" --guest-map guest1="$map" -o "$1" \
		2>"$1.err" ||
		{ cat "$1.err"; return 1; }
}
# json_of FILE PROFILE
json_of()
{
	"$PERF" kvm unified report -f -i "$2" --guest-root "$ROOT" --guest-map guest1="$map" \
		--format json >"$1" 2>"$1.err" ||
		{ cat "$1.err"; return 1; }
}
# A time line has no use for call chains.
ok "a time line is exported" "$PERF" kvm unified export -f -i chains.data --format trace -o "$TMP/trace"
ok "... which has slices" grep -q '"ph":"X"' "$TMP/trace"
# speedscope_of PROFILE: is it what the report has, callers or not?
speedscope_of()
{
	"$PERF" kvm unified report -f -i "$1" --format json >"$TMP/json" 2>/dev/null &&
		"$PERF" kvm unified export -f -i "$1" --format speedscope >"$TMP/speedscope" &&
		"$TESTS/speedscope.py" "$TMP/speedscope" "$TMP/json" && grep -q '\[[0-9]*,[0-9]*,[0-9]*,[0-9]*' "$TMP/speedscope"
}
ok "speedscope: callers, with the time of the report" speedscope_of chains.data
stacked_rows()
{
	"$PERF" kvm unified export -f -i chains.data --format rows >"$TMP/rows" &&
		grep -qE '"stack": "[0-9a-f]{16}"' "$TMP/rows"
}
ok "rows have numbers of their stacks" stacked_rows
ok "stacks are exported" export_to "$TMP/folded" chains.data
ok "and there is a report" json_of "$TMP/json" chains.data
ok "both have the same time" "$TESTS/folded-sums.py" "$TMP/folded" "$TMP/json"
# callers_in_pprof: the same stacks as in folded ones, of the guest's processes
callers_in_pprof()
{
	"$PERF" kvm unified export -f -i chains.data --guest-root "$ROOT" --format pprof \
		-o "$TMP/pprof" 2>/dev/null && "$TESTS/pprof.py" "$TMP/pprof" stacks |
		sed -n 's/^vcpu guest1 \([0-9]*\) \([^ ]*\) \([0-9]*\) cpu: /guest1;vCPU \1;\2-\3;/p' |
		sort >"$TMP/from-pprof"
	grep -E '^guest1;vCPU [0-9]+;calls[^;]*-[0-9]+;' "$TMP/folded" | sort >"$TMP/of-folded"
	[ -s "$TMP/of-folded" ] && diff <(grep ';calls' "$TMP/from-pprof") "$TMP/of-folded"
}
ok "pprof: the same callers" callers_in_pprof

# verdict PROGRAM [FILE [kernel]]: its line of call-tree.py, for the reader and in $line
verdict()
{
	# shellcheck disable=SC2086 # the last one may be missing
	line=$("$TESTS/call-tree.py" "${2:-$TMP/folded}" "$1" ${3:-} 2>"$TMP/stacks")
	note "$1${3:+ in the $3}: $line"
	cat "$TMP/stacks" >&2
}

verdict calls
at_least 500 "with frame pointers: user time, ms" "$(awk '{ print $2 / 1e6 }' <<<"$line")"
at_least 99 "with frame pointers: chains that are whole and right, %" "$(percent right)"
at_most 0 "with frame pointers: chains with a call that there never was, %" "$(percent wrong)"
for stack in 'main;work;first;second;third;leaf' 'in_thread;work;many;tiny' \
		'main;work;through_pointer;leaf' 'on_signal;leaf' 'main;work;fill;__memset[^;]*'; do
	ok "with frame pointers: $stack" grep -q "^guest1;vCPU 0;calls-[0-9]*;\(.*;\)\?$stack [0-9]*\$" \
		"$TMP/folded"
done
ok "a recursion of 100 is whole" grep -q \
	"main;work$(printf ';recurse%.0s' {1..101});framed [0-9]*\$" "$TMP/folded"
verdict calls-nofp
at_least 500 "without frame pointers: user time, ms" "$(awk '{ print $2 / 1e6 }' <<<"$line")"
at_most 0 "without frame pointers: chains with a call that there never was, %" "$(percent wrong)"
ok "the guest's kernel has no callers" not grep -q '^guest1;vCPU 0;\[kernel\];.*;' "$TMP/folded"

# By the tables in the files, from a copy of the stack
ok "unwound stacks are exported" export_to "$TMP/unwound" unwound.data
ok "and there is a report of them" json_of "$TMP/unwound-json" unwound.data
ok "unwound: both have the same time" "$TESTS/folded-sums.py" "$TMP/unwound" "$TMP/unwound-json"
for program in calls calls-nofp; do
	verdict "$program" "$TMP/unwound"
	at_least 250 "unwound $program: user time, ms" "$(awk '{ print $2 / 1e6 }' <<<"$line")"
	at_least 95 "unwound $program: chains that are whole and right, %" "$(percent right)"
	at_most 0 "unwound $program: chains with a call that there never was, %" "$(percent wrong)"
done
ok "unwound: a handler, and what its signal has interrupted" \
	grep -q '^guest1;vCPU 0;calls-nofp-[0-9]*;.*;main;work;.*;on_signal;leaf [0-9]*$' "$TMP/unwound"

# Of the kernel: by the tables that are in its map, held against its code; below it, as before.
"$PERF" kvm unified script -f -i unwound.data --guest-root "$ROOT" -F comm,ip,sym >"$TMP/script" \
	2>/dev/null
kernel_chains kernel 6.1 unwound.data/kcore_dir__*/kallsyms <"$TMP/script"
for program in calls calls-nofp; do
	verdict "$program" "$TMP/unwound" kernel
	at_least 10 "$program in the kernel: time, ms" "$(awk '{ print $2 / 1e6 }' <<<"$line")"
	# Of some sixty samples. Where a handler returns, the kernel has the program's registers
	# half replaced: these are short.
	at_least 80 "$program in the kernel: chains that are whole and right, %" "$(percent right)"
	at_most 0 "$program in the kernel: chains with a call that there never was, %" \
		"$(percent wrong)"
	# main() does the same as a thread: which of them a few samples are of is chance.
	ok "$program in the kernel: a system call, from main() or the thread on" grep -qE \
		"^guest1;vCPU 0;$program-[0-9]*;.*(main|start_thread;in_thread);work;in_kernel;entry_SYSCALL_64_after_hwframe_\[k\];do_syscall_64_\[k\][; ]" \
		"$TMP/unwound"
done
# Each module that has code
modules=$(awk 'NF == 4 && $2 ~ /[tT]/ && $4 != "[bpf]" { print $4 }' unwound.data/kcore_dir__*/kallsyms |
	sort -u | wc -l)
at_least 3 "modules of the guest's kernel" "$modules"
ok "the tables of the kernel and of each module" test "$("$TESTS/orc-tables.py" unwound.data/guest_map__*)" = \
	$((modules + 1))
cp "$map" "$TMP/no-orc" && "$TESTS/drop-records.py" "$TMP/no-orc" $ORC
export_without_orc()
{
	"$PERF" kvm unified export -f -i unwound.data --guest-root "$ROOT" --guest-map guest1="$TMP/no-orc" \
		-o "$TMP/folded-no-orc"
}
ok "a map without the tables: there are stacks" export_without_orc
ok "... without callers in the kernel" not grep -q '^guest1;vCPU 0;\[kernel\];.*;' "$TMP/folded-no-orc"
ok "... of the same time" test "$(awk '{ n += $NF } END { print n }' "$TMP/folded-no-orc")" = \
	"$(awk '{ n += $NF } END { print n }' "$TMP/unwound")"

# What the guest's own perf has of the same programs, by the frame pointer alone
at_most_apart()
{
	"$PERF" script -f -i inside.data --symfs "$ROOT" -F comm,ip,sym >"$TMP/inside" 2>/dev/null
	"$TESTS/inside-chains.py" "$1" "$TMP/inside" calls $PERIOD >"$TMP/apart" 2>"$TMP/inside-samples"
	sed 's/^/# /' "$TMP/apart" >&2
	at_least 1000 "$2: samples by the guest's perf" "$(cut -d' ' -f2 "$TMP/inside-samples")"
	at_least 8 "$2: stacks" "$(wc -l <"$TMP/apart")"
	note "$2: points that a stack's share is away from that by the guest's perf: $(
		sort -rn "$TMP/apart" | head -n 1 | cut -d' ' -f1)"
	# Where system calls return, the guest's own clock has up to a point more: it comes as soon as
	# the guest's kernel lets interrupts in.
	at_most 2 "$2: ... where five standard deviations of so many samples do not explain it" \
		"$(awk '$5 > 5 && $1 > most { most = $1 } END { print most + 0 }' "$TMP/apart")"
}
at_most_apart "$TMP/folded" "with frame pointers"
at_most_apart "$TMP/unwound" "unwound"

# Code that a process has made is in no file: nothing proves a return address in it. The chain ends
# there, and has no call that there never was.
map=$(echo jit.data/guest_map__*)
ok "code made at run time: stacks are exported" export_to "$TMP/jit" jit.data
map=$(echo chains.data/guest_map__*)
verdict calls-jit "$TMP/jit"
at_least 500 "code made at run time: user time, ms" "$(awk '{ print $2 / 1e6 }' <<<"$line")"
at_most 0 "code made at run time: chains with a call that there never was, %" "$(percent wrong)"
# short_of PATTERN: of the chains that are short, time of the stacks of that pattern, %
short_of()
{
	awk -v pattern="^($1)\$" -v all="$(awk '{ print $2 }' <<<"$line")" '
		$1 == "short" && $3 ~ pattern { n += $2 } END { printf "%.2f\n", 100 * n / all }' "$TMP/stacks"
}
for stack in jitted leaf framed; do
	at_least 0.5 "code made at run time: it has its name, and what it calls ends there: $stack, %" \
		"$(short_of $stack)"
done
at_most 1 "code made at run time: other chains that are short, %" \
	"$(awk -v short="$(percent short)" -v three="$(short_of 'jitted|leaf|framed')" \
		'BEGIN { printf "%.2f\n", short - three }')"

# As perf's own commands know them: the guest's files come from a build-id cache.
"$PERF" --buildid-dir "$TMP/debug" buildid-cache --add "$ROOT/usr/bin/calls"
callers_in_script()
{
	"$PERF" --buildid-dir "$TMP/debug" script -f -i chains.data -F comm,ip,sym 2>/dev/null | awk '
		/^calls/ { chain = ""; next }
		NF { chain = chain " " $2 }
		chain ~ / leaf third second first work main/ { found++ }
		END { exit !found }'
}
ok "perf script has them" callers_in_script
callers_in_report()
{
	"$PERF" kvm unified report -f -i chains.data --guest-root "$ROOT" --stdio -g caller \
		--vm guest1 >"$TMP/callers" 2>&1 && grep -q -- '--.*-second' "$TMP/callers"
}
ok "perf kvm unified report -g has them" callers_in_report
# The files of the guest are not here: no chain goes on.
broken_in_report()
{
	"$PERF" --buildid-dir "$TMP/none" kvm unified report -f -i unwound.data --stdio --children \
		-g none --vm guest1 -s dso,sym >"$TMP/broken" 2>&1 && grep -qE '\[broken\] +\[.\] \[broken\] *$' "$TMP/broken"
}
ok "what is broken has that name in a table" broken_in_report
# rows_by_comm: those of calls
rows_by_comm()
{
	"$PERF" kvm unified report -f -i unwound.data --format table --vm guest1 -s comm 2>/dev/null |
		awk '$NF == "calls" { print NF == 3 ? "user" : $3 }'
}
ok "a table by process: its kernel time is a row with a module" test "$(rows_by_comm)" = "$(printf 'user\n[kernel]')"
# Of the kernel, the processes are known in one of them alone.
"$PERF" kvm unified diff -f -s comm --percent-limit 0 chains.data unwound.data >"$TMP/diff" 2>"$TMP/warnings"
ok "diff: a kernel whose processes one profile has has none there" test "$(grep -c 'guest1 *\[kernel\] *\[k\]$' "$TMP/diff") $(
	grep -c 'guest1 *\[kernel\] .*calls' "$TMP/diff")" = "1 0"
ok "... and it is said" grep -q '^--call-graph dwarf) of: guest1\. Here, the functions of these kernels are of no process' "$TMP/warnings"
"$PERF" kvm unified diff -f -s comm --percent-limit 0 --comms calls chains.data unwound.data >"$TMP/diff" 2>/dev/null
ok "diff --comms: it is no row of a process" not grep -q 'guest1 *\[kernel\]' "$TMP/diff"
ok "... but what the process did is" grep -qE 'guest1 .* calls$' "$TMP/diff"
ok "... and the first lines have the option" grep -qx '# rows are those of --comms calls, and totals of all' "$TMP/diff"

# Where the records of the chains are lost, samples are not.
"$TESTS/to-stream.py" chains.data >"$TMP/stream" && cp "$TMP/stream" "$TMP/without" &&
	"$TESTS/drop-records.py" "$TMP/without" $RECORD
ok "as a stream, there is a report" json_of "$TMP/json-stream" "$TMP/stream"
ok "... and the same stacks" export_to "$TMP/folded-stream" "$TMP/stream"
ok "... all of them" cmp <(grep '^guest1;' "$TMP/folded") <(grep '^guest1;' "$TMP/folded-stream")
ok "without the records of the chains, stacks are exported" export_to "$TMP/none" "$TMP/without"
ok "... with all of the time" "$TESTS/folded-sums.py" "$TMP/none" "$TMP/json-stream"
ok "... and no callers" not grep -q '^guest1;vCPU 0;calls-[0-9]*;[^;]*;' "$TMP/none"
done_testing
