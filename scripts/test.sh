#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# test.sh [NAME...]: run scripts/tests/*.t (or those named), each of which
# prints TAP, and count the single checks. At the end, what has failed is there again, then how
# long each test took, and the last line is the verdict. Of a run of all tests, build/test/verdict
# keeps it, with the commit, the seconds and the machine's load.
#
# CHANGED=1: only the tests that scripts/tests/changed has for what has changed since the commit
# whose tests have all passed last; all tests where there is none.
#
# KVMU_TIME_LIMIT=SECONDS, for a machine on which the alternative is no result at all: when what
# is left would not fit, the longest tests that are left are skipped. How long they take is in
# the file seconds beside them, of one machine, and this one is as slow as what it has done shows it.
#
# What fails in the lab is run once more, alone, with new recordings, and what comes out then counts:
# figures there are of samples, and one of thousands may fail by chance. What has failed the first
# time only is listed at the end and in the verdict, to be mended. That is for a run of all tests,
# and for others with AGAIN=1; not where many have failed.
#
# KVMU_LANES=1: those that are named run as all do, some beside others.
#
# KVMU_TESTS names another directory of tests, and KVMU_BESIDE those of them that run beside
# the ones that are named (see test-long.sh), in a lane of their own. KVMU_LANE is which lane this is.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

TESTS=${KVMU_TESTS:-$TOP/scripts/tests}

# A python3 that is a script, as pyenv's, takes a tenth of a second to find the real one, some
# thousand times.
if head -c 2 "$(command -v python3)" | grep -q '#!'; then
	python=$(python3 -c 'import sys; print(sys.executable)')
	[ ! -x "$python" ] || PATH=$(dirname "$python"):$PATH
fi

# Of the one that has started this one beside itself, if any
STARTED=${KVMU_STARTED:-$EPOCHSECONDS}
LANE=${KVMU_LANE:-0}
NEXT_LANE=$TOP/build/test/lane$((LANE + 1))
# What the tests measure on a virtual clock is the same on a busy machine.
export LAB_CLOCK=${LAB_CLOCK:-virtual}

passed=0 failed=0 skipped=0
# Where failed tests are run once more: counts has a line for each test (name, and how many have
# passed, failed, and were skipped), and first/ what those had printed that were run once more
RUNS=${KVMU_RUNS:-}
# Where more than so many tests have failed, it was not by chance.
MOST_AGAIN=3
# What ran, a line each: seconds and name
ran_seconds=()

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

# cpu_seconds: of all that this shell has started and that has ended, see proc(5): cutime and cstime
cpu_seconds()
{
	sed 's/.*) //' "/proc/$$/stat" | awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) / hz }'
}

# A test that dies, or that runs fewer checks than it planned, has failed even
# if each check it got to is fine.
run_test()
{
	local file=$1 name out rc=0 line start=$SECONDS before planned='' ran beat cpu
	local passed_before=$passed failed_before=$failed skipped_before=$skipped

	name=$(basename "$file" .t)
	out=$TOP/build/test/$name.tap
	before=$((passed + failed + skipped))
	say "$name"
	cpu=$(cpu_seconds)
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
	ran_seconds+=("$((SECONDS - start)) $name")
	[ -z "$RUNS" ] || echo "$name $((passed - passed_before)) $((failed - failed_before))" \
		"$((skipped - skipped_before))" >>"$RUNS/counts"
	say "  $ran checks ($((SECONDS - start)) s, $(($(cpu_seconds) - cpu)) s of CPU time)"
}

# usual_seconds NAME...: of all of them together, on the machine that the table is of
usual_seconds()
{
	awk -v names="$*" 'BEGIN { split(names, a, " "); for (i in a) want[a[i]] }
		$1 in want { n += $2 } END { print n + 0 }' "$TESTS/seconds"
}

# longest NAME...: in scripts/tests/seconds
longest()
{
	awk -v names="$*" 'BEGIN { split(names, a, " "); for (i in a) want[a[i]] }
		$1 in want && $2 >= most { most = $2; name = $1 } END { print name }' "$TESTS/seconds"
}

