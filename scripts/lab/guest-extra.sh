#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest-extra.sh NAME...: what only some guests have, NAME_EXTRA in a scenario: an
# initrd with the usual one and more, guest/initrd-NAME. The kernel takes several
# cpio archives one after the other.
#
# node: this machine's Node.js. Its files are not in guest/root: a scenario that
# wants their symbols finds them in guest/extra-node.
#
# bare: no more, but less: the usual one without the collector, which guest-image.sh makes.
#
# jvm: no more of a Java VM than the workload Shop needs, and that, see jvm.sh. In
# guest/extra-jvm, too.
#
# mariadb: a database server, see mariadb.sh. guest/extra-mariadb has all its files.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
on_mainline
# shellcheck source=scripts/lab/image.sh
. "$TOP/scripts/lab/image.sh"

LAB=$TOP/scripts/lab
GUEST=$TREE/guest
SPACE_MB=600

# shellcheck source=scripts/lab/jvm.sh
. "$LAB/jvm.sh"
# shellcheck source=scripts/lab/mariadb.sh
. "$LAB/mariadb.sh"

# add_libraries ROOT FILE: those that FILE needs, but for what the initrd or ROOT has.
add_libraries()
{
	local root=$1 file

	ldd "$2" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r file; do
		[[ $file == "$root"/* || -e $GUEST/root$file ]] || install -D "$file" "$root$file"
	done
}

# add_files ROOT PROGRAM: with its libraries.
add_files()
{
	install -D "$2" "$1/usr/bin/$(basename "$2")"
	add_libraries "$1" "$2"
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
	jvm)
		pack_jvm "$root"
		;;
	mariadb)
		pack_mariadb "$root"
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

# inputs_of NAME: what it is made of, as text.
inputs_of()
{
	case $1 in
	node)
		cat "$LAB/guest/hot.js"
		sha256sum <"$(command -v node)"
		;;
	jvm)
		cat "$LAB/jvm.sh" "$LAB/workload/jvm/Shop.java"
		dpkg-query -W openjdk-17-jdk-headless openjdk-17-jre-headless
		;;
	mariadb)
		cat "$LAB/mariadb.sh" "$MARIADB/names" "$LAB"/guest/{oltp,mariadb.cnf}
		;;
	esac
}

extra_key()
{
	{
		cat "$0" "$TREE/stamps/guest-image" "$TREE/stamps/guest-collector"
		inputs_of "$1"
	} | hash_text
}

lock_cache
for name in "$@"; do
	[ "$name" != bare ] || continue
	"$TOP/scripts/deps.sh" "$name"
	if [ "$name" = mariadb ] && [ ! -d "$MARIADB" ]; then
		need_space "$TREE" "$SPACE_MB"
		step "download a database server for the guest (Debian's mariadb-server-core)" \
			"$LOGS/guest-mariadb.log" fetch_mariadb
	fi
	key=$(extra_key "$name")
	if stamp_is "guest-extra-$name" "$key" && [ -f "$GUEST/initrd-$name" ]; then
		continue
	fi
	need_space "$TREE" "$SPACE_MB"
	stamp_drop "guest-extra-$name"
	step "pack the guest's initrd with $name" "$LOGS/guest-extra.log" pack "$name"
	stamp_set "guest-extra-$name" "$key"
done
