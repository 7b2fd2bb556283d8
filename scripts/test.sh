#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test.sh [NAME...]: run scripts/tests/*.t (or those named), each of which
# prints TAP, and count the single checks. The last line is the verdict.
#
# KVMU_TESTS names another directory of tests, and KVMU_BESIDE those of them that run beside
# the ones that are named (see test-long.sh).

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

TESTS=${KVMU_TESTS:-$TOP/scripts/tests}

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

run_tests()
{
	local name

	for name in "$@"; do
		run_test "$TESTS/$name.t"
	done
}

# Whose lab measures on the real clock, and what has a virtual one, which takes one CPU and
# does not mind how busy it is: the longest of those run beside all others, and what needs
# no lab at all. While the clock is real, they have what the others leave.
FIRST=(apply profile selftests nmi lts)
BESIDE=(memory processes time-axis evaluation fleet symbols vmx-nmi diff style)

# What is left.
others()
{
	local file name

	for file in "$TOP"/scripts/tests/*.t; do
		name=$(basename "$file" .t)
		[[ " ${FIRST[*]} ${BESIDE[*]} " == *" $name "* ]] || echo "$name"
	done
}

# Both may use the cache: all that they build is there by then.
# start_beside NAME...
start_beside()
{
	# A process group of its own, to be ended with all that it has started.
	set -m
	KVMU_BESIDE='' KVMU_LOCKED=$KVMU_CACHE nice -n 19 "$0" "$@" >"$TOP/build/test/beside.out" 2>&1 9>&- &
	beside=$!
	set +m
	trap 'kill -TERM -- "-$beside" 2>/dev/null; exit 130' INT TERM
}

# groups_of PID: its process group and those of all that it has started (see step())
groups_of()
{
	local child

	ps -o pgid= -p "$1" || :
	for child in $(pgrep -P "$1"); do
		groups_of "$child"
	done
}

# end_beside NAME...: those that were started
end_beside()
{
	local verdict

	say "beside these:"
	# A heartbeat that is ended as it begins would still have this shell's traps.
	if kill -0 "$beside" 2>/dev/null; then
		start_heartbeat "$*"
		wait "$beside" || :
		stop_heartbeat
	fi
	trap 'exit 130' INT TERM
	sed '$d' "$TOP/build/test/beside.out" | grep -v '^    \.\.\. '
	verdict=$(tail -n 1 "$TOP/build/test/beside.out")
	if ! [[ $verdict =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
		count_line "not ok - the tests beside the others ended with: $verdict"
		return
	fi
	passed=$((passed + BASH_REMATCH[1]))
	failed=$((failed + BASH_REMATCH[2]))
	skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
}

# Minutes, the first time: not hidden inside the test that needs it. A compiler takes all CPUs,
# so one thing after the other.
build_all()
{
	"$TOP/scripts/deps.sh" bochs check
	"$TOP/scripts/setup.sh"
	"$TOP/scripts/build-selftests.sh"
	(on_lts && "$TOP/scripts/build-kernel.sh" && "$TOP/scripts/build-selftests.sh")
	# All that the scenarios want, so that none of them changes the others' image.
	GUEST_KERNELS="5.10 6.12" "$TOP/scripts/lab/guest-image.sh"
	"$TOP/scripts/lab/guest-extra.sh" node
}

run_all()
{
	# What time there is for it here: make test-long has 10,000.
	export FUZZ_COUNT=${FUZZ_COUNT:-2000}
	build_all
	start_beside "${BESIDE[@]}"
	run_tests "${FIRST[@]}"
	# Who is not root cannot: then it takes longer.
	groups_of "$beside" | sort -u | xargs renice -n 0 -g >/dev/null 2>&1 || :
	mapfile -t names < <(others)
	run_tests "${names[@]}"
	end_beside "${BESIDE[@]}"
}

need_tests "$TESTS" "$@"
mkdir -p "$TOP/build/test"
# Ctrl-C ends the run, not just the test it hits.
trap 'exit 130' INT TERM

if [ -n "${KVMU_BESIDE:-}" ]; then
	read -ra beside_these <<<"$KVMU_BESIDE"
	start_beside "${beside_these[@]}"
	run_tests "$@"
	end_beside "${beside_these[@]}"
elif [ $# -gt 0 ]; then
	run_tests "$@"
else
	run_all
fi

verdict="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || verdict="$verdict, $skipped skipped"
say "$verdict"
KVMU_SAID_WHY=1
[ "$failed" -eq 0 ]
