#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Guest maps that lie, in the profile that profile.t has recorded, under ASan and
# UBSan: a report or a message, soon, and no terminal escape in either.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

GOOD=$TOP/build/lab/libquantum/perf.data
PERF=$TREE/perf-asan/perf
# perf does not free all it has at exit.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
# A directory to which relative names of a guest would lead.
mkdir -p "$TMP/cwd/[guest1]" "$TMP/cwd/[guest:guest1]"
cd "$TMP/cwd" || exit 1

ok "perf builds with ASan and UBSan" env PERF_VARIANT=asan "$TOP/scripts/build-perf.sh"
ok "there is a profile to start from" test -s "$GOOD/data"
map=$(basename "$GOOD"/guest_map__*)

# Ends by itself with 0 or 1, whatever it is that it says.
harmless()
{
	local rc=0

	timeout 60 strace -f --seccomp-bpf -e trace=openat,open -o "$TMP/strace" "$@" >"$TMP/out" 2>&1 || rc=$?
	tail -n 3 "$TMP/out"
	if [ "$rc" -gt 1 ]; then
		echo "exit code $rc"
		return 1
	fi
	! grep -nE 'AddressSanitizer|runtime error: .*kvm-unified' "$TMP/out" || return 1
	! grep -nP '\x1b' "$TMP/out" || return 1
	! grep -nE '"/etc/shadow"|/etc/shadow.*= [0-9]|/tmp/perf-1\.map' "$TMP/strace"
}

for kind in $("$TESTS/bad-map" list); do
	rm -rf "$TMP/bad.data"
	cp -r "$GOOD" "$TMP/bad.data"
	"$TESTS/bad-map" "$kind" "$GOOD/$map" "$TMP/bad.data/$map"
	ok "stored map, $kind: perf kvm unified report" \
		harmless "$PERF" kvm unified report -f -i "$TMP/bad.data"
	ok "stored map, $kind: perf script" harmless "$PERF" script -f -i "$TMP/bad.data"
	ok "map by hand, $kind: perf kvm unified report" harmless "$PERF" kvm unified report -f \
		-i "$GOOD" --no-guest-maps --guest-map "guest1=$TMP/bad.data/$map"
done
done_testing
