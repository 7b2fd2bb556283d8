#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# speedscope.sh picture|table STACKS OUT: what speedscope, in a browser without a screen, makes of
# stacks that perf kvm unified export has written: its flame graph (PNG), or its table of functions (HTML).

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

# The release, and what its package hashes to
RELEASE=1.25.0
SHA256=2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03
DIR=$KVMU_CACHE/speedscope-$RELEASE

[ $# -eq 3 ] || die "usage: $0 picture|table STACKS OUT"
case $1 in
picture)
	view=left-heavy size=1200,520 ;;
# The page has those rows alone that are to be seen.
table)	view=sandwich size=1200,2000 ;;
*)	die "speedscope.sh: picture or table, not '$1'" ;;
esac

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"; on_exit' EXIT

get_speedscope()
{
	cd "$WORK"
	npm pack --silent "speedscope@$RELEASE"
	sha256sum -c <<<"$SHA256  speedscope-$RELEASE.tgz"
	tar -xf "speedscope-$RELEASE.tgz"
	mv package "$DIR"
}

browse()
{
	local sandbox=()

	# What it is made of has no use for root.
	[ "$(id -u)" -ne 0 ] || sandbox=(--no-sandbox)
	timeout 120 chromium --headless=new "${sandbox[@]}" --user-data-dir="$WORK/browser" \
		--use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars \
		--allow-file-access-from-files --virtual-time-budget=20000 --window-size="$size" "$@" \
		"file://$DIR/dist/release/index.html#localProfilePath=$WORK/stacks.js&view=$view"
}

"$TOP/scripts/deps.sh" browser
command -v npm >/dev/null || "$TOP/scripts/deps.sh" npm
[ -d "$DIR" ] || step "get speedscope" "$LOGS/speedscope.log" get_speedscope
# As its own command hands a file to its page
printf 'speedscope.loadFileFromBase64("%s", "%s")\n' "$(basename "$2")" "$(base64 -w0 "$2")" \
	>"$WORK/stacks.js"
case $1 in
picture) browse --screenshot="$WORK/out.png" ;;
table)	browse --dump-dom >"$WORK/out.html" ;;
esac 2>"$WORK/err"
out=$(compgen -G "$WORK/out.*") || :
if [ ! -s "$out" ]; then
	cat "$WORK/err" >&2
	die "the browser has drawn nothing"
fi
mv "$out" "$3"
