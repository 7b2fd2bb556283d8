#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# page.sh [ARGS]: an HTML page of a profile, see scripts/page/perf-kvm-unified-page, which gets these
# arguments (-h has them). Fetches the libraries that are in the page, if they are not there yet; perf
# is the one that make perf has built, unless --perf names another one.
#
# --fetch: the libraries alone, and print where they are.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
on_mainline

# The releases, and what their packages hash to
D3=7.9.2
D3_SHA256=f0c1d2c2479907a6e3265370d0fd715f7aef0f561cdd2b415df385ba7df9d1aa
FLAME=5.0.0
FLAME_SHA256=f12f7540b6e6e787277908d70b7169da7ced5be8737bcff2bd27f3fe4b9961c9
DIR=$KVMU_CACHE/page-lib-$D3-$FLAME

# get NAME RELEASE SHA256 FILE: that file of the package, and its licence
get()
{
	npm pack --silent "$1@$2"
	sha256sum -c <<<"$3  $1-$2.tgz"
	tar -xf "$1-$2.tgz"
	cp "package/dist/$4" lib/
	cp package/LICENSE "lib/$1.LICENSE"
	rm -rf package
}

get_libraries()
{
	cd "$WORK"
	mkdir lib
	get d3 "$D3" "$D3_SHA256" d3.min.js
	get d3-flame-graph "$FLAME" "$FLAME_SHA256" d3-flamegraph.umd.min.js
	mv lib "$DIR"
}

case " $* " in
*" -h "* | *" --help "*)
	print_help
	exec "$TOP/scripts/page/perf-kvm-unified-page" --help
	;;
esac
[ -d "$DIR" ] || (
	command -v npm >/dev/null || "$TOP/scripts/deps.sh" npm
	lock_cache
	WORK=$(mktemp -d "$KVMU_CACHE/page-lib.XXXXXX")
	trap 'rm -rf "$WORK"; on_exit' EXIT
	[ -d "$DIR" ] || step "get d3 and d3-flame-graph" "$LOGS/page-lib.log" get_libraries
) >&2
if [ "$*" = --fetch ]; then
	echo "$DIR"
	exit 0
fi
# The last one counts: what the caller gives comes after these.
exec "$TOP/scripts/page/perf-kvm-unified-page" --perf "$MAIN_TREE/perf/perf" --lib "$DIR" "$@"
