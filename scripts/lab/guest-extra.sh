#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# guest-extra.sh NAME...: what only some guests have, NAME_EXTRA in a scenario: an
# initrd with the usual one and more, guest/initrd-NAME. The kernel takes several
# cpio archives one after the other.
#
# node: this machine's Node.js. Its files are not in guest/root: a scenario that
# wants their symbols finds them in guest/extra-node.
#
# jvm: no more of a Java VM than the workload Shop needs, and that. In guest/extra-jvm, too.

# shellcheck source=scripts/common.sh
. "$(dirname "$0")/../common.sh"
# shellcheck source=scripts/lab/image.sh
. "$TOP/scripts/lab/image.sh"

LAB=$TOP/scripts/lab
GUEST=$TREE/guest
SPACE_MB=600

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

# The Java VM has its functions' names in it, of those that it does not export, too: it is
# as its package has it.
pack_jvm()
{
	local root=$1 jdk file

	jdk=$(dirname "$(dpkg -L openjdk-17-jdk-headless | grep '/bin/jlink$')")
	mkdir -p "$root/usr/lib" "$root/usr/bin"
	# jdk.jfr: without it, jdk.management in this version has no diagnostic commands.
	"$jdk/jlink" --add-modules java.base,java.management,jdk.management,jdk.jfr \
		--strip-java-debug-attributes --no-header-files --no-man-pages \
		--output "$root/usr/lib/jvm"
	rm -r "$root/usr/lib/jvm/legal"
	find "$root/usr/lib/jvm" -type f \( -name '*.so' -o -perm -100 \) | while read -r file; do
		add_libraries "$root" "$file"
	done
	ln -s ../lib/jvm/bin/java "$root/usr/bin/java"
	"$jdk/javac" -Werror -Xlint:all -d "$root/usr/share/shop" "$LAB/workload/jvm/Shop.java"
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

# What goes into a part that comes from this machine.
sources_of()
{
	case $1 in
	node)
		cat "$LAB/guest/hot.js"
		sha256sum <"$(command -v node)"
		;;
	jvm)
		cat "$LAB/workload/jvm/Shop.java"
		dpkg-query -W openjdk-17-jdk-headless openjdk-17-jre-headless
		;;
	esac
}

extra_key()
{
	{
		cat "$0" "$TREE/stamps/guest-image"
		sources_of "$1"
	} | hash_text
}

lock_cache
for name in "$@"; do
	"$TOP/scripts/deps.sh" "$name"
	key=$(extra_key "$name")
	if stamp_is "guest-extra-$name" "$key" && [ -f "$GUEST/initrd-$name" ]; then
		continue
	fi
	need_space "$TREE" "$SPACE_MB"
	stamp_drop "guest-extra-$name"
	step "pack the guest's initrd with $name" "$LOGS/guest-extra.log" pack "$name"
	stamp_set "guest-extra-$name" "$key"
done
