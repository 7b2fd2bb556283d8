#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-perf.sh: perf from the patched tree, out of tree. Warnings are errors,
# as perf has it by default.
#
# PERF_VARIANT names a second build beside the default one: "asan" is built
# with the address and undefined-behaviour sanitizers, "orig" from the tree
# without the series, to compare with. EXTRA_CFLAGS adds flags.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

VARIANT=${PERF_VARIANT:-}
OUT=$TREE/perf${VARIANT:+-$VARIANT}
CFLAGS_MORE=${EXTRA_CFLAGS:-}
SRC=$TREE/src
SPACE_MB=400

# What the lab needs none of is left out: fewer packages to install, fewer
# libraries to carry into the guest.
FLAGS=(NO_SDT=1 NO_LIBPERL=1 NO_LIBPYTHON=1 NO_JVMTI=1 BUILD_BPF_SKEL=0
	NO_SLANG=1 NO_GTK2=1 NO_LIBNUMA=1 NO_LIBCRYPTO=1 NO_LIBBABELTRACE=1
	NO_LIBLLVM=1 NO_CAPSTONE=1 NO_LIBDEBUGINFOD=1 NO_LZMA=1 NO_LIBPFM4=1 NO_SHELLCHECK=1)

case $VARIANT in
'')	;;
orig)	SRC=$TREE/orig ;;
# The checks that UBSan adds let gcc warn of what cannot be: the default build is
# the one in which warnings are errors. Not alignment: perf's own compressed records
# are of any size, and those behind one are where that leaves them.
asan)	CFLAGS_MORE="-fsanitize=address,undefined -fno-sanitize=alignment -fno-omit-frame-pointer $CFLAGS_MORE"
	FLAGS+=(WERROR=0) ;;
*)	[ -n "$CFLAGS_MORE" ] || die "PERF_VARIANT=$VARIANT: only asan is known without EXTRA_CFLAGS" ;;
esac

build()
{
	make -C "$SRC/tools/perf" O="$OUT" -j"$JOBS" "${FLAGS[@]}" EXTRA_CFLAGS="$CFLAGS_MORE"
	# perf leaves out, without an error, what it finds no library for.
	local feature
	for feature in libtraceevent libelf dwarf libunwind zstd; do
		"$OUT/perf" version --build-options | grep -qE "^ *$feature: .* on " || {
			echo "perf was built without $feature"
			return 1
		}
	done
}

perf_key()
{
	{
		cat "$TREE/stamps/source"
		[ "$VARIANT" = orig ] ||
			grep -E '  tools/' "$TREE/applied/files" | grep -v '  tools/testing/' || :
		printf '%s\n' "${FLAGS[@]}" "$CFLAGS_MORE"
		gcc --version
	} | hash_text
}

lock_cache
"$TOP/scripts/apply.sh"
key=$(perf_key)
stamp=perf${VARIANT:+-$VARIANT}
done_already()
{
	stamp_is "$stamp" "$key" && [ -x "$OUT/perf" ]
}

say_where()
{
	[ -z "${KVMU_SAY_WHERE:-}" ] || say "perf: $OUT/perf"
}

if done_already; then
	say_where
	exit 0
fi
"$TOP/scripts/deps.sh" perf
[ -d "$OUT" ] || need_space "$TREE" "$SPACE_MB"
stamp_drop "$stamp"
mkdir -p "$OUT"
step "build perf${VARIANT:+ ($VARIANT)}" "$LOGS/$stamp.log" build
stamp_set "$stamp" "$key"
say_where
