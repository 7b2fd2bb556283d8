# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by what applies the series: what the files that it touches or brings become, in a
# scratch directory that holds no others.

# The tests have other patches, and other new files, in directories that look the same.
NEW=${KVMU_NEW:-$TOP}
PATCHES=${KVMU_PATCHES:-$TOP/patches}/linux-$BASE

series()
{
	[ -f "$PATCHES/series" ] || return 0
	sed -e 's/[[:space:]]*#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$PATCHES/series"
}

# kernel-selftests/MANIFEST, of this base: lines "file there <tab> path in the kernel tree".
manifest()
{
	local file path only

	[ -f "$NEW/kernel-selftests/MANIFEST" ] || return 0
	while read -r file path only; do
		case $file in ''|'#'*) continue ;; esac
		case $only in
		''|"$BASE")	printf '%s\t%s\n' "$file" "$path" ;;
		esac
	done <"$NEW/kernel-selftests/MANIFEST"
}

# Lines "file in this repository <tab> path in the kernel tree".
overlays()
{
	local file path only

	if [ "$BASE" = "$MAINLINE" ] && [ -d "$NEW/perf-kvm-unified" ]; then
		(cd "$NEW/perf-kvm-unified" && find . -type f \
			! -name '.*' ! -name '*~' ! -name '*.orig' ! -name '*.rej') |
			sed 's|^\./\(.*\)|perf-kvm-unified/\1\ttools/perf/kvm-unified/\1|'
	fi
	while read -r file path only; do
		[ -z "$only" ] || [ "$only" = "$BASE" ] || continue
		[ ! -f "$NEW/Documentation/$file" ] ||
			printf 'Documentation/%s\t%s\n' "$file" "$path"
	done <<-EOF
		perf-kvm-unified.txt tools/perf/Documentation/perf-kvm-unified.txt $MAINLINE
		kvm-unified.rst Documentation/virt/kvm/perf-vcpu.rst
		kvm-unified-design.rst Documentation/virt/kvm/perf-vcpu-design.rst
		kvm-unified-timeline.rst Documentation/virt/kvm/perf-vcpu-timeline.rst
	EOF
	manifest | sed 's|^|kernel-selftests/|'
}

check_inputs()
{
	local patch file path

	for patch in $(series); do
		[ -f "$PATCHES/$patch" ] ||
			die "$PATCHES/series names $patch, which does not exist"
	done
	while IFS=$'\t' read -r file path; do
		[ -f "$NEW/$file" ] ||
			die "kernel-selftests/MANIFEST names $file, which does not exist"
	done < <(overlays)
}

# Every path a patch reads or writes. A name ends at the first tab: some diffs
# carry a date after it.
touched_by_patches()
{
	local patch

	for patch in $(series); do
		sed -n -e 's|^--- a/||p' -e 's|^+++ b/||p' \
			-e 's/^rename from //p' -e 's/^copy from //p' "$PATCHES/$patch"
	done | cut -f1 | sort -u
}

# compose ORIG SCRATCH: from the pristine tree ORIG. Fails, and says so, with the first patch
# that does not apply, and with a new file that is no new one there. (Where a failure is looked
# for, bash does not end at any by itself.)
compose()
{
	local orig=$1 scratch=$2 patch path file out=$2.out

	while IFS=$'\t' read -r file path; do
		[ -e "$orig/$path" ] || continue
		echo "$file would replace the kernel's own $path: changes to it belong into a patch"
		return 1
	done < <(overlays)
	rm -rf "$scratch"
	mkdir -p "$scratch" || return
	while read -r path; do
		[ -f "$orig/$path" ] || continue
		(cd "$orig" && cp --parents --preserve=mode "$path" "$scratch") || return
	done < <(touched_by_patches)

	for patch in $(series); do
		# Some only say which new files belong to them (series.sh).
		grep -q '^+++ ' "$PATCHES/$patch" || continue
		if ! patch -d "$scratch" -p1 --fuzz=0 --batch --forward \
			--no-backup-if-mismatch -i "$PATCHES/$patch" >"$out" 2>&1; then
			sed 's/^/    | /' "$out"
			rm "$out"
			find "$scratch" -name '*.rej' -exec sed 's/^/    | /' {} +
			find "$scratch" -name '*.rej' -printf 'rejected hunks: %p\n'
			echo "patch $patch does not apply to linux-$BASE without fuzz"
			return 1
		fi
	done
	rm -f "$out"
	while IFS=$'\t' read -r file path; do
		mkdir -p "$scratch/$(dirname "$path")" &&
			cp --preserve=mode "$NEW/$file" "$scratch/$path" || return
	done < <(overlays)
}
