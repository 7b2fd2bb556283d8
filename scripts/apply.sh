#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# apply.sh: bring src/ to "pristine + patches/linux-6.12/series + overlays",
# giving a new mtime to exactly those files whose content changes, so that a
# changed patch costs the rebuild of what it touches and no more.
#
# The result is composed in a scratch directory that holds only the files the
# series touches, and then copied over where it differs.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

PATCHES=${KVMU_PATCHES:-$TOP/patches/$BASE}
# Where perf-kvm-unified/ and kernel-selftests/ are; the tests have others.
NEW=${KVMU_NEW:-$TOP}
STATE=$TREE/applied
SCRATCH=$STATE/scratch

series()
{
	[ -f "$PATCHES/series" ] || return 0
	sed -e 's/[[:space:]]*#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$PATCHES/series"
}

# Lines "file in this repository <tab> path in the kernel tree".
overlays()
{
	local file path

	if [ -d "$NEW/perf-kvm-unified" ]; then
		(cd "$NEW/perf-kvm-unified" && find . -type f \
			! -name '.*' ! -name '*~' ! -name '*.orig' ! -name '*.rej') |
			sed 's|^\./\(.*\)|perf-kvm-unified/\1\ttools/perf/kvm-unified/\1|'
	fi
	while read -r file path; do
		[ ! -f "$NEW/Documentation/$file" ] ||
			printf 'Documentation/%s\t%s\n' "$file" "$path"
	done <<-EOF
		perf-kvm-unified.txt tools/perf/Documentation/perf-kvm-unified.txt
		kvm-unified.rst Documentation/virt/kvm/perf-vcpu.rst
		kvm-unified-design.rst Documentation/virt/kvm/perf-vcpu-design.rst
	EOF
	[ -f "$NEW/kernel-selftests/MANIFEST" ] || return 0
	while read -r file path _; do
		case $file in ''|'#'*) continue ;; esac
		printf 'kernel-selftests/%s\t%s\n' "$file" "$path"
	done <"$NEW/kernel-selftests/MANIFEST"
}

input_key()
{
	local patch file path

	{
		cat "$TREE/stamps/source" "$TOP/scripts/apply.sh"
		for patch in $(series); do
			sha256sum <"$PATCHES/$patch" || return 1
		done
		while IFS=$'\t' read -r file path; do
			printf '%s %s\n' "$(sha256sum <"$NEW/$file")" "$path"
		done < <(overlays | sort)
	} | hash_text
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
		[ ! -e "$TREE/orig/$path" ] ||
			die "$file would replace the kernel's own $path: changes to it belong into a patch"
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

compose()
{
	local patch path file out=$STATE/patch.out

	rm -rf "$SCRATCH"
	mkdir -p "$SCRATCH"
	while read -r path; do
		[ -f "$TREE/orig/$path" ] || continue
		(cd "$TREE/orig" && cp --parents --preserve=mode "$path" "$SCRATCH")
	done < <(touched_by_patches)

	for patch in $(series); do
		# Some only say which new files belong to them (series.sh).
		grep -q '^+++ ' "$PATCHES/$patch" || continue
		if ! patch -d "$SCRATCH" -p1 --fuzz=0 --batch --forward \
			--no-backup-if-mismatch -i "$PATCHES/$patch" >"$out" 2>&1; then
			sed 's/^/    | /' "$out" >&2
			find "$SCRATCH" -name '*.rej' -exec sed 's/^/    | /' {} + >&2
			find "$SCRATCH" -name '*.rej' -printf 'rejected hunks: %p\n' >&2
			die "patch $patch does not apply to $BASE without fuzz"
		fi
	done
	while IFS=$'\t' read -r file path; do
		mkdir -p "$SCRATCH/$(dirname "$path")"
		cp --preserve=mode "$NEW/$file" "$SCRATCH/$path"
	done < <(overlays)
}

# A copy and a rename: never through the hard link into orig/.
replace()
{
	mkdir -p "$(dirname "$2")"
	cp --preserve=mode "$1" "$2.kvmu-new"
	mv -f "$2.kvmu-new" "$2"
}

same()
{
	cmp -s "$1" "$2" && [ "$(stat -c %a "$1")" = "$(stat -c %a "$2")" ]
}

install_path()
{
	local path=$1 want

	if [ -f "$SCRATCH/$path" ]; then
		want=$SCRATCH/$path
	elif [ -f "$TREE/orig/$path" ] && ! grep -qxF "$path" "$STATE/deleted"; then
		want=$TREE/orig/$path
	else
		[ ! -e "$TREE/src/$path" ] || say "    removed $path"
		rm -f "$TREE/src/$path"
		return 0
	fi
	same "$want" "$TREE/src/$path" && return 0
	replace "$want" "$TREE/src/$path"
	say "    updated $path"
}

install_all()
{
	local path

	(cd "$SCRATCH" && find . -type f -printf '%P\n' | sort) >"$STATE/wanted"
	while read -r path; do
		[ -f "$SCRATCH/$path" ] || echo "$path"
	done < <(touched_by_patches | grep -vxF /dev/null) >"$STATE/deleted"

	# "paths" is what may differ from pristine. It is widened before the
	# first file changes and narrowed after the last, so that a run that
	# is cut off leaves nothing behind that the next would not find.
	touch "$STATE/paths"
	sort -u "$STATE/paths" "$STATE/wanted" "$STATE/deleted" >"$STATE/paths.new"
	mv -f "$STATE/paths.new" "$STATE/paths"
	while read -r path; do
		install_path "$path"
	done <"$STATE/paths"
	(cd "$SCRATCH" && find . -type f -printf '%P\0' | sort -z | xargs -0r sha256sum) >"$STATE/files"
	sed 's/^/deleted  /' "$STATE/deleted" >>"$STATE/files"
	sort -u "$STATE/wanted" "$STATE/deleted" >"$STATE/paths"
	rm -rf "$SCRATCH"
}

lock_cache
"$TOP/scripts/get-kernel.sh"
check_inputs
key=$(input_key)
stamp_is applied "$key" && exit 0
say "apply patches/$BASE and the new files to the tree ..."
stamp_drop applied
mkdir -p "$STATE"
compose
install_all
stamp_set applied "$key"
