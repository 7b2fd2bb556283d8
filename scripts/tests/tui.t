#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf kvm unified report in a terminal: the screens of perf's browser, with the profile
# that profile.t has recorded, and the pager.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"
"$TOP/scripts/deps.sh" check >&2 || exit 1

PERF=$MAIN_TREE/perf/perf
ok "there is a profile" test -s "$LAB_OUT/libquantum/perf.data/data"
cd "$LAB_OUT/libquantum" || { done_testing; }

# A terminal of its own, of a size that the screens are held against
COLUMNS_OF_SCREEN=120
LINES_OF_SCREEN=30
# A screen that does not come in this time does not come, s.
PATIENCE=20

run=0
terminal()
{
	tmux -S "$TMP/tmux.$run" "$@" 2>/dev/null
}
trap 'terminal kill-server; tap_exit' EXIT

# start OPTION...: the report, in the terminal
start()
{
	local command

	terminal kill-server
	run=$((run + 1))
	printf -v command '%q ' "$PERF" kvm unified report -f -i perf.data \
		-k "$TREE/host/vmlinux" --guest-root "$MAIN_TREE/guest/root" "$@"
	terminal -f /dev/null new-session -d -s report -x $COLUMNS_OF_SCREEN -y $LINES_OF_SCREEN \
		"env HOME=$TMP PAGER='less -X' $command 2>$TMP/stderr; echo exit code \$?; sleep 1000"
}
screen()
{
	terminal capture-pane -p -t report
}
# shows PATTERN: sooner or later
shows()
{
	local end=$((SECONDS + PATIENCE))

	until screen >"$TMP/screen"; grep -qE -- "$1" "$TMP/screen"; do
		if [ "$SECONDS" -ge "$end" ]; then
			cat "$TMP/screen"
			return 1
		fi
		sleep 0.1
	done
}
# press KEY... as tmux calls them
press()
{
	terminal send-keys -t report "$@"
}

start
ok "a menu of the tables: the host" shows '^[0-9]+K? Host'
ok "... and the VM" grep -qE '^[0-9]+K? guest1' "$TMP/screen"
press Down Enter
ok "a VM's table: its title" shows "^Samples: [0-9]+K? of event 'guest1'"
ok "... the columns of perf report" grep -qE '^Overhead +Pid:Command +Shared Object +Symbol' "$TMP/screen"
ok "... a function of a guest's process" \
	grep -qE '^ +[0-9.]+% +[0-9]+:shor +libquantum.so.8 +\[u\] quantum_toffoli' "$TMP/screen"
# The screen has what the text has.
first_row()
{
	"$PERF" kvm unified report -f -i perf.data -k "$TREE/host/vmlinux" \
		--guest-root "$MAIN_TREE/guest/root" --stdio 2>/dev/null |
		awk '/^# guest1 / { on = 1 } on && /^ / { print $1, $2, $3, $4, $5; exit }'
}
ok "... the row with most time as the text has it" \
	test "$(awk '/libquantum/ { print $1, $2, $3, $4, $5; exit }' "$TMP/screen")" = "$(first_row)"

press /
ok "a filter: perf asks for it" shows 'Symbol to show'
press -l steal
press Enter
ok "a filter by symbol: what is no code is a row, too" shows '\[-\] \[steal\] \(outside'
ok "... and no others" not grep -q quantum_ "$TMP/screen"
press / Enter
ok "without the filter: all" shows '\[u\] quantum_toffoli'

press Home
press a
ok "annotate, from the row: it is said that there is no source" shows 'no source code'
press Space
ok "annotate, from the row: instructions of a guest's function" \
	shows '[0-9.]+ .*(mov|add|cmp|xor|lea|test) '
ok "... of its name" grep -qE 'quantum_[a-z_.0-9]+' "$TMP/screen"
press q
ok "back in the table" shows "^Samples: [0-9]+K? of event 'guest1'"
press Enter
ok "a row's menu: zoom into the process" shows 'Zoom into shor\([0-9]+\) thread'
press Escape
ok "... and away again" shows "^Samples: [0-9]+K? of event 'guest1', Event"
press d
ok "zoom into the DSO: the title says so" shows 'DSO: libquantum.so.8'
ok "... and it is alone" not grep -q '\[steal\]' "$TMP/screen"
press Escape
ok "out of it again: all rows" shows '\[-\] \[steal\]'
press Escape
ok "the way back to the menu" shows '^[0-9]+K? Host'
press q
ok "the end: an exit code of 0" shows '^exit code 0'
ok "what was said meanwhile is said now, and is not much" test "$(wc -l <"$TMP/stderr")" -le 3

start --sort class
ok "--sort class" shows '^[0-9]+K? Host'
press Down Enter
ok "... a row for each class" shows '% +steal'
press q
ok "... its end" shows '^exit code 0'

start --stdio
ok "text goes through the pager" shows '^:|lines 1-|^# perf kvm unified report: '
ok "... which waits" not grep -q 'exit code' "$TMP/screen"
press q
ok "... and ends" shows '^exit code 0'

start --format json
ok "JSON does not" shows '^exit code 0'

start -i "$TMP/none"
ok "no profile: no screen, but a message" shows '^exit code 1'
ok "... which says what to do" grep -q 'perf kvm unified record makes one' "$TMP/stderr"

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
ok "... and is there afterwards" grep -q 'Guests are not told apart' "$TMP/stderr"

done_testing
