#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-selftests.sh: the series' KVM selftests and no others (kernel-selftests/MANIFEST says
# which), each one static file that also runs in a lab without this machine's libraries:
# $TREE/selftests/NAME. build-selftests.sh base: those that KVM has without the series, and all of
# them, below $TREE/selftests-base.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"

SRC=${SELFTESTS_SRC:-$TREE/src}
OUT=${SELFTESTS_OUT:-$TREE/selftests}
SPACE_MB=100
KVM=tools/testing/selftests/kvm
# What the selftests' Makefile has, and static.
LINK="-static -pthread -no-pie"

# tests DIR: the names of the selftests in that directory of KVM's
tests()
{
	local test

	for test in $(manifest | sed -n "s|.*\t$KVM/$1/\(.*_test\)\.c\$|\1|p"); do
		[ ! -f "$SRC/$KVM/$1/$test.c" ] || echo "$test"
	done
}

# The uapi headers are those of the patched tree, not the machine's.
build()
{
	local programs=("${TESTS[@]/#/$DIR/}") test

	make -C "$SRC" O="$OUT/headers" -j"$JOBS" headers
	mkdir -p "$OUT/obj"
	make -C "$SRC/$KVM" OUTPUT="$OUT/obj" -j"$JOBS" LDFLAGS="$LINK" \
		KHDR_INCLUDES="-isystem $OUT/headers/usr/include" EXTRA_CFLAGS=-Werror \
		"TEST_GEN_PROGS_$DIR=${programs[*]}" "${programs[@]/#/$OUT/obj/}"
	for test in "${TESTS[@]}"; do
		cp "$OUT/obj/$DIR/$test" "$OUT/$test.new"
		mv -f "$OUT/$test.new" "$OUT/$test"
	done
}

# All that the Makefile knows; one that does not build here does not keep the others.
build_base()
{
	make -C "$TREE/orig" O="$OUT/headers" -j"$JOBS" headers
	make -C "$TREE/orig/$KVM" OUTPUT="$OUT/obj" -k -j"$JOBS" LDFLAGS="$LINK" \
		KHDR_INCLUDES="-isystem $OUT/headers/usr/include" || :
	[ -n "$(find "$OUT/obj/" -type f -executable -name '*_test' -print -quit)" ]
}

selftests_key()
{
	{
		cat "$TREE/stamps/source" "$TOP/scripts/build-selftests.sh"
		printf '%s\n' "${TESTS[@]}"
		grep -E "  ($KVM|tools/include|tools/arch/x86|include/uapi|arch/x86/include/uapi)/" \
			"$TREE/applied/files" || :
		gcc --version
	} | hash_text
}

all_there()
{
	local test

	for test in "${TESTS[@]}"; do
		[ -x "$OUT/$test" ] || return
	done
}

lock_cache
"$TOP/scripts/apply.sh"
if [ "${1:-}" = base ]; then
	OUT=$TREE/selftests-base
	key=$(cat "$TREE/stamps/source")
	! stamp_is selftests-base "$key" || exit 0
	"$TOP/scripts/deps.sh" kernel
	mkdir -p "$OUT/obj"
	stamp_drop selftests-base
	step "build the base's own KVM selftests" "$LOGS/selftests-base.log" build_base
	stamp_set selftests-base "$key"
	exit 0
fi
# As it is called since 6.14
DIR=x86
[ -d "$SRC/$KVM/$DIR" ] || DIR=x86_64
mapfile -t TESTS < <(tests "$DIR")
[ "${#TESTS[@]}" -gt 0 ] || die "kernel-selftests/MANIFEST has no selftest of KVM for linux-$BASE"
if [ -n "${SELFTESTS_SRC:-}" ]; then
	mkdir -p "$OUT"
	step "build the KVM selftests of $SRC" "$LOGS/selftests-of.log" build
	exit 0
fi
key=$(selftests_key)
if stamp_is selftests "$key" && all_there; then
	exit 0
fi
"$TOP/scripts/deps.sh" kernel
[ -d "$OUT" ] || need_space "$TREE" "$SPACE_MB"
stamp_drop selftests
mkdir -p "$OUT"
step "build the KVM selftests" "$LOGS/selftests.log" build
stamp_set selftests "$key"
