#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-kernel.sh: the kernel of the lab's host, tinyconfig plus what
# scripts/lab/host.config wants, out of tree.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

WANTED=$TOP/scripts/lab/host.config
OUT=$TREE/host
SPACE_MB=900

configure()
{
	make -C "$TREE/src" O="$OUT" tinyconfig
	"$TREE/src/scripts/kconfig/merge_config.sh" -m -O "$OUT" "$OUT/.config" "$WANTED"
	make -C "$TREE/src" O="$OUT" olddefconfig
}

# Kconfig drops an option with an unmet dependency without a word.
check_config()
{
	local line missing=()

	while read -r line; do
		grep -qxF "$line" "$OUT/.config" || missing+=("$line")
	done < <(grep -E '^CONFIG_' "$WANTED")
	[ "${#missing[@]}" -eq 0 ] && return 0
	printf 'wanted by %s, not in the configuration: %s\n' "${WANTED#"$TOP"/}" "${missing[*]}"
	return 1
}

build()
{
	configure
	check_config
	make -C "$TREE/src" O="$OUT" -j"$JOBS" bzImage
}

# perf and the selftests lie in the same tree and do not go into the kernel.
kernel_key()
{
	{
		cat "$TREE/stamps/source" "$WANTED"
		grep -vE '  (tools/perf|tools/testing|tools/include/uapi|Documentation)/' "$TREE/applied/files" || :
		gcc --version
	} | hash_text
}

lock_cache
"$TOP/scripts/apply.sh"
key=$(kernel_key)
say_where()
{
	[ -z "${KVMU_SAY_WHERE:-}" ] || say "kernel: $OUT/arch/x86/boot/bzImage"
}

if stamp_is host-kernel "$key" && [ -f "$OUT/arch/x86/boot/bzImage" ]; then
	say_where
	exit 0
fi
"$TOP/scripts/deps.sh" kernel
[ -d "$OUT" ] || need_space "$TREE" "$SPACE_MB"
stamp_drop host-kernel
mkdir -p "$OUT"
step "build the lab's host kernel (minutes the first time)" "$LOGS/host-kernel.log" build
stamp_set host-kernel "$key"
say_where
