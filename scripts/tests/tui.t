#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf kvm unified report in a terminal: the screens of perf's browser, with the profile
# that profile.t has recorded, and the pager.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=scripts/terminal.sh
. "$TOP/scripts/terminal.sh"
"$TOP/scripts/deps.sh" check >&2 || exit 1

PERF=$MAIN_TREE/perf/perf
ok "there is a profile" test -s "$LAB_OUT/libquantum/perf.data/data"
cd "$LAB_OUT/libquantum" || { done_testing; }

trap 'terminal kill-server; tap_exit' EXIT

# start OPTION...: the report, in the terminal
start()
{
	terminal_start "$PERF" kvm unified report -f -i perf.data \
		-k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" --percent-limit 0 "$@"
}

start
ok "a menu of the tables: the host" shows '^[0-9]+K? Host'
ok "... and the VM" shows '^[0-9]+K? guest1'
press Down Enter
ok "a VM's table: its title" shows "^Samples: [0-9]+K? of event 'guest1'"
ok "... the columns of perf report" shows '^Overhead +Pid:Command +Shared Object +Symbol'
ok "... a function of a guest's process" \
	shows '^ +[0-9.]+% +[0-9]+:shor +libquantum.so.8 +\[u\] quantum_toffoli'
# The screen has what the text has.
first_row()
{
	"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" --stdio 2>/dev/null |
		awk '/^# guest1 / { on = 1 } on && /^ / { print $1, $2, $3, $4, $5; exit }'
}
ok "... the row with most time as the text has it" \
	test "$(awk '/libquantum/ { print $1, $2, $3, $4, $5; exit }' "$TMP/screen")" = "$(first_row)"

# VMs are in the order of what was stolen.
ok "... below, who suffers most" shows "^Stolen most from: guest1 \($("$PERF" kvm unified report -f -i perf.data \
	--summary 2>/dev/null | awk '$1 == "guest1" { print $5 }') % of its time\). All VMs: "

press /
ok "a filter: perf asks for it" shows 'Symbol to show'
# By the time line, whatever the samples have met: in 10 s, the vCPU's thread is preempted.
press -l "[steal]"
press Enter
ok "a filter by symbol: what is no code is a row, too" shows '\[-\] \[steal\] \('
ok "... and no others" not grep -q quantum_ "$TMP/screen"
press Enter
ok "... its menu: samples" shows 'Run scripts for all samples'
ok "... but none of its name" not grep -qE 'samples of (symbol|thread)' "$TMP/screen"
press Escape
ok "... back in the table" shows '\[-\] \[steal\] \('
press / Enter
ok "without the filter: all" shows '\[u\] quantum_toffoli'

press Home
press a
ok "annotate, from the row: instructions of a guest's function" \
	shows '[0-9.]+ .*(mov|add|cmp|xor|lea|test) '
ok "... of its name" shows 'quantum_[a-z_.0-9]+'
press q
ok "back in the table" shows "^Samples: [0-9]+K? of event 'guest1'"
press Enter
ok "a row's menu: zoom into the process" shows 'Zoom into shor\([0-9]+\) thread'
press Escape
ok "... and away again" shows "^Samples: [0-9]+K? of event 'guest1', Event"
press d
ok "zoom into the DSO: the title says so" shows 'DSO: libquantum.so.8'
ok "... and it is alone" not grep -q '\[g\] ' "$TMP/screen"
press Escape
ok "out of it again: the kernel's rows, too" shows '\[g\] '
press Escape
ok "the way back to the menu" shows '^[0-9]+K? Host'
press q
ok "the end: an exit code of 0" shows '^exit code 0'
ok "what was said meanwhile is said now, and is not much" test "$(wc -l <"$TMP/stderr")" -le 3

start -d '[exit],[guest.kernel.kallsyms*'
ok "rows of no process" shows '^[0-9]+K? Host'
press Down Enter
ok "... with the kernel's" shows '\[g\] '
press k
ok "zoom into the kernel: that of the guest" shows 'DSO: \[guest.kernel.kallsyms'
ok "... with its rows" shows '% +-1:- +\[g\] '
press q
ok "... the end" shows '^exit code 0'

start --sort class
ok "--sort class" shows '^[0-9]+K? Host'
press Down Enter
ok "... a row for each class" shows '% +steal'
press q
ok "... its end" shows '^exit code 0'

# By another event than the first: page faults
most_faults()
{
	"$PERF" kvm unified report -f -i events.data -k "$TREE/host/vmlinux" --stdio -s comm --percent-limit 0 \
		2>/dev/null | awk '/^# Host / { on = 1 } /^# guest1 / { on = 0 } on && /^ / && $3 + 0 > most { most = $3 + 0; name = $NF } END { print name }'
}
# first_row_is NAME: of the table on the screen
first_row_is()
{
	awk '/^ +[0-9.]+% / { print $NF; exit }' "$TMP/screen" | grep -qxF "$1"
}
faults=$(most_faults)
# -q: it may have lost something, which would be said on the screen first.
start -q -i events.data -s comm
ok "several events: the menu" shows '^[0-9]+K? Host'
press Enter
ok "... by time first" shows '^ +[0-9.]+% +[0-9.]+% +[0-9.]+%'
ok "... which is not that by page faults" not first_row_is "$faults"
press 2
ok "2: the tables again" shows '^[0-9]+K? guest1'
press Enter
ok "... by page faults now" shows "^ +[0-9.]+% +[0-9.]+% +[0-9.]+% +$faults"
ok "... from the first row on" first_row_is "$faults"
press q q
ok "... the end" shows '^exit code 0'

