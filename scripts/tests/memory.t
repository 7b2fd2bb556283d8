#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# What is named out of a guest's memory: guests of several kernels are booted under emulation and
# their memory kept, and what it says is held against what they say of themselves. And mutants of
# that memory, under ASan and UBSan: no crash, and no look that does not end.
#
# A longer run:
#	FUZZ_LOOKS=100000 MEMORY_GUESTS="6.1 5.10 6.12 7.3" scripts/test.sh memory

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

MEMORY_GUESTS=${MEMORY_GUESTS:-6.1}
FUZZ_LOOKS=${FUZZ_LOOKS:-400}
FUZZ_FIRST=${FUZZ_FIRST:-0}
FUZZ_SEED=${FUZZ_SEED:-20261125}
# Of so many mutants one is run with the sanitizers, which take ten times as long.
SANITIZED=${SANITIZED:-4}

GUEST=$MAIN_TREE/guest
# What is only there to ask the guest
ASKING=(perf gzip tar cat sh sleep)
# How each is booted: which page tables, and whether user mode has its own. The kernel with the
# series is the one whose kallsyms says how far each symbol is from where that stands.
declare -A ARGUMENTS=(
	[5.10]="pti=on no5lvl"
	[6.1]="pti=on"
	[6.12]="nopti no5lvl"
	[7.3]="nopti"
)

# The pure half of memory/ and what it calls, which perf's own build has not
# build_look OUT FLAG...
build_look()
{
	local out=$1 tools=$MAIN_TREE/src/tools unified name sources=()
	shift

	unified=$tools/perf/kvm-unified
	for name in cache cgroups current files image instant kallsyms kernel lives look maple maps modules note \
		offsets orc paging path program ram types vdso vmcoreinfo write writer; do
		sources+=("$unified/memory/$name.c")
	done
	for name in layout orc-table tasks walk; do
		sources+=("$unified/collector/$name.c")
	done
	for name in string ctype zalloc perf/lib; do
		sources+=("$tools/lib/$name.c")
	done
	gcc -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -Wno-type-limits -funsigned-char \
		-std=gnu11 -D_GNU_SOURCE -DHAVE_LIBBPF_SUPPORT -I"$tools/perf" -I"$tools/perf/util" \
		-I"$tools/lib/perf/include" -I"$tools/lib" -I"$MAIN_TREE/perf/libbpf/include" \
		-I"$tools/include" -I"$tools/include/uapi" -I"$tools/arch/x86/include" \
		-I"$tools/arch/x86/include/uapi" "$@" -o "$out" "$TESTS/look-at-image.c" \
		"${sources[@]}" "$MAIN_TREE/perf/libbpf/libbpf.a" -lelf -lz -lzstd
}

kernel_of()
{
	case $1 in
	7.3)	echo "$MAIN_TREE/host/arch/x86/boot/bzImage" ;;
	*)	echo "$GUEST/vmlinuz-$1" ;;
	esac
}

# All at the same time: each takes one CPU.
boot_guests()
{
	local name pids=() pid rc=0

	for name in $MEMORY_GUESTS; do
		"$TESTS/memory-image.py" "$(kernel_of "$name")" "$GUEST/initrd" "$TMP/$name" \
			-a "${ARGUMENTS[$name]}" >&2 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=1
	done
	return "$rc"
}

look_at()
{
	"$TMP/look" "$TMP/$1/ram" "$TMP/$1/cr3" "$TMP/$1/ours"
}

# What is there is all that there is; the map is one that perf takes.
says_the_same()
{
	"$TESTS/compare-maps.py" "$TMP/$1/ours" "$TMP/$1/map" "$TMP/$1/kallsyms" "${ASKING[@]}"
}

found()
{
	sed -n "s/.*\<$2 \([0-9]*\).*/\1/p" "$TMP/$1/found" | head -n 1
}

# Which of the guests' CR3s is known should make no difference.
# Its current task is the first one: all others are stopped.
idles()
{
	grep -i "^$(sed -n "s/.* current //p" "$TMP/$1/found") . init_task$" "$TMP/$1/kallsyms"
}

without_a_root()
{
	: >"$TMP/none"
	"$TMP/look" "$TMP/$1/ram" "$TMP/none" "$TMP/$1/without" && cmp "$TMP/$1/ours" "$TMP/$1/without"
}

# --- mutants ---------------------------------------------------------------------------

# mutants PROGRAM NAME FIRST COUNT
mutants()
{
	ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1 \
		"$TMP/$1" "$TMP/$2/ram" "$TMP/$2/cr3" --mutants "$3" "$4" "$FUZZ_SEED"
}

all_mutants()
{
	local name=$1 sanitized=$((FUZZ_LOOKS / SANITIZED)) pid rc=0

	mutants look-sanitized "$name" "$FUZZ_FIRST" "$sanitized" >"$TMP/sanitized" &
	pid=$!
	mutants look "$name" $((FUZZ_FIRST + sanitized)) $((FUZZ_LOOKS - sanitized)) >"$TMP/plain" || rc=1
	wait "$pid" || rc=1
	cat "$TMP/sanitized" "$TMP/plain"
	return "$rc"
}

# ended HOW: of the mutants
ended()
{
	cat "$TMP/sanitized" "$TMP/plain" | awk -v how="$1" \
		'/^mutants / { for (i = 1; i < NF; i++) if ($i == how) n += $(i + 1) } END { print n + 0 }'
}

ok "what looks at an image builds" build_look "$TMP/look"
ok "... with sanitizers, too" build_look "$TMP/look-sanitized" -fsanitize=address,undefined \
	-fno-sanitize=alignment -fno-omit-frame-pointer
ok "guests with $MEMORY_GUESTS are booted" boot_guests
for name in $MEMORY_GUESTS; do
	look_at "$name" >"$TMP/$name/found"
	ok "$name: its memory names it" test $? -eq 0
	note "$name: $(paste -sd' ' "$TMP/$name/found")"
	at_least 20000 "$name: symbols of its kernel" "$(found "$name" symbols)"
	at_least 10 "$name: processes" "$(found "$name" processes)"
	at_least 4 "$name: files with symbols in the page cache" "$(found "$name" files)"
	ok "$name: all of it is what the guest says" says_the_same "$name"
	ok "$name: it has one CPU" test "$(found "$name" cpus)" = 1
	ok "$name: ... which is idle, as its processes are stopped" idles "$name"
done
first=${MEMORY_GUESTS%% *}
ok "$first: without any CR3, the kernel is found by what it says to crash dumps" without_a_root "$first"
for name in $MEMORY_GUESTS; do
	ok "$name: $FUZZ_LOOKS mutants of its memory end with a map or an error" all_mutants "$name"
	ok "$name: both of these occur" test "$(ended maps)" -ge $((FUZZ_LOOKS / 20)) \
		-a "$(ended errors)" -ge $((FUZZ_LOOKS / 50))
	note "$name: $(ended mutants) mutants: $(ended maps) ended with a map, $(ended errors) with an error, $(ended bad) badly"
done
done_testing