# left_after NAME...: how many seconds of KVMU_TIME_LIMIT would be left if these ran now
left_after()
{
	local names took=0 line

	mapfile -t names < <(printf '%s\n' "${ran_seconds[@]}" | cut -d' ' -f2)
	for line in "${ran_seconds[@]}"; do
		took=$((took + ${line% *}))
	done
	awk -v left="$((KVMU_TIME_LIMIT - (EPOCHSECONDS - STARTED)))" -v took="$took" \
		-v usual="$(usual_seconds "${names[@]}")" -v wants="$(usual_seconds "$@")" \
		'BEGIN { slower = usual ? took / usual : 1; printf "%d", left - wants * slower }'
}

# skip_for_time NAME...: of these, what does not fit any more is skipped, the longest first;
# the others are in left.
skip_for_time()
{
	local name short

	left=("$@")
	while [ ${#left[@]} -gt 0 ] && [ "$(left_after "${left[@]}")" -lt 0 ]; do
		name=$(longest "${left[@]}")
		[ -n "$name" ] || name=${left[0]}
		short=$(left_after "${left[@]}")
		count_line "ok - $name # SKIP no time left: $((-short)) s too few"
		mapfile -t left < <(printf '%s\n' "${left[@]}" | grep -vx "$name")
	done
}

run_tests()
{
	left=("$@")
	while [ ${#left[@]} -gt 0 ]; do
		[ -z "${KVMU_TIME_LIMIT:-}" ] || skip_for_time "${left[@]}"
		[ ${#left[@]} -gt 0 ] || break
		run_test "$TESTS/${left[0]}.t"
		left=("${left[@]:1}")
	done
}

# What has failed, of a test's TAP, with what is said of it
failed_checks()
{
	awk '/^(not )?ok / { on = /^not ok / } /^1\.\./ { on = 0 }
		on { name = FILENAME; gsub(/^.*\/|\.tap$/, "", name); print "  " name ": " $0 }' "$@"
}

# The recordings that these read are those of profile.
READ_PROFILE=(report report-export report-profiles report-views bench over-time tui zz-fuzz
	zz-hostile)
# No chance is in what these look at.
WITHOUT_CHANCE=(apply docs evaluation gate get-kernel series style)

# run_again: what has failed, if that may have been by chance, see above
run_again()
{
	local name names again first=''

	mapfile -t names < <(awk '$3 > 0 { print $1 }' "$RUNS/counts")
	[ ${#names[@]} -gt 0 ] && [ ${#names[@]} -le "$MOST_AGAIN" ] || return 0
	for name in "${names[@]}"; do
		[[ " ${WITHOUT_CHANCE[*]} " != *" $name "* ]] || return 0
		[[ " ${READ_PROFILE[*]} " != *" $name "* ]] || first=profile
	done
	mapfile -t again < <(printf '%s\n' $first "${names[@]}" |
		grep -xFf <(cut -d' ' -f1 "$RUNS/counts") | awk '!seen[$0]++')
	[ -z "${KVMU_TIME_LIMIT:-}" ] || [ "$(left_after "${again[@]}")" -ge 0 ] || return 0
	say "once more, with new recordings:"
	mkdir -p "$RUNS/first"
	for name in "${again[@]}"; do
		take_back "$name"
		mv "$TOP/build/test/$name.tap" "$RUNS/first"
		run_test "$TESTS/$name.t"
	done
}

# take_back NAME: what was counted of a test
take_back()
{
	local has_passed has_failed was_skipped

	read -r has_passed has_failed was_skipped < <(awk -v name="$1" '$1 == name { print $2, $3, $4 }' "$RUNS/counts")
	passed=$((passed - has_passed))
	failed=$((failed - has_failed))
	skipped=$((skipped - was_skipped))
}

# failed_by_chance: what has failed in first runs; fails if there is nothing
failed_by_chance()
{
	[ -n "$RUNS" ] && [ -d "$RUNS/first" ] && failed_checks "$RUNS"/first/*.tap | grep .
}

# summary NAME...: of those that ran, for who sees the end of a log
summary()
{
	local name taps=() by_chance

	for name in "$@"; do
		[ ! -f "$TOP/build/test/$name.tap" ] || taps+=("$TOP/build/test/$name.tap")
	done
	[ ${#taps[@]} -gt 0 ] || return 0
	say ""
	say "seconds of each test:"
	printf '%s\n' "${ran_seconds[@]}" | sort -rn | awk '{ printf "  %6d  %s\n", $1, $2 }'
	if grep -hq '^# boot [0-9]:' "${taps[@]}"; then
		say "booted again:"
		grep -H '^# boot [0-9]:' "${taps[@]}" | sed "s|$TOP/build/test/|  |"
	fi
	if by_chance=$(failed_by_chance); then
		say "failed, but not once more:"
		printf '%s\n' "$by_chance"
	fi
	if grep -q '^not ok ' "${taps[@]}"; then
		say "failed:"
		failed_checks "${taps[@]}"
	fi
}

# Whose lab measures on the real clock, and those that need what they leave; what is in no list
# comes after them. While the clock is real, they have what the others leave.
FIRST=(profile selftests nmi)
# Two lanes beside all others: who has a virtual clock, which takes one CPU and does not mind how
# busy it is, and what needs no lab at all.
BESIDE=(time-axis symbols targets memory docs)
BESIDE_TOO=(guests vmm vmx fleet perf diff series style apply)

# What is left.
others()
{
	local file name

	for file in "$TOP"/scripts/tests/*.t; do
		name=$(basename "$file" .t)
		[[ " ${FIRST[*]} ${BESIDE[*]} ${BESIDE_TOO[*]} " == *" $name "* ]] || echo "$name"
	done
}

# All may use the cache: what they build is there by then.
# start_beside "BESIDE..." NAME...: in the next lane, with those of BESIDE, if any, in the one after it
start_beside()
{
	local too=$1
	shift

	# A process group of its own, to be ended with all that it has started.
	set -m
	KVMU_BESIDE=$too KVMU_STARTED=$STARTED KVMU_LANE=$((LANE + 1)) KVMU_LOCKED=$KVMU_CACHE \
		nice -n 19 "$0" "$@" >"$NEXT_LANE.out" 2>&1 9>&- &
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
	sed '$d' "$NEXT_LANE.out" | grep -v '^    \.\.\. '
	verdict=$(tail -n 1 "$NEXT_LANE.out")
	if ! [[ $verdict =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
		count_line "not ok - the tests beside the others ended with: $verdict"
		return
	fi
	mapfile -t -O ${#ran_seconds[@]} ran_seconds < <(cat "$NEXT_LANE.seconds")
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
	PERF_VARIANT=asan "$TOP/scripts/build-perf.sh"
	# All that the scenarios want, so that none of them changes the others' image.
	GUEST_KERNELS="5.10 6.12" "$TOP/scripts/lab/guest-image.sh"
	"$TOP/scripts/lab/guest-extra.sh" node
}

# among "LIST" NAME...: those that are in the list, in its order
among()
{
	local list=$1 name
	shift

	for name in $list; do
		[[ " $* " != *" $name "* ]] || echo "$name"
	done
}

# run_these NAME...: all tests, or some of them. Who stands beside others does so only where there
# are others.
run_these()
{
	local first rest lane too

	# What time there is for it here: make test-long has 10,000.
	export FUZZ_COUNT=${FUZZ_COUNT:-500}
	build_all
	mapfile -t first < <(among "${FIRST[*]}" "$@")
	mapfile -t rest < <(among "$(others | paste -sd' ')" "$@")
	mapfile -t lane < <(among "${BESIDE[*]}" "$@")
	mapfile -t too < <(among "${BESIDE_TOO[*]}" "$@")
	if [ ${#lane[@]} -eq 0 ]; then
		lane=("${too[@]}")
		too=()
	fi
	[ ${#lane[@]} -eq 0 ] || start_beside "${too[*]}" "${lane[@]}"
	run_tests "${first[@]}"
	# Who is not root cannot: then it takes longer.
	[ ${#lane[@]} -eq 0 ] ||
		groups_of "$beside" | sort -u | xargs renice -n 0 -g >/dev/null 2>&1 || :
	run_tests "${rest[@]}"
	[ ${#lane[@]} -eq 0 ] || end_beside "${lane[@]}" "${too[@]}"
}

all_tests()
{
	(cd "$TOP/scripts/tests" && printf '%s\n' *.t | sed 's/\.t$//')
}

# changed_tests: what scripts/tests/changed has for what has changed since all have passed
changed_tests()
{
	local base tests=all

	base=$(sed -n 's/^commit //p' "$VERDICT.passed" 2>/dev/null) || :
	if [ -n "$base" ] && git -C "$TOP" cat-file -e "$base" 2>/dev/null; then
		tests=$({
			git -C "$TOP" diff --name-only "$base"
			git -C "$TOP" ls-files --others --exclude-standard
		} | "$TOP/scripts/tests/changed-tests.py" "$TOP/scripts/tests/changed" \
			"$LAB_OUT/libquantum/perf.data/data")
	fi
	if [ "$tests" = all ]; then all_tests; else printf '%s' "$tests"; fi
}

# keep_verdict VERDICT: for who wants to know if this commit has passed
keep_verdict()
{
	printf '%s\ncommit %s\nseconds %d\nload %s\n' "$1" "$VERSION" $((EPOCHSECONDS - STARTED)) \
		"$(cut -d' ' -f1-3 /proc/loadavg)" >"$VERDICT"
	failed_by_chance | sed 's/^ */failed the first time: /' >>"$VERDICT" || :
	# What is changed besides is of no commit that the next run could compare with.
	if [ "$failed" -eq 0 ] && [[ $VERSION =~ ^[0-9a-f]+$ ]]; then
		cp "$VERDICT" "$VERDICT.passed"
	fi
}

need_tests "$TESTS" "$@"
mkdir -p "$TOP/build/test"
VERDICT=$TOP/build/test/verdict
VERSION=$(code_version)
# Ctrl-C ends the run, not just the test it hits.
trap 'exit 130' INT TERM

if [ "$LANE" -eq 0 ] && { [ -n "${AGAIN:-}" ] || [ $# -eq 0 ]; }; then
	export KVMU_RUNS=${KVMU_RUNS:-$TOP/build/test/runs}
	RUNS=$KVMU_RUNS
	rm -rf "$RUNS"
	mkdir -p "$RUNS"
fi
these=("$@")
if [ -n "${KVMU_BESIDE:-}" ]; then
	read -ra beside_these <<<"$KVMU_BESIDE"
	start_beside '' "${beside_these[@]}"
	run_tests "$@"
	end_beside "${beside_these[@]}"
	these+=("${beside_these[@]}")
elif [ $# -gt 0 ] && [ -n "${KVMU_LANES:-}" ] && [ "$LANE" -eq 0 ]; then
	run_these "$@"
elif [ $# -gt 0 ]; then
	run_tests "$@"
elif [ -n "${CHANGED:-}" ]; then
	mapfile -t these < <(changed_tests)
	say "tests of what has changed: ${these[*]:-none}"
	run_these "${these[@]}"
else
	mapfile -t these < <(all_tests)
	rm -f "$TOP"/build/test/*.tap
	AGAIN=1
	run_these "${these[@]}"
fi
[ -z "${AGAIN:-}" ] || [ "$LANE" -ne 0 ] || run_again

if [ "$LANE" -eq 0 ]; then
	summary "${these[@]}"
else
	printf '%s\n' "${ran_seconds[@]}" >"$TOP/build/test/lane$LANE.seconds"
fi
verdict="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || verdict="$verdict, $skipped skipped"
[ $# -gt 0 ] || [ -n "${CHANGED:-}" ] || keep_verdict "$verdict"
say "$verdict"
KVMU_SAID_WHY=1
[ "$failed" -eq 0 ]
