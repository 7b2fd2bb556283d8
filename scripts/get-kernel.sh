#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# get-kernel.sh: the kernel tree, twice: orig/ (pristine by convention) and src/
# (the same files by hard link, what apply.sh patches). From the user's KDIR (a
# tree or a tarball, only ever read) or else Debian's linux-source package.
#
# Mainline's packages have another name each two months, and the one before goes. So what is
# looked for is the version that the series was tried with, and if nobody has it, the nearest
# other one of the same major version to which the series applies. (scripts/tests/get-kernel.t has
# a mirror of its own, by apt's APT_CONFIG.) KVMU_TARBALL names another tarball of this machine's
# than that of /usr/src.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=scripts/compose.sh
. "$TOP/scripts/compose.sh"

# Unpacked tree 1.7 GB, the package 0.15 GB, directories of the second copy.
SPACE_MB=2200
# Which releases of Debian have kernels of mainline, besides this machine's own
RELEASES=(trixie-backports sid forky)
MAJOR=${BASE%%.*}

system_tarball=${KVMU_TARBALL:-/usr/src/linux-source-$BASE.tar.xz}
package=$TREE/package

source_key()
{
	if [ -d "$KDIR" ]; then
		printf '%s\n' "$KDIR"
		if ! git -C "$KDIR" rev-parse HEAD 2>/dev/null; then
			stat -c %Y "$KDIR/Makefile"
		else
			git -C "$KDIR" diff HEAD
		fi
	elif [ -n "$KDIR" ]; then
		printf '%s %s\n' "$KDIR" "$(stat -c '%s %Y' "$KDIR")"
	else
		# A newer package is taken when the cache is emptied, not
		# behind the back of someone who works with this one.
		printf 'debian\n'
	fi | hash_text
}

# fetch_package NAME[=VERSION]: taken apart
fetch_package()
{
	rm -rf "$package"
	mkdir -p "$package" && cd "$package" && apt_download "$1" &&
		dpkg-deb -x "${1%%=*}"_*.deb . && rm "${1%%=*}"_*.deb
}

# A git tree is copied as its tracked files, any other without its products.
copy_tree()
{
	if [ -d "$KDIR/.git" ] || [ -f "$KDIR/.git" ]; then
		git -C "$KDIR" ls-files -z |
			tar -C "$KDIR" --null --no-recursion --ignore-failed-read -T - -cf - | tar -xf - -C "$1"
	else
		tar -C "$KDIR" --exclude=./.git --exclude='*.o' --exclude='*.ko' \
			--exclude='*.cmd' --exclude='*.a' -cf - . | tar -xf - -C "$1"
		make -C "$1" mrproper
	fi
}

# unpack DIR TARBALL
unpack()
{
	rm -rf "$1"
	mkdir -p "$1" || return
	if [ -d "$KDIR" ]; then
		copy_tree "$1"
	else
		tar -xf "$2" -C "$1" --strip-components=1 --no-same-owner
	fi
}

link_copy()
{
	rm -rf "$TREE/src"
	cp -al "$1" "$TREE/src"
}

# Mainline: what applies, applies (apply.sh).
check_version()
{
	local version wanted=$BASE.

	version=$(version_of "$1")
	[ "$BASE" != "$MAINLINE" ] || wanted=$MAJOR.
	[[ $version. == "$wanted"* ]] ||
		die "this is kernel $version, the patches are for linux-$BASE (KDIR=${KDIR:-not set})"
}

# What Debian has of this major version, lines "package version release": own for what this
# machine's lists have. APT is set by the caller.
sources_of()
{
	apt-cache ${APT[@]+"${APT[@]}"} search --names-only "^linux-source-$MAJOR\.[0-9]+\$" |
		cut -d' ' -f1 | while read -r name; do
			apt-cache "${APT[@]}" madison "$name"
		done | awk -F' *[|] *' -v release="$1" '{ sub(/^ */, "", $1); print $1, $2, release }'
}

# nearest FILE: its lines, each once, the best first: the version that was tried, others of its
# minor version, then the other minor versions by their distance, the newer one of two.
nearest()
{
	awk -v tried="$MAINLINE_TRIED" '
		function distance(a, b) { return a > b ? a - b : b - a }
		BEGIN { split(tried, t, ".") }
		!seen[$0]++ {
			split($2, v, /[.~+-]/)
			minor = distance(v[2], t[2])
			print minor, (v[2] < t[2]), (minor ? 0 : distance(v[3], t[3])), NR, $0
		}' "$1" | sort -n -k 1,1 -k 2,2 -k 3,3 -k 4,4 | cut -d' ' -f5-
}

# Of such lines, those of the version that was tried
of_tried()
{
	grep -E "^linux-source-${MAINLINE_TRIED%.*} ${MAINLINE_TRIED//./\\.}[-~+]" "$@"
}

