#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Guest maps that lie, and files below a guest's root that do, in a profile cut down from
# the one that profile.t has recorded: a report or a clear message, within 10 s of CPU time
# and 512 MiB, without a terminal escape, and no file of the host is opened for it.
#
# Under ASan and UBSan, which take more of both, and four times as long:
#	HOSTILE_VARIANT=asan scripts/test.sh zz-hostile
# Every other one of the kinds that bad-map.py lists, or those that are named:
#	HOSTILE_KINDS="path-up elf-plt" scripts/test.sh zz-hostile

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

GOOD=$LAB_OUT/libquantum/perf.data
VARIANT=${HOSTILE_VARIANT:-}
PERF=$MAIN_TREE/perf${VARIANT:+-$VARIANT}/perf
# What each command took of time and memory is kept here.
OUT=$TOP/build/hostile
if [ "$VARIANT" = asan ]; then
	# perf does not free all it has at exit; a malloc() that fails is no error.
	export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=6000
	export UBSAN_OPTIONS=print_stacktrace=1
	export HOSTILE_SECONDS=${HOSTILE_SECONDS:-60} HOSTILE_MIB=${HOSTILE_MIB:-0}
fi
# No perf config, no build-id cache
export HOME=$TMP
read -ra kinds <<<"${HOSTILE_KINDS:-$("$TESTS/bad-map.py" list | awk 'NR % 2 { print $1 }' | tr '\n' ' ')}"

ended_well()
{
	[ -e "$OUT/$1" ] || return 1
	cat "$OUT/$1"
	[ ! -s "$OUT/$1" ]
}

all_were_read()
{
	[ "$(awk 'NR > 1 { print $1 }' "$OUT/table" | sort -u | wc -l)" -eq "${#kinds[@]}" ]
}

ok "perf builds" env PERF_VARIANT="$VARIANT" "$TOP/scripts/build-perf.sh"
ok "there is a profile to start from" test -s "$GOOD/data"
ok "it is cut down to a small one" "$TESTS/small-profile.py" "$GOOD" "$TMP/seed"

rm -rf "$OUT"
mkdir -p "$OUT" "$TMP/work"
"$TESTS/hostile.py" "$PERF" "$TMP/seed" "$TMP/work" "$OUT" "${kinds[@]}"
ok "all kinds of maps were read, after a good one" all_were_read
for kind in "${kinds[@]}"; do
	ok "bad map: $kind" ended_well "$kind"
done
echo "# to read: ${OUT#"$TOP"/}/table"
done_testing
