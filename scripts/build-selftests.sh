#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-selftests.sh: the series' KVM selftests and no others, each one static file
# that also runs in a lab without this machine's libraries: $TREE/selftests/NAME.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

OUT=$TREE/selftests
SPACE_MB=100
KVM=tools/testing/selftests/kvm
TESTS=(perf_vcpu_sample_test perf_vcpu_nmi_test)
# What the selftests' Makefile has, and static.
LINK="-static -pthread -no-pie"

# The uapi headers are those of the patched tree, not the machine's.
build()
{
	local programs=("${TESTS[@]/#/x86_64/}") test

	make -C "$TREE/src" O="$OUT/headers" -j"$JOBS" headers
	mkdir -p "$OUT/obj"
	make -C "$TREE/src/$KVM" OUTPUT="$OUT/obj" -j"$JOBS" LDFLAGS="$LINK" \
		KHDR_INCLUDES="-isystem $OUT/headers/usr/include" EXTRA_CFLAGS=-Werror \
		TEST_GEN_PROGS_x86_64="${programs[*]}" "${programs[@]/#/$OUT/obj/}"
	for test in "${TESTS[@]}"; do
		cp "$OUT/obj/x86_64/$test" "$OUT/$test.new"
		mv -f "$OUT/$test.new" "$OUT/$test"
	done
}

selftests_key()
{
	{
		cat "$TREE/stamps/source" "$TOP/scripts/build-selftests.sh"
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
