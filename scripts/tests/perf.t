#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# perf's own tests: those of what the series adds, and those of what it touches.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

# Some of its tests record, and put what they find into the build-id cache.
export HOME=$TMP/home
mkdir -p "$HOME"
# Its shell tests look for each other in the source tree, and for perf in PATH.
cd "$TREE/src/tools/perf" || exit 1

# perf_tests DIRECTORY-OF-PERF NAME...: a check for each test and subtest.
perf_tests()
{
	local dir=$1 name line out what
	shift

	for name; do
		out=$TMP/$(tr -c 'a-zA-Z0-9\n' _ <<<"$name").out
		PATH=$dir:$PATH perf test "$name" >"$out" 2>&1
		cat "$out" >&2
		# Not the line of a suite that has subtests: it has no verdict.
		while read -r line; do
			what="$(basename "$dir"): perf test: $(tr -s ' ' <<<"${line%:*}")"
			ok "$what" grep -q ': Ok' <<<"$line"
		done < <(grep -E '^ *[0-9.]+: .*: (Ok|FAILED|Skip)' "$out")
		ok "$(basename "$dir"): perf test '$name' exists" grep -q ': Ok' "$out"
	done
}

# number_of NAME: of the test that is called so, and not of those whose names begin so. The one of
# multi-record data samples as often as the kernel lets it, so that a machine may be busy for minutes
# with what it gets: it is in make test-long TEST=perf-suites.
number_of()
{
	"$MAIN_TREE/perf/perf" test list 2>&1 | sed -n "s|^ *\\([0-9]*\\): $1 *\$|\\1|p"
}

zstd=$(number_of "Zstd perf.data compression/decompression")
# perf goes by the description of a test case, where a suite has several: those of
# "kvm unified" have it in theirs.
PURE=("Sample parsing" "guest callchains" "kvm unified")
perf_tests "$MAIN_TREE/perf" "${PURE[@]}" \
	"PERF_RECORD_* events & perf_sample fields" \
	"Parse with no sample_id_all bit set" "Session topology" \
	"Synthesize thread map" "Synthesize attr update" \
	"perf record tests" "perf record sideband tests" \
	"perf pipe recording and injection test" "${zstd:-no such test}"

# --- what is copied into guests ----------------------------------------------------

COLLECTOR=$MAIN_TREE/perf-collector/perf
ok "perf builds as one static file" env PERF_VARIANT=collector "$TOP/scripts/build-perf.sh"
no_loader()
{
	readelf -Wl "$COLLECTOR" >"$TMP/segments" || return
	! grep -w 'INTERP\|DYNAMIC' "$TMP/segments"
}
ok "it wants no loader and no libraries" no_loader
runs_alone()
{
	mkdir -p "$TMP/alone"
	cp "$COLLECTOR" "$TMP/alone/perf"
	ls -l "$TMP/alone"
	# Help ends with an exit code of its own.
	grep 'Usage: perf kvm unified guest-map' \
		<(chroot "$TMP/alone" /perf kvm unified guest-map -h 2>&1)
}
ok "guest-map runs where there is no other file" runs_alone
perf_tests "$MAIN_TREE/perf-collector" "kvm unified"

# --- with the sanitizers -----------------------------------------------------------

ok "perf builds with ASan and UBSan" env PERF_VARIANT=asan "$TOP/scripts/build-perf.sh"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
perf_tests "$MAIN_TREE/perf-asan" "${PURE[@]}"
done_testing
