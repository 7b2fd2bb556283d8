#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# build-kernel.sh: the kernel of the lab's host, tinyconfig plus what
# scripts/lab/host.config and host-kunit.config want, out of tree.
#
# KERNEL_VARIANT names a second build beside the default one: "sanitized" and "kcsan" have what
# scripts/lab/host-checked.config adds, and a file of their own there, with KVM as modules; "locked"
# can be locked down; "vanilla" is the same kernel without the series, to compare with.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

VARIANT=${KERNEL_VARIANT:-}
WANTED=("$TOP/scripts/lab/host.config")
# What is called otherwise in this base
[ ! -f "$TOP/scripts/lab/host-$BASE.config" ] || WANTED+=("$TOP/scripts/lab/host-$BASE.config")
OUT=$TREE/host${VARIANT:+-$VARIANT}
SRC=$TREE/src
SPACE_MB=900
GOALS=(bzImage)

case $VARIANT in
'')	WANTED+=("$TOP/scripts/lab/host-kunit.config") ;;
sanitized|kcsan)
	WANTED+=("$TOP/scripts/lab/host-checked.config" "$TOP/scripts/lab/host-$VARIANT.config")
	GOALS+=(modules)
	SPACE_MB=1800 ;;
locked)	WANTED+=("$TOP/scripts/lab/host-locked.config") ;;
vanilla) SRC=$TREE/orig ;;
*)	die "KERNEL_VARIANT=$VARIANT: there are sanitized, kcsan, locked and vanilla" ;;
esac

configure()
{
	make -C "$SRC" O="$OUT" tinyconfig
	"$SRC/scripts/kconfig/merge_config.sh" -m -O "$OUT" "$OUT/.config" "${WANTED[@]}"
	make -C "$SRC" O="$OUT" olddefconfig
}

# Of an option that is in both files, the last line counts.
wanted_lines()
{
	cat "${WANTED[@]}" | awk -F'[ =]' '/^CONFIG_/ { line[$1] = $0 }
		/^# CONFIG_.* is not set$/ { line[$2] = $0 }
		END { for (i in line) if (line[i] ~ /^CONFIG_/) print line[i] }'
}

# The suites of KUnit are there if the series of this base has them (kunit.t knows which).
not_in_series()
{
	local option=${1#CONFIG_}

	[[ $option == *_KUNIT_TEST=y ]] || return
	! sed 's/^[^ ]*  //' "$TREE/applied/files" | grep '\(^\|/\)Kconfig' |
		(cd "$SRC" && xargs -r grep -qxF "config ${option%=y}")
}

# Kconfig drops an option with an unmet dependency without a word.
check_config()
{
	local line missing=()

	while read -r line; do
		grep -qxF "$line" "$OUT/.config" || not_in_series "$line" || missing+=("$line")
	done < <(wanted_lines)
	[ "${#missing[@]}" -eq 0 ] && return 0
	printf 'wanted by %s, not in the configuration: %s\n' "${WANTED[*]#"$TOP"/}" "${missing[*]}"
	return 1
}

build()
{
	configure
	check_config
	make -C "$SRC" O="$OUT" -j"$JOBS" "${GOALS[@]}"
}

# perf and the selftests lie in the same tree and do not go into the kernel.
kernel_key()
{
	{
		cat "$TREE/stamps/source" "${WANTED[@]}"
		[ "$VARIANT" = vanilla ] ||
			grep -vE '  (tools/perf|tools/lib|tools/testing|tools/include/uapi|Documentation)/' "$TREE/applied/files" || :
		gcc --version
	} | hash_text
}

lock_cache
"$TOP/scripts/apply.sh"
key=$(kernel_key)
stamp=host-kernel${VARIANT:+-$VARIANT}
say_where()
{
	[ -z "${KVMU_SAY_WHERE:-}" ] || say "kernel: $OUT/arch/x86/boot/bzImage"
}

if stamp_is "$stamp" "$key" && [ -f "$OUT/arch/x86/boot/bzImage" ]; then
	say_where
	exit 0
fi
"$TOP/scripts/deps.sh" kernel
[ -d "$OUT" ] || need_space "$TREE" "$SPACE_MB"
stamp_drop "$stamp"
mkdir -p "$OUT"
step "build the lab's host kernel${VARIANT:+, $VARIANT} (minutes the first time)" "$LOGS/$stamp.log" build
stamp_set "$stamp" "$key"
say_where
