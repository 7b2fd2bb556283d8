#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# get-kernel.sh: the kernel tree, twice: orig/ (pristine by convention) and src/
# (the same files by hard link, what apply.sh patches). From the user's KDIR (a
# tree or a tarball, only ever read) or else Debian's linux-source package.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/common.sh"

# Unpacked tree 1.7 GB, the package 0.15 GB, directories of the second copy.
SPACE_MB=2200

system_tarball=${KVMU_TARBALL:-/usr/src/linux-source-6.12.tar.xz}

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

fetch_package()
{
	local dir=$TREE/package

	rm -rf "$dir"
	mkdir -p "$dir"
	cd "$dir"
	apt_download linux-source-6.12
	dpkg-deb -x linux-source-6.12_*.deb .
	rm -f linux-source-6.12_*.deb
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

unpack()
{
	mkdir -p "$1"
	if [ -d "$KDIR" ]; then
		copy_tree "$1"
	else
		tar -xf "$2" -C "$1" --strip-components=1 --no-same-owner
	fi
	link_copy "$1"
}

link_copy()
{
	rm -rf "$TREE/src"
	cp -al "$1" "$TREE/src"
}

check_version()
{
	local version

	version=$(awk '/^VERSION =/ { v = $3 } /^PATCHLEVEL =/ { p = $3 } END { print v "." p }' \
		"$1/Makefile" 2>/dev/null) || version=none
	[ "linux-$version" = "$BASE" ] ||
		die "this is kernel $version, the patches are for $BASE (KDIR=${KDIR:-not set})"
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
need_space "$TREE" "$SPACE_MB"
"$TOP/scripts/deps.sh" tree
stamp_drop source
# The builds too: files of another tree may be older than what was built from
# those they replace.
rm -rf "$TREE/orig" "$TREE/src" "$TREE/new" "$TREE/applied" "$TREE"/host* "$TREE"/perf*
tarball=$KDIR
if [ -z "$KDIR" ]; then
	tarball=$system_tarball
	if [ ! -r "$tarball" ]; then
		command -v apt-get >/dev/null ||
			die "no apt-get to fetch linux-source-6.12 with; give KDIR=<a 6.12 tree or tarball>"
		step "download Debian's linux-source-6.12" "$LOGS/get-kernel.log" fetch_package
		tarball=$TREE/package/usr/src/linux-source-6.12.tar.xz
	fi
fi
step "unpack the kernel source" "$LOGS/unpack.log" unpack "$TREE/new" "$tarball"
check_version "$TREE/new"
mv "$TREE/new" "$TREE/orig"
rm -rf "$TREE/package"
stamp_set source "$key"
