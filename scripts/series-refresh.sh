#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series-refresh.sh GIT-TREE: write the commits of a git tree, made by
# series-tree.sh, to patches/: the only way in which those files change.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

[ $# -eq 1 ] || die "usage: $0 GIT-TREE (see scripts/series-tree.sh)"
tree=$1
[ -e "$tree/.git" ] || die "$tree is no git tree: scripts/series-tree.sh makes one"
base=$(git -C "$tree" rev-list --max-parents=0 HEAD)
[ -z "$(git -C "$tree" status --porcelain --untracked-files=no)" ] ||
	die "$tree has changes that are not committed"

new=$(mktemp -d)
trap 'rm -rf "$new"; on_exit' EXIT
# Nothing in them but the change: no counts, hashes or versions of the tools. Of some,
# only which new files belong to them.
git -C "$tree" -c core.abbrev=12 format-patch -q -k --always --zero-commit --no-signature \
	--no-stat -o "$new" "$base"
(cd "$new" && printf '%s\n' *.patch >series)

mkdir -p "$TOP/patches/$BASE"
rm -f "$TOP/patches/$BASE"/*.patch
mv "$new"/* "$TOP/patches/$BASE/"
say "$(wc -l <"$TOP/patches/$BASE/series") patches in patches/$BASE"
