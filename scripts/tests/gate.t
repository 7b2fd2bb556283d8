#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What runs the tests: what it counts, skips, shows again at the end, and what CHANGED=1 chooses.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# fake NAME LINE...: a test that prints these
fake()
{
	local file=$TMP/tests/gate-$1.t
	shift

	mkdir -p "$TMP/tests"
	{
		echo '#!/bin/sh'
		printf "echo '%s'\n" "$@"
	} >"$file"
	chmod +x "$file"
}
trap 'rm -f "$TOP"/build/test/gate-*; tap_exit' EXIT

# run NAME...: of those
run()
{
	# Whoever has a limit for the tests has none for these.
	env -u CHANGED -u KVMU_RUNS -u KVMU_STARTED -u KVMU_BESIDE -u KVMU_LANE KVMU_TIME_LIMIT="${LIMIT:-}" \
		KVMU_TESTS="$TMP/tests" AGAIN="${AGAIN:-}" ${AGAIN:+KVMU_RUNS="$TMP/runs"} \
		"$TOP/scripts/test.sh" "${@/#/gate-}" >"$TMP/out" 2>&1
}

fake good 'ok 1 - one' 'ok 2 - two # SKIP no such thing' '1..2'
fake bad 'ok 1 - one' 'not ok 2 - two is three' '# it is 2' 'ok 3 - four' '1..3'
fake short 'ok 1 - one' '1..2'
printf 'gate-good 10\ngate-bad 100000\n' >"$TMP/tests/seconds"

run good
ok "all well: an exit code of 0" test $? -eq 0
ok "... what is counted" test "$(tail -n 1 "$TMP/out")" = "1 passed, 0 failed, 1 skipped"
ok "... and no list of what has failed" not grep -qx 'failed:' "$TMP/out"
run good bad
ok "a check that fails: an exit code of not 0" test $? -ne 0
ok "... what is counted" test "$(tail -n 1 "$TMP/out")" = "3 passed, 1 failed, 1 skipped"
ok "... it is there again at the end, with its output" \
	diff <(sed -n '/^failed:$/,$p' "$TMP/out") - <<-'END'
		failed:
		  gate-bad: not ok 2 - two is three
		  gate-bad: # it is 2
		3 passed, 1 failed, 1 skipped
	END
ok "... the tests have their seconds" test \
	"$(sed -n '/^seconds of each test:$/,/^failed:$/p' "$TMP/out" | grep -cE '^ +[0-9]+  gate-(good|bad)$')" -eq 2
run short
ok "fewer checks than planned: failed" test "$(tail -n 1 "$TMP/out")" = "1 passed, 1 failed"
LIMIT=1000 run good bad
ok "no time left: the longest is skipped, and why" \
	grep -q 'ok - gate-bad # SKIP no time left: [0-9]* s too few' "$TMP/out"
ok "... the others are not" test "$(tail -n 1 "$TMP/out")" = "1 passed, 0 failed, 2 skipped"
LIMIT=1000000 run good bad
ok "enough time: nothing is" test "$(tail -n 1 "$TMP/out")" = "3 passed, 1 failed, 1 skipped"

# Fails in its first run
cat >"$TMP/tests/gate-chance.t" <<-END
	#!/bin/sh
	echo 'ok 1 - one'
	if [ -e "$TMP/ran" ]; then echo 'ok 2 - two'; else echo 'not ok 2 - two'; echo '# it is 3'; fi
	echo 1..2
	touch "$TMP/ran"
END
chmod +x "$TMP/tests/gate-chance.t"
AGAIN=1 run good chance
ok "a check that fails by chance, and not once more: an exit code of 0" test $? -eq 0
ok "... it is counted once" test "$(tail -n 1 "$TMP/out")" = "3 passed, 0 failed, 1 skipped"
ok "... and named" diff <(sed -n '/^failed/,$p' "$TMP/out") - <<-'END'
	failed, but not once more:
	  gate-chance: not ok 2 - two
	  gate-chance: # it is 3
	3 passed, 0 failed, 1 skipped
END
rm "$TMP/ran"
run good chance
ok "... which those that are named are not run for" test "$(tail -n 1 "$TMP/out")" = "2 passed, 1 failed, 1 skipped"
AGAIN=1 run good bad
ok "a check that fails each time: failed" test "$(tail -n 1 "$TMP/out")" = "3 passed, 1 failed, 1 skipped"

# A machine without a kernel: nothing there notes an NMI.
: >"$TMP/console"
qemu-system-x86_64 -display none -nodefaults -qmp "unix:$TMP/qmp,server=on,wait=off" 2>/dev/null &
emulator=$!
until [ -S "$TMP/qmp" ] || ! kill -0 "$emulator"; do sleep 0.1; done
watch()
{
	"$TOP/scripts/lab/watch-emulator.py" "$TMP/qmp" "$TMP/console" "$@" >"$TMP/watched"
}
watch 0.5 1
ok "an emulator that hangs: a sentence that lab.sh looks for" grep -qf <(sed -n \
	"s/.*grep -qs '\^\(.*\)' .*emulator.log.*/\1/p" "$TOP/scripts/lab.sh") "$TMP/watched"
ok "... and where its CPU is" grep -q '^EIP=' "$TMP/watched"
while sleep 0.1; do echo "NMI received for unknown reason" >>"$TMP/console"; done &
noter=$!
watch 0.5 2
kill "$noter"
ok "a host that takes an NMI hangs by itself" grep -q 'takes an NMI: it is its own fault' "$TMP/watched"
{ sleep 1; kill "$emulator"; } &
watch 60
ok "an emulator that ends: nothing" test ! -s "$TMP/watched"
wait 2>/dev/null

# chosen PATH...: what CHANGED=1 runs for these
chosen()
{
	printf '%s\n' "$@" | "$TESTS/changed-tests.py" "$TESTS/changed" | paste -sd' '
}
ok "changed: a document" test "$(chosen README.md)" = "docs style"
ok "changed: a test is seen by itself" test "$(chosen scripts/tests/vmm.t)" = vmm
ok "changed: each test once" test "$(chosen Documentation/a.md README.md scripts/tests/vmm.t)" = "docs style vmm"
ok "changed: what no row has is seen by all" test "$(chosen README.md scripts/lab.sh)" = all
ok "changed: nothing" test "$(printf '' | "$TESTS/changed-tests.py" "$TESTS/changed")" = ""
ok "changed: the profile is there" test "$(printf 'perf-kvm-unified/perf-commands/top.c\n' |
	"$TESTS/changed-tests.py" "$TESTS/changed" /dev/null | paste -sd' ')" = "perf report-views style tui"
ok "changed: the profile is not there" test "$(chosen perf-kvm-unified/perf-commands/top.c)" = \
	"perf profile report-views style tui"
all_are_there()
{
	local name

	while read -r name; do
		[ -x "$TESTS/$name.t" ] || return
	done < <(awk '!/^#/ { for (i = 2; i <= NF; i++) print $i }' "$TESTS/changed" |
		tr -d '?' | sort -u)
}
ok "the table's tests are there" all_are_there
ok "each test has its seconds" test "$(cd "$TESTS" && printf '%s\n' *.t | sed 's/\.t$//' |
	grep -vxFf <(awk '!/^#/ { print $1 }' seconds))" = ""
done_testing
