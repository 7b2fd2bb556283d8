#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-perf.sh: perf from the patched tree, out of tree. Warnings are errors,
# as perf has it by default. It is mainline's, whatever BASE says.
#
# PERF_VARIANT names a second build beside the default one: "asan" is built
# with the address and undefined-behaviour sanitizers, "tsan" with that of threads,
# "orig" from the tree without the series, to compare with, "collector" is one static
# file to copy into guests, for perf kvm unified guest-map, "prefix" is built from
# PERF_SRC in the state PERF_STATE. EXTRA_CFLAGS adds flags.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
on_mainline

VARIANT=${PERF_VARIANT:-}
OUT=$TREE/perf${VARIANT:+-$VARIANT}
CFLAGS_MORE=${EXTRA_CFLAGS:-}
SRC=$TREE/src
SPACE_MB=400

# What the lab needs none of is left out: fewer packages to install.
FLAGS=(NO_SDT=1 NO_LIBPYTHON=1 NO_JVMTI=1 BUILD_BPF_SKEL=1 NO_LIBNUMA=1
	NO_BABELTRACE2=1 NO_LIBLLVM=1 NO_CAPSTONE=1 NO_LIBDEBUGINFOD=1 NO_LZMA=1 NO_LIBPFM4=1
	NO_RUST=1 NO_SHELLCHECK=1 LIBUNWIND=1)
# What perf version --build-options calls that which has to be there.
FEATURES=(libtraceevent libelf dwarf libunwind zstd libslang bpf bpf_skeletons)
GOAL=all

# sanitize NAMES [FLAG]: the checks that are added let gcc warn of what cannot be: the default
# build is the one in which warnings are errors.
sanitize()
{
	CFLAGS_MORE="-fsanitize=$1${2:+ $2} -fno-omit-frame-pointer $CFLAGS_MORE"
	FLAGS+=(WERROR=0)
}

case $VARIANT in
'')	;;
# Half of perf's size is tables of CPUs' events. Plugins cannot be linked statically,
# hence the one goal; what plugins and names of users want from libc at run time, and
# the linker warns of, guest-map does not use.
collector)
	CFLAGS_MORE="-Os -ffunction-sections -fdata-sections $CFLAGS_MORE"
	FLAGS+=(LDFLAGS="-static -s -Wl,--gc-sections" NO_JEVENTS=1 NO_LIBTRACEEVENT=1
		NO_LIBDW=1 LIBUNWIND= NO_SLANG=1 NO_BACKTRACE=1 NO_DEMANGLE=1 NO_LIBZSTD=1 NO_AIO=1)
	FEATURES=(libelf zlib bpf bpf_skeletons)
	GOAL=$OUT/perf ;;
orig)	SRC=$TREE/orig ;;
prefix)	SRC=${PERF_SRC:?} ;;
# Not alignment: perf's own compressed records are of any size, and those after one are
# where that leaves them.
asan)	sanitize address,undefined -fno-sanitize=alignment ;;
tsan)	sanitize thread ;;
*)	[ -n "$CFLAGS_MORE" ] ||
		die "PERF_VARIANT=$VARIANT: without EXTRA_CFLAGS there are asan, tsan, orig and collector" ;;
esac

build()
{
	make -C "$SRC/tools/perf" O="$OUT" -j"$JOBS" "${FLAGS[@]}" EXTRA_CFLAGS="$CFLAGS_MORE" "$GOAL"
	has_features
}

# perf leaves out, without an error, what it finds no library or compiler for.
has_features()
{
	local feature options missing=()

	options=$("$OUT/perf" version --build-options)
	for feature in "${FEATURES[@]}"; do
		grep -qE "^ *$feature: .* on " <<<"$options" || missing+=("$feature")
	done
	[ "${#missing[@]}" -gt 0 ] || return 0
	# Why, in perf's words, which are far up in the log.
	grep -hE '^Makefile.*(Warning|[Dd]isabl|[Nn]o )' "$LOGS/$stamp.log" | tail -n 8 || :
	echo "perf was built without: ${missing[*]}"
	echo "(bpf_skeletons are what clang compiles; the others are libraries: scripts/deps.sh perf)"
	return 1
}

perf_key()
{
	{
		cat "$TREE/stamps/source"
		case $VARIANT in
		orig)	;;
		prefix)	printf '%s\n' "${PERF_STATE:?}" ;;
		*)	grep -E '  tools/' "$TREE/applied/files" |
				grep -vE '  tools/(testing|perf/tests/shell)/' || : ;;
		esac
		printf '%s\n' "${FLAGS[@]}" "$CFLAGS_MORE"
		{ gcc --version; clang --version; } 2>/dev/null || :
	} | hash_text
}

lock_cache
# Tests of one run, which has the cache, may want the same build at once.
exec 8>"$KVMU_CACHE/.perf${VARIANT:+-$VARIANT}.lock"
flock 8
"$TOP/scripts/apply.sh"
key=$(perf_key)
stamp=perf${VARIANT:+-$VARIANT}
done_already()
{
	stamp_is "$stamp" "$key" && [ -x "$OUT/perf" ]
}

say_where()
{
	[ -n "${KVMU_SAY_WHERE:-}" ] || return 0
	say "${VARIANT:-perf}: $OUT/perf ($(($(stat -c %s "$OUT/perf") / 1024)) kB)"
}

if done_already; then
	say_where
	exit 0
fi
"$TOP/scripts/deps.sh" perf
# With the compilers that may have come just now.
key=$(perf_key)
[ -d "$OUT" ] || need_space "$TREE" "$SPACE_MB"
stamp_drop "$stamp"
mkdir -p "$OUT"
step "build perf${VARIANT:+ ($VARIANT)}" "$LOGS/$stamp.log" build
stamp_set "$stamp" "$key"
say_where
