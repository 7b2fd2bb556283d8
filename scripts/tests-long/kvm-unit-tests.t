#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# KVM-unit-tests: with the series the same results as without, test by test, on SVM.
# KVM_UNIT_TESTS=DIR: a checkout of them. UNIT_TESTS_NAMES='NAME...': these alone.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

if [ -z "${KVM_UNIT_TESTS:-}" ]; then
	skip "KVM-unit-tests" "KVM_UNIT_TESTS=DIR says where a checkout of them is"
	done_testing
	exit
fi
BUILT=$TREE/kvm-unit-tests
WHAT=(run_tests.sh config.mak build-head errata.txt scripts lib x86)

# built: of the checkout as it is, in a copy
built()
{
	local file

	rm -rf "$BUILT"
	mkdir -p "$BUILT" "$TMP/build"
	cp -r "$KVM_UNIT_TESTS/." "$TMP/build"
	rm -rf "$TMP/build/.git"
	(cd "$TMP/build" && ./configure --arch=x86_64 && make -j "$JOBS") >&2 || return
	for file in "${WHAT[@]}"; do
		cp -r "$TMP/build/$file" "$BUILT" || return
	done
	find "$BUILT" \( -name '*.[coS]' -o -name '*.d' -o -name '*.elf' -o -name '*.a' \) -delete
}

# run VARIANT [NAME...]: its results to $TMP/VARIANT, which those of the names replace
run()
{
	UNIT_TESTS_VARIANT=${1#series} UNIT_TESTS_BUILT=$BUILT \
		UNIT_TESTS_NAMES="${*:2}" lab_runs kvm-unit-tests
	{
		cat "$LAB_OUT/kvm-unit-tests/results"
		cat "$TMP/$1" 2>/dev/null
	} | awk '!seen[$1]++' | sort >"$TMP/now"
	mv "$TMP/now" "$TMP/$1"
	note "$1: $(cut -d' ' -f2 "$TMP/$1" | sort | uniq -c | tr -s ' \n' ' ')"
}

# Tests whose results differ, one a line
differ()
{
	join -a 1 -a 2 -e none -o 0,1.2,2.2 "$TMP/vanilla" "$TMP/series" | awk '$2 != $3 { print $1 }'
}

ok "they build" built
read -r -a names <<<"${UNIT_TESTS_NAMES:-}"
run vanilla "${names[@]}"
run series "${names[@]}"
# Some wait for what a busy machine's emulator does too late: what differs is run once more.
mapfile -t names < <(differ)
if [ ${#names[@]} -gt 0 ]; then
	note "once more, as they differ: ${names[*]}"
	run vanilla "${names[@]}"
	run series "${names[@]}"
fi
at_least 1 "tests that have run" "$(wc -l <"$TMP/vanilla")"
at_least 1 "of these pass" "$(grep -c ' pass$' "$TMP/vanilla")"
while read -r name before; do
	ok "$name: $before" grep -qxF "$name $before" "$TMP/series"
done <"$TMP/vanilla"
ok "no other has run with the series" diff <(cut -d' ' -f1 "$TMP/vanilla") <(cut -d' ' -f1 "$TMP/series")
done_testing
