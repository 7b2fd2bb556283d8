#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series-tree.sh DIR: make a git tree of the kernel with the series applied, a
# commit a patch, to work on. series-refresh.sh DIR brings it back.
#
# The new files are links into this repository, so that perf builds in it.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

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
git -C "$dir" "${identity[@]}" commit -q -m "$BASE"
while read -r patch; do
	git -C "$dir" "${identity[@]}" am -q -k --empty=keep "$TOP/patches/$BASE/$patch"
done < <(sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$TOP/patches/$BASE/series")
ln -s "$TOP/perf-kvm-unified" "$dir/tools/perf/kvm-unified"
echo /tools/perf/kvm-unified >>"$dir/.git/info/exclude"
while read -r file path _; do
	case $file in ''|'#'*) continue ;; esac
	mkdir -p "$(dirname "$dir/$path")"
	ln -s "$TOP/kernel-selftests/$file" "$dir/$path"
	echo "/$path" >>"$dir/.git/info/exclude"
done <"$TOP/kernel-selftests/MANIFEST"
say "work in $dir, commit, then: scripts/series-refresh.sh $dir"
