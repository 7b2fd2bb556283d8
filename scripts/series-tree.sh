#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series-tree.sh DIR: make a git tree of the kernel with the series applied, a
# commit a patch, to work on. series-refresh.sh DIR brings it back. BASE=6.12: of that base.
#
# The new files are links into this repository, so that perf builds in it.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"

[ $# -eq 1 ] || die "usage: $0 DIR"
dir=$1
[ ! -e "$dir" ] || die "$dir exists already"

"$TOP/scripts/get-kernel.sh"
need_space "$(dirname "$dir")" 3500
say "copy the kernel's source to $dir ..."
cp -a "$TREE/orig" "$dir"
# Debian's keeps everything at the top out of git.
sed -i '/^\/\*$/d' "$dir/.gitignore"
identity=(-c user.name=series -c user.email=series@localhost -c commit.gpgsign=false)
git -C "$dir" init -q
git -C "$dir" add -Af .
git -C "$dir" "${identity[@]}" commit -q -m "linux-$BASE"
for patch in $(series); do
	git -C "$dir" "${identity[@]}" am -q -k --empty=keep "$PATCHES/$patch"
done
while IFS=$'\t' read -r file path; do
	# One link for the directory, so that a file that is new in it is there, too.
	case $file in
	perf-kvm-unified/*) file=perf-kvm-unified path=tools/perf/kvm-unified ;;
	esac
	[ ! -e "$dir/$path" ] || continue
	mkdir -p "$(dirname "$dir/$path")"
	ln -s "$NEW/$file" "$dir/$path"
	echo "/$path" >>"$dir/.git/info/exclude"
done < <(overlays)
say "work in $dir, commit, then: scripts/series-refresh.sh $dir"
