# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by what composes an initrd, be it a guest's or the host's.

# add_binary ROOT FILE PATH: FILE as PATH below ROOT, with its libraries.
add_binary()
{
	local root=$1 file=$2 lib

	install -D "$file" "$root$3"
	# ldd takes a file without a loader for an error.
	readelf -Wl "$file" | grep -w INTERP >/dev/null || return 0
	# "name => path (address)", and the loader as "path (address)".
	ldd "$file" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' |
		while read -r lib; do
			[ -e "$root$lib" ] || install -D "$lib" "$root$lib"
		done
}

# pack_initrd ROOT: to standard output. Not compressed: who boots it unpacks it under
# emulation.
pack_initrd()
{
	(cd "$1" && find . | cpio -o -H newc --quiet -R 0:0)
}