# The same time is shown of the samples. The guest may have been on another CPU then.
start --time 40%-50% -C 0
ok "a part of the time: the menu of the tables" shows '^[0-9]+K? Host'
press Enter
ok "... the host's" shows "^Samples: [0-9]+K? of event 'Host'"
press r
ok "... scripts" shows 'Show individual samples '
press Enter
ok "... in the pager" shows '^:|lines 1-'
ok "... are of that time, and of that CPU" \
	grep -qE '[k]vm unified script .*-C .?0.? .*--time .?[0-9.]+,[0-9.]+' <(ps -eo args)

# perf script would not have the names of a guest's functions: it knows no --guest-root.
start
ok "samples of a row: the menu of the tables" shows '^[0-9]+K? guest1'
press Down Enter
ok "... the VM's" shows 'quantum_toffoli'
press /
ok "... one function" shows 'Symbol to show'
press -l quantum_toffoli
press Enter
ok "... by its name" shows 'quantum_toffoli'
press Enter
ok "... the row's menu" shows 'Run scripts for samples of symbol \[quantum_toffoli'
press Down Down Down Down Down Enter
ok "... how they can be seen" shows 'Show individual samples '
press Enter
ok "... in the pager" shows '^:|lines 1-'
press G
ok "... with the names of the table, of the process and of the function" \
	shows '^ +shor +[0-9]+ .* quantum_toffoli'

start --stdio
ok "text goes through the pager" shows '^:|lines 1-|^# perf kvm unified report: '
ok "... which waits" not grep -q 'exit code' "$TMP/screen"
press q
ok "... and ends" shows '^exit code 0'

start --format table
ok "--format table goes through it, too" shows '^:|lines 1-|^# perf kvm unified report: '
ok "... which waits" not grep -q 'exit code' "$TMP/screen"
press q
ok "... and ends" shows '^exit code 0'
terminal_start "$PERF" kvm unified diff -f --percent-limit 0 perf.data perf.data
ok "diff goes through it" shows '^:|lines 1-|^# perf kvm unified diff: '
ok "... which waits" not grep -q 'exit code' "$TMP/screen"
press q
ok "... and ends" shows '^exit code 0'

printf '[tui]\n\treport = off\n' >"$TMP/.perfconfig"
start
ok "perfconfig: tui.report = off: text" shows '^:|lines 1-|^# perf kvm unified report: '
rm "$TMP/.perfconfig"

start --format json
ok "JSON does not" shows '^exit code 0'

start -i "$TMP/none"
ok "no profile: no screen, but a message" shows '^exit code 1'
ok "... which says what to do" grep -q 'perf kvm unified record makes one' "$TMP/stderr"

# A process of the guest has a name that a shell would run. The command is perf's own to be found.
cp -r perf.data "$TMP/hostile.data"
# shellcheck disable=SC2016 # it is a name
sed -i 's/shor\x00\x00\x00\x00/$(id>x)\x00/g' "$TMP"/hostile.data/guest_map__*
cd "$TMP" || { done_testing; }
PATH=$MAIN_TREE/perf:$PATH start -i "$TMP/hostile.data"
ok "a process with a hostile name: the menu" shows '^[0-9]+K? guest1'
press Down Enter
ok "... its rows" shows '\$\(id>x\)'
press Enter
ok "... a script for its samples" shows 'Run scripts for samples of thread \[\$\(id>x\)\]'
press Down Down Down Down Enter
ok "... of which there are some" shows 'Show individual samples '
press Enter
ok "... which runs" shows '\(END\)|^:|lines [0-9]'
ok "... and not the name" not test -e "$TMP/x"
cd "$LAB_OUT/libquantum" || { done_testing; }

# Something to be said of it, in front of the tables
cp -r perf.data "$TMP/odd.data"
rm "$TMP"/odd.data/guest_map__*
start -i "$TMP/odd.data" --guest-map guest1=/dev/null
ok "a map that is none: an error after the screen was set up is not lost" shows '^exit code 1'
ok "... but said" grep -q '/dev/null' "$TMP/stderr"
rm "$TMP/odd.data/vms"
start -i "$TMP/odd.data"
ok "a warning is on the screen first" shows 'Guests are not told apart'
press Space
ok "... and then the tables" shows 'Pid:Command'
press q
ok "... their end" shows '^exit code 0'
ok "... and is there afterwards" grep -q 'Guests are not told apart' "$TMP/stderr"

terminal_start "$PERF" kvm unified annotate -f -i demo.data quantum_toffoli._omp_fn.0
ok "annotate, without a guest's files: it ends" shows '^exit code 0'
ok "... and which one is missing is said afterwards" \
	grep -q 'libquantum.so.8 of guest guest1 .* is not here: --guest-root' "$TMP/stderr"

done_testing
