#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test.sh [NAME...]: run scripts/tests/*.t (or those named), each of which
# prints TAP, and count the single checks. The last line is the verdict.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

passed=0 failed=0 skipped=0

# What went wrong is shown; what went well is counted.
count_line()
{
	case $1 in
	'ok '*'# SKIP'*|'ok '*'# skip'*)
		skipped=$((skipped + 1))
		say "  $1"
		;;
	'ok '*)
		passed=$((passed + 1))
		;;
	'not ok '*)
		failed=$((failed + 1))
		say "  $1"
		;;
	'1..'*)
		planned=${1#1..}
		planned=${planned%% *}
		;;
	'# '*)
		say "  $1"
		;;
	esac
}

# A test that dies, or that runs fewer checks than it planned, has failed even
# if each check it got to is fine.
run_test()
{
	local file=$1 name out rc=0 line start=$SECONDS before planned='' ran beat

	name=$(basename "$file" .t)
	out=$TOP/build/test/$name.tap
	before=$((passed + failed + skipped))
	say "$name"
	start_heartbeat "$name"
	"$file" >"$out" 2>"$out.err" 9>&- || rc=$?
	stop_heartbeat
	while IFS= read -r line; do
		count_line "$line"
	done <"$out"
	ran=$((passed + failed + skipped - before))
	if [ "$rc" -ne 0 ] && ! grep -q '^not ok ' "$out"; then
		count_line "not ok - $name ended with exit code $rc after $ran checks"
	elif [ -z "$planned" ] || [ "$planned" -ne "$ran" ]; then
		count_line "not ok - $name planned ${planned:-nothing} and ran $ran checks"
	fi
	if grep -q '^not ok ' "$out" || [ "$rc" -ne 0 ]; then
		tail -n 15 "$out.err" | sed 's/^/    | /'
		say "  to read: $out and $out.err"
	fi
	say "  $ran checks ($((SECONDS - start)) s)"
}

mkdir -p "$TOP/build/test"
# Ctrl-C ends the run, not just the test it hits.
trap 'exit 130' INT TERM

if [ $# -gt 0 ]; then
	tests=("${@/#/$TOP/scripts/tests/}")
	tests=("${tests[@]/%/.t}")
else
	tests=("$TOP"/scripts/tests/*.t)
	# Minutes, the first time: not hidden inside the test that needs it.
	"$TOP/scripts/deps.sh" check
	"$TOP/scripts/setup.sh"
fi
for test in "${tests[@]}"; do
	[ -x "$test" ] || die "no test $(basename "$test" .t) in scripts/tests"
	run_test "$test"
done

verdict="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || verdict="$verdict, $skipped skipped"
say "$verdict"
KVMU_SAID_WHY=1
[ "$failed" -eq 0 ]
