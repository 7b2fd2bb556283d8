#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What fails by chance: the lab's tests of every day, N times (3), beside BUSY busy loops (2). Each
# check that has not passed each time is a failure here; what it had to say is in build/flakes/.
#
# A run takes most of an hour. One that came to its end is kept there, and counts in the next
# call for the same commit and as many loops: N=1, N=2 and N=3 after each other are three runs.
# `rm -r build/flakes` forgets them.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

N=${N:-3}
BUSY=${BUSY:-2}
OUT=$TOP/build/flakes
# Who boots the lab, or reads what it leaves: profile comes before the latter.
LAB_TESTS=${LAB_TESTS:-$(cd "$TOP/scripts/tests" && echo profile &&
	grep -lE 'lab_runs|LAB_OUT|report\.sh|evaluation\.sh' -- *.t | sed 's/\.t$//' | grep -vx profile)}

end_loops()
{
	kill "${loops[@]}" 2>/dev/null
	tap_exit
}
loops=()
trap end_loops EXIT
trap 'exit 130' INT TERM
for ((i = 0; i < BUSY; i++)); do
	bash -c 'while :; do :; done' &
	loops+=($!)
done

# what_runs: the commit, how many loops, and the tests
what_runs()
{
	echo "$(code_version) beside $BUSY: $LAB_TESTS"
}

# What is changed besides is of no commit.
of=$(what_runs)
if [[ $of == *" and changes"* || $of == "of no commit"* ]] || [ "$(cat "$OUT/of" 2>/dev/null)" != "$of" ]; then
	rm -rf "$OUT"
	mkdir -p "$OUT"
	echo "$of" >"$OUT/of"
fi
taps=()
for ((i = 1; i <= N; i++)); do
	if [ -f "$OUT/$i/ended" ]; then
		note "$(cat "$OUT/$i/ended"), before"
		taps+=("$OUT/$i"/*.tap)
		continue
	fi
	start=$SECONDS
	# The results of this very test are in build/test, too.
	# shellcheck disable=SC2086 # a list
	KVMU_TESTS='' KVMU_LANES=1 "$TOP/scripts/test.sh" $LAB_TESTS >"$OUT/$i.out" 2>&1
	said="run $i beside $BUSY busy loops: $(tail -n 1 "$OUT/$i.out"), $((SECONDS - start)) s"
	note "$said"
	rm -rf "${OUT:?}/$i"
	mkdir "$OUT/$i"
	for name in $LAB_TESTS; do
		cp "$TOP/build/test/$name.tap" "$OUT/$i/"
	done
	taps+=("$OUT/$i"/*.tap)
	ended=': [0-9]+ passed, [0-9]+ failed'
	ok "run $i: to its end" grep -qE "$ended" <<<"$said"
	if [[ $said =~ $ended ]] && [ "$(what_runs)" = "$of" ]; then
		echo "$said" >"$OUT/$i/ended"
	fi
done

# failed_ever: test, check, and in how many of the runs it has failed
failed_ever()
{
	grep -H '^not ok ' "${taps[@]}" | sed "s|$OUT/[0-9]*/||; s|\.tap:not ok [0-9]* - |: |" |
		sort | uniq -c
}
while read -r times what; do
	ok "passes each time, not $((N - times)) of $N: $what" false
done < <(failed_ever)
ok "all checks pass each time" test -z "$(failed_ever)"
done_testing