# look_into RELEASE FILE: adds what it has. A mirror need not have all of them.
look_into()
{
	APT=()
	[ "$1" = own ] || other_release "$1" deb || return 0
	sources_of "$1" >>"$2"
}

name_of()
{
	case $1 in
	own)	echo "this machine's lists" ;;
	*)	echo "$1" ;;
	esac
}

# try_source PACKAGE VERSION RELEASE: into $TREE/new, if the series applies.
try_source()
{
	local name=$1 version=$2

	APT=()
	[ "$3" = own ] || release_options "$3" deb
	# Of those that cannot be had, too, the next is tried.
	(step "download Debian's $name $version" "$LOGS/get-kernel.log" fetch_package "$name=$version") &&
		(step "unpack the kernel source" "$LOGS/unpack.log" \
			unpack "$TREE/new" "$package/usr/src/$name.tar.xz") || return
	if compose "$TREE/new" "$TREE/trial" >"$LOGS/trial.log" 2>&1; then
		rm -rf "$TREE/trial"
		return 0
	fi
	say "    $name $version: $(tail -n 1 "$LOGS/trial.log")"
	rm -rf "$TREE/trial" "$TREE/new" "$package"
	return 1
}

# take FILE WHY: the first of these that can be had and that the series applies to
take()
{
	local name version release

	while read -r -u 3 name version release; do
		try_source "$name" "$version" "$release" || continue
		say "    taken: $name $version ($(name_of "$release")), $2"
		return 0
	done 3<"$1"
	return 1
}

none_found()
{
	say "error: no source of Linux $MAJOR.x that the series applies to: looked for $MAINLINE_TRIED and its" \
		"neighbours in this machine's lists, ${RELEASES[*]}." >&2
	if ! [ -s "$1" ]; then
		cat "$LOGS"/look-for-*.log >"$LOGS/look-for.log"
		tail -n 5 "$LOGS/look-for.log" | sed 's/^/    | /' >&2
		! no_network "$LOGS/look-for.log" || network_message
	fi
	die "give KDIR=<a $MAJOR.x tree or tarball>"
}

# Ours is looked for in one release after the other, and the nearest one in all of them.
get_mainline()
{
	local all=$TREE/candidates now=$TREE/candidates-now release

	command -v apt-get >/dev/null ||
		die "no apt-get to fetch linux-source-$BASE with; give KDIR=<a $MAJOR.x tree or tarball>"
	mkdir -p "$TREE"
	: >"$all"
	for release in own "${RELEASES[@]}"; do
		: >"$TREE/release"
		step "look for the source of Linux $MAINLINE_TRIED in $(name_of "$release")" \
			"$LOGS/look-for-$release.log" look_into "$release" "$TREE/release"
		cat "$TREE/release" >>"$all"
		of_tried "$TREE/release" >"$now" || continue
		! take "$now" "the version that was tried" || return 0
	done
	nearest "$all" | of_tried -v >"$now" || :
	take "$now" "the nearest to $MAINLINE_TRIED that can be had and that the series applies to" ||
		none_found "$all"
}

get_lts()
{
	command -v apt-get >/dev/null ||
		die "no apt-get to fetch linux-source-$BASE with; give KDIR=<a $BASE tree or tarball>"
	step "download Debian's linux-source-$BASE" "$LOGS/get-kernel.log" \
		fetch_package "linux-source-$BASE"
	step "unpack the kernel source" "$LOGS/unpack.log" unpack "$TREE/new" \
		"$package/usr/src/linux-source-$BASE.tar.xz"
}

lock_cache
if [ -n "$KDIR" ] && [ ! -e "$KDIR" ]; then
	die "KDIR=$KDIR does not exist"
fi
key=$(source_key)
if stamp_is source "$key" && [ -d "$TREE/src" ]; then
	exit 0
fi

[ ! -d "$KDIR" ] || check_version "$KDIR"
check_inputs
need_space "$TREE" "$SPACE_MB"
"$TOP/scripts/deps.sh" tree
stamp_drop source
# The builds too: files of another tree may be older than what was built from
# those they replace.
rm -rf "$TREE/orig" "$TREE/src" "$TREE/new" "$TREE/applied" "$TREE"/host* "$TREE"/perf*
if [ -n "$KDIR" ] || [ -r "$system_tarball" ]; then
	step "unpack the kernel source" "$LOGS/unpack.log" \
		unpack "$TREE/new" "${KDIR:-$system_tarball}"
	check_version "$TREE/new"
	say "    taken: kernel $(version_of "$TREE/new") of ${KDIR:-$system_tarball}"
elif [ "$BASE" = "$MAINLINE" ]; then
	get_mainline
else
	get_lts
	check_version "$TREE/new"
fi
link_copy "$TREE/new"
mv "$TREE/new" "$TREE/orig"
rm -rf "$package" "$TREE"/candidates* "$TREE/release"
stamp_set source "$key"
