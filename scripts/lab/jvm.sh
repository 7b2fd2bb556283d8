# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by guest-extra.sh: a part of Debian's OpenJDK, and the workload that runs in it.

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
