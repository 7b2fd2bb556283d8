#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Corrupt input: mutants of the profile that profile.t has recorded, as a directory and as a
# stream, and of its guest map, through perf kvm unified report under ASan and UBSan. No crash,
# no hang over 5 s, no leak, and each ends in a report or in an error message.
#
# For a longer run, or another one:
#	FUZZ_COUNT=100000 FUZZ_SEED=7 scripts/test.sh zz-fuzz
# Mutant 4711 of it once more:
#	FUZZ_FIRST=4711 FUZZ_COUNT=1 FUZZ_SEED=7 scripts/test.sh zz-fuzz

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

FUZZ_SEED=${FUZZ_SEED:-20241117}
FUZZ_FIRST=${FUZZ_FIRST:-0}
FUZZ_COUNT=${FUZZ_COUNT:-10000}

GOOD=$LAB_OUT/libquantum/perf.data
PERF=$MAIN_TREE/perf-asan/perf
# Mutants that do not end well are kept here, each with what perf said.
KEEP=$TOP/build/fuzz

# The tests of a crash need a small heap: what a file says must not be allocated.
# A malloc() that fails is no error, what perf then does with it may be one.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=1024
export UBSAN_OPTIONS=print_stacktrace=1
# The system's libtraceevent forgets a token where it gives up on a broken format.
printf 'leak:tep_parse_event\n' >"$TMP/leaks"
export LSAN_OPTIONS=suppressions=$TMP/leaks:print_suppressions=0
# No perf config, no build-id cache
export HOME=$TMP

# With the headers of perf, which say how a profile is laid out, and what these are used with
build_fuzzer()
{
	local tools=$MAIN_TREE/src/tools lib=() name

	for name in string ctype bitmap hweight find_bit vsprintf zalloc perf/lib; do
		lib+=("$tools/lib/$name.c")
	done
	gcc -O1 -g -Wall -Wextra -Werror -Wno-unused-parameter -Wno-type-limits -D_GNU_SOURCE \
		-I"$tools/perf" -I"$tools/perf/util" -I"$tools/lib/perf/include" -I"$tools/lib" \
		-I"$tools/include" -I"$tools/include/uapi" -I"$tools/arch/x86/include" \
		-I"$tools/arch/x86/include/uapi" \
		-o "$TMP/fuzz-report" "$TESTS/fuzz-report.c" "${lib[@]}"
}

# What the profile of the libquantum scenario has not. Half of the kernel's samples stay there.
add_to_seed()
{
	local library=/lib/x86_64-linux-gnu/libquantum.so.8

	"$TESTS/without-build-id.py" "$TMP"/seed/perf.data/guest_map__* "$library" "$TMP/seed/root$library" print &&
		"$TESTS/module-code.py" "$TMP/seed/perf.data" "$TMP/seed/new" 2 &&
		rm -r "$TMP/seed/perf.data" && mv "$TMP/seed/new" "$TMP/seed/perf.data"
}

# The programs that have the callers
add_programs()
{
	(cd "$MAIN_TREE/guest/root" && mkdir -p "$TMP/seed/root" &&
		cp -L --parents usr/bin/calls usr/bin/calls-nofp lib/x86_64-linux-gnu/libc.so.6 "$TMP/seed/root")
}

# report_has PATTERN [OPTION...]: of the unmutated profile, so that there is something to break
report_has()
{
	local pattern=$1
	shift

	(cd "$TMP/seed" && "$PERF" kvm unified report -f -i perf.data --guest-root root "$@") \
		>"$TMP/report" 2>&1 || return 1
	cat "$TMP/report"
	grep -q '\[guest1\]' "$TMP/report" && grep -q -- "$pattern" "$TMP/report"
}

# fuzz [OPTION...]: mutants in ranges, one for each CPU at a time; FUZZ_COUNT may be less than there
# are. The options are the report's.
fuzz()
{
	local first=$FUZZ_FIRST end=$((FUZZ_FIRST + FUZZ_COUNT)) part pids=() pid rc=0

	part=$(((FUZZ_COUNT + JOBS - 1) / JOBS))
	while [ "$first" -lt "$end" ]; do
		[ $((first + part)) -le "$end" ] || part=$((end - first))
		"$TMP/fuzz-report" "$PERF" "$TMP/seed" "$KEEP" "$FUZZ_SEED" "$first" "$part" \
			"$@" >"$TMP/sum.$first" 2>"$TMP/bad.$first" &
		pids+=($!)
		first=$((first + part))
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=1
	done
	return "$rc"
}

