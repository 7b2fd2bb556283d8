#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf kvm unified export in all of its formats, report --format html, which another program makes, and
# what becomes of output that nobody reads.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/tests/report.sh
. "$(dirname "$0")/report.sh"

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
		--guest-root "$guest_files" "$@" 2>"$TMP/warnings"
}
export_of >"$TMP/folded"
ok "export: an exit code of 0" test $? -eq 0
ok "export: the time of the report, in each function, process and state" \
	"$TESTS/folded-sums.py" "$TMP/folded" "$TMP/json"
ok "export: a guest's function in its process on its vCPU" \
	grep -qE '^guest1;vCPU 0;shor-[0-9]+;quantum_toffoli[^;]* [0-9]+$' "$TMP/folded"
ok "export: the guest's kernel" grep -qE '^guest1;vCPU 0;\[kernel\];[^;]+_\[k\] [0-9]+$' "$TMP/folded"
ok "export: who has stolen" grep -qE '^guest1;vCPU 0;\[steal\];\(.*\) [0-9]+$' "$TMP/folded"
ok "export: the VM on the host" grep -qE '^\[host\];\[guest1\] [0-9]+$' "$TMP/folded"
ok "export: the host's processes" grep -qE '^\[host\];[^;]+-[0-9]+;.*_\[k\] [0-9]+$' "$TMP/folded"
export_of --level vm >"$TMP/folded-vm"
report --level vm --format json >"$TMP/json-vm"
ok "export: --level vm: no vCPUs" not grep -q '^guest1;vCPU' "$TMP/folded-vm"
ok "... and the same time" "$TESTS/folded-sums.py" "$TMP/folded-vm" "$TMP/json-vm"
ok "... which is all there is" not grep -vq '^guest1;' "$TMP/folded-vm"
report --time 10%-30% --format json >"$TMP/json-time"
ok "export: --time" "$TESTS/folded-sums.py" <(export_of --time 10%-30%) "$TMP/json-time"
report --attribution domain-switch --format json >"$TMP/domain"
ok "export: --attribution" \
	"$TESTS/folded-sums.py" <(export_of --attribution domain-switch) "$TMP/domain"
ok "export: --comms: that alone" not grep -vq '^guest1;vCPU 0;shor-' <(export_of --comms shor)
export_of --format pprof >"$TMP/pprof"
ok "pprof: the time of the report, in code, idle, stolen, and the rest" \
	"$TESTS/pprof.py" "$TMP/pprof" sums "$TMP/json"
"$TESTS/pprof.py" "$TMP/pprof" stacks >"$TMP/pprof-stacks"
ok "pprof: a guest's function, with its process and vCPU as labels" \
	grep -qE '^vcpu guest1 0 shor [0-9]+ cpu: quantum_toffoli[^;]* [0-9]+$' "$TMP/pprof-stacks"
ok "pprof: who has stolen" grep -qE '^vcpu guest1 0 - - steal: \[steal\];\(.*\) [0-9]+$' "$TMP/pprof-stacks"
ok "pprof: idle time of the host" grep -qE '^host - - swapper 0 idle: pv_native_safe_halt_\[k\] [0-9]+$' \
	"$TMP/pprof-stacks"
ok "pprof: --level vm" "$TESTS/pprof.py" <(export_of --format pprof --level vm) sums "$TMP/json-vm" vm
ok "pprof: --attribution" \
	"$TESTS/pprof.py" <(export_of --format pprof --attribution domain-switch) sums "$TMP/domain"
ok "pprof: the same each time" cmp "$TMP/pprof" <(export_of --format pprof)
export_of --format rows >"$TMP/rows"
ok "rows: the time of the report, in each class, function and process" "$TESTS/rows-sums.py" "$TMP/rows" "$TMP/json"
ok "rows: such as a fleet's database takes" "$TOP/scripts/fleet/load.py" --check --window 2026-11-30T10:00:00 "$TMP/rows"
ok "rows: --level vcpu: none of the host" not grep -q '"level": "host"' <(export_of --format rows --level vcpu)
export_of --format speedscope >"$TMP/speedscope"
ok "speedscope: the time of the report, in each function" "$TESTS/speedscope.py" "$TMP/speedscope" "$TMP/json"
ok "speedscope: --time" "$TESTS/speedscope.py" <(export_of --format speedscope --time 10%-30%) "$TMP/json-time"
export_of --format trace >"$TMP/trace"
ok "trace: tracks without gaps, with the time of the report" "$TESTS/trace.py" "$TMP/trace" "$TMP/json"
ok "trace: who has stolen" grep -qE '"name":"steal","args":\{"cpu":[0-9]+,"by": "[^"]+"' "$TMP/trace"
ok "trace: the vCPU on its CPU" grep -q '"pid":1,.*"name":"guest1 vCPU 0"' "$TMP/trace"
ok "trace: an idle CPU has its task, as in a trace of the scheduler" grep -q '"name":"swapper"' "$TMP/trace"
ok "trace: --time" "$TESTS/trace.py" <(export_of --format trace --time 10%-30%) "$TMP/json-time"
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
ok "export: not --level guests" test "$("$PERF" kvm unified export -f -i perf.data --level guests 2>&1 >/dev/null |
	grep -c 'is a table of report')" = 1
ok "refused: export --sort, which report has" export_fails 129 \
	'^--sort is not in perf kvm unified export: who reads it puts rows together' --sort comm
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
	[ "$code" -eq 1 ] && [ ! -e "$TMP/out.rows" ] && grep -q 'File too large' "$TMP/warnings"
}
ok "export: a file that may not be so large: an error, and no part of it" too_large
report_too_large()
{
	local code=0

	(ulimit -f 8 -c 0 && report --format csv >"$TMP/out.csv") || code=$?
	[ "$code" -eq 1 ] && grep -q 'File too large' "$TMP/warnings"
}
ok "report: a file that may not be so large" report_too_large
# With Ctrl-C when the file is there; it may be whole then.
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

make_events_data
export_of -i "$TMP/events.data" >"$TMP/folded-events"
report -i "$TMP/events.data" --format json >"$TMP/of-events.json"
ok "export: of several events, the time" \
	"$TESTS/folded-sums.py" "$TMP/folded-events" "$TMP/of-events.json"

# With callers: the outermost first, and the time that there is without
export_of -i "$chains" >"$TMP/folded-chains"
"$PERF" kvm unified report -f -i "$chains" -k "$TREE/host/vmlinux" --format json \
	>"$TMP/json-chains" 2>/dev/null
ok "export: callers are outside" grep -qE \
	'^\[host\];[^;]+;(.*;)?do_syscall_64_\[k\];(.*;)?[a-z_0-9]+_\[k\] [0-9]+$' "$TMP/folded-chains"
ok "... and what was hit is inside of them, once" not grep -E '([a-z_]*safe_halt_\[k\]);\1' \
	<(grep 'safe_halt_\[k\] [0-9]*$' "$TMP/folded-chains")
ok "export: with callers, the time of the report" \
	"$TESTS/folded-sums.py" "$TMP/folded-chains" "$TMP/json-chains"

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
done_testing
