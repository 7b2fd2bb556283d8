#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest-extra.sh NAME...: what only some guests have, NAME_EXTRA in a scenario: an
# initrd with the usual one and more, guest/initrd-NAME. The kernel takes several
# cpio archives one after the other.
#
# node: this machine's Node.js. Its files are not in guest/root: a scenario that
# wants their symbols finds them in guest/extra-node.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=scripts/lab/image.sh
. "$TOP/scripts/lab/image.sh"

LAB=$TOP/scripts/lab
GUEST=$TREE/guest
SPACE_MB=600

# add_files ROOT PROGRAM: with its libraries, but for those that the initrd has.
add_files()
{
	local root=$1 program=$2 file

	install -D "$program" "$root/usr/bin/$(basename "$program")"
	ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r file; do
		[ -e "$GUEST/root$file" ] || install -D "$file" "$root$file"
	done
}

pack()
{
	local name=$1
	local root=$GUEST/extra-$name new=$GUEST/initrd-$name.new

	rm -rf "$root"
	mkdir -p "$root"
	case $name in
	node)
		add_files "$root" "$(command -v node)"
		install -D -m 644 "$LAB/guest/hot.js" "$root/usr/share/hot.js"
		;;
	*)
		echo "no extra part is called '$name'"
		return 1
		;;
	esac
	# Each archive ends at a multiple of 512, and the kernel wants no more than 4.
	cp "$GUEST/initrd" "$new"
	pack_initrd "$root" >>"$new"
	mv -f "$new" "$GUEST/initrd-$name"
}

extra_key()
{
	{
		cat "$0" "$LAB/guest/hot.js" "$TREE/stamps/guest-image"
		sha256sum <"$(command -v node)"
	} | hash_text
}

lock_cache
for name in "$@"; do
	"$TOP/scripts/deps.sh" "$name"
	key=$(extra_key)
	if stamp_is "guest-extra-$name" "$key" && [ -f "$GUEST/initrd-$name" ]; then
		continue
	fi
	need_space "$TREE" "$SPACE_MB"
	stamp_drop "guest-extra-$name"
	step "pack the guest's initrd with $name" "$LOGS/guest-extra.log" pack "$name"
	stamp_set "guest-extra-$name" "$key"
done
