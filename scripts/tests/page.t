#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The page of a profile, as far as it takes no browser: what is put into it, by literal input, and what
# the program does with files, errors and signals. A stand-in is perf, and another one the libraries.
# scripts/tests-long/page.t has the page in a browser.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

PROGRAM=$TOP/scripts/page/perf-kvm-unified-page
# A python3 that is a script takes a tenth of a second to find the real one.
PYTHON=$(python3 -c 'import sys; print(sys.executable)')

"$PYTHON" "$TESTS/page-parts.py" >"$TMP/parts.tap" 2>"$TMP/parts.err"
cd "$TMP" || exit 1
hand_on parts.tap parts.err "parts: "

mkdir lib out
for file in d3.LICENSE d3-flame-graph.LICENSE; do
	echo "licence of ${file%.LICENSE}" >"lib/$file"
done
for file in d3.min.js d3-flamegraph.umd.min.js; do
	echo "// program $file" >"lib/$file"
done

# What made-perf.py would print is printed by a shell, which is faster.
MADE=("$PYTHON" "$TESTS/made-perf.py" small kvm unified)
"${MADE[@]}" report --header-only >small.header
"${MADE[@]}" report --format json >small.report
"${MADE[@]}" export --format trace >small.trace
"${MADE[@]}" export --format folded >small.stacks
"${MADE[@]}" export --format folded --time=1,2 >small.window
cat >perf <<-'END'
	#!/bin/sh
	cd "$(dirname "$0")" || exit
	echo "$*" >>calls
	case " $* " in
	*--header-only*)	exec cat small.header ;;
	*json*)			exec cat small.report ;;
	*trace*)		exec cat small.trace ;;
	esac
	case $(cat kind) in
	fails)	echo "a stack 12"; echo "no such symbol table" >&2; exit 3 ;;
	broken)	exec echo "a line without a number" ;;
	hangs)	echo $$ >pid; exec sleep 60 ;;
	esac
	case " $* " in
	*--time=*)	exec cat small.window ;;
	*)		exec cat small.stacks ;;
	esac
END
chmod +x perf

# page KIND [ARGS]: in out/, by a perf that works (small), or that exports no stacks: it fails, writes
# what is none (broken), or hangs
page()
{
	echo "$1" >kind
	shift
	(cd out && exec "$PYTHON" "$PROGRAM" --perf "$TMP/perf" --lib "$TMP/lib" --windows 2 "$@")
}

# ends WITH KIND [ARGS]: with that exit code
ends()
{
	local want=$1 rc=0
	shift

	page "$@" 2>err || rc=$?
	cat err
	[ "$rc" -eq "$want" ]
}

# out_has FILES: and no others
out_has()
{
	ls -A out
	[ "$(echo out/*)" = "$1" ] && [ -z "$(find out -name '.*' ! -name .. -mindepth 1)" ]
}

# from_page EXPRESSION: of the data d of the page
from_page()
{
	"$PYTHON" -c "import json, re, sys
d = json.loads(re.search('id=\"data\">(.*?)</script>', open('out/report.html').read(), re.DOTALL)[1])
print($1)"
}

ok "a page is made" ends 0 small -f --guest-root=vm1=dir --vm vm1 -k vmlinux
ok "... of the name that it has without -o, and nothing else" out_has out/report.html
ok "... with both licences" test "$(grep -c '^licence of d3' out/report.html)" -eq 2
ok "... and both libraries" test "$(grep -c '^<script>// program d3' out/report.html)" -eq 2
ok "... no place is left empty" not grep -q '@@' out/report.html
ok "... host and date" test "$(from_page 'd["measurement"]["host"], d["measurement"]["date"]')" = \
	"a-host Mon Nov 30 16:39:11 2026"
ok "... two windows, of all the time" test "$(from_page 'd["stacks"]["windows"]')" = "[[0, 3000], [3000, 6000]]"
ok "... their stacks" test "$(from_page '[sum(times[1::2]) for times in d["stacks"]["times"]]')" = "[9000, 750, 750]"
ok "perf: options are handed on" test "$(grep -c -- ' -i perf.data --force --vmlinux=vmlinux --vm=vm1 --guest-root=vm1=dir' calls)" -eq 5
ok "perf: once for all, and for each window, by its time" test "$(sed -n 's/.*folded.*--time=//p' calls | paste -sd' ')" = \
	"0.000001000,0.000004000 0.000004000,0.000007000"

cp out/report.html first
ok "a page again" ends 0 small
ok "... the one before is kept" cmp -s first out/report.html.old
ok "... and nothing else" out_has "out/report.html out/report.html.old"
cp out/report.html second
page small -o - >stdout 2>err
ok "-o - is the same page" cmp stdout second
ok "-o NAME with a directory" ends 0 small -o ../named.html
ok "... is there" cmp -s named.html second
mkfifo pipe
timeout 10 cat pipe >through &
ok "-o with a pipe" timeout 10 "$PYTHON" "$PROGRAM" --perf "$TMP/perf" --lib lib --windows 2 -o pipe
wait
ok "... which stays one" test -p pipe
ok "... and got the page" cmp -s through second

# Whatever fails, what was there stays, and nothing else is left.
refused()
{
	ok "$1: refused" ends "$2" "${@:4}"
	ok "... with a message" grep -q -- "$3" err
	ok "... without a traceback" not grep -q Traceback err
	ok "... and no page" out_has "out/report.html out/report.html.old"
	ok "... what was there stays" cmp -s second out/report.html
}
refused "perf fails" 1 "no such symbol table" fails
ok "... and which perf" grep -q 'perf kvm unified export has failed (3)' err
refused "perf writes something else" 1 "not a stack and its time" broken
refused "no such perf" 1 "cannot run /nowhere: No such file" small --perf /nowhere
refused "no libraries" 2 "/nowhere: the libraries are not there" small --lib /nowhere
refused "no place for the page" 1 "No such file or directory" small -o nowhere/page.html
refused "a directory in its place" 1 "is a directory" small -o ../lib
refused "a full disk" 1 "No space left" small -o /dev/full
refused "no windows" 2 "1 to 100" small --windows 0
refused "a stream" 2 "read several times" small -i -
refused "several times" 2 "one span" small --time '1,2 3,4'
refused "an option that is none" 2 "unrecognized" small --nothing

mv out/report.html.old old
mkdir -p out/report.html.old/full
ok "what is there cannot be kept: refused" ends 1 small
ok "... it stays" cmp -s second out/report.html
ok "... and nothing else is left" out_has "out/report.html out/report.html.old"
rm -r out/report.html.old
mv old out/report.html.old

# interrupted SIGNAL: while perf runs. A command in the background ignores SIGINT, and so do its children.
interrupted()
{
	rm -f pid
	echo hangs >kind
	(cd out && exec "$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.execv(sys.argv[1], sys.argv[1:])' "$PYTHON" "$PROGRAM" --perf "$TMP/perf" --lib "$TMP/lib" 2>"$TMP/err") &
	for _ in $(seq 200); do
		[ ! -s pid ] || break
		sleep 0.05
	done
	kill "-$1" $!
	wait $!
}
for signal in INT TERM; do
	interrupted $signal
	rc=$?
	ok "SIG$signal: exit code" test $rc -eq $((128 + $(kill -l $signal)))
	ok "... nothing is printed" test ! -s err
	ok "... no page" out_has "out/report.html out/report.html.old"
	ok "... and perf has ended" not kill -0 "$(cat pid)"
done
ok "-h" ends 0 small -h
done_testing
