#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# apply.sh: bring src/ to "pristine + the series of patches/ for BASE + overlays",
# giving a new mtime to exactly those files whose content changes, so that a
# changed patch costs the rebuild of what it touches and no more.
#
# The result is composed in a scratch directory that holds only the files the
# series touches, and then copied over where it differs.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"

STATE=$TREE/applied
SCRATCH=$STATE/scratch

# Each build begins with it: few commands, for many files.
input_key()
{
	local files

	files=$(overlays | sort)
	{
		cat "$TREE/stamps/source" "$TOP/scripts/apply.sh" "$TOP/scripts/compose.sh" || return
		(cd "$PATCHES" && series | xargs -rd '\n' sha256sum) || return
		(cd "$NEW" && printf %s "$files" | cut -f1 | xargs -rd '\n' sha256sum) || return
		cut -f2 <<<"$files"
	} | hash_text
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
say "apply patches/linux-$BASE and the new files to the tree ..."
stamp_drop applied
mkdir -p "$STATE"
if ! compose "$TREE/orig" "$SCRATCH" >"$STATE/log" 2>&1; then
	sed '$d' "$STATE/log" >&2
	die "$(tail -n 1 "$STATE/log")${KDIR:+ (KDIR=$KDIR)}"
fi
install_all
stamp_set applied "$key"
