#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# series-refresh.sh GIT-TREE: write the commits of a git tree, made by
# series-tree.sh, to the patches of the base that its first commit is: the only way in which
# those files change.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

[ $# -eq 1 ] || die "usage: $0 GIT-TREE (see scripts/series-tree.sh)"
tree=$1
[ -e "$tree/.git" ] || die "$tree is no git tree: scripts/series-tree.sh makes one"
base=$(git -C "$tree" rev-list --max-parents=0 HEAD)
version=$(git -C "$tree" show "$base:Makefile" |
	awk '/^VERSION =/ { v = $3 } /^PATCHLEVEL =/ { p = $3 } END { print v "." p }')
case $version in
"$LTS")	BASE=$LTS ;;
"${MAINLINE%%.*}".*) BASE=$MAINLINE ;;
*)	die "$tree is of linux-$version: the bases are $MAINLINE and $LTS" ;;
esac
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"
[ -z "$(git -C "$tree" status --porcelain --untracked-files=no)" ] ||
	die "$tree has changes that are not committed"

new=$(mktemp -d)
trap 'rm -rf "$new"; on_exit' EXIT
# Nothing in them but the change: no counts, hashes or versions of the tools. Of some,
# only which new files belong to them.
git -C "$tree" -c core.abbrev=12 format-patch -q -k --always --zero-commit --no-signature \
	--no-stat -o "$new" "$base"
(cd "$new" && printf '%s\n' *.patch >series)

mkdir -p "$PATCHES"
rm -f "$PATCHES"/*.patch
mv "$new"/* "$PATCHES/"
say "$(wc -l <"$PATCHES/series") patches in patches/linux-$BASE"
