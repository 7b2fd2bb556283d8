#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Which kernel source get-kernel.sh takes, of what there is: tried with a mirror of Debian that
# has packages of a few files, in releases that this test makes up.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

MIRROR=$TMP/mirror
ARCH=$(dpkg --print-architecture)
LIST=main/binary-$ARCH/Packages
# What get-kernel.sh looks into besides this machine's own release
RELEASE=trixie-backports
LATER=sid
OWN=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

# The version that was tried, MAJOR.MINOR.PATCH
major=${MAINLINE_TRIED%%.*}
minor=${MAINLINE#*.}
patch=${MAINLINE_TRIED##*.}
tried=$MAINLINE_TRIED
same_minor=$MAINLINE.$((patch + 3))
before=$major.$((minor - 1)).13
far=$major.$((minor - 2)).5

# --- trees, packages, and a mirror ---------------------------------------------------------

# make_tree DIR VERSION [SED-EXPRESSION]: of a kernel, to which the series applies without one
make_tree()
{
	local version
	IFS=. read -ra version <<<"$2"

	mkdir -p "$1/kernel"
	printf 'VERSION = %s\nPATCHLEVEL = %s\nSUBLEVEL = %s\nmrproper:\n' "${version[@]}" >"$1/Makefile"
	seq 1 20 | sed "${3:-}" >"$1/kernel/a.c"
}
# The lines about the one that the series changes are others.
CHANGED='s/^4$/four/'

# release_files SUITE: what apt reads of it first
release_files()
{
	local dir=$MIRROR/dists/$1

	mkdir -p "$dir/${LIST%/*}"
	touch "$dir/$LIST"
	cat >"$dir/Release" <<-END
		Suite: $1
		Codename: $1
		Components: main
		Architectures: $ARCH
		Date: $(date -Ru)
		SHA256:
		 $(sha256sum <"$dir/$LIST" | cut -d' ' -f1) $(stat -c %s "$dir/$LIST") $LIST
	END
}

# publish SUITE VERSION [SED-EXPRESSION]: a package with such a tree
publish()
{
	local name=linux-source-${2%.*} work=$TMP/package deb=$MIRROR/pool/$1-$2.deb list

	rm -rf "$work"
	mkdir -p "$work/DEBIAN" "$work/usr/src" "$MIRROR/pool"
	make_tree "$work/$name" "$2" "${3:-}"
	tar -C "$work" -cJf "$work/usr/src/$name.tar.xz" "$name" && rm -r "${work:?}/$name"
	cat >"$work/DEBIAN/control" <<-END
		Package: $name
		Version: $2-1
		Architecture: all
		Maintainer: Nobody <nobody@example.com>
		Description: a kernel of a few files
	END
	dpkg-deb --root-owner-group --build "$work" "$deb" >"$TMP/dpkg-deb.log" || return
	list=$MIRROR/dists/$1/$LIST
	mkdir -p "${list%/*}"
	{
		cat "$work/DEBIAN/control"
		printf 'Filename: %s\nSize: %s\nSHA256: %s\n\n' "${deb#"$MIRROR"/}" "$(stat -c %s "$deb")" \
			"$(sha256sum <"$deb" | cut -d' ' -f1)"
	} >>"$list"
	release_files "$1"
}

# This machine's apt, with nothing but that mirror. What is added for other releases is by
# apt's first source.
cat >"$TMP/apt.conf" <<END
Dir::Etc::SourceList "$TMP/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$TMP/lists";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "true";
Acquire::AllowInsecureRepositories "true";
Acquire::Languages "none";
END
echo "deb file:$MIRROR $OWN main" >"$TMP/sources.list"
export APT_CONFIG=$TMP/apt.conf

patches=$TMP/patches
for base in "$MAINLINE" "$LTS"; do
	mkdir -p "$patches/linux-$base"
	printf -- '--- a/kernel/a.c\n+++ b/kernel/a.c\n@@ -3,5 +3,5 @@\n 3\n 4\n-5\n+five\n 6\n 7\n' \
		>"$patches/linux-$base/one.patch"
	echo one.patch >"$patches/linux-$base/series"
done

# start: a mirror that has this machine's own kernel, and an empty cache
start()
{
	rm -rf "$MIRROR" "$TMP/cache" "$TMP/lists"
	mkdir -p "$TMP/lists/partial"
	publish "$OWN" 6.1.140
}

# run SCRIPT: as on a machine of that mirror
run()
{
	env BASE="${base:-$MAINLINE}" KDIR="${kdir:-}" MAINLINE_KDIR='' KVMU_CACHE="$TMP/cache" \
		KVMU_TARBALL="$TMP/none.tar.xz" KVMU_PATCHES="$patches" KVMU_NEW="$TMP/new" \
		KVMU_NO_SPACE_CHECK=1 "$TOP/scripts/$1.sh" >"$TMP/said" 2>&1
}
base=

# get WHAT: and it is got
get()
{
	apt-get -q update >"$TMP/update.log" 2>&1
	ok "$1" run get-kernel
}

# taken VERSION: that tree it is
taken()
{
	cat "$TMP/said"
	[ "$(version_of "$(echo "$TMP"/cache/linux-*/orig)")" = "$1" ]
}

says()
{
	cat "$TMP/said"
	grep -qE "$1" "$TMP/said"
}

looked_into()
{
	[ -e "$TMP/cache/debian/$1-deb" ]
}

NEAREST="the nearest to ${tried//./\\.} that can be had and that the series applies to"
mkdir -p "$TMP/new"

# --- ours is there -----------------------------------------------------------------------------

start
publish "$OWN" "$tried"
get "ours is in this machine's lists"
ok "it is taken" taken "$tried"
ok "which is said" says "taken: linux-source-$MAINLINE $tried-1 \(this machine's lists\), the version that was tried"
ok "no other release was looked into" not looked_into "$RELEASE"
: >"$TMP/said"
ok "a second time there is nothing to do" run get-kernel
ok "and to say" not test -s "$TMP/said"

start
publish "$OWN" "$before"
publish "$RELEASE" "$same_minor"
publish "$LATER" "$tried"
get "ours is in another release"
ok "it is taken from there, not a nearer release's" taken "$tried"
ok "and said from which" says "taken: .* \($LATER\), the version that was tried"

start
publish "$RELEASE" "$tried"
if [ "$(id -u)" -eq 0 ]; then
	# As a container comes.
	ok "without lists, they are fetched" run get-kernel
	ok "and it is found" taken "$tried"
else
	skip "without lists, they are fetched" "not root"
fi

# --- ours is gone ------------------------------------------------------------------------------

start
publish "$OWN" "$before"
publish "$RELEASE" "$same_minor"
publish "$LATER" "$far"
get "ours is gone, others are there"
ok "the one of the same minor version is taken" taken "$same_minor"
ok "which is said, and why" says "taken: linux-source-$MAINLINE $same_minor-1 \($RELEASE\), $NEAREST"
ok "all releases were looked into" looked_into "$LATER"

start
publish "$RELEASE" "$same_minor" "$CHANGED"
publish "$LATER" "$before"
publish "$OWN" "$far"
get "the nearest does not apply"
ok "the next is taken" taken "$before"
ok "it is said which patch it was" says "linux-source-$MAINLINE $same_minor-1: patch one.patch does not apply"
ok "and what was taken instead" says "taken: .* $before-1 \($LATER\), $NEAREST"

start
publish "$OWN" "$major.$((minor + 1)).2"
publish "$RELEASE" "$before"
get "one older and one newer"
ok "the newer is taken" taken "$major.$((minor + 1)).2"

start
publish "$OWN" "$before"
publish "$OWN" "$far"
get "two older ones"
ok "the nearer is taken" taken "$before"

start
publish "$RELEASE" "$tried" "$CHANGED"
publish "$LATER" "$before"
get "ours, as Debian has patched it meanwhile, does not apply"
ok "another is taken" taken "$before"

start
publish "$RELEASE" "$tried"
publish "$LATER" "$before"
rm "$MIRROR/pool/$RELEASE-$tried.deb"
get "ours is in the lists and not on the mirror"
ok "the next is taken" taken "$before"

# --- there is none -----------------------------------------------------------------------------

# refused WHAT: it is, with a sentence that says what to do; nothing is left that would be taken
# for a tree the next time
refused()
{
	local rc

	apt-get -q update >"$TMP/update.log" 2>&1
	run get-kernel
	rc=$?
	ok "$1: that is an error" test "$rc" -ne 0
	ok "$1: it says what to give" says "^error: give KDIR=<a $major\.x tree or tarball>"
	ok "$1: and what was looked for" says "no source of Linux $major.x .* $tried .* $RELEASE"
	ok "$1: no tree is there" not test -e "$TMP/cache/linux-$MAINLINE/src"
}
start
refused "no package"
start
publish "$OWN" "$LTS.117"
publish "$RELEASE" "$((major + 1)).$minor.$patch"
refused "of another major version"
start
publish "$OWN" "$before" "$CHANGED"
publish "$RELEASE" "$same_minor" "$CHANGED"
refused "none applies"
ok "each is named with what was wrong" test "$(grep -c ' patch one.patch does not apply' "$TMP/said")" -eq 2
publish "$LATER" "$tried"
get "once there is one, it is found"
ok "without a cache to be emptied" taken "$tried"

# --- the user's own ----------------------------------------------------------------------------

start
kdir=$TMP/tree
make_tree "$kdir" "$before"
tar -C "$TMP" -cJf "$TMP/tree.tar.xz" tree
for kdir in "$TMP/tree" "$TMP/tree.tar.xz"; do
	rm -rf "$TMP/cache"
	ok "KDIR=${kdir##*/} of another $major.x" run apply
	ok "${kdir##*/}: it is taken" taken "$before"
	ok "${kdir##*/}: the series is applied" grep -qx five "$(echo "$TMP"/cache/linux-*/src)/kernel/a.c"
	ok "${kdir##*/}: the mirror was not asked" not looked_into "$RELEASE"
done

# refused_kdir WHAT PATTERN
refused_kdir()
{
	rm -rf "$TMP/cache"
	ok "$1: refused" not run apply
	ok "$1: with a sentence" says "$2"
}
kdir=$TMP/changed
make_tree "$kdir" "$before" "$CHANGED"
refused_kdir "KDIR=tree that the series does not apply to" \
	"^error: patch one.patch does not apply to linux-$MAINLINE without fuzz \(KDIR=$kdir\)"
tar -C "$TMP" -cJf "$TMP/changed.tar.xz" changed
kdir=$TMP/changed.tar.xz
refused_kdir "KDIR=tarball that it does not apply to" \
	"^error: patch one.patch does not apply to linux-$MAINLINE without fuzz \(KDIR=$kdir\)"
kdir=$TMP/old
make_tree "$kdir" "$LTS.117"
refused_kdir "KDIR=tree of another major version" \
	"^error: this is kernel $LTS.117, the patches are for linux-$MAINLINE \(KDIR=$kdir\)"
kdir=$TMP/none
refused_kdir "KDIR= that is not there" "^error: KDIR=$kdir does not exist"
base=$LTS kdir=$TMP/tree
refused_kdir "KDIR=tree of mainline for the LTS kernel" \
	"^error: this is kernel $before, the patches are for linux-$LTS"

# --- the LTS kernel -------------------------------------------------------------------------

start
base=$LTS kdir=
publish "$OWN" "$LTS.117"
publish "$OWN" "$tried"
get "BASE=$LTS: its package"
ok "it is taken" taken "$LTS.117"
start
kdir=$TMP/old
ok "BASE=$LTS, KDIR=tree of it" run apply
ok "it is taken, too" taken "$LTS.117"
done_testing
