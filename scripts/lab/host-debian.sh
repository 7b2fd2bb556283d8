#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# host-debian.sh VERSION: a kernel of Debian's (6.1, 6.12) as the lab's host, as it comes: from the
# package, which is not installed, with an initrd that loads its modules and goes on as the lab's
# own kernel begins. Both are host-debian-VERSION/ in the cache, where mainline is.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
on_mainline
# shellcheck source=scripts/lab/image.sh
. "$TOP/scripts/lab/image.sh"

[ $# -eq 1 ] || die "usage: $0 VERSION"
VERSION=$1
OUT=$TREE/host-debian-$VERSION
SPACE_MB=800
# The host's root is shared by 9p, and its CPU has SVM.
MODULES="virtio_pci 9pnet_virtio 9p kvm-amd"

meta_package()
{
	case $VERSION in
	6.1)	echo linux-image-amd64 ;;
	*)	echo "linux-image-$VERSION-amd64" ;;
	esac
}

# The package's name carries a version: the one this package depends on.
kernel_package()
{
	apt-cache depends "$(meta_package)" 2>/dev/null |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }'
}

# with_dependencies DIR: the modules' files, each after those that it needs.
with_dependencies()
{
	local module

	for module in $MODULES; do
		awk -F': *' -v name="$module" '
			{ file = $1; sub(/.*\//, "", file); sub(/\.ko.*/, "", file) }
			file == name {
				n = split($2, needed, " ")
				while (n)
					print needed[n--]
				print $1
			}' "$1/modules.dep"
	done | awk '!seen[$0]++'
}

# pack_host DIR: what the package has in it, to an initrd
pack_host()
{
	local root=$OUT/root dir file name

	dir=$(echo "$1/lib/modules"/*)
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/modules" "$root/proc" "$root/sys" "$root/dev" "$root/new"
	install /bin/busybox "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	install "$TOP/scripts/lab/host/debian-init" "$root/init"
	depmod -b "$1" "$(basename "$dir")"
	for file in $(with_dependencies "$dir"); do
		name=$(basename "${file%.xz}")
		case $file in
		*.xz)	xz -dc "$dir/$file" >"$root/modules/$name" ;;
		*)	cp "$dir/$file" "$root/modules/$name" ;;
		esac
		echo "$name" >>"$root/modules/order"
	done
	for name in $MODULES; do
		grep -qx "$name.ko" "$root/modules/order" ||
			grep -q "/$name.ko" "$dir/modules.builtin" ||
			{ echo "Debian's $VERSION has no $name.ko"; return 1; }
	done
	pack_initrd "$root" >"$OUT/initrd"
	cp "$1"/boot/vmlinuz-* "$OUT/vmlinuz"
	rm -rf "$root"
}

fetch()
{
	local package new=$OUT/new

	rm -rf "$OUT"
	mkdir -p "$OUT/deb"
	package=$(kernel_package)
	if [ -z "$package" ]; then
		! apt_update || package=$(kernel_package)
	fi
	[ -n "$package" ] || { echo "apt knows no $(meta_package)"; return 1; }
	(cd "$OUT/deb" && apt_download "$package")
	dpkg-deb -x "$OUT"/deb/*.deb "$new"
	pack_host "$new"
	echo "$package" >"$OUT/package"
	rm -rf "$new" "$OUT/deb"
}

key()
{
	cat "$0" "$TOP/scripts/lab/host/debian-init" "$TOP/scripts/lab/image.sh" | hash_text
}

lock_cache
"$TOP/scripts/deps.sh" lab
stamp_is "host-debian-$VERSION" "$(key)" && [ -f "$OUT/initrd" ] && exit 0
need_space "$TREE" "$SPACE_MB"
stamp_drop "host-debian-$VERSION"
step "Debian's kernel $VERSION for the host" "$LOGS/host-debian-$VERSION.log" fetch
stamp_set "host-debian-$VERSION" "$(key)"