# sum WORD: the number behind it, over all ranges
sum()
{
	cat "$TMP"/sum.* | awk -v word="$1" \
		'{ for (i = 1; i < NF; i++) if ($i == word) n += $(i + 1) } END { print n + 0 }'
}

all_ended_well()
{
	cat "$TMP"/bad.*
	[ "$fuzz_rc" -eq 0 ] && [ "$(sum mutants)" -eq "$FUZZ_COUNT" ] && [ "$(sum bad)" -eq 0 ]
}

# A driver that mutates nothing, or breaks everything at once, tests nothing.
both_ends_occur()
{
	[ "$(sum reports)" -gt $((FUZZ_COUNT / 10)) ] &&
		[ "$(sum errors)" -gt $((FUZZ_COUNT / 20)) ]
}

ok "perf builds with ASan and UBSan" env PERF_VARIANT=asan "$TOP/scripts/build-perf.sh"
ok "the fuzzer builds" build_fuzzer
ok "there is a profile to start from" test -s "$GOOD/data"
ok "it is cut down to a small one" "$TESTS/small-profile.py" "$GOOD" "$TMP/seed"
ok "with a file without a build-id, and modules that come and go" add_to_seed
# Of the host, of the guest's kernel, and of a program below its root
ok "which has a report" report_has '^# guest guest1: .* names the process of [1-9]'
"$TESTS/to-stream.py" "$TMP/seed/perf.data" >"$TMP/seed/stream"
ok "and, as a stream, too" "$PERF" kvm unified report -i - --format table <"$TMP/seed/stream"

rm -rf "$KEEP"
mkdir -p "$KEEP"
start=$SECONDS
fuzz
fuzz_rc=$?
ok "$FUZZ_COUNT mutants: no crash, hang or leak, each with a report or an error" all_ended_well
[ "$FUZZ_COUNT" -lt 500 ] || ok "of reports and of errors there are enough" both_ends_occur
printf '# %d mutants (seed %d) in %d s: %d ended in a report, %d of them with a warning, %d in an error, %d badly\n' \
	"$(sum mutants)" "$FUZZ_SEED" $((SECONDS - start)) "$(sum reports)" \
	"$(sum with-warning)" "$(sum errors)" "$(sum bad)"
# The same of what is left by a recorder that was killed, a tenth as many
if [ "$(sum bad)" -eq 0 ]; then
	"$TESTS/killed-profile.py" "$TMP/seed/perf.data" all
	rm "$TMP"/sum.* "$TMP"/bad.*
	FUZZ_COUNT=$(((FUZZ_COUNT + 9) / 10))
	fuzz
	fuzz_rc=$?
	ok "$FUZZ_COUNT mutants, the recorder killed: each with a report or an error, too" all_ended_well
fi
# And of a profile with callchains of the guest, and copies of its stack
if [ "$(sum bad)" -eq 0 ]; then
	rm -r "$TMP/seed" "$TMP"/sum.* "$TMP"/bad.*
	ok "a profile with callchains is cut down" \
		"$TESTS/small-profile.py" "$LAB_OUT/chains/unwound.data" "$TMP/seed"
	ok "... with the programs" add_programs
	# Which of the calls these samples have is chance: one below another, or in rows of its own
	ok "... and its report has callers" report_has \
		'\(--.*-\|% *0\.00% .*\[u\] \)\(first\|second\|third\|recurse\|framed\)' --stdio -g caller
	fuzz --stdio -g caller
	fuzz_rc=$?
	ok "$FUZZ_COUNT mutants with callchains: each with a report or an error, too" all_ended_well
fi
[ "$(sum bad)" -eq 0 ] || printf '# to read: %s/mutant-*\n' "${KEEP#"$TOP"/}"
done_testing
